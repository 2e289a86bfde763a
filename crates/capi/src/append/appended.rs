//! A committed output, read back.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use crate::guard::{guard, quietly};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A committed output: a plain file, or a folder of segments that reads as one stream. Any number
/// of threads may use it at once.
#[derive(Debug)]
pub struct Appended {
    opened: swath::append::Opened,
}

/// Opens a committed output. Free it with `swath_appended_free`.
///
/// SWATH_STATUS_NOT_FOUND if there is no such output, SWATH_STATUS_CORRUPT if its manifest is
/// damaged, SWATH_STATUS_TRUNCATED if a segment is shorter than the manifest says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_appended_open(
    path: *const c_char,
    appended: Option<&mut MaybeUninit<Option<Box<Appended>>>>,
) -> Status {
    guard(|| {
        let appended = handle(appended, "appended")?;
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        *appended = Some(Box::new(Appended { opened: swath::append::open(path)? }));
        Ok(())
    })
}

/// Returns the length of the output in bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_appended_len(appended: Option<&Appended>) -> u64 {
    appended.map_or(0, |it| it.opened.len())
}

/// Returns the number of extents in the output; 1 for a plain file, 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_appended_extents(appended: Option<&Appended>) -> usize {
    appended.map_or(0, |it| it.opened.extents())
}

/// Reads up to `len` bytes at `offset` into the caller's memory and sets `count` to the number
/// read: fewer than `len` only at the end, and 0 beyond it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_appended_pread(
    appended: Option<&Appended>,
    target: *mut c_void,
    len: usize,
    offset: u64,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        let appended = given(appended, "appended")?;
        let count = given(count, "count")?.write(0);
        // SAFETY: the contract of the header.
        let target = unsafe { pointer::bytes_mut(target.cast(), len, "target") }?;
        *count = appended.opened.read_at(target, offset)?;
        Ok(())
    })
}

/// Compares every extent with its checksum. A plain file has no checksums and is read to its end.
///
/// SWATH_STATUS_CORRUPT, with the segment and the bytes, if an extent does not match.
#[unsafe(no_mangle)]
pub extern "C" fn swath_appended_verify(appended: Option<&Appended>) -> Status {
    guard(|| Ok(given(appended, "appended")?.opened.verify()?))
}

/// Frees the handle; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_appended_free(appended: Option<Box<Appended>>) {
    quietly(|| drop(appended));
}
