//! Tables that were written are read back, and are the same for any number of workers.

use swath::OutputOptions;
use swath_formats::FormatReason;
use swath_formats::table::{
    BatchOptions, BatchWriteOptions, Decimals, HeaderLine, npy, read_array,
};
use swath_reference::splitmix;

fn doubles(seed: u64, count: usize) -> Vec<f64> {
    let mut next = splitmix(seed);
    let mut value = || match next() % 9 {
        0 => f64::NAN,
        1 => f64::NEG_INFINITY,
        2 => -0.0,
        3 => 1e22,
        _ => f64::from_bits(next()),
    };
    (0..count).map(|_| value()).collect()
}

/// NaN equals NaN, whatever its bits.
fn same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
}

#[test]
fn doubles_are_read_back_bit_by_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for (seed, columns) in (0..).zip([1, 2, 7, 1000]) {
        let values = doubles(seed, columns * (30_000 / columns));
        let mut texts = Vec::new();
        for workers in 1..=4 {
            let writer = BatchWriteOptions::new()
                .with_output(OutputOptions::new().with_workers(workers))
                .with_delimiter(b';');
            let done = writer.write_array(&path, columns, &values).expect("written");
            let text = std::fs::read(&path).expect("there");
            assert_eq!(done.bytes_out, text.len() as u64);
            texts.push(text);
        }
        assert!(texts.iter().all(|text| *text == texts[0]));
        let back = BatchOptions::new().with_header(HeaderLine::Absent).read_array::<f64>(&path);
        let back = back.expect("a table");
        assert_eq!((back.columns, back.values.len()), (columns, values.len()));
        assert!(back.values.iter().zip(&values).all(|(one, other)| same(*one, *other)));
        // And once more: the same text.
        BatchWriteOptions::new()
            .with_delimiter(b';')
            .write_array(&path, columns, &back.values)
            .expect("fine");
        assert_eq!(std::fs::read(&path).expect("there"), texts[0]);
    }
}

#[test]
fn every_type_is_written_in_its_own_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.tsv");
    let text = || std::fs::read_to_string(&path).expect("there");
    let writer = BatchWriteOptions::new().with_delimiter(b'\t');
    writer.write_array(&path, 2, &[0.1_f32, -2.5, f32::NAN, f32::INFINITY]).expect("written");
    assert_eq!(text(), "0.1\t-2.5\nnan\tinf\n");
    writer.write_array(&path, 1, &[i64::MIN, i64::MAX]).expect("written");
    assert_eq!(text(), "-9223372036854775808\n9223372036854775807\n");
    writer.write_array(&path, 3, &[u64::MAX, 0, 7]).expect("written");
    assert_eq!(text(), "18446744073709551615\t0\t7\n");
    writer.write_array(&path, 1, &[-1_i8]).expect("written");
    assert_eq!(text(), "-1\n");
    let fixed = BatchWriteOptions::new().with_delimiter(b',').with_decimals(Decimals::Fixed(3));
    fixed.write_array(&path, 2, &[0.0625, 1e3]).expect("written");
    assert_eq!(text(), "0.062,1000.000\n");
    writer.write_array::<f64>(&path, 3, &[]).expect("no rows");
    assert_eq!(text(), "column_1\tcolumn_2\tcolumn_3\n");
}

#[test]
fn names_that_need_it_are_quoted_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let names = ["a", "b,c", "say \"x\"", "two\nlines", "1", "#1", " x", "größe"];
    let writer = BatchWriteOptions::new().with_names(names);
    writer.write_array(&path, 8, &[1_u8; 16]).expect("written");
    let back = read_array::<u8>(&path).expect("a table");
    assert_eq!((back.names, back.rows), (Some(names.map(String::from).to_vec()), 2));
}

#[test]
fn what_is_no_table_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let values = [1.0; 4];
    for (writer, columns) in [
        (BatchWriteOptions::new(), 0),
        (BatchWriteOptions::new(), 3),
        (BatchWriteOptions::new().with_names(["a"]), 2),
        (BatchWriteOptions::new().with_delimiter(b'.'), 2),
        (BatchWriteOptions::new().with_delimiter(b'\n'), 2),
        (BatchWriteOptions::new().with_decimals(Decimals::Fixed(1075)), 2),
        (BatchWriteOptions::new().with_decimals(Decimals::Fixed(usize::MAX)), 2),
    ] {
        let error = writer.write_array(&path, columns, &values).expect_err("contradictory");
        assert_eq!((error.reason(), path.exists()), (FormatReason::Invalid, false));
    }
}

#[test]
fn npy_files_are_read_back_and_wrong_ones_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.npy");
    let values = doubles(9, 3_000_000);
    npy::write(&path, &[3000, 1000], &values).expect("written");
    let back = npy::read::<f64>(&path).expect("an array");
    assert_eq!(back.shape, [3000, 1000]);
    assert!(back.values.iter().zip(&values).all(|(one, other)| same(*one, *other)));
    let info = npy::info(&path).expect("a header");
    assert_eq!((&info.descr[..], &info.shape[..]), ("<f8", &[3000, 1000][..]));
    assert_eq!(
        npy::read::<i64>(&path).expect_err("doubles").reason(),
        FormatReason::Unsupported
    );
    let mut bytes = std::fs::read(&path).expect("there");
    bytes.pop();
    std::fs::write(&path, &bytes).expect("room");
    assert_eq!(npy::read::<f64>(&path).expect_err("cut off").reason(), FormatReason::Truncated);
    // A shape that fits in no memory, in a short file.
    let text =
        String::from_utf8_lossy(&bytes[10..128]).replace("3000, 1000", "999999999999999999");
    let lie = [&bytes[..10], text.as_bytes()].concat();
    std::fs::write(&path, &lie[..lie.len().min(128)]).expect("room");
    npy::read::<f64>(&path).expect_err("a lie");
    std::fs::write(&path, b"1,2\n").expect("room");
    assert_eq!(
        npy::read::<f64>(&path).expect_err("text").reason(),
        FormatReason::UnknownFormat
    );
    npy::write(&path, &[2], &[1_u8]).expect_err("one is not two");
    npy::write::<f32>(&path, &[0, 5], &[]).expect("nothing");
    assert_eq!(npy::read::<f32>(&path).expect("nothing").shape, [0, 5]);
    npy::write(&path, &[], &[7_u16]).expect("a number");
    assert_eq!(npy::read::<u16>(&path).expect("a number").values[..], [7]);
}

#[test]
fn names_that_are_all_empty_are_refused_and_some_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for names in [&[""][..], &["", ""]] {
        let writer = BatchWriteOptions::new().with_names(names.iter().copied());
        let values = vec![1.5; names.len()];
        let error = writer.write_array(&path, names.len(), &values).expect_err("lost");
        assert_eq!(error.reason(), FormatReason::Invalid, "{error}");
        assert!(!path.exists());
    }
    for names in [["", "a"], ["NA", ""], ["", "1"]] {
        let writer = BatchWriteOptions::new().with_names(names);
        writer.write_array(&path, 2, &[1.5, 2.5]).expect("written");
        let back = read_array::<f64>(&path).expect("a table");
        let wanted = names.map(|name| if name.is_empty() { "column_" } else { name });
        let found = back.names.unwrap_or_default().join(" ").replace(['1', '2'], "");
        assert_eq!((back.rows, found), (1, wanted.join(" ").replace(['1', '2'], "")));
    }
}
