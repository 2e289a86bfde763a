//! BLAKE3 on all workers: the hash is that of a tree with independent parts.
//!
//! ```text
//! chunks of the scan   |0   |1   |2   |3   |4 |    whole subtrees: a power of two
//! folded                c0   c1   c2   c3   c4     by any worker
//! joined                 \ /      \ /        |     from left to right, as the tree is built
//!                         +--------+         |
//!                             +--------------+     the root
//! ```

use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};
use blake3::{CHUNK_LEN, Hash, Hasher};
use swath::{Chunk, ReadOptions, Report, Source};

use crate::error::Result;

/// The default number of bytes that a worker hashes at a time.
const SUBTREE: u64 = 512 << 10;

/// Adjacent subtrees of the same size, apart from the last one.
struct Subtrees {
    values: Vec<ChainingValue>,
    /// The state of the first subtree, if it is among them: it may be the whole tree.
    first: Option<Box<Hasher>>,
}

impl Subtrees {
    fn of(chunk: &Chunk<'_>, size: u64) -> Self {
        let mut hasher = Hasher::new();
        hasher.set_input_offset(chunk.index * size);
        hasher.update(chunk.bytes);
        let values = vec![hasher.finalize_non_root()];
        Self { values, first: (chunk.index == 0).then(|| Box::new(hasher)) }
    }

    fn and(mut self, right: Self) -> Self {
        self.values.extend(right.values);
        self
    }

    fn root(self) -> Hash {
        match self.first {
            Some(only) if self.values.len() == 1 => only.finalize(),
            _ => joined(self.values),
        }
    }
}

/// Joins two or more subtrees: the left one of each pair is full and as large as possible.
fn joined(values: Vec<ChainingValue>) -> Hash {
    let mut roots: Vec<ChainingValue> = Vec::new();
    for (before, value) in values.into_iter().enumerate() {
        // One full tree per set bit: trees are joined only once another one follows.
        while roots.len() > before.count_ones() as usize {
            join_last(&mut roots);
        }
        roots.push(value);
    }
    while roots.len() > 2 {
        join_last(&mut roots);
    }
    let left = roots.first().copied().unwrap_or_default();
    let right = roots.last().copied().unwrap_or_default();
    merge_subtrees_root(&left, &right, Mode::Hash)
}

fn join_last(roots: &mut Vec<ChainingValue>) {
    if let (Some(right), Some(left)) = (roots.pop(), roots.pop()) {
        roots.push(merge_subtrees_non_root(&left, &right, Mode::Hash));
    }
}

/// Returns options with subtrees as chunks; `None` if the caller wants other chunks.
pub(super) fn fitting(options: &ReadOptions) -> Option<(ReadOptions, u64)> {
    let size = match options.chunk_size() {
        0 => SUBTREE,
        size => size,
    };
    (size.is_power_of_two() && size >= CHUNK_LEN as u64)
        .then(|| (options.clone().with_chunk_size(size), size))
}

/// Hashes a source whose chunks are subtrees of `size` bytes.
pub(super) fn blake3(
    source: Source,
    options: &ReadOptions,
    size: u64,
) -> Result<(Hash, Report)> {
    let fold = |chunk: Chunk<'_>| Subtrees::of(&chunk, size);
    let scanned = options.scan(source, fold, Subtrees::and)?;
    let hash = scanned.value.map_or_else(|| Hasher::new().finalize(), Subtrees::root);
    Ok((hash, scanned.report))
}
