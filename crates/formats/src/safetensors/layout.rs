//! Places the bytes of tensors in memory so that their elements are aligned.
//!
//! Files put the data part at a multiple of 8 bytes, and tensors with wide elements first. If the
//! memory starts at the same offset from a multiple of 8 as the file, all of them are aligned: one
//! block, one run. Otherwise a block starts a few bytes earlier in the file, and tensors that no
//! single shift aligns get blocks of their own. No byte is moved afterwards.

use std::ops::Range;

/// The widest alignment.
const WIDEST: u64 = 8;

/// A tensor to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Its position in the file.
    pub(super) start: u64,
    pub(super) end: u64,
    /// A power of two.
    pub(super) alignment: u64,
}

/// A tensor in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Index of the tensor among those to read.
    pub(super) index: usize,
    /// Its start in memory.
    pub(super) place: u64,
    /// Number of bytes before it that are read only to shift it: fewer than 8.
    pub(super) lead: u64,
}

/// Bytes for one block of memory, run after run. The first one goes to a multiple of 8, or to the
/// same offset from one as in the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryBlock {
    /// The extents to read, in order.
    pub(super) runs: Vec<Range<u64>>,
    /// The tensors in the block, in order.
    pub(super) members: Vec<Member>,
    /// Whether bytes have the same offset from a multiple of 8 in memory as in the file.
    pub(super) is_as_in_file: bool,
}

/// Groups the tensors of one file, in the order of their bytes, into as few blocks as possible.
/// Tensors without bytes are in no block.
pub(super) fn blocks(wanted: &[Wanted]) -> Vec<MemoryBlock> {
    let some = |&index: &usize| wanted[index].start < wanted[index].end;
    let mut left: Vec<usize> = (0..wanted.len()).filter(some).collect();
    let mut blocks = Vec::new();
    while !left.is_empty() {
        let shift = best_shift(wanted, &left);
        let (fits, others) = left.into_iter().partition(|&index| fits(&wanted[index], shift));
        blocks.push(block(wanted, fits, shift));
        left = others;
    }
    blocks
}

/// Whether the tensor is aligned if its place in memory is shifted by `shift` bytes against the
/// file.
fn fits(tensor: &Wanted, shift: u64) -> bool {
    (tensor.start % WIDEST + shift).is_multiple_of(tensor.alignment)
}

/// Returns the shift that aligns the most bytes; of equals, the smallest.
fn best_shift(wanted: &[Wanted], left: &[usize]) -> u64 {
    let bytes = |shift: u64| {
        let fitting = left.iter().map(|&index| &wanted[index]).filter(|one| fits(one, shift));
        fitting.map(|one| one.end - one.start).sum::<u64>()
    };
    (0..WIDEST).max_by_key(|&shift| (bytes(shift), WIDEST - shift)).unwrap_or(0)
}

/// Combines adjacent tensors into runs. A run that would start at the wrong alignment starts a few
/// bytes earlier in the file.
fn block(wanted: &[Wanted], members: Vec<usize>, shift: u64) -> MemoryBlock {
    let mut block = MemoryBlock { is_as_in_file: shift == 0, ..MemoryBlock::default() };
    let mut len = 0;
    for index in members {
        let Wanted { start, end, .. } = wanted[index];
        // The data follow the 8 bytes of the header's length, so that many bytes precede them.
        let lead = (start % WIDEST + shift + WIDEST - len % WIDEST) % WIDEST;
        match block.runs.last_mut() {
            // The gap is not longer than the lead.
            Some(run) if start <= run.end + lead => run.end = end,
            _ => block.runs.push(start - lead..end),
        }
        block.members.push(Member { index, place: len + lead, lead });
        len += lead + (end - start);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(list: &[(u64, u64, u64)]) -> Vec<Wanted> {
        let one = |&(start, len, alignment)| Wanted { start, end: start + len, alignment };
        list.iter().map(one).collect()
    }

    #[test]
    fn what_is_aligned_in_its_file_is_one_run() {
        let all = wanted(&[(64, 16, 8), (80, 8, 4), (88, 2, 2), (90, 0, 8), (90, 3, 1)]);
        let blocks = blocks(&all);
        assert_eq!(blocks.len(), 1);
        assert_eq!((blocks[0].runs.len(), &blocks[0].runs[0]), (1, &(64..93)));
        assert!(blocks[0].is_as_in_file);
        let places = blocks[0].members.iter().map(|member| (member.index, member.place));
        assert_eq!(places.collect::<Vec<_>>(), [(0, 0), (1, 16), (2, 24), (4, 26)]);
    }

    #[test]
    fn a_data_part_at_an_odd_place_is_shifted() {
        let blocks = blocks(&wanted(&[(67, 16, 8), (83, 8, 4), (91, 1, 1)]));
        assert_eq!(blocks.len(), 1);
        let block = &blocks[0];
        assert_eq!((block.runs.len(), &block.runs[0]), (1, &(67..92)));
        assert!(!block.is_as_in_file);
    }

    #[test]
    fn what_fits_no_shift_gets_a_block_of_its_own() {
        let blocks = blocks(&wanted(&[(64, 80, 8), (144, 1, 1), (145, 40, 4), (185, 8, 8)]));
        let members: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| block.members.iter().map(|member| member.index).collect())
            .collect();
        assert_eq!(members, [vec![0, 1], vec![2, 3]]);
    }

    #[test]
    fn every_place_is_aligned_and_holds_the_bytes_of_its_tensor() {
        let mut seed = 1;
        for _ in 0..2000 {
            let all = random(&mut seed);
            let blocks = blocks(&all);
            let mut seen = vec![0; all.len()];
            for block in &blocks {
                check(&all, block);
                block.members.iter().for_each(|member| seen[member.index] += 1);
            }
            for (tensor, seen) in all.iter().zip(seen) {
                assert_eq!(seen, i32::from(tensor.start < tensor.end), "{all:?} {blocks:?}");
            }
        }
    }

    /// Checks the place of each byte of the file in the memory of a block.
    fn check(all: &[Wanted], block: &MemoryBlock) {
        let memory: Vec<u64> = block.runs.iter().cloned().flatten().collect();
        assert!(memory.is_sorted_by(|left, right| left < right), "{block:?}");
        let mut listed = Vec::new();
        for &Member { index, place, lead } in &block.members {
            let Wanted { start, end, alignment } = all[index];
            listed.extend(start - lead..end);
            assert!(place.is_multiple_of(alignment), "{index} of {all:?}: {block:?}");
            let from = usize::try_from(place).expect("small");
            let bytes = memory[from..].iter().take_while(|&&offset| offset < end);
            assert!(bytes.copied().eq(start..end), "{index} of {all:?}: {block:?}");
        }
        assert_eq!(memory, listed, "tensors and their leads make up the runs: {block:?}");
        assert!(block.members.iter().all(|member| member.lead < 8));
    }

    fn random(seed: &mut u64) -> Vec<Wanted> {
        let mut next = |below: u64| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 33) % below
        };
        let mut start = 8 + next(100);
        let mut all = Vec::new();
        for _ in 0..next(12) {
            start += [0, 0, 0, next(20)][usize::try_from(next(4)).expect("small")];
            let alignment = 1 << next(4);
            let len = next(6) * alignment;
            all.push(Wanted { start, end: start + len, alignment });
            start += len;
        }
        all
    }
}
