//! Bytes of a file in memory: aligned, uniquely owned, reusable.
//!
//! Fresh destination pages cost more than a warm read. So large buffers come from a
//! [`BufferPool`], are advised to use huge pages, and are populated by the workers that fill
//! them. When a [`Buffer`] is dropped, its pages return to their pool.

mod pool;

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use swath_os::memory::Pages;

pub use pool::BufferPool;

/// Small buffers start at a multiple of this, a cache line; larger ones at a page boundary.
const ALIGNMENT: usize = 64;

/// The bytes of a file, or of a part of one.
///
/// Dereferences to `&[u8]` and `&mut [u8]`. Up to 64 KiB it starts at a multiple of 64 bytes.
/// Larger ones start at the same offset within a page as the extent does in the file: at a page
/// boundary for a whole file.
///
/// For text, `std::str::from_utf8(&buffer)` checks and borrows; to own it, pass `buffer.into()`
/// to [`String::from_utf8`], which copies once.
///
/// ```
/// let mut buffer = swath::read("/etc/passwd")?;
/// assert!(buffer.starts_with(b"root"));
/// for part in buffer.parts_mut(16) {
///     part.make_ascii_uppercase(); // disjoint: each part may go to a thread of its own
/// }
/// let bytes: bytes::Bytes = buffer.into(); // no copy
/// assert!(bytes.starts_with(b"ROOT"));
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Default)]
pub struct Buffer {
    store: BufferStore,
    start: usize,
    len: usize,
}

#[derive(Default)]
enum BufferStore {
    #[default]
    Empty,
    Small(Vec<u8>),
    Pages(Pages, BufferPool),
}

impl Buffer {
    /// Takes over bytes on the heap, of which the first `start` are skipped.
    pub(crate) fn small(bytes: Vec<u8>, start: usize) -> Self {
        let len = bytes.len().saturating_sub(start);
        Self { store: BufferStore::Small(bytes), start, len }
    }

    /// Takes over `start .. start + len` of `pages`, which return to `pool` when dropped.
    pub(crate) fn paged(pages: Pages, start: usize, len: usize, pool: BufferPool) -> Self {
        debug_assert!(start + len <= pages.len());
        Self { store: BufferStore::Pages(pages, pool), start, len }
    }

    /// Bytes that the memory can hold.
    pub(crate) fn capacity(&self) -> usize {
        match &self.store {
            BufferStore::Empty => 0,
            BufferStore::Small(bytes) => bytes.len(),
            BufferStore::Pages(pages, _) => pages.len(),
        }
    }

    /// Sets the buffer to `start .. start + len` of its memory.
    ///
    /// # Panics
    ///
    /// If its memory is shorter.
    pub(crate) fn narrow(&mut self, start: usize, len: usize) {
        assert!(start.checked_add(len).is_some_and(|end| end <= self.capacity()));
        (self.start, self.len) = (start, len);
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Splits into disjoint parts of `part_size` bytes, the last one possibly shorter.
    ///
    /// # Panics
    ///
    /// If `part_size` is 0.
    pub fn parts_mut(&mut self, part_size: usize) -> std::slice::ChunksMut<'_, u8> {
        self.chunks_mut(part_size)
    }

    /// Splits at `mid`, as [`slice::split_at_mut`] does.
    ///
    /// # Panics
    ///
    /// If `mid` is greater than the length.
    pub fn split_at_mut(&mut self, mid: usize) -> (&mut [u8], &mut [u8]) {
        (**self).split_at_mut(mid)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.store {
            BufferStore::Empty => &[],
            BufferStore::Small(bytes) => bytes,
            BufferStore::Pages(pages, _) => pages,
        };
        &all[self.start..self.start + self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let all: &mut [u8] = match &mut self.store {
            BufferStore::Empty => &mut [],
            BufferStore::Small(bytes) => bytes,
            BufferStore::Pages(pages, _) => pages,
        };
        &mut all[self.start..self.start + self.len]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let BufferStore::Pages(pages, pool) = std::mem::take(&mut self.store) {
            pool.put(pages);
        }
    }
}

/// Converts without a copy: the bytes keep the buffer alive.
impl From<Buffer> for Bytes {
    fn from(buffer: Buffer) -> Self {
        Bytes::from_owner(buffer)
    }
}

/// Copies: the memory of a buffer does not come from the allocator of vectors.
impl From<Buffer> for Vec<u8> {
    fn from(buffer: Buffer) -> Self {
        buffer.to_vec()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

/// Returns an empty vector with room for `len` bytes from an aligned position, and that position.
pub(crate) fn aligned_vec(len: usize) -> Option<(Vec<u8>, usize)> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.try_reserve_exact(len.checked_add(ALIGNMENT)?).ok()?;
    let start = bytes.as_ptr().align_offset(ALIGNMENT);
    bytes.resize(start, 0);
    Some((bytes, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_cover_everything() {
        let pool = BufferPool::new(0);
        let mut buffer = Buffer::paged(Pages::map(10_000).expect("memory"), 100, 9_000, pool);
        for (index, part) in (1..).zip(buffer.parts_mut(4096)) {
            part.fill(index);
        }
        assert_eq!((buffer[0], buffer[4095], buffer[4096], buffer[8999]), (1, 1, 2, 3));
        assert_eq!(buffer.len(), 9_000);
        let (left, right) = buffer.split_at_mut(1);
        std::mem::swap(&mut left[0], &mut right[8998]);
        assert_eq!((buffer[0], buffer[8999]), (3, 1));
    }

    #[test]
    fn bytes_keep_the_same_memory() {
        let buffer = Buffer::paged(Pages::map(1).expect("memory"), 8, 16, BufferPool::new(0));
        let address = buffer.as_ptr();
        assert_eq!(Bytes::from(buffer).as_ptr(), address);
        let (bytes, start) = aligned_vec(100).expect("memory");
        let small = Buffer::small(bytes, start);
        assert!(small.is_empty() && small.as_ptr().addr().is_multiple_of(ALIGNMENT));
        assert!(Buffer::default().is_empty());
    }
}
