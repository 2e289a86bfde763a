//! Divides the bytes of several inputs into the parts of a job.
//!
//! The inputs form one sequence of bytes, in order. Each byte belongs to exactly one part, and
//! parts follow each other in that order, so the outputs of the parts, concatenated, are the output
//! of the whole.
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

/// The places where inputs may be divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Division {
    /// At any byte; a part consists of the records that begin in its extents. Each input is divided
    /// separately. Only the program that reads a record knows its end.
    #[default]
    Records,
    /// At any byte; a part consists of exactly its bytes: for programs that need no records.
    Bytes,
    /// At the start of a line, so that a part consists of whole lines. The inputs form one text: if
    /// an input does not end with a newline, its last line continues in the next one. [`divide`]
    /// cannot see lines and cuts at any byte: the caller moves each cut to the next line.
    Lines,
    /// At multiples of this many bytes from the start of each input: for records of fixed length.
    Width(NonZeroU64),
    /// Each input is one part: for formats that cannot be read from the middle, or that begin with
    /// a header. There are as many parts as inputs with bytes; a requested number is ignored.
    Inputs,
    /// Only between inputs; a part may have several: for many small files.
    Groups,
}

/// An extent of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The index of the input.
    pub input: usize,
    /// Its bytes; empty only with [`Division::Groups`], if the input is.
    pub extent: Extent,
}

/// Divides inputs of these lengths into at most `count` parts of nearly equal length; with
/// [`Division::Inputs`] into one part for each input with bytes. No part is empty: there are fewer
/// if there are not enough bytes, records or inputs. If all inputs are empty, they are one part;
/// without inputs there are `count` parts without pieces.
///
/// An empty input is in no part, except with [`Division::Groups`]: there each input is a piece.
///
/// O(inputs + parts).
pub fn divide(lens: &[u64], count: usize, division: Division) -> Vec<Vec<Piece>> {
    let mut parts: Vec<Vec<Piece>> = Vec::new();
    if lens.is_empty() {
        parts.resize_with(count.max(1), Vec::new);
        return parts;
    }
    match division {
        Division::Inputs => {
            let inputs = lens.iter().enumerate().filter(|(_, len)| **len > 0);
            parts.extend(inputs.map(|(input, &len)| Vec::from([whole(input, len)])));
        }
        Division::Groups => parts = groups(lens, count.max(1)),
        Division::Records | Division::Bytes | Division::Lines => {
            parts = cuts(lens, count, 1);
        }
        Division::Width(width) => parts = cuts(lens, count, width.get()),
    }
    if parts.is_empty() {
        parts.push(Vec::new());
    }
    parts
}

fn whole(input: usize, len: u64) -> Piece {
    Piece { input, extent: Extent::between(0, len) }
}

fn total_of(lens: &[u64]) -> u128 {
    lens.iter().map(|&len| u128::from(len)).sum()
}

/// Puts whole inputs in the part that contains their middle; empty ones join the part before them.
fn groups(lens: &[u64], count: usize) -> Vec<Vec<Piece>> {
    let total = total_of(lens).max(1);
    let mut parts: Vec<Vec<Piece>> = Vec::new();
    let (mut start, mut last) = (0, None);
    for (input, &len) in lens.iter().enumerate() {
        let middle = start + u128::from(len) / 2;
        let part = (len > 0).then(|| middle * count as u128 / total);
        let begins = last.is_some() && part.is_some() && part != last;
        match parts.last_mut() {
            Some(pieces) if !begins => pieces.push(whole(input, len)),
            _ => parts.push(Vec::from([whole(input, len)])),
        }
        last = part.or(last);
        start += u128::from(len);
    }
    parts
}

/// Returns parts that end at multiples of `width` in each input.
fn cuts(lens: &[u64], count: usize, width: u64) -> Vec<Vec<Piece>> {
    let total = total_of(lens);
    // Parts beyond the number of bytes would be empty.
    let count = count.clamp(1, usize::try_from(total).unwrap_or(usize::MAX).max(1));
    let mut parts: Vec<Vec<Piece>> = Vec::new();
    parts.resize_with(count, Vec::new);
    let mut start: u128 = 0;
    for (input, &len) in lens.iter().enumerate() {
        cut(&mut parts, input, Place { start, len, total }, width);
        start += u128::from(len);
    }
    // Parts whose ends were moved down to the same place.
    parts.retain(|pieces| !pieces.is_empty());
    parts
}

/// The place of an input among all bytes.
#[derive(Clone, Copy)]
struct Place {
    start: u128,
    len: u64,
    total: u128,
}

/// Cuts an input at the ends of the parts, each moved down to a multiple of `width`.
fn cut(parts: &mut [Vec<Piece>], input: usize, at: Place, width: u64) {
    if at.len == 0 {
        return;
    }
    let count = parts.len() as u128;
    // The part of the first byte, before ends are moved: below `count`.
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
            Division::Records,
            Division::Bytes,
            Division::Lines,
            width(1),
            width(3),
            width(4096),
            Division::Inputs,
            Division::Groups,
        ])
    }

    #[test]
    fn every_byte_is_in_exactly_one_part_in_order() {
        for lens in LENS {
            for count in [1, 2, 3, 7, 100] {
                for division in divisions() {
                    let parts = divide(lens, count, division);
                    let most = match division {
                        Division::Inputs if !lens.is_empty() => lens.len(),
                        _ => count,
                    };
                    assert!(parts.len() <= most, "{lens:?} {count} {division:?}");
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
            assert_eq!(parts.len(), count);
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
        for piece in divide(&[240, 25, 0], 7, Division::Groups).iter().flatten() {
            assert_eq!(piece.extent, Extent::between(0, [240, 25, 0][piece.input]));
        }
    }

    #[test]
    fn no_part_is_empty_unless_all_is() {
        for lens in LENS.into_iter().filter(|lens| !lens.is_empty()) {
            for count in [1, 2, 3, 7, 100] {
                for division in divisions() {
                    let parts = divide(lens, count, division);
                    let lens_of = |pieces: &Vec<Piece>| -> u128 {
                        pieces.iter().map(|it| u128::from(it.extent.len())).sum()
                    };
                    let is_one = parts.len() == 1 && total_of(lens) == 0;
                    let is_full = parts.iter().all(|pieces| lens_of(pieces) > 0);
                    assert!(is_one || is_full, "{lens:?} {count} {division:?}: {parts:?}");
                }
            }
        }
        assert_eq!(divide(&[], 5, Division::Inputs).len(), 5);
    }

    #[test]
    fn each_input_with_bytes_is_a_part_and_groups_have_all_inputs() {
        let inputs = divide(&[1000, 1, 0, 1], 2, Division::Inputs);
        let inputs: Vec<Vec<usize>> =
            inputs.iter().map(|part| part.iter().map(|it| it.input).collect()).collect();
        assert_eq!(inputs, [[0], [1], [3]]);
        let groups = |lens: &[u64], count| -> Vec<Vec<usize>> {
            let parts = divide(lens, count, Division::Groups);
            parts.iter().map(|part| part.iter().map(|it| it.input).collect()).collect()
        };
        assert_eq!(groups(&[0, 5, 0, 5, 0], 2), [Vec::from([0, 1, 2]), Vec::from([3, 4])]);
        assert_eq!(groups(&[0, 0, 0], 2), [[0, 1, 2]]);
        assert_eq!(groups(&[1; 9], 3), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    }
}
