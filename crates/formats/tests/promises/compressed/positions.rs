//! Bytes from the middle equal those of the whole, with and without an index.

use std::path::PathBuf;
use swath::ReadOptions;

use swath_formats::FormatReason;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format, Seekable};

use crate::compressed::around::{
    FORMATS, packed_by, packed_small, pipe, source, text, unpacked_by,
};

const INDEXED: [Format; 2] = [Format::Zstd, Format::Gzip];

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    std::fs::write(&path, bytes).expect("written");
    (folder, path)
}

#[test]
fn every_position_is_read_through_the_index() {
    let plain = text(1, 60_000);
    for format in INDEXED {
        let (_folder, path) = file(&packed_small(format, &plain));
        let there = Seekable::open(&path).expect("it has an index");
        assert_eq!((there.len(), there.format()), (60_000, format));
        assert_eq!(there.frames(), 15);
        for offset in [0, 1, 4095, 4096, 4097, 8191, 30_000, 59_999, 60_000, 60_001] {
            for len in [0, 1, 4096, 4097, 20_000] {
                let mut target = vec![0; len];
                let got = there.read_at(&mut target, offset as u64).expect("whole");
                let end = (offset + len).min(plain.len());
                let wanted = plain.get(offset..end).unwrap_or_default();
                assert!(target[..got] == *wanted, "{format} {len} at {offset}");
            }
        }
        assert_eq!(there.read_at(&mut [0; 9], u64::MAX).expect("far past the end"), 0);
    }
}

#[test]
fn an_extent_is_the_same_with_an_index_without_one_and_from_a_pipe() {
    let plain = text(2, 50_000);
    for format in FORMATS {
        let bytes = packed_small(format, &plain);
        for (offset, len) in
            [(0, Some(1)), (4095, Some(2)), (10_000, None), (50_000, None), (7, Some(0))]
        {
            let mut options = DecompressOptions::new()
                .with_read(ReadOptions::new().with_workers(3))
                .with_offset(offset);
            if let Some(len) = len {
                options = options.with_len(len);
            }
            let start = usize::try_from(offset).unwrap();
            let end = len.map_or(plain.len(), |len| start + usize::try_from(len).unwrap());
            for input in [source(&bytes), pipe(&bytes, 500)] {
                let (report, there) = unpacked_by(&options, input);
                report.expect("whole");
                assert!(there == plain[start..end], "{format} {len:?} at {offset}");
            }
        }
    }
}

#[test]
fn only_the_frames_that_are_needed_are_read() {
    let plain = text(3, 400_000);
    for format in INDEXED {
        let options = CompressOptions::new().with_format(format).with_block_size(40_000);
        let bytes = packed_by(&options, source(&plain));
        let options = DecompressOptions::new().with_offset(200_001).with_len(3);
        let (report, there) = unpacked_by(&options, source(&bytes));
        let report = report.expect("whole");
        assert!(there == plain[200_001..200_004]);
        assert_eq!(report.frames, 1);
        assert!(report.bytes_in < bytes.len() as u64 / 8, "{format} {report:?}");
    }
}

#[test]
fn an_extent_that_is_not_there_is_an_error_and_leaves_no_file() {
    let plain = text(4, 20_000);
    for format in FORMATS {
        let bytes = packed_small(format, &plain);
        for (offset, len) in [(20_001, None), (19_999, Some(2)), (0, Some(u64::MAX))] {
            let mut options = DecompressOptions::new().with_offset(offset);
            if let Some(len) = len {
                options = options.with_len(len);
            }
            for input in [source(&bytes), pipe(&bytes, 500)] {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("plain");
                let error = options.decompress(input, &path).expect_err("too few bytes");
                assert_eq!(error.reason(), FormatReason::Truncated, "{format} {error}");
                assert!(error.to_string().contains("to 20000 bytes"), "{error}");
                assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
            }
        }
    }
}

#[test]
fn a_file_without_an_index_says_so() {
    let plain = text(5, 20_000);
    // The frames alone are a valid file without an index.
    for (format, index) in [
        (Format::Bzip2, 0),
        (Format::Bgzf, 0),
        (Format::Zstd, 28 + 17 + 5 * 12),
        (Format::Gzip, 55 + 27 + 5 * 8),
    ] {
        let bytes = packed_small(format, &plain);
        let frames = &bytes[..bytes.len() - index];
        let (_folder, path) = file(frames);
        let error = Seekable::open(&path).expect_err("it has none");
        assert_eq!(error.reason(), FormatReason::NoIndex, "{format}");
        assert!(error.what_to_try().contains("swath compress"), "{error}");
        let options = DecompressOptions::new().with_offset(100).with_len(10);
        let (report, there) = unpacked_by(&options, source(frames));
        assert!(there == plain[100..110], "{format} {report:?}");
    }
    assert_eq!(
        Seekable::open("/nonexistent").expect_err("none").reason(),
        FormatReason::Library
    );
}

#[test]
fn an_empty_file_has_a_length_of_0() {
    for format in INDEXED {
        let (_folder, path) = file(&packed_small(format, b""));
        let there = Seekable::open(&path).expect("it has an index");
        assert!(there.is_empty(), "{format}");
        assert_eq!(there.read_at(&mut [0; 3], 0).expect("nothing"), 0);
    }
}

#[test]
fn many_threads_read_one_file_at_a_time() {
    let plain = text(7, 100_000);
    let (_folder, path) = file(&packed_small(Format::Zstd, &plain));
    let there = Seekable::open(&path).expect("it has an index");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (there, plain) = (&there, &plain);
            scope.spawn(move || {
                let mut next = swath_reference::splitmix(thread);
                for _ in 0..200 {
                    let offset = usize::try_from(next() % 99_000).unwrap();
                    let mut target = [0; 1000];
                    there.read_at(&mut target, offset as u64).expect("whole");
                    assert!(target == plain[offset..offset + 1000], "{offset}");
                }
            });
        }
    });
}

#[test]
fn files_that_were_put_together_are_decoded_from_the_start() {
    let (one, two) = (text(5, 30_000), text(6, 9_000));
    for format in [Format::Zstd, Format::Gzip] {
        let bytes = [packed_small(format, &one), packed_small(format, &two)].concat();
        let (_folder, path) = file(&bytes);
        let error = Seekable::open(&path).expect_err("its index is that of the second");
        assert_eq!(error.reason(), FormatReason::NoIndex, "{format} {error}");
        let options = DecompressOptions::new().with_offset(29_000).with_len(3_000);
        let (report, there) = unpacked_by(&options, source(&bytes));
        report.expect("decoded");
        assert!(there == [&one[29_000..], &two[..2_000]].concat(), "{format}");
    }
}
