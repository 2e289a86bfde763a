//! Memory that file data is read into.
//!
//! [`Pages`] are owned, zeroed, page-aligned bytes straight from the kernel. [`Leases`] lend
//! disjoint parts of them (or of a caller's slice) to workers that choose the next part at run
//! time, which `split_at_mut` cannot express. A complete part is *frozen*: every thread may then
//! read it, and none may write it.
//!
//! ```text
//! pages   |----------------------------------------|
//! leases  |frozen, shared|  write A  |   |  write B |
//! ```
//!
//! Other modules decide the sizes, the times and the workers.
//!
//! ```
//! use swath_os::memory::{Leases, Pages};
//!
//! let leases = Leases::of_pages(Pages::map(8192)?);
//! let mut left = leases.write(0, 4096).expect("free");
//! assert!(leases.write(4095, 2).is_none(), "overlaps `left`");
//! left.fill(7);
//! left.freeze();
//! assert_eq!(leases.read(0, 4096).expect("frozen")[0], 7);
//! # Ok::<(), std::io::Error>(())
//! ```

mod lease;
#[cfg(not(miri))]
mod mapping;
#[cfg(miri)]
mod mapping_in_miri;
mod nodes;

use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub use lease::{Leases, WriteLease};
#[cfg(miri)]
use mapping_in_miri as mapping;

/// The size of a transparent huge page, and the unit in which [`Pages::prepare`] populates.
pub const POPULATE_SIZE: usize = 2 << 20;

/// Owned, zeroed, page-aligned memory. Memory of 2 MiB or more starts at a 2 MiB boundary.
///
/// Remembers which of its 2 MiB blocks are populated, so that reused memory is not populated again.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
    /// One bit for each block of [`POPULATE_SIZE`] that a worker populates or has populated.
    claimed: Box<[AtomicU64]>,
    /// One bit for each populated block.
    populated: Box<[AtomicU64]>,
    /// Whether the kernel may write to the pages at any time: they are never unmapped.
    abandoned: AtomicBool,
}

// SAFETY: `Pages` owns its mapping as a `Box<[u8]>` owns its bytes.
unsafe impl Send for Pages {}
// SAFETY: shared access only reads bytes; populating changes no contents.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `len` bytes, rounded up to whole pages. `len` 0 gives one page.
    ///
    /// Reserves only address space: pages come with [`prepare`](Self::prepare) or the first access.
    ///
    /// # Errors
    ///
    /// `OutOfMemory` if the address space or a limit (`RLIMIT_AS`) does not allow it.
    pub fn map(len: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let len =
            len.max(1).checked_next_multiple_of(page).ok_or(io::ErrorKind::OutOfMemory)?;
        let start = mapping::map(len, if len < POPULATE_SIZE { page } else { POPULATE_SIZE })?;
        let words = len.div_ceil(POPULATE_SIZE).div_ceil(64);
        let bits = || (0..words).map(|_| AtomicU64::new(0)).collect();
        let abandoned = AtomicBool::new(false);
        Ok(Self { start, len, claimed: bits(), populated: bits(), abandoned })
    }

    /// Returns the start, for code that must not make a reference to bytes that the kernel writes.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Marks the pages as never to be unmapped, even when they are dropped.
    pub(crate) fn abandon(&self) {
        // Relaxed here and below: the owner reads it when no other thread has the pages.
        self.abandoned.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Requests transparent huge pages.
    ///
    /// # Errors
    ///
    /// `InvalidInput` on kernels without them: only speed is lost.
    pub fn advise_huge(&self) -> io::Result<()> {
        // SAFETY: the range is our own mapping.
        unsafe { mapping::advise_huge(self.start, self.len) }
    }

    /// Populates `offset .. offset + len`, widened to whole pages, writable.
    ///
    /// # Errors
    ///
    /// `InvalidInput` on kernels before 5.14; `OutOfMemory` if a limit is reached.
    ///
    /// # Panics
    ///
    /// If the range is not inside the pages.
    pub fn populate(&self, offset: usize, len: usize) -> io::Result<()> {
        assert!(offset <= self.len && len <= self.len - offset, "populate inside the pages");
        if len == 0 {
            return Ok(());
        }
        let page = rustix::param::page_size();
        let first = offset / page * page;
        let end = (offset + len).next_multiple_of(page).min(self.len);
        // SAFETY: `first` is at most `len`, inside the mapping.
        let start = unsafe { self.start.add(first) };
        // SAFETY: the range is inside our own mapping.
        unsafe { mapping::populate(start, end - first) }
    }

    /// Populates the 2 MiB blocks that `offset .. offset + len` touches and that are not yet
    /// populated. Returns the number of bytes populated by this call.
    ///
    /// The worker that fills the range calls this just before its read: so population runs on every
    /// worker at once and in parallel with the device. If another worker is populating a block,
    /// this waits for it: otherwise the kernel would zero the same huge page twice.
    ///
    /// # Errors
    ///
    /// Like [`populate`](Self::populate).
    ///
    /// # Panics
    ///
    /// If the range is not inside the pages.
    pub fn prepare(&self, offset: usize, len: usize) -> io::Result<usize> {
        assert!(offset <= self.len && len <= self.len - offset, "prepare inside the pages");
        if len == 0 {
            return Ok(0);
        }
        let mut fresh = 0;
        for block in offset / POPULATE_SIZE..=(offset + len - 1) / POPULATE_SIZE {
            fresh += self.prepare_block(block)?;
        }
        Ok(fresh)
    }

    fn prepare_block(&self, block: usize) -> io::Result<usize> {
        let (word, bit) = (block / 64, 1 << (block % 64));
        // Relaxed here and below: the bits publish nothing, the kernel orders the pages.
        if self.populated[word].load(Ordering::Relaxed) & bit != 0 {
            return Ok(0);
        }
        if self.claimed[word].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            // A huge page takes about a tenth of a millisecond: naps are short and limited in
            // number.
            for _ in 0..20 {
                if self.populated[word].load(Ordering::Relaxed) & bit != 0 {
                    break;
                }
                std::thread::sleep(Duration::from_micros(50));
            }
            // Not yet populated, or it failed there: the read itself populates, or fails as well.
            return Ok(0);
        }
        let first = block * POPULATE_SIZE;
        let len = POPULATE_SIZE.min(self.len - first);
        self.populate(first, len)?;
        self.populated[word].fetch_or(bit, Ordering::Relaxed);
        Ok(len)
    }

    /// Returns the number of bytes that [`prepare`](Self::prepare) has yet to populate.
    pub fn unpopulated(&self) -> usize {
        let blocks = self.len.div_ceil(POPULATE_SIZE);
        // Relaxed: a hint.
        let done: u32 =
            self.populated.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        (blocks - done as usize) * POPULATE_SIZE
    }

    /// Makes the pages `len` bytes long, rounded up to whole pages; the new ones are zeroed. Keeps
    /// the contents without a copy; they may move. Does nothing if the pages are already that long.
    ///
    /// # Errors
    ///
    /// Like [`map`](Self::map); then the pages are unchanged.
    pub fn grow(&mut self, len: usize) -> io::Result<()> {
        let page = rustix::param::page_size();
        let len = len.checked_next_multiple_of(page).ok_or(io::ErrorKind::OutOfMemory)?;
        if len <= self.len {
            return Ok(());
        }
        // SAFETY: the mapping is ours, whole, and `&mut self` is the only access to it.
        self.start = unsafe { mapping::grow(self.start, self.len, len) }?;
        // The last block may have been short: it is not completely populated now.
        let last = self.len / POPULATE_SIZE;
        self.len = len;
        let words = len.div_ceil(POPULATE_SIZE).div_ceil(64);
        for bits in [&mut self.claimed, &mut self.populated] {
            let mut longer: Vec<AtomicU64> = std::mem::take(bits).into_vec();
            longer.resize_with(words, || AtomicU64::new(0));
            *longer[last / 64].get_mut() &= !(1 << (last % 64));
            *bits = longer.into_boxed_slice();
        }
        Ok(())
    }
}

/// [`Pages`] that the kernel may take until they are taken back: it does so if it needs memory,
/// without swapping, and counts them as available.
#[derive(Debug)]
pub struct OfferedPages(Pages);

impl Pages {
    /// Offers the pages to the kernel. Their contents are lost.
    ///
    /// # Errors
    ///
    /// `InvalidInput` on kernels before 4.5, and for locked memory; then the pages are unmapped.
    pub fn offer(self) -> io::Result<OfferedPages> {
        // SAFETY: the range is our own mapping, and nothing reads it until it is taken back.
        unsafe { mapping::offer(self.start, self.len) }?;
        Ok(OfferedPages(self))
    }
}

impl OfferedPages {
    /// Returns the length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "there is at least a page")]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Takes the pages back, populated, with any bytes in them: pages that the kernel took are
    /// zeroed.
    ///
    /// # Errors
    ///
    /// Like [`populate`](Pages::populate); then the pages are unmapped.
    pub fn take_back(self) -> io::Result<Pages> {
        let Self(pages) = self;
        // The kernel can still take a page until it is written to.
        pages.populate(0, pages.len)?;
        for block in 0..pages.len.div_ceil(POPULATE_SIZE) {
            let (word, bit) = (block / 64, 1 << (block % 64));
            // Relaxed: this is the only owner.
            pages.claimed[word].fetch_or(bit, Ordering::Relaxed);
            pages.populated[word].fetch_or(bit, Ordering::Relaxed);
        }
        Ok(pages)
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` mapped, zero-initialised bytes that only `&mut self` can write.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.is_abandoned() {
            return;
        }
        // SAFETY: the mapping is ours and nothing borrows from it.
        unsafe { mapping::unmap(self.start, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zeroed_aligned_and_rounded_up_to_whole_pages() {
        for len in [0, 1, 4096, 4097, POPULATE_SIZE, POPULATE_SIZE + 1, 3 * POPULATE_SIZE] {
            let pages = Pages::map(len).expect("address space");
            assert_eq!(pages.len(), len.max(1).next_multiple_of(rustix::param::page_size()));
            let alignment = if pages.len() < POPULATE_SIZE { 4096 } else { POPULATE_SIZE };
            assert_eq!(pages.as_ptr().addr() % alignment, 0);
            assert!(pages.iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn a_length_that_no_address_space_holds_is_an_error() {
        let error = Pages::map(usize::MAX).expect_err("too long");
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(Pages::map(1 << 60).is_err());
    }

    #[test]
    fn a_block_is_populated_once_and_keeps_its_contents() {
        let mut pages = Pages::map(2 * POPULATE_SIZE + 4096).expect("address space");
        pages[POPULATE_SIZE - 1] = 9;
        assert_eq!(pages.unpopulated(), 3 * POPULATE_SIZE);
        match pages.prepare(POPULATE_SIZE - 1, 2) {
            Ok(fresh) => assert_eq!(fresh, 2 * POPULATE_SIZE, "both sides of the edge"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "before 5.14"),
        }
        assert_eq!(pages.prepare(0, 2 * POPULATE_SIZE).expect("claimed already"), 0);
        assert_eq!(pages.prepare(2 * POPULATE_SIZE, 4096).expect("the short block"), 4096);
        assert_eq!(pages.unpopulated(), 0);
        assert_eq!(pages[POPULATE_SIZE - 1], 9);
    }

    #[test]
    fn offered_pages_come_back_populated_and_keep_what_is_written_then() {
        let mut pages = Pages::map(2 * POPULATE_SIZE + 4096).expect("address space");
        pages.fill(3);
        let Ok(offered) = pages.offer() else {
            return swath_reference::skip("offer", "this kernel refuses MADV_FREE");
        };
        assert_eq!(offered.len(), 2 * POPULATE_SIZE + 4096);
        let mut pages = match offered.take_back() {
            Err(error) => return swath_reference::skip("populate", error),
            Ok(pages) => pages,
        };
        assert_eq!(pages.unpopulated(), 0);
        assert!(pages.iter().all(|&byte| byte == 3 || byte == 0));
        pages.fill(4);
        assert!(pages.iter().all(|&byte| byte == 4));
    }

    #[test]
    fn grown_pages_keep_their_contents_and_populate_their_new_part() {
        let mut pages = Pages::map(3 * 4096).expect("address space");
        pages.fill(6);
        pages.prepare(0, 3 * 4096).expect("Linux 5.14");
        pages.grow(2 * POPULATE_SIZE + 1).expect("address space");
        assert_eq!(pages.len(), 2 * POPULATE_SIZE + 4096);
        assert!(pages[..3 * 4096].iter().all(|&byte| byte == 6));
        assert!(pages[3 * 4096..].iter().all(|&byte| byte == 0));
        assert_eq!(pages.prepare(0, 1).expect("Linux 5.14"), POPULATE_SIZE);
        pages.grow(1).expect("they never shrink");
        assert_eq!(pages.len(), 2 * POPULATE_SIZE + 4096);
    }
}
