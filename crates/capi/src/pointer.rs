//! Pointers from C: checked, and turned into references and slices.
//!
//! Conditions that cannot be checked, such as the validity of a pointer, are the contract at the
//! top of the header and of the `unsafe` functions here.

use std::ffi::{CStr, OsStr, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::number::{Number, known};
use crate::status::Status;

/// The place of a result, if C wants it.
pub(crate) type Place<'p, T> = Option<&'p mut MaybeUninit<T>>;

/// Returns a pointer, or an error if it is NULL.
pub(crate) fn given<T>(pointer: Option<T>, name: &str) -> Result<T> {
    pointer.ok_or_else(|| null(name))
}

/// Returns a value of an enumeration, or an error with its number.
pub(crate) fn value<T: Number>(given: MaybeUninit<T>) -> Result<T> {
    known(given).map_err(|number| Failure::invalid(format!("{number} is not a `{}`", T::NAME)))
}

fn null(name: &str) -> Failure {
    Failure::invalid(format!("`{name}` is NULL"))
}

/// Returns the place of a handle, set to `NULL` until there is one, so that freeing it is harmless.
pub(crate) fn handle<'p, T>(
    place: Place<'p, Option<Box<T>>>,
    name: &str,
) -> Result<&'p mut Option<Box<T>>> {
    Ok(given(place, name)?.write(None))
}

/// Returns a handle's place that the caller may leave out.
pub(crate) fn wanted<'p, T>(
    place: Place<'p, Option<Box<T>>>,
) -> Option<&'p mut Option<Box<T>>> {
    place.map(|place| place.write(None))
}

/// Returns a path: bytes that end with NUL, in no encoding.
///
/// # Safety
///
/// `pointer` is NULL, or leads to a string that ends with NUL and outlives `'p`.
pub(crate) unsafe fn path<'p>(pointer: *const c_char, name: &str) -> Result<&'p Path> {
    // SAFETY: as above.
    let text = unsafe { text(pointer, name) }?;
    if text.is_empty() {
        return Err(Failure::invalid(format!("`{name}` is an empty path")));
    }
    Ok(Path::new(OsStr::from_bytes(text)))
}

/// Returns a string that ends with NUL, without the NUL.
///
/// # Safety
///
/// As [`path`].
pub(crate) unsafe fn text<'p>(pointer: *const c_char, name: &str) -> Result<&'p [u8]> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and the caller promises that it ends with NUL.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// Returns the strings in an array of C.
///
/// # Safety
///
/// `pointer` is NULL, or leads to `count` strings that end with NUL.
pub(crate) unsafe fn texts<'p>(
    pointer: *const *const c_char,
    count: usize,
    name: &str,
) -> Result<Vec<&'p str>> {
    // SAFETY: as above.
    let pointers = unsafe { items(pointer, count, name) }?;
    let each = |(index, &text): (usize, &*const c_char)| {
        // SAFETY: as above.
        unsafe { utf8(text, &format!("{name}[{index}]")) }
    };
    pointers.iter().enumerate().map(each).collect()
}

/// Returns a string that must be UTF-8.
///
/// # Safety
///
/// As [`path`].
pub(crate) unsafe fn utf8<'p>(pointer: *const c_char, name: &str) -> Result<&'p str> {
    // SAFETY: as above.
    let bytes = unsafe { text(pointer, name) }?;
    std::str::from_utf8(bytes).map_err(|_| Failure::invalid(format!("`{name}` is not UTF-8")))
}

/// Returns several paths.
///
/// # Safety
///
/// `pointer` is NULL, or leads to `count` pointers as in [`path`].
pub(crate) unsafe fn paths<'p>(
    pointer: *const *const c_char,
    count: usize,
    name: &str,
) -> Result<Vec<&'p Path>> {
    // SAFETY: as above.
    let pointers = unsafe { items(pointer, count, name) }?;
    let each = |(index, &pointer): (usize, &*const c_char)| {
        // SAFETY: as above.
        unsafe { path(pointer, &format!("{name}[{index}]")) }
    };
    let mut paths = Vec::new();
    paths.try_reserve_exact(count).map_err(|error| {
        Failure::new(Status::OutOfMemory, format!("cannot list {count} paths: {error}"))
    })?;
    for named in pointers.iter().enumerate() {
        paths.push(each(named)?);
    }
    Ok(paths)
}

/// Returns items to read; without items the pointer may be NULL.
///
/// # Safety
///
/// `pointer` is NULL, or points to `count` items that outlive `'p` and that no thread changes.
pub(crate) unsafe fn items<'p, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> Result<&'p [T]> {
    if fits::<T>(pointer, count, name)? {
        // SAFETY: not NULL, aligned, no longer than an address can be; the caller promises the rest.
        Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
    } else {
        Ok(&[])
    }
}

/// Returns bytes to write to; without bytes the pointer may be NULL.
///
/// # Safety
///
/// `pointer` is NULL, or points to `len` bytes that outlive `'p` and that no other thread uses
/// during that time.
pub(crate) unsafe fn bytes_mut<'p>(
    pointer: *mut u8,
    len: usize,
    name: &str,
) -> Result<&'p mut [u8]> {
    if fits(pointer.cast_const(), len, name)? {
        // SAFETY: as above. Bytes that C has not written yet still have a value: Rust did not
        // allocate this memory.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
    } else {
        Ok(&mut [])
    }
}

/// Returns whether there are items; fails if the pointer cannot be memory.
fn fits<T>(pointer: *const T, count: usize, name: &str) -> Result<bool> {
    if count == 0 {
        return Ok(false);
    }
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(Failure::invalid(format!("`{name}` is not aligned")));
    }
    let bytes =
        count.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    // Memory cannot extend past the last address.
    let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes));
    match end {
        Some(_) => Ok(true),
        None => Err(Failure::invalid(format!("`{name}` cannot have {count} items"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn what_cannot_be_memory_is_refused() {
        let one = [1_u64, 2];
        let first = one.as_ptr();
        assert!(fits(first, 2, "it").expect("two are there"));
        assert!(!fits(ptr::null::<u64>(), 0, "it").expect("none is wanted"));
        assert!(fits(ptr::null::<u64>(), 1, "it").is_err());
        assert!(fits(first.wrapping_byte_add(1), 1, "it").is_err());
        let most = isize::MAX.unsigned_abs();
        for count in [usize::MAX, most / 8 + 1] {
            assert!(fits(first, count, "it").is_err(), "{count}");
        }
        let last = ptr::without_provenance::<u8>(usize::MAX - 9);
        assert!(fits(last, 9, "it").expect("up to the last address"));
        assert!(fits(last, 10, "it").is_err());
    }

    #[test]
    fn paths_are_bytes_and_must_be_there() {
        let named = [c"a\xff".as_ptr(), ptr::null()];
        // SAFETY: one string that ends with NUL.
        let one = unsafe { paths(named.as_ptr(), 1, "paths") };
        // SAFETY: the same, and NULL.
        let both = unsafe { paths(named.as_ptr(), 2, "paths") };
        assert_eq!(one.expect("it is there")[0].as_os_str().as_bytes(), b"a\xff");
        assert!(format!("{:?}", both.expect_err("NULL")).contains("`paths[1]` is NULL"));
        // SAFETY: a string that ends with NUL.
        assert!(unsafe { path(c"".as_ptr(), "path") }.is_err());
    }
}
