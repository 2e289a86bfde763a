//! Whatever was compressed decompresses to the same bytes, for any workers and any kind of source.

use swath::ReadOptions;
use swath_formats::FormatReason;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_reference::battery::Battery;

use crate::compressed::around::{
    FORMATS, packed, packed_by, packed_small, pipe, source, text, unpacked, unpacked_by,
};

#[test]
fn every_size_around_a_block_comes_back() {
    for format in FORMATS {
        for len in [0, 1, 4095, 4096, 4097, 3 * 4096, 3 * 4096 + 1, 50_000] {
            let plain = text(len as u64, len);
            let bytes = packed_small(format, &plain);
            assert_eq!(Format::detect(&bytes), Some(format), "{format} {len}");
            assert!(unpacked(&bytes).expect("it is whole") == plain, "{format} {len}");
        }
    }
}

#[test]
fn sizes_around_the_usual_block_come_back() {
    for format in [Format::Gzip, Format::Bgzf, Format::Bzip2] {
        let block = format.default_block_size(format.default_level());
        let block = usize::try_from(block).expect("a few MiB");
        for len in [block - 1, block, block + 1, 2 * block + 1] {
            let plain = text(3, len);
            assert!(unpacked(&packed(format, &plain)).expect("whole") == plain, "{format}");
        }
    }
    let plain = text(3, (8 << 20) + 1);
    assert!(unpacked(&packed(Format::Zstd, &plain)).expect("whole") == plain);
}

#[test]
fn bytes_that_cannot_be_packed_come_back() {
    for format in FORMATS {
        let plain = swath_reference::bytes(5, 1_100_000);
        let bytes = packed(format, &plain);
        assert!(bytes.len() < plain.len() + plain.len() / 50, "{format} {}", bytes.len());
        assert!(unpacked(&bytes).expect("whole") == plain, "{format}");
    }
}

#[test]
fn runs_of_one_byte_come_back() {
    for format in FORMATS {
        for len in [4, 255, 256, 70_000, 3_000_000] {
            let plain = vec![7; len];
            assert!(unpacked(&packed(format, &plain)).expect("whole") == plain, "{format}");
        }
    }
}

#[test]
fn every_level_comes_back() {
    let plain = text(7, 40_000);
    for format in FORMATS {
        for level in format.levels() {
            let options = CompressOptions::new()
                .with_format(format)
                .with_level(level)
                .with_block_size(16 << 10);
            let bytes = packed_by(&options, source(&plain));
            assert!(unpacked(&bytes).expect("whole") == plain, "{format} {level}");
        }
    }
}

#[test]
fn the_output_is_the_same_for_every_worker_count_and_from_a_pipe() {
    let plain = text(11, 400_000);
    for format in Battery::of_list("combinations", 2, FORMATS) {
        let options = CompressOptions::new().with_format(format).with_block_size(20_000);
        let one = packed_by(
            &options.clone().with_read(ReadOptions::new().with_workers(1)),
            source(&plain),
        );
        for workers in [2, 7] {
            let options = options.clone().with_read(ReadOptions::new().with_workers(workers));
            assert!(packed_by(&options, source(&plain)) == one, "{format} {workers}");
            assert!(packed_by(&options, pipe(&plain, 1000)) == one, "{format} {workers} pipe");
        }
        for workers in [1, 2, 7] {
            let options =
                DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
            for input in [source(&one), pipe(&one, 777)] {
                let (report, bytes) = unpacked_by(&options, input);
                let report = report.expect("whole");
                assert!(bytes == plain, "{format} {workers}");
                assert_eq!((report.bytes_in, report.workers), (one.len() as u64, workers));
            }
        }
    }
}

#[test]
fn streams_one_behind_the_other_are_one() {
    let (left, right) = (text(1, 9_000), text(2, 50_000));
    for format in FORMATS {
        let bytes = [packed_small(format, &left), packed(format, &right)].concat();
        let both = [left.clone(), right.clone()].concat();
        assert!(unpacked(&bytes).expect("two streams") == both, "{format}");
    }
}

#[test]
fn the_report_counts_what_was_done() {
    let plain = text(1, 10_000);
    for (format, frames) in
        [(Format::Zstd, 3), (Format::Gzip, 3), (Format::Bgzf, 3), (Format::Bzip2, 3)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("packed");
        let options = CompressOptions::new()
            .with_format(format)
            .with_block_size(4096)
            .with_read(ReadOptions::new().with_workers(2));
        let report = options.compress(source(&plain), &path).expect("written");
        assert_eq!((report.frames, report.bytes_in, report.workers), (frames, 10_000, 2));
        assert_eq!((report.format, report.level), (format, format.default_level()));
        let short =
            options.with_block_size(0).compress(source(&plain), folder.path().join("short"));
        let short = short.expect("written");
        assert_eq!(
            (short.frames, short.workers),
            (1, 1),
            "{format}: no worker without a frame"
        );
        assert_eq!(report.bytes_out, std::fs::metadata(&path).expect("it is there").len());
        let back = folder.path().join("plain");
        let report = DecompressOptions::new().decompress(&path, &back).expect("written");
        assert_eq!(report.bytes_out, 10_000);
        assert!(report.rest.is_none() && report.frames >= frames, "{report:?}");
        assert!(std::fs::read(&back).expect("it is there") == plain);
    }
}

#[test]
fn levels_and_sizes_that_a_format_does_not_have_are_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    for (format, level, block_size, says) in [
        (Format::Zstd, 0, 0, "level 0 does not exist for zstd, which has 1 to 22"),
        (Format::Zstd, 23, 0, "zstd, which has 1 to 22"),
        (Format::Gzip, 13, 0, "gzip, which has 1 to 12"),
        (Format::Bzip2, 10, 0, "bzip2, which has 1 to 9"),
        (
            Format::Bgzf,
            6,
            65_281,
            "65281 bytes is not possible for bgzf, which allows 4096 to 65280",
        ),
        (Format::Zstd, 3, 4095, "4096 to 33554432"),
        (Format::Gzip, 3, (32 << 20) + 1, "4096 to 33554432"),
    ] {
        let options = CompressOptions::new()
            .with_format(format)
            .with_level(level)
            .with_block_size(block_size);
        let error = options.compress("/dev/null", &path).expect_err("refused");
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}

#[test]
fn what_cannot_be_read_is_the_library_s_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    let error =
        CompressOptions::new().with_format(Format::Zstd).compress("/nonexistent", &path);
    let error = error.expect_err("it is not there");
    assert_eq!(error.library().and_then(swath::Error::raw_os_error), Some(2));
    let error = DecompressOptions::new().decompress(folder.path(), &path);
    assert_eq!(error.expect_err("a folder").reason(), FormatReason::Library);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_is_no_stream_is_told() {
    for bytes in [&b""[..], b"plain text", b"PK\x03\x04", b"BZh0", b"\x28\xb5\x2f"] {
        let error = unpacked(bytes).expect_err("not compressed");
        assert_eq!((error.reason(), error.offset()), (FormatReason::UnknownFormat, Some(0)));
    }
}

#[test]
fn a_cancelled_compression_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    let token = swath::CancelToken::new();
    token.cancel();
    let read = swath::ReadOptions::new().with_cancel(token);
    let options = CompressOptions::new().with_format(Format::Gzip).with_read(read);
    let error = options.compress(source(&text(1, 100_000)), &path).expect_err("cancelled");
    assert_eq!(error.library().map(swath::Error::reason), Some(swath::Reason::Cancelled));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
