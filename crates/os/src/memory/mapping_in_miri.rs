//! The same from Rust's allocator, for Miri: it knows neither `MAP_NORESERVE` nor advice, but watches
//! every access to what it has allocated.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

/// Every block is aligned as the widest are.
fn layout(len: usize) -> io::Result<Layout> {
    Layout::from_size_align(len, super::POPULATE_SIZE).map_err(|_| out_of_memory())
}

pub(super) fn map(len: usize, _alignment: usize) -> io::Result<NonNull<u8>> {
    // As a machine has it: Miri itself would end.
    if len > 1 << 40 {
        return Err(out_of_memory());
    }
    // SAFETY: no length is 0, for they are whole pages.
    NonNull::new(unsafe { alloc_zeroed(layout(len)?) }).ok_or_else(out_of_memory)
}

/// # Safety
///
/// As beside it.
pub(super) unsafe fn grow(
    start: NonNull<u8>,
    len: usize,
    new_len: usize,
) -> io::Result<NonNull<u8>> {
    let moved = map(new_len, super::POPULATE_SIZE)?;
    // SAFETY: both are blocks of their own, of so many bytes and more.
    unsafe { start.copy_to_nonoverlapping(moved, len) };
    // SAFETY: as the caller vouches.
    unsafe { unmap(start, len) };
    Ok(moved)
}

/// # Safety
///
/// As beside it.
pub(super) unsafe fn advise_huge(_start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

/// # Safety
///
/// As beside it.
pub(super) unsafe fn populate(_start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

/// # Safety
///
/// As beside it.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    if let Ok(layout) = layout(len) {
        // SAFETY: a block of `map`, with the layout it was made with; nothing borrows from it.
        unsafe { dealloc(start.as_ptr(), layout) };
    }
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
