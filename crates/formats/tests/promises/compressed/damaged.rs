//! Damaged or truncated bytes give an error or the right bytes; never a panic or wrong bytes.

use swath::ReadOptions;
use swath_formats::FormatReason;
use swath_formats::compressed::{DecompressOptions, Format, Seekable};
use swath_reference::battery::{Battery, BatterySize};

use crate::compressed::around::{
    FORMATS, packed, packed_small, pipe, source, text, unpacked, unpacked_by,
};

/// Damaged copies per format, each with its seed.
const SIZE: BatterySize = BatterySize { slice: 60, full: 1_000 };

#[test]
fn flipped_bits_are_an_error_or_change_nothing() {
    let plain = text(1, 30_000);
    for format in FORMATS {
        let whole = packed_small(format, &plain);
        for seed in Battery::new("mutations", SIZE) {
            let mut next = swath_reference::splitmix(seed);
            let mut bytes = whole.clone();
            for _ in 0..1 + next() % 3 {
                let bit = usize::try_from(next() % (8 * bytes.len() as u64)).unwrap();
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let options =
                DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
            let (report, there) = unpacked_by(&options, source(&bytes));
            match report {
                // A decoder does not use what only the index says, nor the bits that pad a byte.
                Ok(report) if report.rest.is_none() => {
                    assert!(there == plain, "wrong bytes");
                }
                // The start of a stream was hit, so the standard tools see no stream there.
                Ok(_) => assert!(plain.starts_with(&there), "wrong bytes"),
                Err(error) => {
                    let offset = error.offset().expect("it is about bytes");
                    assert!(offset <= bytes.len() as u64, "{error}");
                    assert_ne!(error.reason(), FormatReason::Library, "{error}");
                }
            }
        }
    }
}

#[test]
fn flipped_bits_in_the_index_or_the_frames_are_seen_by_those_who_read_the_middle() {
    let plain = text(2, 30_000);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    for format in [Format::Zstd, Format::Gzip] {
        let whole = packed_small(format, &plain);
        for seed in Battery::new("mutations", SIZE) {
            let mut next = swath_reference::splitmix(seed);
            let mut bytes = whole.clone();
            // Half of the flips are in the index.
            let from = if seed % 2 == 0 { 0 } else { bytes.len() - 150 };
            let at = from + usize::try_from(next() % (bytes.len() - from) as u64).unwrap();
            bytes[at] ^= 1 << (next() % 8);
            std::fs::write(&path, &bytes).expect("written");
            let offset = usize::try_from(next() % 29_000).unwrap();
            let mut target = [0; 1000];
            let read =
                Seekable::open(&path).and_then(|it| it.read_at(&mut target, offset as u64));
            if let Ok(len) = read {
                assert!(target[..len] == plain[offset..offset + 1000], "wrong bytes");
            }
            let options = DecompressOptions::new().with_offset(offset as u64).with_len(1000);
            if let (Ok(_), there) = unpacked_by(&options, source(&bytes)) {
                assert!(there == plain[offset..offset + 1000], "wrong bytes");
            }
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_is_truncated_or_ends_with_a_whole_frame() {
    let plain = text(3, 30_000);
    for format in FORMATS {
        let whole = packed_small(format, &plain);
        let lens = (0..40).chain(whole.len() - 120..whole.len());
        let cuts = Battery::new("mutations", SIZE).map(|seed| {
            let cut = swath_reference::splitmix(seed)() % whole.len() as u64;
            usize::try_from(cut).unwrap()
        });
        for len in lens.chain(cuts) {
            match unpacked(&whole[..len]) {
                Ok(there) => {
                    assert!(plain.starts_with(&there), "wrong bytes");
                    assert!(there.len() % 4096 == 0 || there.len() == plain.len());
                }
                Err(error) if error.reason() == FormatReason::UnknownFormat => assert!(len < 4),
                Err(error) => assert_eq!(error.reason(), FormatReason::Truncated, "{error}"),
            }
        }
    }
}

#[test]
fn what_comes_through_a_pipe_is_judged_as_a_file_is() {
    let plain = text(4, 30_000);
    for format in FORMATS {
        let whole = packed_small(format, &plain);
        for seed in 0..20 {
            let mut next = swath_reference::splitmix(seed);
            let mut bytes = whole.clone();
            let at = usize::try_from(next() % bytes.len() as u64).unwrap();
            bytes[at] ^= 1 << (next() % 8);
            let options =
                DecompressOptions::new().with_read(ReadOptions::new().with_workers(3));
            let (of_file, _) = unpacked_by(&options, source(&bytes));
            let (of_pipe, _) = unpacked_by(&options, pipe(&bytes, 99));
            let outcome = |outcome: swath_formats::Result<_>| {
                outcome.map(drop).map_err(|error| (error.reason(), error.offset()))
            };
            assert_eq!(outcome(of_pipe), outcome(of_file));
        }
    }
}

#[test]
fn noise_behind_a_right_beginning_is_an_error() {
    for format in FORMATS {
        let whole = packed_small(format, &text(5, 5_000));
        for seed in Battery::new("mutations", SIZE) {
            let mut next = swath_reference::splitmix(seed);
            let kept = 4 + usize::try_from(next() % 60).unwrap();
            let noise = swath_reference::bytes(seed, usize::try_from(next() % 3000).unwrap());
            let bytes = [&whole[..kept], &noise[..]].concat();
            unpacked(&bytes).expect_err("noise");
        }
    }
}

#[test]
fn what_follows_the_end_is_treated_as_the_standard_tools_do() {
    let plain = text(6, 9_000);
    for format in FORMATS {
        let whole = packed_small(format, &plain);
        for (rest, zeros) in
            [(&b"\0\0\0\0\0\0"[..], true), (b"garbage", false), (b"\x1f", false)]
        {
            let bytes = [&whole[..], rest].concat();
            let (report, there) = unpacked_by(&DecompressOptions::new(), source(&bytes));
            if format == Format::Zstd {
                let error = report.expect_err("as zstd does");
                assert_eq!(error.offset(), Some(whole.len() as u64), "{error}");
                continue;
            }
            let report = report.expect("skipped");
            assert!(there == plain, "{format}");
            let silent = zeros && format != Format::Bzip2;
            assert_eq!(report.rest.is_none(), silent, "{format} {:?}", report.rest);
            if let Some(note) = report.notes().first() {
                let says = format!("{} byte", rest.len());
                assert!(note.starts_with(&says) && note.contains(&whole.len().to_string()));
            }
        }
    }
}

#[test]
fn a_damaged_stream_leaves_no_file() {
    for format in FORMATS {
        let mut bytes = packed_small(format, &text(7, 100_000));
        let middle = bytes.len() / 2;
        bytes[middle..middle + 20].fill(0x55);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plain");
        std::fs::write(&path, "old").expect("written");
        let error = DecompressOptions::new().decompress(source(&bytes), &path);
        assert_eq!(error.expect_err("damaged").reason(), FormatReason::Corrupt, "{format}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}

#[test]
fn whoever_waits_for_a_damaged_item_is_let_go() {
    for format in Battery::of_list("mutations", 1, [Format::Bgzf, Format::Bzip2]) {
        let whole = packed_small(format, &text(8, 2_000_000));
        for at in [30, whole.len() / 2, whole.len() - 200] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            // There is no index, so all items are cut in order.
            let options = DecompressOptions::new()
                .with_read(ReadOptions::new().with_workers(7))
                .with_offset(1_999_000)
                .with_len(1_000);
            let (report, _) = unpacked_by(&options, source(&bytes));
            report.expect_err("damaged before what was asked for");
        }
    }
}

#[test]
fn bgzf_that_was_cut_off_after_a_block_is_told() {
    const END: usize = 28;
    let plain = text(8, 30_000);
    let whole = packed_small(Format::Bgzf, &plain);
    let options = DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
    let report = |bytes: &[u8]| unpacked_by(&options, source(bytes)).0.expect("decoded");
    assert!(report(&whole).is_whole() && report(&whole).notes().is_empty());
    let cut = report(&whole[..whole.len() - END]);
    assert!(cut.lacks_end && !cut.is_whole(), "{cut:?}");
    assert!(cut.notes()[0].contains("may have been cut off"), "{:?}", cut.notes());
    // Also where members are decoded in order: one with a false length comes first.
    let mut odd = whole[..whole.len() - END].to_vec();
    odd.extend_from_slice(&packed(Format::Gzip, b""));
    assert!(report(&odd).is_whole(), "another member ends it");
    let both = [&whole[..], &whole[..whole.len() - END]].concat();
    assert!(report(&both).lacks_end);
    assert!(report(&[&whole[..], &whole[..]].concat()).is_whole());
    assert!(report(&packed_small(Format::Gzip, &plain)).is_whole());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv.gz");
    let table = "1,2\n".repeat(4096);
    let packed = packed_small(Format::Bgzf, table.as_bytes());
    std::fs::write(&path, &packed[..packed.len() - END]).expect("written");
    let error =
        swath_formats::table::read_array::<f64>(&path).expect_err("it may be half a table");
    assert_eq!(error.reason(), FormatReason::Truncated, "{error}");
    std::fs::write(&path, &packed).expect("written");
    assert_eq!(swath_formats::table::read_array::<f64>(&path).expect("whole").rows, 4096);
}
