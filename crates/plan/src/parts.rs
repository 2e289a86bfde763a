//! How the bytes of several inputs are divided into the parts of a job.
//!
//! The inputs are seen as one sequence of bytes, in order. Each byte belongs to exactly one part,
//! and parts follow each other in that order, so outputs of parts, one after the other, are the
//! output of the whole.
//!
//! ```
//! use swath_plan::parts::{Division, divide};
//!
//! let parts = divide(&[10, 2], 3, Division::Bytes);
//! let lens: Vec<u64> = parts.iter().flatten().map(|piece| piece.extent.len()).collect();
//! assert_eq!(parts.len(), 3);
//! assert_eq!(lens, [4, 4, 2, 2]); // the third part has bytes of both inputs
//! ```

use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::extent::Extent;

/// Where inputs may be divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Division {
    /// At any byte: for readers that take the records that begin in an extent, and for bytes
    /// without records.
    #[default]
    Bytes,
    /// At any byte, and a part consists of the lines that begin in its bytes. The inputs are seen
    /// as one text: where one does not end with a newline, its last line goes on in the next.
    Lines,
    /// At multiples of this many bytes from the start of each input: for records of one length.
    Width(NonZeroU64),
    /// Between inputs only: for formats that cannot be read from the middle.
    Inputs,
}

/// An extent of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The index of the input.
    pub input: usize,
    /// Its bytes; never empty unless the input is.
    pub extent: Extent,
}

/// Divides inputs of these lengths into exactly `count` parts of nearly equal length. Parts may be
/// empty. Without a byte to divide, empty inputs are spread evenly.
///
/// O(inputs + parts).
pub fn divide(lens: &[u64], count: usize, division: Division) -> Vec<Vec<Piece>> {
    let mut parts: Vec<Vec<Piece>> = Vec::new();
    parts.resize_with(count.max(1), Vec::new);
    let total: u128 = lens.iter().map(|&len| u128::from(len)).sum();
    let mut start: u128 = 0;
    for (input, &len) in lens.iter().enumerate() {
        let place = Place { start, len, total };
        match division {
            Division::Inputs => {
                let part = part_of_input(input, lens.len(), place, parts.len());
                parts[part].push(Piece { input, extent: Extent::between(0, len) });
            }
            Division::Bytes | Division::Lines => cut(&mut parts, input, place, 1),
            Division::Width(width) => cut(&mut parts, input, place, width.get()),
        }
        start += u128::from(len);
    }
    parts
}

/// An input among all bytes.
#[derive(Clone, Copy)]
struct Place {
    start: u128,
    len: u64,
    total: u128,
}

/// The part that the middle of an input is in.
fn part_of_input(index: usize, inputs: usize, at: Place, count: usize) -> usize {
    let part = match at.total {
        0 => index as u128 * count as u128 / inputs as u128,
        total => (at.start + u128::from(at.len) / 2) * count as u128 / total,
    };
    usize::try_from(part).map_or(count - 1, |part| part.min(count - 1))
}

/// Cuts an input at the ends of the parts, each moved down to a multiple of `width`.
fn cut(parts: &mut [Vec<Piece>], input: usize, at: Place, width: u64) {
    if at.len == 0 {
        return;
    }
    let count = parts.len() as u128;
    // The part that the first byte is in, before ends are moved: below `count`.
    let first = usize::try_from(at.start * count / at.total).unwrap_or(usize::MAX);
    let mut from = 0;
    for (part, pieces) in parts.iter_mut().enumerate().skip(first) {
        let end = (part as u128 + 1) * at.total / count;
        let end = end.saturating_sub(at.start).min(u128::from(at.len));
        let end = u64::try_from(end).unwrap_or(at.len);
        let is_last = end == at.len;
        let end = if is_last { end } else { end / width * width };
        if end > from {
            pieces.push(Piece { input, extent: Extent::between(from, end) });
            from = end;
        }
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: [&[u64]; 9] = [
        &[],
        &[0],
        &[1],
        &[10],
        &[10, 0, 3],
        &[1, 1, 1, 1, 1],
        &[0, 0, 0, 100],
        &[7, 1000, 2],
        &[u64::MAX / 2, 5],
    ];

    fn divisions() -> Vec<Division> {
        let width = |width| Division::Width(NonZeroU64::new(width).expect("not 0"));
        Vec::from([
            Division::Bytes,
            Division::Lines,
            width(1),
            width(3),
            width(4096),
            Division::Inputs,
        ])
    }

    #[test]
    fn every_byte_is_in_exactly_one_part_in_order() {
        for lens in LENS {
            for count in [1, 2, 3, 7, 100] {
                for division in divisions() {
                    let parts = divide(lens, count, division);
                    assert_eq!(parts.len(), count);
                    let mut at = (0, 0);
                    for piece in parts.iter().flatten() {
                        while at.1 == lens[at.0] && at.0 < piece.input {
                            at = (at.0 + 1, 0);
                        }
                        assert_eq!(
                            (piece.input, piece.extent.offset()),
                            at,
                            "{lens:?} {count}"
                        );
                        at.1 = piece.extent.end();
                        assert!(at.1 <= lens[at.0]);
                        assert!(!piece.extent.is_empty() || lens[at.0] == 0);
                    }
                    let sum: u64 = parts.iter().flatten().map(|it| it.extent.len()).sum();
                    assert_eq!(sum, lens.iter().sum::<u64>(), "{lens:?} {count} {division:?}");
                }
            }
        }
    }

    #[test]
    fn parts_are_nearly_equal() {
        for count in [1_usize, 3, 16, 1000] {
            let parts = divide(&[100_000, 7, 900_000], count, Division::Bytes);
            let lens = parts.iter().map(|it| it.iter().map(|it| it.extent.len()).sum::<u64>());
            let lens: Vec<u64> = lens.collect();
            let (least, most) = (lens.iter().min(), lens.iter().max());
            assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{lens:?}");
        }
    }

    #[test]
    fn cuts_are_at_multiples_of_the_width_and_inputs_stay_whole() {
        let width = Division::Width(NonZeroU64::new(24).expect("not 0"));
        for piece in divide(&[240, 25], 7, width).iter().flatten() {
            assert_eq!(piece.extent.offset() % 24, 0);
        }
        for piece in divide(&[240, 25, 0], 7, Division::Inputs).iter().flatten() {
            assert_eq!(piece.extent, Extent::between(0, [240, 25, 0][piece.input]));
        }
        let spread = divide(&[0, 0, 0, 0], 2, Division::Inputs);
        assert_eq!(spread.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    }
}
