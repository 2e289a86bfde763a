//! Every level, at every length and alignment around a mask, finds what a plain loop finds.

use proptest::prelude::*;
use swath_simd::{Level, Positions, find};

fn plain(bytes: &[u8], byte: u8) -> Vec<usize> {
    (0..bytes.len()).filter(|&at| bytes[at] == byte).collect()
}

fn plain_outside(bytes: &[u8], (byte, quote): (u8, u8), mut inside: bool) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, &here) in bytes.iter().enumerate() {
        if here == quote {
            inside = !inside;
        } else if here == byte && !inside {
            found.push(at);
        }
    }
    found
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| {
        if !level.available() {
            eprintln!("skipped: this processor has no {level}");
        }
        level.available()
    })
}

fn check(bytes: &[u8], byte: u8, quote: u8) {
    let wanted = plain(bytes, byte);
    assert_eq!(find(bytes, byte), wanted.first().copied());
    assert!(Positions::new(bytes, byte).eq(wanted.iter().copied()));
    for level in levels() {
        let found: Vec<_> = Positions::new_at(level, bytes, byte).collect();
        assert_eq!(found, wanted, "{level}, {} bytes", bytes.len());
        for inside in [false, true] {
            let wanted = plain_outside(bytes, (byte, quote), inside);
            let found: Vec<_> =
                Positions::outside_at(level, bytes, byte, quote, inside).collect();
            assert_eq!(found, wanted, "{level}, {} bytes, inside {inside}", bytes.len());
        }
    }
    let found = Positions::outside(bytes, byte, quote, false);
    assert!(found.eq(plain_outside(bytes, (byte, quote), false)));
}

#[test]
fn every_length_and_alignment_around_a_mask_is_exact() {
    let bytes: Vec<u8> = (0_usize..1300)
        .map(|index| index.wrapping_mul(167).wrapping_add(index / 7).to_le_bytes()[0] % 5)
        .collect();
    for start in 0..64 {
        for len in (0..140).chain(500..580).chain(1020..1030) {
            // The padding after the last bytes is 0.
            check(&bytes[start..start + len], 0, 1);
            check(&bytes[start..start + len], 3, 2);
        }
    }
}

#[test]
fn masks_of_all_and_no_bits_are_listed_exactly() {
    for len in [1, 63, 64, 65, 511, 512, 513, 2000] {
        check(&vec![7; len], 7, 8);
        check(&vec![7; len], 8, 7);
        check(&[vec![8; len], vec![7; len]].concat(), 7, 9);
    }
}

#[test]
fn bytes_that_differ_only_in_the_top_bit_are_not_found() {
    let bytes: Vec<u8> = [0x00, 0x80, 0x01, 0x81, 0x7f, 0xff].repeat(100);
    for byte in [0x00, 0x80, 0x01, 0x81, 0x7f, 0xff] {
        check(&bytes, byte, byte ^ 1);
    }
}

proptest! {
    #[test]
    fn random_bytes_are_found_exactly(
        bytes in proptest::collection::vec(any::<u8>(), 0..5_000),
        few in proptest::collection::vec(0_u8..3, 0..5_000),
        byte in any::<u8>(),
    ) {
        check(&bytes, byte, byte.wrapping_add(1));
        check(&few, 0, 1);
    }
}
