//! Trees of many files, and the usual ways to read them.
//!
//! The rivals of `swath::ingest`: study B's design ([`manager`], [`lines`]), the obvious program
//! ([`plain`]), and the limits ([`bare`] for files in the page cache, [`device`] for cold files).
//!
//! ```text
//! tree → paths ─┬─ cache: warm, cold ─────┐
//!               └─ manager, lines, plain, bare, device → bytes, or a Glance at them
//! ```

pub mod bare;
pub mod device;
pub mod lines;
pub mod manager;
pub mod plain;
pub mod tree;

use crate::threads::each;

/// A summary of files whose bytes are not kept: evidence that they were read.
///
/// ```
/// use swath_study::many::Glance;
///
/// let mut glance = Glance::default();
/// glance.add(b"abc");
/// glance.add(b"");
/// assert_eq!((glance.files, glance.bytes, glance.sum), (2, 3, 97 + 98));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Files looked at.
    pub files: u64,
    /// The bytes of the files.
    pub bytes: u64,
    /// The sum of the first byte and the middle byte of each file.
    pub sum: u64,
}

impl Glance {
    /// Adds the bytes of one file.
    #[inline]
    pub fn add(&mut self, bytes: &[u8]) {
        self.files += 1;
        self.bytes += bytes.len() as u64;
        if let (Some(&first), Some(&middle)) = (bytes.first(), bytes.get(bytes.len() / 2)) {
            self.sum += u64::from(first) + u64::from(middle);
        }
    }

    /// Adds the glance of another thread.
    pub fn and(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
            sum: self.sum + other.sum,
        }
    }
}

/// Runs `work` on `threads` threads at the same time, including the caller's, and returns all results.
///
/// # Errors
///
/// The first error of a thread; if a thread cannot be started.
fn fork<T: Send>(
    threads: usize,
    work: impl Fn() -> std::io::Result<T> + Sync,
) -> std::io::Result<Vec<T>> {
    each(vec![(); threads.max(1)], |()| work()).all()?.into_iter().collect()
}
