//! Maps a file for one pass over its bytes.
//!
//! A map needs no copy, so a kernel that only adds or counts bytes runs at memory speed. But the
//! file can change: another process may store to it, which changes mapped bytes under the reader,
//! or truncate it, so that the next access raises `SIGBUS`. So a map needs a [`Permit`]: either the
//! caller promises that this will not happen ([`Frozen`]), or the program exits with a message if
//! it does ([`Guard`](crate::guard::Guard)).
//!
//! ```text
//! file   |....|....|....|....|..|
//! pages       |====|====|====|       mapped
//! cells         [=========]          offset .. offset + len: visible to the caller
//! ```
//!
//! Other modules choose the files to map, and the kernels that read them.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # use std::io::Write;
//! use swath_os::map::{Frozen, Map, MapFlags};
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"0123456789")?;
//! // SAFETY: the file has no name, so no other process can write to it or truncate it.
//! let frozen = unsafe { Frozen::promise(&file) };
//! let map = Map::new(frozen, 3, 4, MapFlags::default())?;
//! let mut target = [0; 4];
//! map.copy_to(0, &mut target);
//! assert_eq!(&target, b"3456");
//! # Ok(())
//! # }
//! ```

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence};

use rustix::mm::{Advice, MapFlags as RawFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;
use swath_simd::Cells;

use crate::fault_table::{Fault, FaultTable, Registration};

/// The caller's promise that a file stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct Frozen<'f>(&'f File);

impl<'f> Frozen<'f> {
    /// Promises that `file` is not changed while it is mapped.
    ///
    /// # Safety
    ///
    /// Until the last [`Map`] of `file` is dropped, no process writes to it or truncates it. A
    /// write is a data race; a read past a new, nearer end of file raises `SIGBUS`.
    pub unsafe fn promise(file: &'f File) -> Frozen<'f> {
        Frozen(file)
    }
}

/// The right to map one file, made from a [`Frozen`] or a [`Guard`](crate::guard::Guard).
#[derive(Clone, Debug)]
pub struct Permit<'f> {
    file: &'f File,
    /// The message if a page cannot be read; `None` does not handle the signal.
    message: Option<Arc<[u8]>>,
}

impl<'f> Permit<'f> {
    /// Returns the file that may be mapped.
    pub fn file(&self) -> &'f File {
        self.file
    }

    pub(crate) fn guarded(file: &'f File, message: Arc<[u8]>) -> Permit<'f> {
        Permit { file, message: Some(message) }
    }
}

impl<'f> From<Frozen<'f>> for Permit<'f> {
    fn from(frozen: Frozen<'f>) -> Permit<'f> {
        Permit { file: frozen.0, message: None }
    }
}

/// How a file is mapped. By default neither flag is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapFlags {
    /// Whether all pages are read and entered before the call returns.
    pub populate: bool,
    /// Whether to request huge pages; ignored if the file system has none.
    pub huge_page: bool,
}

/// The advice of madvise(2) for a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapAdvice {
    /// The usual readahead.
    Normal,
    /// Access from front to back.
    Sequential,
    /// Access at random offsets: no readahead.
    Random,
    /// Access soon: the kernel starts to read into the page cache.
    WillNeed,
    /// Use huge pages where possible.
    HugePage,
    /// Enter all pages now, and fail if one cannot be read (Linux 5.14).
    PopulateRead,
    /// No further access: drops the page table entries, not the page cache. A later access reads
    /// the file again.
    DontNeed,
}

/// A mapped extent of a file, read-only, unmapped when dropped.
///
/// Its bytes are a `&[u8]` only if the permit was a promise: Rust may assume that those do not
/// change, and reorder or repeat reads of them, while another process can store to a mapped file at
/// any moment. So a value that was read from a map may differ when it is read again.
#[derive(Debug)]
pub struct Map<'f> {
    /// The first mapped page.
    pages: *mut c_void,
    pages_len: usize,
    /// The offset of the extent in the first page.
    skipped: usize,
    len: usize,
    registration: Option<Registration>,
    /// The caller promised that the file stays as it is.
    is_promised: bool,
    file: PhantomData<&'f File>,
}

// SAFETY: the pages belong to the process, not to a thread, and nothing here depends on which
// thread unmaps them.
unsafe impl Send for Map<'_> {}
// SAFETY: through `&Map` memory is only read.
unsafe impl Sync for Map<'_> {}

impl<'f> Map<'f> {
    /// Maps `len` bytes starting at `offset`, which need not be aligned.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a `len` of 0 and for any file that is not regular; `UnexpectedEof` if the
    /// extent extends past the end of the file; `ENODEV` from a file system that cannot map;
    /// `ENOMEM` if the address space or the number of maps is exhausted; `QuotaExceeded` if a guard
    /// already watches its maximum number of maps.
    pub fn new(
        permit: impl Into<Permit<'f>>,
        offset: u64,
        len: usize,
        flags: MapFlags,
    ) -> io::Result<Map<'f>> {
        let permit = permit.into();
        check_extent(permit.file, offset, len)?;
        let in_page = offset % page_size() as u64;
        let skipped = usize::try_from(in_page).map_err(io::Error::other)?;
        let pages_len = len.checked_add(skipped).ok_or_else(too_large)?;
        let pages = map_pages(permit.file, offset - in_page, pages_len, flags)?;
        let mut map = Map {
            pages,
            pages_len,
            skipped,
            len,
            registration: None,
            is_promised: permit.message.is_none(),
            file: PhantomData,
        };
        if let Some(message) = permit.message {
            let fault = Fault { start: map.start().addr(), len, offset, message };
            map.registration = Some(FaultTable::global().register(fault)?);
        }
        if flags.huge_page {
            map.ask_for_huge_pages(flags.populate);
        }
        Ok(map)
    }

    /// Returns the number of mapped bytes; never 0.
    #[expect(clippy::len_without_is_empty, reason = "no map is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes as cells, which other processes may store to and this program can only
    /// load.
    pub fn cells(&self) -> Cells<'_> {
        // SAFETY: `len` bytes from `start` on are mapped until `self` is dropped. The pages are
        // read-only, and only loads of them are offered, so this program does not store to them;
        // stores to the file by other processes come from outside, and no Rust allocation is
        // there.
        unsafe { Cells::of_foreign(self.start(), self.len) }
    }

    /// Returns the bytes as a slice if the permit was a [`Frozen`] promise, so that they do not
    /// change while they are mapped. With a guard, only cells are available.
    pub fn frozen_bytes(&self) -> Option<&[u8]> {
        if !self.is_promised {
            return None;
        }
        // SAFETY: `len` bytes from `start` on are mapped until `self` is dropped, and the caller
        // that gave the promise vouches that no process writes to them or truncates the file
        // until then.
        Some(unsafe { slice::from_raw_parts(self.start(), self.len) })
    }

    /// Copies bytes starting at `offset` within the map until `target` is full.
    ///
    /// Bytes that other processes store during the copy are old or new.
    ///
    /// # Panics
    ///
    /// If that extends past the end of the map.
    pub fn copy_to(&self, offset: usize, target: &mut [u8]) {
        self.assert_inside(offset, target.len());
        let from = self.start().wrapping_add(offset);
        // SAFETY: this many bytes are mapped from there on, as was just asserted; `target` is
        // exclusive, so it is not part of the map. This program does not store to the pages, see
        // `cells`; stores by other processes are seen or not, and what was copied is not looked
        // at here.
        unsafe { ptr::copy_nonoverlapping(from, target.as_mut_ptr(), target.len()) }
        // Reads of `target` must not load from the pages again: by then the bytes may have changed.
        compiler_fence(Ordering::SeqCst);
    }

    /// Advises on the pages that hold `len` bytes starting at `offset` within the map.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if this kernel does not know the advice; for [`MapAdvice::PopulateRead`],
    /// `EFAULT` if a page is past the end of the file or cannot be read.
    ///
    /// # Panics
    ///
    /// If the extent extends past the end of the map.
    pub fn advise(&self, offset: usize, len: usize, advice: MapAdvice) -> io::Result<()> {
        self.assert_inside(offset, len);
        let advice = match advice {
            MapAdvice::Normal => Advice::Normal,
            MapAdvice::Sequential => Advice::Sequential,
            MapAdvice::Random => Advice::Random,
            MapAdvice::WillNeed => Advice::WillNeed,
            MapAdvice::HugePage => Advice::LinuxHugepage,
            MapAdvice::PopulateRead => Advice::LinuxPopulateRead,
            MapAdvice::DontNeed => Advice::LinuxDontNeed,
        };
        let first = self.skipped + offset;
        let in_page = first % page_size();
        let from = self.pages.wrapping_byte_add(first - in_page);
        // SAFETY: the pages are mapped by `self`, from a file and read-only: none of these kinds
        // of advice changes the value of a load.
        Ok(unsafe { madvise(from, in_page + len, advice) }?)
    }

    /// Requests huge pages. This must precede entering the pages, so it excludes `MAP_POPULATE`.
    fn ask_for_huge_pages(&self, populate: bool) {
        // Both are advice: a kernel without huge pages maps small ones, and a page that cannot be
        // entered now is reported at its first access.
        let _ = self.advise(0, self.len, MapAdvice::HugePage);
        if populate {
            let _ = self.advise(0, self.len, MapAdvice::PopulateRead);
        }
    }

    fn start(&self) -> *const u8 {
        self.pages.cast::<u8>().wrapping_add(self.skipped)
    }

    fn assert_inside(&self, offset: usize, len: usize) {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        assert!(inside, "{len} bytes at {offset} are not inside a map of {}", self.len);
    }
}

impl Drop for Map<'_> {
    fn drop(&mut self) {
        // First, so that the guard never reports on pages that another map has taken over.
        self.registration = None;
        // SAFETY: the pages were mapped by `new`, and all borrows from `self` have ended.
        let unmapped = unsafe { munmap(self.pages, self.pages_len) };
        debug_assert!(unmapped.is_ok(), "munmap: {unmapped:?}");
    }
}

/// Checks that the extent is inside the file: an access past its end raises `SIGBUS`.
fn check_extent(file: &File, offset: u64, len: usize) -> io::Result<()> {
    let metadata = file.metadata()?;
    let refuse = |kind, what: &str| Err(io::Error::new(kind, what));
    if len == 0 {
        return refuse(io::ErrorKind::InvalidInput, "cannot map 0 bytes");
    }
    if !metadata.is_file() {
        return refuse(io::ErrorKind::InvalidInput, "only regular files are mapped");
    }
    match offset.checked_add(len as u64) {
        Some(end) if end <= metadata.len() => Ok(()),
        _ => refuse(io::ErrorKind::UnexpectedEof, "the file ends before the extent to map"),
    }
}

fn map_pages(file: &File, offset: u64, len: usize, flags: MapFlags) -> io::Result<*mut c_void> {
    let populate = flags.populate && !flags.huge_page;
    let raw = if populate { RawFlags::SHARED | RawFlags::POPULATE } else { RawFlags::SHARED };
    // SAFETY: the kernel chooses the address, so no memory that is in use is replaced.
    Ok(unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, raw, file, offset) }?)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the extent exceeds the address space")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file_of(len: usize) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = (0..len).map(|index| (index % 251).to_le_bytes()[0]).collect();
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&bytes).expect("written");
        (file, bytes)
    }

    fn map_of(file: &File, offset: u64, len: usize, flags: MapFlags) -> io::Result<Map<'_>> {
        // SAFETY: the tests' files have no name, and no test changes one that it has mapped.
        let frozen = unsafe { Frozen::promise(file) };
        Map::new(frozen, offset, len, flags)
    }

    #[test]
    fn every_flag_and_offset_gives_the_bytes_of_the_file() {
        let page = page_size();
        let (file, bytes) = file_of(3 * page + 5);
        for populate in [false, true] {
            for huge_page in [false, true] {
                for offset in [0, 1, page - 1, page, page + 1, 3 * page + 4] {
                    let len = bytes.len() - offset;
                    let flags = MapFlags { populate, huge_page };
                    let map = map_of(&file, offset as u64, len, flags).expect("mapped");
                    let cells = map.cells();
                    let seen: Vec<u8> = (0..cells.len()).map(|at| cells.load(at)).collect();
                    assert_eq!(seen, bytes[offset..], "{offset} {flags:?}");
                    let mut target = vec![0; len];
                    map.copy_to(0, &mut target);
                    assert_eq!(target, bytes[offset..], "{offset} {flags:?}");
                }
            }
        }
    }

    #[test]
    fn only_a_promised_map_is_a_slice() {
        let (file, bytes) = file_of(100);
        let map = map_of(&file, 7, 50, MapFlags::default()).expect("mapped");
        assert_eq!(map.frozen_bytes(), Some(&bytes[7..57]));
        let guard = crate::guard::Guard::install(&file, std::path::Path::new("a file"));
        let guard = guard.expect("a guard");
        let map = Map::new(guard, 7, 50, MapFlags::default()).expect("mapped");
        assert_eq!(map.frozen_bytes(), None);
    }

    #[test]
    fn what_cannot_be_mapped_is_refused_with_its_reason() {
        let (file, bytes) = file_of(100);
        let none = MapFlags::default();
        let kind = |offset, len| map_of(&file, offset, len, none).unwrap_err().kind();
        assert_eq!(kind(0, 0), io::ErrorKind::InvalidInput);
        assert_eq!(kind(0, bytes.len() + 1), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(100, 1), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(u64::MAX, 1), io::ErrorKind::UnexpectedEof);
        let folder = File::open("/").expect("the root");
        let error = map_of(&folder, 0, 1, none).unwrap_err();
        assert_eq!(error.to_string(), "only regular files are mapped");
    }

    #[test]
    fn advice_leaves_the_bytes_as_they_are() {
        let page = page_size();
        let (file, bytes) = file_of(4 * page);
        let map = map_of(&file, 10, 3 * page, MapFlags::default()).expect("mapped");
        for advice in [
            MapAdvice::Normal,
            MapAdvice::Sequential,
            MapAdvice::Random,
            MapAdvice::WillNeed,
            MapAdvice::HugePage,
            MapAdvice::PopulateRead,
            MapAdvice::DontNeed,
        ] {
            if let Err(error) = map.advise(0, map.len(), advice) {
                let is_new = matches!(advice, MapAdvice::HugePage | MapAdvice::PopulateRead);
                assert!(is_new && error.kind() == io::ErrorKind::InvalidInput, "{error}");
                eprintln!("skipped: this kernel does not know {advice:?}");
                continue;
            }
            for (offset, len) in [(0, 0), (1, 1), (page, page), (3 * page, 0)] {
                map.advise(offset, len, advice).expect("known a moment ago");
            }
            let mut target = vec![0; map.len()];
            map.copy_to(0, &mut target);
            assert_eq!(target, bytes[10..10 + 3 * page], "{advice:?}");
        }
    }

    #[test]
    #[should_panic(expected = "4 bytes at 8 are not inside a map of 10")]
    fn a_copy_past_the_end_of_the_map_panics() {
        let (file, _) = file_of(10);
        let map = map_of(&file, 0, 10, MapFlags::default()).expect("mapped");
        map.copy_to(8, &mut [0; 4]);
    }

    #[test]
    #[should_panic(expected = "are not inside a map of 10")]
    fn advice_whose_end_overflows_panics() {
        let (file, _) = file_of(10);
        let map = map_of(&file, 0, 10, MapFlags::default()).expect("mapped");
        let _ = map.advise(1, usize::MAX, MapAdvice::Normal);
    }

    #[test]
    fn a_map_may_be_read_by_several_threads() {
        let (file, bytes) = file_of(10_000);
        let map = map_of(&file, 0, bytes.len(), MapFlags::default()).expect("mapped");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| assert_eq!(map.cells().load(9_999), bytes[9_999]));
            }
        });
    }
}
