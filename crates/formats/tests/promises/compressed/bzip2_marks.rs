//! Blocks are found by their marks at any bit, and false marks do not mislead.

use swath::ReadOptions;
use swath_formats::FormatReason;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_reference::battery::Battery;

use crate::compressed::around::{
    packed, packed_by, packed_small, source, text, unpacked, unpacked_by,
};

/// 900 kB of text in one stream of nine blocks, which begin at arbitrary bits.
fn nine_blocks() -> (Vec<u8>, Vec<u8>) {
    let plain = text(1, 900_000);
    let options = CompressOptions::new()
        .with_format(Format::Bzip2)
        .with_level(1)
        .with_block_size(900_000);
    let bytes = packed_by(&options, source(&plain));
    (plain, bytes)
}

#[test]
fn the_blocks_of_one_stream_are_found_by_any_number_of_workers() {
    let (plain, bytes) = nine_blocks();
    for workers in [1, 2, 3, 7] {
        let options =
            DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
        let (report, there) = unpacked_by(&options, source(&bytes));
        assert!(there == plain, "{workers}");
        let frames = report.expect("whole").frames;
        assert!((9..=11).contains(&frames), "{frames} blocks");
    }
}

const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn add(&mut self, value: u64, len: u32) {
        self.0.extend((0..len).rev().map(|bit| value >> bit & 1 == 1));
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            let on = |bit: usize| bits.get(bit).is_some_and(|&on| on);
            (0..8).fold(0, |byte, bit| byte << 1 | u8::from(on(bit)))
        };
        self.0.chunks(8).map(byte).collect()
    }
}

/// A stream of one block whose coded data is literally `inside`: with a code of 256 symbols of 8
/// bits each, every byte can be spelled except 255, which ends the block.
fn spelled(inside: &[u8], checksum: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.add(0x425a_6839, 32);
    bits.add(BLOCK, 48);
    bits.add(u64::from(checksum), 32);
    // Not randomised; the first row of the sorted block.
    bits.add(0, 25);
    // 254 different bytes occur and two symbols are for runs, so the end is symbol 255.
    bits.add(0xffff, 16);
    for _ in 0..15 {
        bits.add(0xffff, 16);
    }
    bits.add(0xfffc, 16);
    // Two tables, and always the first of them.
    let selectors = (inside.len() as u64 + 1).div_ceil(50);
    bits.add(2, 3);
    bits.add(selectors, 15);
    for _ in 0..selectors {
        bits.add(0, 1);
    }
    for _ in 0..2 {
        bits.add(8, 5);
        for _ in 0..256 {
            bits.add(0, 1);
        }
    }
    for &byte in inside.iter().chain([&255]) {
        bits.add(u64::from(byte), 8);
    }
    bits.add(END, 48);
    bits.add(u64::from(checksum), 32);
    bits.bytes()
}

/// Returns what such a stream decodes to, and the stream with the right checksum.
fn spelled_well(inside: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut plain = Vec::with_capacity(1 << 20);
    // The output is available before the checksum turns out to be wrong.
    let wrong = bzip2::Decompress::new(false).decompress_vec(&spelled(inside, 0), &mut plain);
    assert!(wrong.is_err() && !plain.is_empty(), "{wrong:?}");
    let checksum = !plain.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
            crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 }
        })
    });
    (plain, spelled(inside, checksum))
}

fn mark(mark: u64) -> [u8; 6] {
    *mark.to_be_bytes().last_chunk().expect("six of eight")
}

#[test]
fn a_mark_within_a_block_is_none() {
    let insides = [
        [b"some data", &mark(BLOCK)[..], b"more data"].concat(),
        [b"some data", &mark(END)[..], b"and sixteen more bytes of it"].concat(),
        [&mark(BLOCK)[..], &mark(END), &mark(BLOCK), b"x", &mark(BLOCK)].concat(),
        mark(BLOCK).repeat(30),
    ];
    for inside in Battery::of_list("combinations", 1, insides) {
        let (plain, bytes) = spelled_well(&inside);
        // Alone, and before and after other streams.
        let other = text(3, 300_000);
        let packed = packed_small(Format::Bzip2, &other);
        let three = [&packed[..], &bytes, &packed].concat();
        let wanted = [&other[..], &plain, &other].concat();
        for workers in [1, 2, 5] {
            let options =
                DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
            let (report, there) = unpacked_by(&options, source(&bytes));
            assert!(there == plain, "{report:?}");
            let (report, there) = unpacked_by(&options, source(&three));
            assert!(there == wanted, "{report:?}");
            assert!(report.expect("whole").rest.is_none());
        }
    }
}

#[test]
fn more_false_marks_than_chance_makes_are_refused() {
    let (_, bytes) = spelled_well(&mark(BLOCK).repeat(80));
    assert_eq!(unpacked(&bytes).expect_err("an attack").reason(), FormatReason::Corrupt);
}

#[test]
fn a_block_within_a_block_is_refused() {
    // The inner stream is spelled by the outer one, so it cannot contain the outer one's end.
    let inner = (0..).map(|seed| packed(Format::Bzip2, &text(seed, 60)));
    let inner = inner.into_iter().find(|inner| !inner.contains(&255)).expect("one of many");
    let (plain, bytes) = spelled_well(&inner);
    for workers in [1, 2, 5] {
        let options =
            DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
        match unpacked_by(&options, source(&bytes)) {
            (Ok(_), there) => assert!(there == plain),
            (Err(error), _) => assert_eq!(error.reason(), FormatReason::Corrupt),
        }
    }
}

#[test]
fn a_stream_of_nothing_but_ends_is_empty() {
    let empty = packed(Format::Bzip2, b"");
    assert_eq!(empty, b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0");
    let many = empty.repeat(50);
    assert_eq!(unpacked(&many).expect("valid"), b"");
}

#[test]
fn a_wrong_checksum_of_the_whole_stream_is_corrupt() {
    let (_, mut bytes) = nine_blocks();
    // The last bits, except the padding.
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let error = unpacked(&bytes).expect_err("the sum of the blocks is another");
    assert_eq!(error.reason(), FormatReason::Corrupt, "{error}");
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn blocks_that_were_exchanged_are_corrupt() {
    let bytes = packed_small(Format::Bzip2, &text(2, 9_000));
    let marks: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"BZh9")).collect();
    // Streams may be in any order; a block with another one's checksum is an error.
    let mut wrong = bytes.clone();
    let (left, right) = wrong.split_at_mut(marks[1]);
    left[10..14].swap_with_slice(&mut right[10..14]);
    assert_eq!(unpacked(&wrong).expect_err("exchanged").reason(), FormatReason::Corrupt);
}

#[test]
fn blocks_behind_the_end_are_none_as_to_bzip2() {
    let plain = text(4, 20_000);
    let packed = packed_small(Format::Bzip2, &plain);
    // Streams that begin where none may begin.
    let bytes = [&packed[..], b"junk", &packed].concat();
    for workers in [1, 2, 5] {
        let options =
            DecompressOptions::new().with_read(ReadOptions::new().with_workers(workers));
        let (report, there) = unpacked_by(&options, source(&bytes));
        let rest = report.expect("skipped").rest;
        assert!(there == plain, "{rest:?}");
        assert_eq!(rest, Some(packed.len() as u64..bytes.len() as u64));
    }
}
