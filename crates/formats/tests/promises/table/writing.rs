//! What is written is read back, and is the same for any number of workers.

use swath::OutputOptions;
use swath_formats::table::{
    Column, ColumnKind, Columns, Decimals, HeaderLine, TableOptions, TableWriteOptions, Values,
    npy, read,
};
use swath_formats::{FormatReason, table};
use swath_reference::battery::{Battery, BatterySize};
use swath_reference::splitmix;

use super::arrays::{file, options};

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
            let writer = TableWriteOptions::new()
                .with_output(OutputOptions::new().with_workers(workers))
                .with_delimiter(b';');
            let bytes = writer.write(&path, columns, &values).expect("written");
            let text = std::fs::read(&path).expect("there");
            assert_eq!(bytes, text.len() as u64);
            texts.push(text);
        }
        assert!(texts.iter().all(|text| *text == texts[0]));
        let back = TableOptions::new().with_header(HeaderLine::Absent).read::<f64>(&path);
        let back = back.expect("a table");
        assert_eq!((back.columns, back.values.len()), (columns, values.len()));
        assert!(back.values.iter().zip(&values).all(|(one, other)| same(*one, *other)));
        // And once more: the same text.
        TableWriteOptions::new()
            .with_delimiter(b';')
            .write(&path, columns, &back.values)
            .expect("fine");
        assert_eq!(std::fs::read(&path).expect("there"), texts[0]);
    }
}

#[test]
fn every_type_is_written_in_its_own_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.tsv");
    let text = || std::fs::read_to_string(&path).expect("there");
    let writer = TableWriteOptions::new().with_delimiter(b'\t');
    writer.write(&path, 2, &[0.1_f32, -2.5, f32::NAN, f32::INFINITY]).expect("written");
    assert_eq!(text(), "0.1\t-2.5\nnan\tinf\n");
    writer.write(&path, 1, &[i64::MIN, i64::MAX]).expect("written");
    assert_eq!(text(), "-9223372036854775808\n9223372036854775807\n");
    writer.write(&path, 3, &[u64::MAX, 0, 7]).expect("written");
    assert_eq!(text(), "18446744073709551615\t0\t7\n");
    writer.write(&path, 1, &[-1_i8]).expect("written");
    assert_eq!(text(), "-1\n");
    let fixed = TableWriteOptions::new().with_decimals(Decimals::Fixed(3));
    fixed.write(&path, 2, &[0.0625, 1e3]).expect("written");
    assert_eq!(text(), "0.062,1000.000\n");
    writer.write::<f64>(&path, 3, &[]).expect("no rows");
    assert_eq!(text(), "column_1\tcolumn_2\tcolumn_3\n");
}

#[test]
fn names_that_need_it_are_quoted_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let names = ["a", "b,c", "say \"x\"", "two\nlines", "", "#1", " x", "größe"];
    let writer = TableWriteOptions::new().with_names(names);
    writer.write(&path, 8, &[1_u8; 16]).expect("written");
    let back = read::<u8>(&path).expect("a table");
    assert_eq!((back.names, back.rows), (Some(names.map(String::from).to_vec()), 2));
}

#[test]
fn what_is_written_with_spaces_or_in_one_column_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.txt");
    let source = file("a,b c,d\n1,,2.5\n,,\n3,7,\n");
    let table = TableOptions::new().read_columns(source.path()).expect("a table");
    TableWriteOptions::new()
        .with_delimiter(b' ')
        .write_columns(&path, &table)
        .expect("written");
    assert_eq!(TableOptions::new().read_columns(&path).expect("a table"), table);
    let told = TableOptions::new().with_delimiter(b' ').read_columns(&path);
    assert_eq!(told.expect("a table"), table);
    let names = ["", "x", "y"];
    let writer = TableWriteOptions::new().with_delimiter(b' ').with_names(names);
    writer.write(&path, 3, &[1_u8, 2, 3]).expect("written");
    let back = read::<u8>(&path).expect("a table");
    assert_eq!((back.rows, back.names), (1, Some(names.map(String::from).to_vec())));
    for name in ["two words", " x", "a\tb"] {
        for delimiter in *b",; " {
            let writer = TableWriteOptions::new().with_delimiter(delimiter).with_names([name]);
            writer.write(&path, 1, &[1_u8, 2]).expect("written");
            let back = TableOptions::new().with_header(HeaderLine::Present).read::<u8>(&path);
            let back = back.expect("a table");
            assert_eq!((back.rows, back.names), (2, Some(vec![name.to_owned()])));
        }
    }
}

#[test]
fn what_is_no_table_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let values = [1.0; 4];
    for (writer, columns) in [
        (TableWriteOptions::new(), 0),
        (TableWriteOptions::new(), 3),
        (TableWriteOptions::new().with_names(["a"]), 2),
        (TableWriteOptions::new().with_delimiter(b'.'), 2),
        (TableWriteOptions::new().with_delimiter(b'\n'), 2),
        (TableWriteOptions::new().with_decimals(Decimals::Fixed(1075)), 2),
        (TableWriteOptions::new().with_decimals(Decimals::Fixed(usize::MAX)), 2),
    ] {
        let error = writer.write(&path, columns, &values).expect_err("contradictory");
        assert_eq!((error.reason(), path.exists()), (FormatReason::Invalid, false));
    }
}

const MIXED: &str = "n,x,y,z\n1,2.5,,\n2,3,7,NA\n-3,nan,8,\n\n4,1e3,,null\n";

#[test]
fn columns_have_the_types_of_their_fields_at_every_block_size() {
    let file = file(MIXED);
    for block_size in (1..=64).chain([1 << 20]) {
        for workers in [1, 2, 8] {
            let table =
                options(workers, block_size).read_columns(file.path()).expect("a table");
            assert_eq!(table.rows, 4);
            assert_eq!(table.names.as_ref().expect("a header").join(""), "nxyz");
            let [n, x, y, z] = &table.columns[..] else { panic!("four columns") };
            assert_eq!(n.values(), Values::I64(&[1, 2, -3, 4]));
            let Values::F64(values) = x.values() else { panic!("doubles") };
            assert!(values.iter().zip([2.5, 3.0, f64::NAN, 1e3]).all(|(a, b)| same(*a, b)));
            assert_eq!(y.values(), Values::I64(&[0, 7, 8, 0]));
            assert_eq!((y.nulls(), y.validity().map(|it| it[..].to_vec())), (2, Some(vec![6])));
            assert_eq!(
                (z.kind(), z.nulls(), z.values()),
                (ColumnKind::F64, 4, Values::F64(&[0.0; 4]))
            );
            assert_eq!(
                (n.nulls(), n.validity(), y.is_valid(0), y.is_valid(1)),
                (0, None, false, true)
            );
        }
    }
}

#[test]
fn a_fraction_that_comes_late_makes_a_column_of_doubles() {
    let mut text = "1,2,3\n".repeat(50_000);
    text.push_str("-0,12345678901234567168,7\n0.5,,0\n");
    let file = file(&text);
    let error = TableOptions::new().read_columns(file.path()).expect_err("20 digits");
    assert_eq!((error.reason(), error.line()), (FormatReason::TooLarge, Some(50_001)));
    text.push_str("1,1e0,9223372036854775807\n");
    std::fs::write(file.path(), &text).expect("room");
    for block_size in [1000, 1 << 20] {
        let table = options(2, block_size).read_columns(file.path()).expect("a table");
        let [a, b, c] = &table.columns[..] else { panic!("three columns") };
        let (Values::F64(a), Values::F64(doubles)) = (a.values(), b.values()) else {
            panic!("doubles")
        };
        assert!(a[..50_000].iter().all(|&it| same(it, 1.0)));
        assert!(same(a[50_000], -0.0) && same(a[50_001], 0.5));
        assert!(same(doubles[50_000], 12_345_678_901_234_567_890.0));
        assert_eq!((b.nulls(), b.is_valid(50_001)), (1, false));
        let Values::I64(c) = c.values() else { panic!("integers") };
        assert_eq!(c[50_000..], [7, 0, i64::MAX]);
    }
}

#[test]
fn columns_are_refused_where_arrays_are() {
    for (text, line) in
        [("1,2\n3\n", 2), ("1,2\n3\n4\n5,6\n", 2), ("1,2\n3,x\n", 2), ("a,b\n1,2\n1,\"2\n", 3)]
    {
        let file = file(text);
        for block_size in 1..10 {
            let error = options(2, block_size).read_columns(file.path()).expect_err("wrong");
            assert_eq!((error.reason(), error.line()), (FormatReason::Malformed, Some(line)));
        }
    }
}

#[test]
fn columns_are_written_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let mixed = file(MIXED.replace("nan", "7"));
    let table = TableOptions::new().read_columns(mixed.path()).expect("a table");
    TableWriteOptions::new().write_columns(&path, &table).expect("written");
    let text = std::fs::read_to_string(&path).expect("there");
    assert_eq!(text, "n,x,y,z\n1,2.5,,\n2,3.0,7,\n-3,7.0,8,\n4,1000.0,,\n");
    assert_eq!(TableOptions::new().read_columns(&path).expect("a table"), table);
    let lone = Columns::new(None, vec![table.columns[2].clone()]).expect("a column");
    TableWriteOptions::new().write_columns(&path, &lone).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "\"\"\n7\n8\n\"\"\n");
    assert_eq!(TableOptions::new().read_columns(&path).expect("a table"), lone);
    let values = swath::Array::<i64>::zeroed(2).expect("memory");
    let shorter = Column::of_i64(values);
    assert_eq!(Columns::new(None, vec![lone.columns[0].clone(), shorter]), None);
}

#[test]
fn wide_tables_of_mixed_columns_are_the_same_at_every_block_size() {
    let mut next = splitmix(5);
    let mut text = String::new();
    for _ in 0..20 {
        let line: Vec<String> = (0..3000)
            .map(|column| match (column % 3, next() % 50) {
                (_, 0) => String::new(),
                (0, random) => random.to_string(),
                (_, random) => format!("{random}.5"),
            })
            .collect();
        text.push_str(&line.join(","));
        text.push('\n');
    }
    let file = file(&text);
    let wanted = options(1, 1 << 20).with_header(HeaderLine::Absent).read_columns(file.path());
    let wanted = wanted.expect("a table");
    assert!(wanted.columns.iter().step_by(3).all(|column| column.kind() == ColumnKind::I64));
    for block_size in [1, 100, 5000] {
        let options = options(2, block_size).with_header(HeaderLine::Absent);
        assert_eq!(options.read_columns(file.path()).expect("a table"), wanted);
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
fn any_list_of_names_is_read_back() {
    const PIECES: [&str; 26] = [
        "a", "B", " ", "  ", "\t", ",", ";", "|", "#", "\"", "\n", "\r", "NA", "N/A", "null",
        "nan", "inf", "1", "-2.5", "1e5", ".5", "+", "-", "ö", "\u{feff}", "'",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for seed in Battery::new("combinations", BatterySize { slice: 300, full: 3_000 }) {
        let mut next = splitmix(seed);
        let mut pick = |count: usize| usize::try_from(next() % count as u64).expect("small");
        let mut name = || -> String {
            let count = pick(4);
            (0..count).map(|_| PIECES[pick(PIECES.len())]).collect()
        };
        let width = 1 + usize::try_from(seed % 4).expect("small");
        let mut names: Vec<String> = (0..width).map(|_| name()).collect();
        if names.iter().all(String::is_empty) {
            names[0] = "1".to_owned();
        }
        for rows in 0..3 {
            // A missing value at the start is quoted where it is alone.
            let column = |value: i64| {
                let mut values = swath::Array::zeroed(rows).expect("room");
                values.fill(value);
                Column::of_i64(values)
            };
            let columns = (0..width).map(|_| column(7)).collect();
            let table = Columns::new(Some(names.clone()), columns).expect("fits");
            let delimiter = b",;|\t "[usize::try_from(seed / 4 % 5).expect("small")];
            let writer = TableWriteOptions::new().with_delimiter(delimiter);
            writer.write_columns(&path, &table).expect("written");
            let text = std::fs::read_to_string(&path).expect("text");
            let back = TableOptions::new().read_columns(&path);
            let back = back.unwrap_or_else(|error| panic!("{error}: {text:?} of {names:?}"));
            assert_eq!(back.names.as_ref(), Some(&names), "{text:?}");
            assert_eq!((back.rows, back.columns.len()), (rows, width), "{text:?}");
        }
    }
}

#[test]
fn names_that_no_reader_would_find_are_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for names in [&["\0"][..], &["a", "b\0"]] {
        let writer = TableWriteOptions::new().with_names(names.iter().copied());
        let error = writer.write(&path, names.len(), &vec![1; names.len()]).expect_err("lost");
        assert_eq!((error.reason(), path.exists()), (FormatReason::Invalid, false), "{error}");
    }
}

#[test]
fn numbers_in_quotes_are_data_where_the_data_has_quotes() {
    for (text, names, rows) in [
        ("\"1\",\"2\"\n\"3\",\"4\"\n", Some(["1", "2"]), 1),
        ("\"1\",\"2\"\n3,4\n", Some(["1", "2"]), 1),
        ("\"1\",2\n3,4\n", Some(["1", "2"]), 1),
        ("\"1\",\n3,4\n", Some(["1", ""]), 1),
        ("\"\",\"\"\n3,4\n", None, 2),
        ("\"x\",\"2\"\n3,4\n", Some(["x", "2"]), 1),
    ] {
        let table = TableOptions::new().read_columns(file(text.as_bytes()).path());
        let table = table.unwrap_or_else(|error| panic!("{error}: {text:?}"));
        let names = names.map(|names| names.map(String::from).to_vec());
        assert_eq!((table.names, table.rows), (names, rows), "{text:?}");
    }
    let mixed = TableOptions::new().read_columns(file(b"\"x\",\"2\"\n\"3\",\"4\"\n").path());
    assert_eq!(mixed.expect("names").names.expect("names"), ["x", "2"]);
}

#[test]
fn names_that_are_all_empty_are_refused_and_some_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for names in [&[""][..], &["", ""]] {
        let writer = TableWriteOptions::new().with_names(names.iter().copied());
        let values = vec![1.5; names.len()];
        let error = writer.write(&path, names.len(), &values).expect_err("lost");
        assert_eq!(error.reason(), FormatReason::Invalid, "{error}");
        assert!(!path.exists());
    }
    for names in [["", "a"], ["NA", ""], ["", "1"]] {
        let writer = TableWriteOptions::new().with_names(names);
        writer.write(&path, 2, &[1.5, 2.5]).expect("written");
        let back = read::<f64>(&path).expect("a table");
        assert_eq!((back.rows, back.names.as_deref()), (1, Some(&names.map(String::from)[..])));
    }
}

/// Columns have the digits of many doubles at once, rows of an array have them one by one.
#[test]
fn doubles_of_columns_have_the_text_of_those_of_an_array() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name));
    for rows in [1, 63, 64, 65, 1000] {
        let value = |at: i32| match at % 5 {
            0 => f64::from(at) / 8.0,
            1 => f64::from(at) / 3.0,
            2 => -0.0,
            3 => f64::from(at) * 1e20,
            _ => f64::NAN,
        };
        let values: Vec<f64> = (0..3 * rows).map(value).collect();
        table::write(&one, 3, &values).expect("written");
        let columns = table::read_columns(&one).expect("a table");
        table::write_columns(&two, &columns).expect("written");
        let [one, two] = [&one, &two].map(|path| std::fs::read_to_string(path).expect("text"));
        assert_eq!(one, two, "{rows} rows");
        assert_eq!(one.lines().count(), usize::try_from(rows).expect("small"));
    }
}
