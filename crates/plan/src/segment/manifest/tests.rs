use super::*;
use alloc::string::{String, ToString};
use alloc::{format, vec};
use proptest::prelude::*;
use proptest::sample::Index;

/// CRC-32C (Castagnoli), bit by bit.
fn crc32c_append(previous: u32, bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| (sum >> 1) ^ (0x82f6_3b78 * (sum & 1));
    let add = |sum: u32, &byte: &u8| (0..8).fold(sum ^ u32::from(byte), step);
    !bytes.iter().fold(!previous, add)
}

fn decode(bytes: &[u8]) -> Result<Manifest, ManifestError> {
    Manifest::decode(bytes, crc32c_append)
}

/// Every field as it will be encoded, right or wrong.
#[derive(Clone)]
struct Raw {
    version: u32,
    flags: u32,
    total: u64,
    segment_count: u32,
    extent_count: u64,
    segments: Vec<(u64, Vec<u8>)>,
    /// First number, checksum, offset, length.
    extents: Vec<(u32, u32, u64, u64)>,
}

/// Two segments of 100 bytes; 10 bytes of the first, 20 of the second, 30 of the first.
fn sound() -> Raw {
    Raw {
        version: 1,
        flags: 0,
        total: 60,
        segment_count: 2,
        extent_count: 3,
        segments: vec![(100, b"first".to_vec()), (100, b"second".to_vec())],
        extents: vec![(0, 0, 0, 10), (1 << 31 | 1, 7, 80, 20), (0, 0, 10, 30)],
    }
}

const FIRST_SEGMENT: usize = HEADER_LEN;
const SECOND_SEGMENT: usize = FIRST_SEGMENT + SEGMENT_LEN + 5;
const FIRST_EXTENT: usize = SECOND_SEGMENT + SEGMENT_LEN + 6;
const SECOND_EXTENT: usize = FIRST_EXTENT + EXTENT_LEN;
const THIRD_EXTENT: usize = SECOND_EXTENT + EXTENT_LEN;
const SUM: usize = THIRD_EXTENT + EXTENT_LEN;

impl Raw {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.total.to_le_bytes());
        bytes.extend(self.segment_count.to_le_bytes());
        bytes.extend(self.extent_count.to_le_bytes());
        for (len, name) in &self.segments {
            bytes.extend(len.to_le_bytes());
            bytes.push(u8::try_from(name.len()).expect("short"));
            bytes.extend(name);
        }
        for (first, sum, offset, len) in &self.extents {
            bytes.extend(first.to_le_bytes());
            bytes.extend(sum.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            bytes.extend(len.to_le_bytes());
        }
        with_sum(bytes)
    }
}

fn with_sum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32c_append(0, &bytes).to_le_bytes());
    bytes
}

/// Changes the sound manifest, gives it a right checksum, and expects it to be refused for one
/// reason.
#[track_caller]
fn refused(fault: Fault, offset: usize, change: impl FnOnce(&mut Raw)) {
    let mut raw = sound();
    change(&mut raw);
    let error = decode(&raw.bytes()).expect_err("hostile");
    assert_eq!(error, ManifestError::new(fault, offset), "{error}");
}

#[test]
fn the_bytes_of_version_1_never_change() {
    assert_eq!(crc32c_append(0, b"123456789"), 0xe306_9283, "the published check value");
    let bytes = b"SWATHMAN\x01\0\0\0\0\0\0\0\x3c\0\0\0\0\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\
        \x64\0\0\0\0\0\0\0\x05first\x64\0\0\0\0\0\0\0\x06second\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\
        \x01\0\0\x80\x07\0\0\0\x50\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\
        \0\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\x1e\0\0\0\0\0\0\0";
    let bytes = with_sum(bytes.to_vec());
    assert_eq!(bytes, sound().bytes());
    let manifest = decode(&bytes).expect("sound");
    assert_eq!((manifest.len(), manifest.segments().len()), (60, 2));
    let second =
        ManifestExtent { segment: 1, extent: Extent::between(80, 100), crc32c: Some(7) };
    assert_eq!(manifest.extents()[1], second);
    assert_eq!(manifest.encode(crc32c_append), bytes);
}

#[test]
fn a_manifest_of_nothing_is_an_empty_file() {
    let bytes = Manifest::default().encode(crc32c_append);
    assert_eq!(bytes.len(), HEADER_LEN + SUM_LEN);
    let manifest = decode(&bytes).expect("sound");
    assert!(manifest.is_empty() && manifest == Manifest::default());
}

#[test]
fn what_is_no_manifest_of_this_version_is_said_before_any_damage() {
    for bytes in [&b"#!/bin/sh"[..], b"SWATHMAX", b"s", &[0; 100]] {
        assert_eq!(decode(bytes), Err(ManifestError::new(Fault::Magic, 0)));
    }
    for bytes in [&b""[..], b"S", b"SWATHMAN", b"SWATHMAN\x01\0\0"] {
        assert_eq!(decode(bytes), Err(ManifestError::new(Fault::Truncated, bytes.len())));
    }
    let later = b"SWATHMAN\x02\0\0\0 and what is not known yet";
    assert_eq!(decode(later), Err(ManifestError::new(Fault::Version(2), VERSION_AT)));
    refused(Fault::Version(0), VERSION_AT, |raw| raw.version = 0);
    refused(Fault::Flags(1 << 31), FLAGS_AT, |raw| raw.flags = 1 << 31);
}

#[test]
fn counts_that_the_bytes_cannot_hold_are_refused() {
    let end = SUM + SUM_LEN;
    refused(Fault::Truncated, end, |raw| raw.segment_count = u32::MAX);
    refused(Fault::Truncated, end, |raw| raw.segment_count = 1 << 20);
    for count in [4, 1 << 40, u64::MAX / 24, u64::MAX / 24 + 2, u64::MAX] {
        refused(Fault::Truncated, end, |raw| raw.extent_count = count);
    }
    // As many as the bytes contain, but no longer where they are.
    refused(Fault::Trailing, SECOND_EXTENT + EXTENT_LEN + SUM_LEN, |raw| {
        raw.extent_count = 2;
    });
    refused(Fault::Trailing, FIRST_EXTENT + SUM_LEN, |raw| raw.extent_count = 0);
}

#[test]
fn bytes_behind_the_end_are_refused_though_the_checksum_is_right() {
    let mut bytes = sound().bytes();
    bytes.truncate(SUM);
    bytes.push(0);
    let error = decode(&with_sum(bytes)).expect_err("one byte too long");
    assert_eq!(error, ManifestError::new(Fault::Trailing, SUM + SUM_LEN));
}

#[test]
fn a_wrong_checksum_is_refused() {
    let mut bytes = sound().bytes();
    bytes[SUM] ^= 1;
    assert_eq!(decode(&bytes), Err(ManifestError::new(Fault::Checksum, SUM)));
}

#[test]
fn hostile_names_are_refused() {
    let long = [b'n'; 255];
    for (name, why) in [
        (&b""[..], "is empty"),
        (b"a/b", "contains a slash"),
        (b"/etc/passwd", "contains a slash"),
        (b"a\0b", "contains a NUL"),
        (b".", "starts with a dot"),
        (b"..", "starts with a dot"),
        (b".hidden", "starts with a dot"),
        (b"MANIFEST", "is the name of the manifest"),
        (b"\xff\xfe", "is not UTF-8"),
    ] {
        let name = name.to_vec();
        refused(Fault::Name(why), SECOND_SEGMENT, |raw| raw.segments[1].1 = name);
    }
    refused(Fault::NameTwice, SECOND_SEGMENT, |raw| raw.segments[1].1 = b"first".to_vec());
    let mut raw = sound();
    raw.segments[1].1 = long.to_vec();
    assert!(decode(&raw.bytes()).is_ok(), "the longest name");
    let name = "n".repeat(256).into();
    let error = Manifest::new(vec![Segment { name, len: 1 }], Vec::new());
    let why = Fault::Name("has more than 255 bytes");
    assert_eq!(error, Err(ManifestError::new(why, FIRST_SEGMENT)));
}

#[test]
fn hostile_extents_are_refused() {
    let third = THIRD_EXTENT;
    refused(Fault::SegmentIndex(2), third, |raw| raw.extents[2].0 = 2);
    let last = u32::MAX >> 1;
    refused(Fault::SegmentIndex(last), third, |raw| raw.extents[2].0 = u32::MAX);
    refused(Fault::UnusedChecksum, third, |raw| raw.extents[2].1 = 1);
    refused(Fault::EmptyExtent, third, |raw| raw.extents[2].3 = 0);
    refused(Fault::BeyondSegment, third, |raw| raw.extents[2].3 = 91);
    refused(Fault::BeyondSegment, third, |raw| raw.extents[2].2 = 71);
    refused(Fault::BeyondSegment, third, |raw| raw.extents[2].2 = u64::MAX - 30);
    refused(Fault::ExtentOverflow, third, |raw| raw.extents[2].2 = u64::MAX - 29);
    refused(Fault::ExtentOverflow, third, |raw| raw.extents[2].3 = u64::MAX);
    refused(Fault::BeyondSegment, FIRST_EXTENT, |raw| raw.segments[0].0 = 9);
}

#[test]
fn bytes_used_twice_are_refused() {
    // In the order of offsets, out of it, the same extent again, one inside another.
    for (offset, len) in [(9, 30), (0, 1), (0, 10), (3, 2), (0, 30)] {
        refused(Fault::Overlap, THIRD_EXTENT, |raw| {
            (raw.extents[2].2, raw.extents[2].3) = (offset, len);
        });
    }
    // The later of the two in serial order is the one that is reported, wherever it is.
    refused(Fault::Overlap, THIRD_EXTENT, |raw| {
        raw.extents[0].2 = 39;
        raw.total = 60;
    });
    let mut raw = sound();
    raw.extents[0].2 = 40;
    assert!(decode(&raw.bytes()).is_ok(), "neighbours share nothing");
    raw.extents[2].0 = 1;
    raw.extents[2].2 = 50;
    assert!(decode(&raw.bytes()).is_ok(), "neither do those of other segments");
}

#[test]
fn a_wrong_total_is_refused() {
    for total in [0, 59, 61, u64::MAX] {
        refused(Fault::Total, TOTAL_AT, |raw| raw.total = total);
    }
    refused(Fault::TotalOverflow, THIRD_EXTENT, |raw| {
        raw.segments = vec![(u64::MAX, b"first".to_vec()), (100, b"second".to_vec())];
        raw.extents[2] = (0, 0, 10, u64::MAX - 10);
        // The rest if the sum wraps around.
        raw.total = 19;
    });
}

#[test]
fn an_error_says_what_and_where() {
    let mut raw = sound();
    raw.segments[1].1 = b"..".to_vec();
    let error = decode(&raw.bytes()).expect_err("hostile");
    assert_eq!(
        error.to_string(),
        "a segment's name starts with a dot (byte 50 of the manifest)"
    );
}

/// A name, then gap, length, checksum and place in the serial order of each extent.
type Pieces = (String, Vec<(u64, u64, Option<u32>, u32)>);

/// A manifest of disjoint extents, mixed up.
fn manifest_of(segments: Vec<Pieces>) -> Manifest {
    let (mut kept, mut extents) = (Vec::new(), Vec::new());
    for (index, (name, pieces)) in (0_u32..).zip(segments) {
        let mut end = 0;
        for (gap, len, crc32c, key) in pieces {
            let extent = Extent::new(end + gap, len).expect("fits");
            end = extent.end();
            extents.push((key, ManifestExtent { segment: index, extent, crc32c }));
        }
        kept.push(Segment { name: format!("{index}{name}").into(), len: end + 3 });
    }
    extents.sort_by_key(|it| it.0);
    let extents = extents.into_iter().map(|it| it.1).collect();
    Manifest::new(kept, extents).expect("made by the rules")
}

fn any_manifest() -> impl Strategy<Value = Manifest> {
    let piece = (0_u64..9, 1_u64..1 << 40, any::<Option<u32>>(), 0_u32..1000);
    let pieces = proptest::collection::vec(piece, 0..20);
    proptest::collection::vec(("[^/\0]{0,20}", pieces), 0..6).prop_map(manifest_of)
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(manifest in any_manifest()) {
        let bytes = manifest.encode(crc32c_append);
        prop_assert_eq!(decode(&bytes), Ok(manifest.clone()));
        let sum: u64 = manifest.extents().iter().map(|it| it.extent.len()).sum();
        prop_assert_eq!(manifest.len(), sum);
        let (segments, extents) = manifest.clone().into_parts();
        prop_assert_eq!(Manifest::new(segments, extents), Ok(manifest));
    }

    #[test]
    fn one_flipped_bit_is_refused(manifest in any_manifest(), bits in any::<[Index; 64]>()) {
        let mut bytes = manifest.encode(crc32c_append);
        for bit in bits {
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn whatever_breaks_a_rule_is_refused_in_bytes_as_in_parts(
        manifest in any_manifest(), extra in any::<(u32, u64, u64)>(), few in any::<bool>(),
    ) {
        let (segments, mut extents) = manifest.into_parts();
        let (segment, offset, len) = extra;
        let (segment, offset, len) =
            if few { (segment % 7, offset % 100, len % 100) } else { extra };
        let extent = Extent::new(offset, len);
        let Some(extent) = extent else { return Ok(()) };
        extents.push(ManifestExtent { segment: segment >> 1, extent, crc32c: None });
        let again = |it: &Manifest| decode(&it.encode(crc32c_append));
        match Manifest::new(segments.clone(), extents.clone()) {
            Ok(manifest) => prop_assert_eq!(again(&manifest), Ok(manifest)),
            Err(error) => {
                let len = extents.iter().map(|it| it.extent.len());
                let len = len.fold(0, u64::wrapping_add);
                let broken = Manifest { segments, extents, len };
                prop_assert_eq!(again(&broken), Err(error));
            }
        }
    }

    #[test]
    fn random_bytes_never_panic(
        start in 0_usize..4, bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let header = [&b""[..], MAGIC, b"SWATHMAN\x01\0\0\0", b"SWATHMAN\x01\0\0\0\0\0\0\0"];
        let bytes = [header[start], &bytes].concat();
        prop_assert!(decode(&bytes).is_err());
        prop_assert!(decode(&with_sum(bytes)).is_err(), "one in 2^64 may pass");
    }

    #[test]
    fn damage_under_a_right_checksum_never_panics(
        manifest in any_manifest(), changes in proptest::collection::vec(any::<(Index, u8)>(), 1..9),
    ) {
        let mut bytes = manifest.encode(crc32c_append);
        bytes.truncate(bytes.len() - SUM_LEN);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let bytes = with_sum(bytes);
        if let Ok(manifest) = decode(&bytes) {
            prop_assert_eq!(manifest.encode(crc32c_append), bytes, "there is one form only");
        }
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_of_one_manifest_is_refused() {
    let mut bytes = sound().bytes();
    for len in 0..bytes.len() {
        let error = decode(&bytes[..len]).expect_err("cut off");
        assert_eq!(error, ManifestError::new(Fault::Truncated, len), "cut to {len}");
    }
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bytes).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
