//! Finds the lines of a plan that a piece completes.

use alloc::vec;
use alloc::vec::Vec;

use super::arrange::{Arranged, Item};

/// Counts, for each line of a plan, the pieces that are still missing.
///
/// Needed only with a callback for each line: it costs memory and time per line. Lines without
/// bytes are never returned.
#[derive(Clone, Debug)]
pub struct Chunks {
    left: Vec<usize>,
    /// Lines, piece by piece.
    lines: Vec<usize>,
    /// The start of each piece's lines, and the end of the last.
    starts: Vec<usize>,
}

impl Chunks {
    /// Finds the pieces of each of `items`, from which `arranged` was made.
    pub fn new(items: &[Item], arranged: &Arranged) -> Self {
        let pieces = arranged.pieces();
        let of = |item: &Item| {
            let key = (item.file, item.extent.offset());
            let first = pieces.partition_point(|piece| (piece.file, piece.extent.end()) <= key);
            let key = (item.file, item.extent.end());
            let end = pieces.partition_point(|piece| (piece.file, piece.extent.offset()) < key);
            if item.extent.is_empty() { 0..0 } else { first..end }
        };
        let ranges: Vec<_> = items.iter().map(of).collect();
        let mut starts = vec![0; pieces.len() + 1];
        for piece in ranges.iter().cloned().flatten() {
            starts[piece + 1] += 1;
        }
        for piece in 1..starts.len() {
            starts[piece] += starts[piece - 1];
        }
        let mut ends = starts.clone();
        let mut lines = vec![0; starts[pieces.len()]];
        for (line, range) in ranges.iter().enumerate() {
            for piece in range.clone() {
                lines[ends[piece]] = line;
                ends[piece] += 1;
            }
        }
        Self { left: ranges.iter().map(ExactSizeIterator::len).collect(), lines, starts }
    }

    /// Marks a piece as read: adds the lines that are now complete to `complete`.
    ///
    /// Call it once for each piece.
    pub fn done(&mut self, piece: usize, complete: &mut Vec<usize>) {
        for &line in &self.lines[self.starts[piece]..self.starts[piece + 1]] {
            self.left[line] -= 1;
            if self.left[line] == 0 {
                complete.push(line);
            }
        }
    }
}
