//! Memory from Rust's allocator, for Miri, which supports neither `MAP_NORESERVE` nor advice, but
//! checks every access to memory that it allocated.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

/// Returns the layout of a block: every block has the largest alignment in use.
fn layout(len: usize) -> io::Result<Layout> {
    Layout::from_size_align(len, super::POPULATE_SIZE).map_err(|_| out_of_memory())
}

pub(super) fn map(len: usize, _alignment: usize) -> io::Result<NonNull<u8>> {
    // Like a real machine; Miri itself would abort.
    if len > 1 << 40 {
        return Err(out_of_memory());
    }
    // SAFETY: no length is 0, because they are whole pages.
    NonNull::new(unsafe { alloc_zeroed(layout(len)?) }).ok_or_else(out_of_memory)
}

/// # Safety
///
/// As in `mapping.rs`.
pub(super) unsafe fn grow(
    start: NonNull<u8>,
    len: usize,
    new_len: usize,
) -> io::Result<NonNull<u8>> {
    let moved = map(new_len, super::POPULATE_SIZE)?;
    // SAFETY: both are separate blocks of at least this many bytes.
    unsafe { start.copy_to_nonoverlapping(moved, len) };
    // SAFETY: as the caller vouches.
    unsafe { unmap(start, len) };
    Ok(moved)
}

/// # Safety
///
/// As in `mapping.rs`.
pub(super) unsafe fn advise_huge(_start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

/// # Safety
///
/// As in `mapping.rs`.
pub(super) unsafe fn populate(_start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

/// # Safety
///
/// As in `mapping.rs`.
pub(super) unsafe fn offer(_start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

/// # Safety
///
/// As in `mapping.rs`.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    if let Ok(layout) = layout(len) {
        // SAFETY: a block from `map`, with the layout it was made with; nothing borrows from it.
        unsafe { dealloc(start.as_ptr(), layout) };
    }
}

fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
