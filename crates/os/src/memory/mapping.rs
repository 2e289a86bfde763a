//! Anonymous memory from the kernel.

use std::io;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, munmap,
};

/// Maps `len` zeroed bytes, whole pages, starting at a multiple of `alignment`, which is at
/// least the page size.
pub(super) fn map(len: usize, alignment: usize) -> io::Result<NonNull<u8>> {
    if alignment <= rustix::param::page_size() {
        return map_anywhere(len);
    }
    // More is mapped, and the ends are unmapped.
    let wide = len.checked_add(alignment).ok_or_else(out_of_memory)?;
    let start = map_anywhere(wide)?;
    let head = start.as_ptr().align_offset(alignment);
    // SAFETY: `head` is below `alignment`, inside the wide mapping.
    let aligned = unsafe { start.add(head) };
    if head > 0 {
        // SAFETY: the first `head` bytes of our own new mapping; not used yet.
        unsafe { unmap(start, head) };
    }
    let tail = alignment - head;
    if tail > 0 {
        // SAFETY: `head + len` is inside the wide mapping.
        let end = unsafe { aligned.add(len) };
        // SAFETY: the last `tail` bytes of our own new mapping; not used yet.
        unsafe { unmap(end, tail) };
    }
    Ok(aligned)
}

fn map_anywhere(len: usize) -> io::Result<NonNull<u8>> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping at an address of the kernel's choice overlaps nothing.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, protection, flags) }?;
    NonNull::new(start.cast()).ok_or_else(out_of_memory)
}

/// Extends a mapping; its contents are kept, and may move.
///
/// # Safety
///
/// `start .. start + len` is a whole mapping of the caller's, with no other access to it.
pub(super) unsafe fn grow(
    start: NonNull<u8>,
    len: usize,
    new_len: usize,
) -> io::Result<NonNull<u8>> {
    // SAFETY: as the caller vouches.
    let moved = unsafe { mremap(start.as_ptr().cast(), len, new_len, MremapFlags::MAYMOVE) }?;
    NonNull::new(moved.cast()).ok_or_else(out_of_memory)
}

/// Requests huge pages.
///
/// # Safety
///
/// The range is a mapping of the caller's.
pub(super) unsafe fn advise_huge(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: as the caller vouches; the advice changes no contents.
    Ok(unsafe { madvise(start.as_ptr().cast(), len, Advice::LinuxHugepage) }?)
}

/// Makes all pages present and writable.
///
/// # Safety
///
/// The range is inside a mapping of the caller's.
pub(super) unsafe fn populate(start: NonNull<u8>, len: usize) -> io::Result<()> {
    loop {
        // SAFETY: as the caller vouches; populating keeps the contents.
        let done = unsafe { madvise(start.as_ptr().cast(), len, Advice::LinuxPopulateWrite) };
        match done {
            Err(Errno::INTR | Errno::AGAIN) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}

/// Lets the kernel take pages until they are written.
///
/// # Safety
///
/// The range is a mapping of the caller's, and nothing reads it until it is populated or written
/// again.
pub(super) unsafe fn offer(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: as the caller vouches.
    Ok(unsafe { madvise(start.as_ptr().cast(), len, Advice::LinuxFree) }?)
}

/// Unmaps memory.
///
/// # Safety
///
/// The range is a mapping of the caller's, and nothing borrows from it.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    // SAFETY: as the caller vouches.
    let unmapped = unsafe { munmap(start.as_ptr().cast(), len) };
    debug_assert!(unmapped.is_ok(), "munmap: {unmapped:?}");
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
