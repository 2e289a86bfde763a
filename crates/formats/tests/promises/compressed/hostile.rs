//! Hostile streams: false sizes, false indexes, bombs.

use swath::ReadOptions;
use swath_formats::FormatReason;
use swath_formats::compressed::{DecompressOptions, Format, Seekable};

use crate::compressed::around::{packed_small, pipe, source, text, unpacked, unpacked_by};

const RAW: u32 = 0;
const RUN: u32 = 1;

/// A zstd frame without a checksum: a header, and blocks of a given kind and size.
fn zstd_frame(descriptor: u8, fields: &[u8], blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, descriptor];
    frame.extend_from_slice(fields);
    for (index, &(kind, size, bytes)) in blocks.iter().enumerate() {
        let last = u32::from(index + 1 == blocks.len());
        frame.extend_from_slice(&(size << 3 | kind << 1 | last).to_le_bytes()[..3]);
        frame.extend_from_slice(bytes);
    }
    frame
}

/// A window of 128 KiB.
const WINDOW: u8 = 7 << 3;

#[test]
fn a_frame_that_claims_2_to_the_60_bytes_gets_no_memory_for_them() {
    let claim = (1_u64 << 60).to_le_bytes();
    let frame = zstd_frame(0xc0, &[&[WINDOW], &claim[..]].concat(), &[(RAW, 3, b"abc")]);
    let error = unpacked(&frame).expect_err("it holds three bytes");
    assert_eq!((error.reason(), error.offset()), (FormatReason::Corrupt, Some(0)), "{error}");
    // The same as a single segment, whose window is as long.
    let frame = zstd_frame(0xe0, &claim, &[(RAW, 3, b"abc")]);
    unpacked(&frame).expect_err("it holds three bytes");
}

#[test]
fn a_window_that_is_too_large_is_refused_where_it_would_be_needed() {
    let short = vec![(RAW, 3, &b"abc"[..])];
    let long = vec![(RUN, 128 << 10, &b"x"[..]); 300];
    // 256 MiB. One short block needs no window.
    assert_eq!(unpacked(&zstd_frame(0, &[18 << 3], &short)).expect("harmless"), b"abc");
    // And 2 TiB.
    for frame in [
        zstd_frame(0, &[18 << 3], &long),
        zstd_frame(0, &[31 << 3], &long),
        zstd_frame(0, &[31 << 3], &short),
    ] {
        let error = unpacked(&frame).expect_err("too large");
        assert_eq!(error.reason(), FormatReason::Unsupported, "{error}");
        assert!(error.what_to_try().contains("--long=31"), "{error}");
    }
}

#[test]
fn a_skippable_frame_that_claims_4_gib_is_truncated() {
    let mut bytes = packed_small(Format::Zstd, b"text");
    let len = bytes.len() as u64;
    bytes.extend_from_slice(b"\x5a\x2a\x4d\x18\xff\xff\xff\xff and little more");
    let error = unpacked(&bytes).expect_err("it is not there");
    assert_eq!((error.reason(), error.offset()), (FormatReason::Truncated, Some(len)));
}

#[test]
fn a_frame_that_needs_a_dictionary_says_which() {
    let frame = zstd_frame(3, &[WINDOW, 7, 0, 0, 0], &[(RAW, 3, b"abc")]);
    let error = unpacked(&frame).expect_err("it is not here");
    assert_eq!(error.reason(), FormatReason::Unsupported);
    assert!(error.to_string().contains("dictionary 7"), "{error}");
}

#[test]
fn a_block_of_no_kind_or_too_large_is_corrupt_where_it_is() {
    for block in [(3, 3, &b"abc"[..]), (RAW, (128 << 10) + 1, b"abc")] {
        let frame = zstd_frame(0, &[WINDOW], &[(RAW, 2, b"ab"), block]);
        let error = unpacked(&frame).expect_err("no such block");
        assert_eq!(
            (error.reason(), error.offset()),
            (FormatReason::Corrupt, Some(11)),
            "{error}"
        );
    }
}

/// Changes the size that the first member records.
fn with_size(bytes: &[u8], size: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[16..20].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[test]
fn a_member_whose_size_lies_is_decoded_as_it_is_or_refused() {
    let plain = text(1, 12_000);
    let bytes = packed_small(Format::Gzip, &plain);
    let size = u32::from_le_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
    // What follows shows that it cannot be right.
    for wrong in [0, 1, 20, 28, size - 5, size + 1, 1 << 20, u32::MAX] {
        let there = unpacked(&with_size(&bytes, wrong)).expect("as gzip decodes it");
        assert!(there == plain, "{wrong}");
    }
    // Two members that claim to be one are decoded as two.
    let second = &bytes[usize::try_from(size).unwrap()..];
    let both = size + u32::from_le_bytes([second[16], second[17], second[18], second[19]]);
    assert!(unpacked(&with_size(&bytes, both)).expect("as gzip decodes it") == plain);
}

#[test]
fn a_size_field_of_somebody_else_is_not_believed() {
    // A stored block in which four zeros look like the end of a member.
    let plain = b"\0\0\0\0\x07\x07".repeat(200);
    let mut crc = flate2::Crc::new();
    crc.update(&plain);
    let mut member = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0IG\x04\0\0\0\0\0".to_vec();
    member.extend_from_slice(b"\x01\xb0\x04\x4f\xfb");
    member.extend_from_slice(&plain);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    member.extend_from_slice(&1200_u32.to_le_bytes());
    let wrong = 20 + 5 + 600 + 4;
    assert_eq!(unpacked(&with_size(&member, wrong)).expect("as gzip decodes it"), plain);
}

#[test]
fn a_member_whose_length_lies_gets_no_memory_for_it() {
    let bytes = packed_small(Format::Gzip, &text(2, 4_000));
    let size = u32::from_le_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
    let end = usize::try_from(size).unwrap();
    for claim in [0, 1, 3_999, 4_001, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[end - 4..end].copy_from_slice(&claim.to_le_bytes());
        let error = unpacked(&bytes).expect_err("it lies");
        assert_eq!(
            (error.reason(), error.offset()),
            (FormatReason::Corrupt, Some(0)),
            "{claim}"
        );
    }
}

#[test]
fn a_name_that_does_not_end_is_corrupt_and_not_read_for_ever() {
    let mut bytes = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03".to_vec();
    bytes.resize(4 << 20, b'a');
    let error = unpacked(&bytes).expect_err("no end");
    assert_eq!((error.reason(), error.offset()), (FormatReason::Corrupt, Some(0)));
    bytes.truncate(1000);
    assert_eq!(unpacked(&bytes).expect_err("no end").reason(), FormatReason::Truncated);
}

/// Returns what both ways to read from the middle say about a file.
fn reasons(bytes: &[u8]) -> [Result<usize, FormatReason>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("packed");
    std::fs::write(&path, bytes).expect("written");
    let mut target = [0; 100];
    let seekable = Seekable::open(&path).and_then(|it| it.read_at(&mut target, 9_000));
    let options = DecompressOptions::new().with_offset(9_000).with_len(100);
    let (report, there) = unpacked_by(&options, source(bytes));
    [
        seekable.map_err(|error| error.reason()),
        report.map(|_| there.len()).map_err(|error| error.reason()),
    ]
}

#[test]
fn a_seek_table_that_lies_is_corrupt() {
    let bytes = packed_small(Format::Zstd, &text(3, 20_000));
    let table = bytes.len() - (17 + 5 * 12);
    let count = bytes.len() - 9;
    assert_eq!(reasons(&bytes), [Ok(100), Ok(100)]);
    // Without the guard, like a table from another program.
    let foreign = |at: usize, number: u32| {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        bytes.drain(table - 28..table);
        bytes
    };
    assert_eq!(reasons(&foreign(table, 0x184d_2a5e)), [Ok(100), Ok(100)], "as it was");
    for (at, number, what) in [
        (table + 8, 1, "a shorter frame"),
        (table + 8, u32::MAX, "a longer frame"),
        (table + 12 + 24, 4097, "the frame that is read decodes to more"),
        (table + 12 + 24, u32::MAX, "to 4 GiB"),
        (table + 16 + 24, 1, "another checksum"),
        (count, 4, "fewer frames"),
        (count, 6, "more frames"),
        (count, u32::MAX, "2^32 frames"),
        (table + 4, 1, "another length"),
        (table, 0x184d_2a5d, "another frame"),
    ] {
        for reason in reasons(&foreign(at, number)) {
            let refused = matches!(
                reason,
                // A shorter table may belong to the last of several files.
                Err(FormatReason::Corrupt | FormatReason::Unsupported | FormatReason::NoIndex)
            );
            // Without a usable index, everything is decoded.
            assert!(refused || reason == Ok(100), "{what}: {reason:?}");
        }
        assert_ne!(reasons(&foreign(at, number))[0], Ok(100), "{what}");
    }
    // Our guard covers the whole table, so even a frame before those that are read must match.
    let mut guarded = bytes.clone();
    guarded[table + 12] ^= 1;
    assert_eq!(reasons(&guarded), [Err(FormatReason::Corrupt), Err(FormatReason::Corrupt)]);
}

#[test]
fn an_index_that_is_ours_and_lies_is_corrupt() {
    let bytes = packed_small(Format::Gzip, &text(4, 20_000));
    let footer = bytes.len() - 55;
    let table = footer - (27 + 5 * 8);
    assert_eq!(reasons(&bytes), [Ok(100), Ok(100)]);
    // Inside the last member: kind, offset, count, plain bytes, checksum.
    let numbers = footer + 17;
    for (at, what) in [
        (table + 17, "a member is longer"),
        (table + 21, "a member decodes to more"),
        (numbers, "the tables are elsewhere"),
        (numbers + 7, "far elsewhere"),
        (numbers + 8, "another count"),
        (numbers + 15, "2^56 members"),
        (numbers + 16, "another length"),
        (numbers + 24, "another checksum"),
    ] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(
            reasons(&bytes),
            [Err(FormatReason::Corrupt), Err(FormatReason::Corrupt)],
            "{what}"
        );
    }
}

/// A member whose field of this kind records `size`, with `plain` in one stored block.
fn stored(kind: &[u8; 2], size: u32, plain: &[u8]) -> Vec<u8> {
    let mut member = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff".to_vec();
    match kind {
        b"BC" => {
            member.extend_from_slice(b"\x06\0BC\x02\0");
            let size = u16::try_from(size.saturating_sub(1)).unwrap_or(u16::MAX);
            member.extend_from_slice(&size.to_le_bytes());
        }
        _ => {
            member.extend_from_slice(b"\x08\0IG\x04\0");
            member.extend_from_slice(&size.to_le_bytes());
        }
    }
    let len = u16::try_from(plain.len()).expect("short");
    member.push(1);
    member.extend_from_slice(&len.to_le_bytes());
    member.extend_from_slice(&(!len).to_le_bytes());
    member.extend_from_slice(plain);
    let mut crc = flate2::Crc::new();
    crc.update(plain);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    member.extend_from_slice(&u32::from(len).to_le_bytes());
    member
}

/// Length of such a member without its plain bytes.
fn around(kind: &[u8; 2]) -> usize {
    stored(kind, 0, b"").len()
}

/// Returns what the decoder that works in order makes of it, as `gzip -dc` does.
fn in_order(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let mut decoder = flate2::bufread::MultiGzDecoder::new(bytes);
    std::io::Read::read_to_end(&mut decoder, &mut plain).ok().map(|_| plain)
}

/// Compares with decoding in order: from a file, from a pipe, and in part.
fn check_in_order(name: &str, bytes: &[u8], workers: &[usize]) {
    let right = in_order(bytes);
    for &workers in workers {
        let options =
            DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
        for (from, source) in [("file", source(bytes)), ("pipe", pipe(bytes, 5000))] {
            let (report, plain) = unpacked_by(&options, source);
            match (&report, &right) {
                (Ok(_), Some(right)) => assert!(plain == *right, "{name}, {workers}, {from}"),
                (Err(error), None) => assert!(!error.path().as_os_str().is_empty()),
                _ => panic!("{name}, {workers}, {from}: {report:?}"),
            }
        }
        let Some(right) = right.as_ref().filter(|right| right.len() > 200) else { continue };
        let (from, len) = (right.len() / 2, right.len() / 3);
        let part = options.with_offset(from as u64).with_len(len as u64);
        let (report, plain) = unpacked_by(&part, source(bytes));
        report.unwrap_or_else(|error| panic!("{name}, {workers}, a part: {error}"));
        assert!(plain == right[from..from + len], "{name}, {workers}, a part");
    }
}

#[test]
fn members_that_lie_about_their_length_are_decoded_as_gzip_does() {
    let text = text(3, 40_000);
    for kind in [b"BC", b"IG"] {
        let frame = |len: usize| u32::try_from(len + around(kind)).expect("short");
        let honest = |plain: &[u8]| stored(kind, frame(plain.len()), plain);
        let parts: Vec<&[u8]> = text.chunks(3000).collect();
        let (before, after) = (honest(parts[0]), honest(parts[1]));
        // Another member inside the data, at the place where its size field points.
        let nested = [&b"before "[..], &honest(b"not to be seen"), b" after"].concat();
        let inside = frame(0) - 8 + 7;
        let lies = [
            ("zero", stored(kind, 0, parts[2])),
            ("too small", stored(kind, 40, parts[2])),
            ("one less", stored(kind, frame(3000) - 1, parts[2])),
            ("one more", stored(kind, frame(3000) + 1, parts[2])),
            ("past the end", stored(kind, 65_000, parts[2])),
            ("over the next", stored(kind, 2 * frame(3000), parts[2])),
            ("over the next two", stored(kind, 3 * frame(3000), parts[2])),
            ("into stored data", stored(kind, inside, &nested)),
        ];
        for (name, lie) in lies {
            let rest: Vec<u8> = parts[3..].iter().flat_map(|part| honest(part)).collect();
            for (place, bytes) in [
                ("first", [&lie, &before[..], &rest].concat()),
                ("in the middle", [&before, &lie[..], &after, &rest].concat()),
                ("twice", [&before, &lie[..], &after, &lie, &rest].concat()),
                ("last", [&rest, &before[..], &lie].concat()),
            ] {
                assert!(in_order(&bytes).is_some(), "{name} {place}");
                check_in_order(&format!("{name}, {place}"), &bytes, &[1, 2, 3, 8]);
                // Real damage after it is still an error.
                let mut damaged = bytes.clone();
                let at = damaged.len() - 20;
                damaged[at] ^= 1;
                assert_eq!(in_order(&damaged), None);
                check_in_order(&format!("{name}, {place}, damaged"), &damaged, &[2]);
                let cut = &bytes[..bytes.len() - 4];
                check_in_order(&format!("{name}, {place}, cut"), cut, &[2]);
            }
        }
    }
}

#[test]
fn a_damaged_member_is_told_where_it_begins_though_lengths_are_not_believed() {
    let parts: Vec<Vec<u8>> =
        (0..5).map(|seed| stored(b"IG", 3028 + 5, &text(seed, 3000))).collect();
    let mut bytes = parts.concat();
    let begins = parts[..3].concat().len();
    bytes[begins + 100] ^= 1;
    let (report, plain) = unpacked_by(
        &DecompressOptions::new().with_read(ReadOptions::new().with_workers(3)),
        source(&bytes),
    );
    let error = report.expect_err("damaged");
    assert_eq!((error.reason(), error.offset()), (FormatReason::Corrupt, Some(begins as u64)));
    assert!(text(0, 3000).starts_with(&plain[..plain.len().min(3000)]));
}
