//! Leaves out long runs of zeros in a chunk, since a new file has zeros there.
//!
//! ```text
//! chunk    |..ddd|00000|d0ddd|00000|00000| ... |00000|0|     blocks of the file
//! written   ----- ----- -----                               short runs of zeros too
//! ```

use std::io;
use std::ops::Range;

use swath_plan::words;

use crate::sink::fs::{FsFile, write_all_at};

/// The treatment of long runs of zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sparse {
    /// They are written, and take space.
    #[default]
    Never,
    /// Runs of at least 32 KiB become holes, where the file system has holes.
    Auto,
}

words!(Sparse { Auto = "auto", Never = "never" });

/// The block of most file systems, or a multiple of it.
const BLOCK: usize = 4096;
/// Shorter runs of blocks are written: leaving one out costs another call.
const LEAST: usize = 8;

/// Writes `bytes`, except long runs of zeros, to an unwritten part of a new file. Frees the space of the
/// zeros if it `is_reserved`.
pub(crate) fn write_data(
    file: &dyn FsFile,
    bytes: &[u8],
    offset: u64,
    is_reserved: bool,
) -> io::Result<()> {
    let mut done = 0;
    for Range { start, end } in data(bytes, offset) {
        if is_reserved {
            make_hole(file, offset + done as u64..offset + start as u64);
        }
        write_all_at(file, &bytes[start..end], offset + start as u64)
            .map_err(|(error, _)| error)?;
        done = end;
    }
    if is_reserved {
        make_hole(file, offset + done as u64..offset + bytes.len() as u64);
    }
    Ok(())
}

/// Frees the whole blocks of `zeros`, if there are enough.
fn make_hole(file: &dyn FsFile, zeros: Range<u64>) {
    let block = BLOCK as u64;
    let (start, end) = (zeros.start.next_multiple_of(block), zeros.end / block * block);
    if end.saturating_sub(start) >= block * LEAST as u64 {
        // Reserved bytes read as zeros, with or without a hole.
        let _ = file.make_hole(start, end - start);
    }
}

/// Returns the parts of `bytes` to write at `offset`, in order. The gaps are zeros: at an end of `bytes`, whole
/// blocks of the file, or the part of one that `bytes` has; elsewhere runs of blocks.
fn data(bytes: &[u8], offset: u64) -> Vec<Range<usize>> {
    // Below `BLOCK`.
    let shift = usize::try_from(offset % BLOCK as u64).unwrap_or(0);
    let count = (shift + bytes.len()).div_ceil(BLOCK);
    let start = |block: usize| (block * BLOCK).saturating_sub(shift).min(bytes.len());
    let is_zero = |block: usize| are_zeros(&bytes[start(block)..start(block + 1)]);
    let mut parts = Vec::new();
    let mut begin = (0..count).find(|&block| !is_zero(block)).unwrap_or(count);
    let mut at = begin;
    while at < count {
        // Every long run has a block in every `LEAST`.
        let probe = (at + LEAST - 1).min(count - 1);
        if !is_zero(probe) {
            at = probe + 1;
            continue;
        }
        let from = (at..probe).rev().find(|&block| !is_zero(block)).map_or(at, |last| last + 1);
        let to = (probe + 1..count).find(|&block| !is_zero(block)).unwrap_or(count);
        if to == count || to - from >= LEAST {
            parts.push(start(begin)..start(from));
            begin = to;
        }
        at = to + 1;
    }
    if begin < count {
        parts.push(start(begin)..bytes.len());
    }
    parts
}

/// Compares each byte with the next one; for most data, this ends at the first byte.
fn are_zeros(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [0, rest @ ..] => rest == &bytes[..rest.len()],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes as they are written, laid over zeros.
    fn laid(bytes: &[u8], parts: &[Range<usize>]) -> Vec<u8> {
        let mut laid = vec![0; bytes.len()];
        for part in parts {
            laid[part.clone()].copy_from_slice(&bytes[part.clone()]);
        }
        laid
    }

    #[test]
    fn what_is_left_out_is_zeros_wherever_the_chunk_begins() {
        let run = LEAST * BLOCK;
        for offset in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 17] {
            for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, run, run + 1, 5 * run + 3] {
                let mut bytes = vec![0; len];
                let all = data(&bytes, offset as u64);
                assert!(all.is_empty(), "{offset} {len}: {all:?}");
                for at in [0, 1, BLOCK, len / 2, len.saturating_sub(1)] {
                    let Some(byte) = bytes.get_mut(at) else { continue };
                    *byte = 7;
                    let parts = data(&bytes, offset as u64);
                    assert_eq!(laid(&bytes, &parts), bytes, "{offset} {len} {at} {parts:?}");
                }
            }
        }
    }

    #[test]
    fn a_run_of_zeros_is_left_out_from_its_least_length_on() {
        let (block, run) = (BLOCK as u64, LEAST * BLOCK);
        for before in [BLOCK, 2 * BLOCK, 7 * BLOCK, 8 * BLOCK, 20 * BLOCK] {
            let chunk = |zeros: usize| {
                [&vec![1; before][..], &vec![0; zeros], &vec![1; BLOCK]].concat()
            };
            let (short, long) = (chunk(run - BLOCK), chunk(run));
            assert_eq!(
                data(&short, block),
                std::slice::from_ref(&(0..short.len())),
                "{before}"
            );
            let expected = [0..before, before + run..before + run + BLOCK];
            assert_eq!(data(&long, block), expected, "{before}");
            // Blocks are aligned in the file, not in the chunk.
            assert_eq!(
                data(&long, block + 1),
                std::slice::from_ref(&(0..long.len())),
                "{before}"
            );
        }
    }

    #[test]
    fn bytes_are_zeros_only_if_all_are() {
        for len in [1, 2, 4096] {
            assert!(are_zeros(&vec![0; len]));
            for at in [0, len / 2, len - 1] {
                let mut bytes = vec![0; len];
                bytes[at] = 1;
                assert!(!are_zeros(&bytes), "{len} {at}");
            }
        }
        assert!(are_zeros(&[]) && !are_zeros(&[1, 1]));
    }
}
