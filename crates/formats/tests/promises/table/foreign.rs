//! Files that are not text: each has its own message, also for arrays.

use std::io::Write;

use swath_formats::FormatReason;
use swath_formats::table::read_array;

use super::arrays::file;

#[test]
fn a_file_that_is_no_text_is_named_with_what_to_try() {
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).expect("memory");
        packed.finish().expect("memory")
    };
    for (head, says, to_try) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "an xz file", "xz -d"),
        (b"\xff\xfe\0\0a\0\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8"),
        (b"PK\x03\x04xxxx", "a zip archive", "unpack it first"),
        (b"\x93NUMPY\x01\0", "a NumPy array (.npy), not text", "read it with `npy::read`"),
        (b"ARROW1\0\0", "an Arrow file, not text", "read it with `arrow::batches`"),
    ] {
        for bytes in [head.to_vec(), gzip(head)] {
            let error = read_array::<f64>(file(bytes).path()).expect_err("no text");
            assert_eq!(error.reason(), FormatReason::UnknownFormat, "{error}");
            assert!(error.to_string().contains(says), "{error}");
            assert!(error.what_to_try().contains(to_try), "{error}");
        }
    }
    let error = read_array::<f64>(file(gzip(&gzip(b"1,2\n"))).path()).expect_err("gzip");
    assert!(error.to_string().contains("compressed twice"), "{error}");
}

#[test]
fn bytes_that_the_options_select_are_a_table() {
    let (before, text) = ("not, a table\n\"", "x,y\n1,2\n3,x\n");
    let file = file([before, text, "\"\0"].concat());
    let part = |len: usize| {
        let read = swath::ReadOptions::new().with_offset(before.len() as u64);
        swath_formats::table::BatchOptions::new().with_read(read.with_len(len as u64))
    };
    let table = part(8).read_array::<i64>(file.path()).expect("a table");
    assert_eq!((table.rows, &table.values[..]), (1, &[1, 2][..]));
    let rows = part(text.len()).with_starting_in(swath::Extent::between(5, u64::MAX));
    let error = rows.read_array::<i64>(file.path()).expect_err("a word");
    assert_eq!((error.line(), error.offset()), (Some(3), Some(10)), "{error}");
    let error = part(1000).read_array::<i64>(file.path()).expect_err("too short");
    assert!(error.to_string().contains("bytes"), "{error}");
}
