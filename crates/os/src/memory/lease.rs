//! Disjoint parts of memory, lent for writing, then frozen for all to read.

use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::Pages;
use crate::locks::Mutex;

/// The parts that are lent, and those that are complete.
#[derive(Debug, Default)]
struct Ledger {
    /// `(offset, end)` of live write leases: at most one per read in flight.
    writing: Vec<(usize, usize)>,
    /// The end of each frozen part by its offset, with adjacent parts merged. A tree: chunks that
    /// are read by priority leave tens of thousands of parts for a while.
    frozen: BTreeMap<usize, usize>,
}

impl Ledger {
    fn is_free(&self, offset: usize, end: usize) -> bool {
        let apart = |&(other, other_end): &(usize, usize)| end <= other || other_end <= offset;
        let before = self.frozen.range(..end).next_back();
        self.writing.iter().all(apart) && before.is_none_or(|(_, &frozen)| frozen <= offset)
    }

    fn is_frozen(&self, offset: usize, end: usize) -> bool {
        let from = self.frozen.range(..=offset).next_back();
        from.is_some_and(|(_, &frozen)| end <= frozen)
    }

    fn return_lease(&mut self, offset: usize, end: usize) {
        if let Some(index) = self.writing.iter().position(|&lent| lent == (offset, end)) {
            self.writing.swap_remove(index);
        }
    }

    fn freeze(&mut self, offset: usize, end: usize) {
        let end = self.frozen.remove(&end).unwrap_or(end);
        match self.frozen.range_mut(..offset).next_back() {
            Some((_, before)) if *before == offset => *before = end,
            _ => {
                self.frozen.insert(offset, end);
            }
        }
    }
}

/// Lends disjoint parts of memory for writing, and complete parts for reading.
#[derive(Debug)]
pub struct Leases<'m> {
    start: NonNull<u8>,
    len: usize,
    pages: Option<Pages>,
    ledger: Mutex<Ledger>,
    lent: PhantomData<&'m mut [u8]>,
}

// SAFETY: the ledger never hands out overlapping write leases, nor a read over a write.
unsafe impl Send for Leases<'_> {}
// SAFETY: as above; the ledger is protected by a mutex.
unsafe impl Sync for Leases<'_> {}

impl Leases<'static> {
    /// Lends parts of `pages`, and owns them until [`into_pages`](Self::into_pages).
    pub fn of_pages(pages: Pages) -> Self {
        let (start, len) = (pages.start, pages.len);
        Self { start, len, pages: Some(pages), ledger: Mutex::default(), lent: PhantomData }
    }

    /// Ends the lending: returns the pages, or `None` if a slice was lent or pages were abandoned.
    /// Every lease borrows from `self`, so none is left.
    pub fn into_pages(self) -> Option<Pages> {
        self.pages.filter(|pages| !pages.is_abandoned())
    }
}

impl<'m> Leases<'m> {
    /// Lends parts of a slice that the caller owns.
    pub fn of_slice(slice: &'m mut [u8]) -> Self {
        let len = slice.len();
        let start = NonNull::from(slice).cast();
        Self { start, len, pages: None, ledger: Mutex::default(), lent: PhantomData }
    }

    /// Returns the length of the memory in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing to lend.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Like [`Pages::unpopulated`]; 0 for a slice.
    pub fn unpopulated(&self) -> usize {
        self.pages.as_ref().map_or(0, Pages::unpopulated)
    }

    /// Like [`Pages::prefer_node`], before workers populate the pages. A slice stays unchanged.
    ///
    /// # Errors
    ///
    /// Like [`Pages::prefer_node`].
    pub fn prefer_node(&self, node: usize) -> io::Result<()> {
        self.pages.as_ref().map_or(Ok(()), |pages| pages.prefer_node(node))
    }

    /// Like [`Pages::interleave`], before workers populate the pages. A slice stays unchanged.
    ///
    /// # Errors
    ///
    /// Like [`Pages::interleave`].
    pub fn interleave(&self, nodes: &[usize]) -> io::Result<()> {
        self.pages.as_ref().map_or(Ok(()), |pages| pages.interleave(nodes))
    }

    /// Returns the address of the first byte, to check alignment.
    pub fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Lends `offset .. offset + len` for writing, or returns `None` if it is not inside,
    /// already lent or frozen.
    pub fn write(&self, offset: usize, len: usize) -> Option<WriteLease<'_>> {
        let end = offset.checked_add(len)?;
        if end > self.len {
            return None;
        }
        let mut ledger = self.ledger.lock();
        if !ledger.is_free(offset, end) {
            return None;
        }
        ledger.writing.push((offset, end));
        // SAFETY: `offset` is at most `self.len`.
        let start = unsafe { self.start.add(offset) };
        Some(WriteLease {
            start,
            offset,
            len,
            pages: self.pages.as_ref(),
            ledger: &self.ledger,
            bytes: PhantomData,
        })
    }

    /// Lends a complete part for reading; `None` if it is not entirely frozen.
    pub fn read(&self, offset: usize, len: usize) -> Option<&[u8]> {
        let end = offset.checked_add(len)?;
        let inside = end <= self.len && (len == 0 || self.ledger.lock().is_frozen(offset, end));
        // SAFETY: the range is inside the memory.
        let start = inside.then(|| unsafe { self.start.add(offset) })?;
        // SAFETY: frozen bytes are initialised and never written again while `self` lives.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
    }
}

/// A part that one worker, or the kernel on its behalf, may write.
#[derive(Debug)]
pub struct WriteLease<'l> {
    start: NonNull<u8>,
    offset: usize,
    len: usize,
    pages: Option<&'l Pages>,
    ledger: &'l Mutex<Ledger>,
    bytes: PhantomData<&'l mut [u8]>,
}

// SAFETY: a lease is the only access to its bytes, as `&mut [u8]` is.
unsafe impl Send for WriteLease<'_> {}
// SAFETY: through `&WriteLease` bytes are only read.
unsafe impl Sync for WriteLease<'_> {}

impl WriteLease<'_> {
    /// Populates the pages under the lease if they are owned and fresh; returns the number of bytes
    /// populated.
    ///
    /// # Errors
    ///
    /// Like [`Pages::populate`].
    pub fn prepare(&self) -> io::Result<usize> {
        self.pages.map_or(Ok(0), |pages| pages.prepare(self.offset, self.len))
    }

    /// Declares the bytes complete: from now on all threads may read them, and none may write them.
    pub fn freeze(self) {
        if self.len > 0 {
            let mut ledger = self.ledger.lock();
            ledger.freeze(self.offset, self.offset + self.len);
        }
    }

    /// Abandons the bytes, because the kernel may write to them at any time: they stay lent, and
    /// their pages stay mapped as long as the process lives. The returned lease is empty.
    ///
    /// A caller's slice cannot be withheld from the caller, and must not be used again: then this
    /// ends the program.
    pub(crate) fn abandon(self) -> Self {
        let Some(pages) = self.pages else {
            eprintln!(
                "swath: the kernel writes to memory that cannot be kept from the program"
            );
            std::process::abort();
        };
        pages.abandon();
        let this = std::mem::ManuallyDrop::new(self);
        let (start, offset, ledger) = (this.start, this.offset, this.ledger);
        Self { start, offset, len: 0, pages: Some(pages), ledger, bytes: PhantomData }
    }

    /// Returns the offset of this lease from the start of the memory.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl Deref for WriteLease<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: initialised memory (zeroed pages or a caller's slice), lent to us alone.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for WriteLease<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for WriteLease<'_> {
    fn drop(&mut self) {
        let mut ledger = self.ledger.lock();
        ledger.return_lease(self.offset, self.offset + self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_write_leases_overlap() {
        let leases = Leases::of_pages(Pages::map(4096).expect("address space"));
        let held = leases.write(10, 10).expect("free");
        for (offset, len) in [(0, 11), (19, 1), (12, 3), (0, 4096), (10, 10)] {
            assert!(leases.write(offset, len).is_none(), "{offset} {len}");
        }
        assert!(leases.write(0, 10).is_some() && leases.write(20, 4076).is_some());
        drop(held);
        assert!(leases.write(0, 4096).is_some(), "what is returned can be lent again");
        assert!(leases.write(4096, 1).is_none() && leases.write(1, usize::MAX).is_none());
    }

    #[test]
    fn only_frozen_bytes_can_be_read_and_none_of_them_written() {
        let mut bytes = [0; 30];
        let leases = Leases::of_slice(&mut bytes);
        for (offset, value) in [(20, 3), (0, 1), (10, 2)] {
            let mut lease = leases.write(offset, 10).expect("free");
            assert!(leases.read(offset, 10).is_none(), "not complete yet");
            lease.fill(value);
            lease.freeze();
        }
        assert_eq!(leases.read(5, 20).expect("merged")[4..6], [1, 2]);
        assert_eq!(leases.ledger.lock().frozen, BTreeMap::from([(0, 30)]));
        assert!(leases.write(29, 1).is_none());
        assert!(leases.read(29, 2).is_none());
        drop(leases);
        assert_eq!(bytes[29], 3);
    }

    #[test]
    #[cfg_attr(miri, ignore = "what is abandoned is a leak")]
    fn what_is_given_up_stays_lent_and_the_pages_do_not_come_back() {
        let leases = Leases::of_pages(Pages::map(4096).expect("address space"));
        let given_up = leases.write(10, 10).expect("free").abandon();
        assert!(given_up.is_empty());
        drop(given_up);
        assert!(leases.write(0, 20).is_none() && leases.write(20, 10).is_some());
        assert!(leases.into_pages().is_none());
    }

    #[test]
    fn leases_go_to_threads_and_come_back_as_pages() {
        // The number of bytes of each part; Miri inspects every byte.
        let shift = if cfg!(miri) { 10 } else { 14 };
        let leases = Leases::of_pages(Pages::map(4 << shift).expect("address space"));
        std::thread::scope(|scope| {
            for worker in 0..4_u8 {
                let leases = &leases;
                scope.spawn(move || {
                    let mut lease = leases.write(usize::from(worker) << shift, 1 << shift);
                    lease.as_mut().expect("disjoint").fill(worker);
                });
            }
        });
        let pages = leases.into_pages().expect("owned");
        assert!(pages.iter().enumerate().all(|(at, &byte)| usize::from(byte) == at >> shift));
    }
}
