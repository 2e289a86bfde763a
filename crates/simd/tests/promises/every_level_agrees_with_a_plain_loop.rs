//! Every level, at every length and alignment around a vector, gives the result of a plain loop.

use proptest::prelude::*;
use swath_simd::{
    Cells, Level, count, count_at, count_cells, portable, sum, sum_at, sum_cells,
};

const ALIGNMENTS: usize = 64;
const LENGTHS: usize = 300;

fn plain_sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

fn plain_count(bytes: &[u8], byte: u8) -> u64 {
    bytes.iter().map(|&here| u64::from(here == byte)).sum()
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| {
        if !level.available() {
            eprintln!("skipped: this processor has no {level}");
        }
        level.available()
    })
}

fn cells(bytes: &[u8]) -> Cells<'_> {
    // SAFETY: nothing stores to a slice that is lent.
    unsafe { Cells::of_foreign(bytes.as_ptr(), bytes.len()) }
}

fn check(bytes: &[u8], byte: u8) {
    let (wanted_sum, wanted_count) = (plain_sum(bytes), plain_count(bytes, byte));
    for level in levels() {
        assert_eq!(sum_at(level, bytes), wanted_sum, "{level}, {} bytes", bytes.len());
        assert_eq!(count_at(level, bytes, byte), wanted_count, "{level}, {}", bytes.len());
    }
    assert_eq!((sum(bytes), count(bytes, byte)), (wanted_sum, wanted_count));
    assert_eq!(
        (portable::sum(bytes), portable::count(bytes, byte)),
        (wanted_sum, wanted_count)
    );
    let cells = cells(bytes);
    assert_eq!((sum_cells(cells), count_cells(cells, byte)), (wanted_sum, wanted_count));
}

#[test]
fn every_length_and_alignment_around_a_vector_is_exact() {
    let bytes: Vec<u8> = (0..LENGTHS + 2 * ALIGNMENTS)
        .map(|index| index.wrapping_mul(167).to_le_bytes()[0] >> (index % 3))
        .collect();
    for start in 0..ALIGNMENTS {
        for len in 0..=LENGTHS {
            check(&bytes[start..start + len], 7);
        }
    }
}

#[test]
fn no_accumulator_overflows_where_every_byte_is_255() {
    let bytes = vec![255; (1 << 20) + 3];
    check(&bytes, 255);
    check(&bytes[1..], 255);
    check(&bytes, 254);
}

#[test]
fn bytes_that_differ_only_in_the_top_bit_are_not_counted() {
    let bytes: Vec<u8> = [0x00, 0x80, 0x01, 0x81, 0x7f, 0xff].repeat(100);
    for byte in [0x00, 0x80, 0x01, 0x81, 0x7f, 0xff] {
        check(&bytes, byte);
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[test]
#[should_panic(expected = "this processor has no avx2")]
fn a_missing_level_is_refused() {
    let _ = sum_at(Level::Avx2, &[]);
}

proptest! {
    #[test]
    fn random_bytes_are_summed_and_counted_exactly(
        bytes in proptest::collection::vec(any::<u8>(), 0..20_000),
        few in proptest::collection::vec(0_u8..3, 0..20_000),
        start in 0..ALIGNMENTS,
        byte in any::<u8>(),
    ) {
        check(&bytes[start.min(bytes.len())..], byte);
        check(&few[start.min(few.len())..], 1);
    }
}
