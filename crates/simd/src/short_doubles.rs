//! The shortest text of doubles that have few decimals, eight doubles at a time.
//!
//! ```text
//! doubles   0.5  -12.25  1e300  3.0
//! rooms     0.5  -12.25  ·      3.0      32 bytes each
//! lengths   3    6       0      3        0: another double, which is formatted otherwise
//! ```
//!
//! Divisions, multiplications and comparisons are done for all eight at once. Only the end of each
//! text, which depends on its digits, is found one by one.

use crate::digits::{ASCII, eight_of_any};
use crate::level::{Detected, Level, detected};
use crate::masks::{Kernel, Masks, run};

/// The number of bytes of room for a text.
pub const TEXT_ROOM: usize = 32;

/// The number of doubles at a time.
const LANES: usize = 8;
/// The limit from which doubles have more than fifteen digits, or no decimals.
const MOST: f64 = 1e8;
/// The number of units of the last decimal in one.
const UNITS: f64 = 1e7;
/// The limit from which doubles are whole numbers, equal to their lowest bits.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// A mask of those bits.
const WHOLE: u64 = (1 << 52) - 1;
/// The limit in units: below 10^-5, an exponent is usual.
const LEAST: f64 = 100.0;

/// Stores the shortest text of each double that has at most seven decimals, and at most fifteen
/// digits, in its room, and the length of the text in `lens`: 0 for any other double. The rest of a
/// room is unspecified. Stores as many as all three slices have room for.
///
/// No two numbers of fifteen digits have the same nearest double. So if a double is the nearest to
/// such a number, which one rounded division shows, there is no shorter text, and no other one of
/// this length.
///
/// ```
/// use swath_simd::{TEXT_ROOM, put_short_doubles};
///
/// let (mut rooms, mut lens) = ([[0; TEXT_ROOM]; 3], [0; 3]);
/// put_short_doubles(&[-12.25, 3.0, 1e300], &mut rooms, &mut lens);
/// assert_eq!(lens, [6, 3, 0]);
/// assert_eq!(&rooms[0][..6], b"-12.25");
/// assert_eq!(&rooms[1][..3], b"3.0");
/// ```
pub fn put_short_doubles(values: &[f64], rooms: &mut [[u8; TEXT_ROOM]], lens: &mut [usize]) {
    put(detected(), values, rooms, lens);
}

/// Like [`put_short_doubles`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
pub fn put_short_doubles_at(
    level: Level,
    values: &[f64],
    rooms: &mut [[u8; TEXT_ROOM]],
    lens: &mut [usize],
) {
    put(level.detected(), values, rooms, lens);
}

fn put(level: Detected, values: &[f64], rooms: &mut [[u8; TEXT_ROOM]], lens: &mut [usize]) {
    let count = values.len().min(rooms.len()).min(lens.len());
    let (values, rooms, lens) = (&values[..count], &mut rooms[..count], &mut lens[..count]);
    run(level, Put { values, rooms, lens });
}

struct Put<'p> {
    values: &'p [f64],
    rooms: &'p mut [[u8; TEXT_ROOM]],
    lens: &'p mut [usize],
}

impl Kernel for Put<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, _: M) {
        let Self { values, rooms, lens } = self;
        let (eights, rest) = values.as_chunks::<LANES>();
        let (eight_rooms, rest_rooms) = rooms.as_chunks_mut::<LANES>();
        let (eight_lens, rest_lens) = lens.as_chunks_mut::<LANES>();
        for ((values, rooms), lens) in eights.iter().zip(eight_rooms).zip(eight_lens) {
            put_eight(values, rooms, lens);
        }
        if !rest.is_empty() {
            let mut padded = [0.0; LANES];
            padded[..rest.len()].copy_from_slice(rest);
            let (mut rooms, mut lens) = ([[0; TEXT_ROOM]; LANES], [0; LANES]);
            put_eight(&padded, &mut rooms, &mut lens);
            rest_rooms.copy_from_slice(&rooms[..rest.len()]);
            rest_lens.copy_from_slice(&lens[..rest.len()]);
        }
    }
}

#[inline(always)]
fn put_eight(
    values: &[f64; LANES],
    rooms: &mut [[u8; TEXT_ROOM]; LANES],
    lens: &mut [usize; LANES],
) {
    let (mut wholes, mut decimals, mut are_short) = ([0; LANES], [0; LANES], [false; LANES]);
    for lane in 0..LANES {
        let magnitude = values[lane].abs();
        // The nearest whole number of units: adding 2^52 rounds.
        let units = magnitude * UNITS + TWO_52 - TWO_52;
        are_short[lane] = (magnitude < MOST)
            & (units / UNITS == magnitude)
            & ((units >= LEAST) | (units == 0.0));
        // Rounded down: the nearest whole number, or the one before it.
        let nearest = magnitude + TWO_52 - TWO_52;
        let whole = if nearest > magnitude { nearest - 1.0 } else { nearest };
        wholes[lane] = (whole + TWO_52).to_bits() & WHOLE;
        // Exact: neither has more than fifteen digits.
        decimals[lane] = ((units - whole * UNITS) * 10.0 + TWO_52).to_bits() & WHOLE;
    }
    for lane in 0..LANES {
        // Not `map`, which is not compiled for the instructions of this level.
        (wholes[lane], decimals[lane]) =
            (eight_of_any(wholes[lane]), eight_of_any(decimals[lane]));
    }
    for lane in 0..LANES {
        let room = &mut rooms[lane];
        room[0] = b'-';
        let start = usize::from(values[lane].is_sign_negative());
        // The first digit is in the lowest byte. Keep the last digit of 0.
        let zeros = (wholes[lane] | 1 << 56).trailing_zeros() / 8;
        let text = (wholes[lane] | ASCII) >> (8 * zeros);
        room[start..start + 8].copy_from_slice(&text.to_le_bytes());
        let end = start + 8 - zeros as usize;
        room[end] = b'.';
        room[end + 1..end + 9].copy_from_slice(&(decimals[lane] | ASCII).to_le_bytes());
        // The last digit is in the highest byte; a zero is kept if it is the only one.
        let zeros = (decimals[lane] | 1).leading_zeros() / 8;
        lens[lane] = if are_short[lane] { end + 9 - zeros as usize } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats with the standard library: no exponent for 10^-5 and above, and no `.0`.
    fn slowly(value: f64) -> Option<String> {
        let text = format!("{value}");
        let text = if text.contains('.') { text } else { format!("{text}.0") };
        let (_, decimals) = text.split_once('.')?;
        let is_small = value != 0.0 && value.abs() < 1e-5;
        (value.abs() < 1e8 && decimals.len() <= 7 && !is_small).then_some(text)
    }

    fn check(values: &[f64]) -> usize {
        let (mut rooms, mut lens) =
            (vec![[b'x'; TEXT_ROOM]; values.len()], vec![9; values.len()]);
        let mut short = 0;
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            put_short_doubles_at(level, values, &mut rooms, &mut lens);
            for ((value, room), &len) in values.iter().zip(&rooms).zip(&lens) {
                let wanted = slowly(*value).unwrap_or_default();
                assert_eq!(room[..len], *wanted.as_bytes(), "{level}: {value:e}");
                short += usize::from(len > 0);
            }
        }
        short
    }

    #[test]
    fn texts_are_those_of_the_library() {
        let mut next = swath_reference::splitmix(51);
        let mut values =
            vec![0.0, f64::NAN, f64::INFINITY, f64::MAX, 5e-324, 1e8, 1e-5, 9.9e-6];
        values.extend([
            0.1,
            0.5,
            1.0,
            9.999_999_9,
            99_999_999.999_999_9,
            4_503_599_627_370_496.0,
        ]);
        for digits in 0..17 {
            for decimals in 0..20 {
                let numbers = (0..50).map(|_| next() % 10_u64.pow(digits));
                let texts = numbers.map(|number| format!("{number}e-{decimals}"));
                values.extend(texts.map(|text| text.parse::<f64>().expect("a number")));
            }
        }
        values.extend((0..20_000).map(|_| f64::from_bits(next())));
        let near = |value: f64| [value, -value, value.next_up(), value.next_down()];
        let values: Vec<f64> = values.into_iter().flat_map(near).collect();
        assert!(check(&values) > 1000);
        for len in 0..20 {
            check(&values[..len]);
        }
    }

    #[test]
    fn as_many_are_put_as_there_is_room_for() {
        let (mut rooms, mut lens) = ([[0; TEXT_ROOM]; 9], [7; 10]);
        put_short_doubles(&[0.5; 12], &mut rooms, &mut lens);
        assert_eq!(lens, [3, 3, 3, 3, 3, 3, 3, 3, 3, 7]);
        assert_eq!(&rooms[8][..3], b"0.5");
    }
}
