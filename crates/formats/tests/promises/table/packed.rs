//! Compressed text is read like any other, whatever its name.

use std::fs;
use std::path::{Path, PathBuf};

use swath_formats::FormatReason;
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::matrix::{self, AnyCoo};
use swath_formats::table::BatchOptions;

use super::arrays::options;

const TABLE: &str = "id,x\n1,2.5\n2,\n3,-1\n";
const MARKET: &str = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 0.5\n2 3 -1\n";

fn packed(folder: &Path, name: &str, text: &str, format: Format) -> PathBuf {
    let (plain, path) = (folder.join("plain"), folder.join(name));
    fs::write(&plain, text).expect("room");
    CompressOptions::new().with_format(format).compress(&plain, &path).expect("compressed");
    path
}

#[test]
fn compressed_tables_and_matrices_are_read_as_their_text_is() {
    let folder = tempfile::tempdir().expect("a folder");
    for &(word, format) in Format::WORDS {
        let end = format.extension();
        let path = packed(folder.path(), &format!("{word}.csv.{end}"), TABLE, format);
        let (array, wanted) = (BatchOptions::new().read_array::<f64>(&path), [1.0, 2.5, 2.0]);
        let array = array.unwrap_or_else(|error| panic!("{word}: {error}"));
        assert_eq!((array.rows, array.columns, &array.values[..3]), (3, 2, &wanted[..]));
        for block_size in 1..9 {
            let table = options(2, block_size).read_array::<f64>(&path).expect("a table");
            assert_eq!((table.rows, table.report.columns[1].nulls), (3, 1), "{word}");
        }
        assert_eq!(BatchOptions::new().shape(&path).expect("a table").rows, 3);
        let path = packed(folder.path(), &format!("{word}.mtx.{end}"), MARKET, format);
        let read = matrix::read(&path).expect("a matrix");
        let AnyCoo::U32(read) = read else { panic!("it is small") };
        assert_eq!((&read.rows[..], &read.columns[..]), (&[0, 1][..], &[0, 2][..]));
        assert_eq!(matrix::header(&path).expect("it has one").body_offset, 52);
        let path = packed(folder.path(), &format!("{word}.el"), "0 1\n1 2\n", format);
        let edges = matrix::read_rows(&path).expect("edges");
        assert_eq!(edges.entry_count(), 2);
    }
}

#[test]
fn lines_and_bytes_of_faults_are_those_of_the_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = packed(folder.path(), "t.csv.zst", "a,b\n1,2\n3,x\n", Format::Zstd);
    let error = BatchOptions::new().read_array::<f64>(&path).expect_err("no number");
    assert_eq!(
        (error.reason(), error.line(), error.offset()),
        (FormatReason::Malformed, Some(3), Some(10))
    );
    assert!(
        error
            .to_string()
            .contains("t.csv.zst on line 3 at byte 10: not a value of type f64 in column `b`"),
        "{error}"
    );
    let path =
        packed(folder.path(), "m.mtx.gz", &MARKET.replace("2 3 -1", "2 4 -1"), Format::Gzip);
    let error = matrix::read(&path).expect_err("out of range");
    assert_eq!(error.line(), Some(4), "{error}");
}

#[test]
fn a_damaged_stream_is_told_with_its_own_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    for &(word, format) in Format::WORDS {
        let path = packed(folder.path(), "t.csv", &TABLE.repeat(50), format);
        let mut bytes = fs::read(&path).expect("there");
        bytes.truncate(bytes.len() / 3);
        fs::write(&path, &bytes).expect("room");
        let error = BatchOptions::new().read_array::<f64>(&path).expect_err("cut off");
        assert!(
            matches!(error.reason(), FormatReason::Truncated | FormatReason::Corrupt),
            "{word}: {error}"
        );
        assert_eq!((error.path(), error.offset().is_some()), (&*path, true), "{word}: {error}");
        assert!(error.to_string().starts_with("cannot decompress "), "{word}: {error}");
    }
}

#[test]
fn text_that_only_begins_like_a_compressed_stream_is_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    fs::write(&path, "BZh9,b\n1,2\n").expect("room");
    let table = BatchOptions::new().with_header(swath_formats::table::HeaderLine::Present);
    assert_eq!(table.read_array::<u8>(&path).expect("a table").values[..], [1, 2]);
}

#[test]
fn bytes_after_the_stream_are_an_error_and_not_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    for &(word, format) in Format::WORDS {
        let path = packed(folder.path(), "t.csv", TABLE, format);
        let whole = fs::read(&path).expect("there");
        // Garbage, and another stream whose first byte was hit.
        let mut second = whole.clone();
        second[0] ^= 0x10;
        for rest in [b"garbage", &second[..]] {
            fs::write(&path, [&whole[..], rest].concat()).expect("room");
            let read = BatchOptions::new().read_array::<f64>(&path).map(drop);
            let error = read.expect_err("half of it would be left out");
            let said = (error.reason(), error.offset());
            assert_eq!(
                said,
                (FormatReason::Corrupt, Some(whole.len() as u64)),
                "{word}: {error}"
            );
        }
        // Tapes are padded with zeros.
        fs::write(&path, [&whole[..], &[0; 512]].concat()).expect("room");
        let is_padded = BatchOptions::new().read_array::<f64>(&path).is_ok();
        assert_eq!(is_padded, matches!(format, Format::Gzip | Format::Bgzf), "{word}");
    }
}
