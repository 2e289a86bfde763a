//! Checks whether the structures of another library can be read.
//!
//! Arrow's crates assume that they have the shape that the interface defines; otherwise they panic,
//! or follow a pointer that is NULL. Properties that cannot be inspected, such as the length of a
//! buffer, are guaranteed only by the interface.

use std::ffi::{CStr, c_char, c_void};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

/// The maximum depth of nested structures.
const MOST_DEEP: usize = 64;

/// `struct ArrowSchema` of the header.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const *const Schema,
    dictionary: *const Schema,
    release: *const c_void,
    private_data: *const c_void,
}

/// `struct ArrowArray` of the header.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *const *const Array,
    dictionary: *const Array,
    release: *const c_void,
    private_data: *const c_void,
}

/// The result of a check: the fault of a shape, if any.
type ShapeCheck = Result<(), &'static str>;

/// Checks a schema that a library returned.
pub(crate) fn schema(schema: &FFI_ArrowSchema) -> ShapeCheck {
    // SAFETY: both are the structure of the interface.
    let schema = unsafe { &*std::ptr::from_ref(schema).cast::<Schema>() };
    if schema.release.is_null() {
        return Err("it was released");
    }
    of_schema(schema, 0)
}

fn of_schema(schema: &Schema, depth: usize) -> ShapeCheck {
    if depth > MOST_DEEP {
        return Err("it has too many levels");
    }
    if schema.format.is_null() {
        return Err("a `format` is NULL");
    }
    // SAFETY: not NULL, so by the interface it is a string.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_bytes();
    if schema.n_children < least_children(format) {
        return Err("a nested type lacks a child");
    }
    // SAFETY: by the interface there are this many pointers.
    for &child in unsafe { pointers(schema.children, schema.n_children) }? {
        // SAFETY: by the interface each leads to a schema.
        of_schema(unsafe { child.as_ref() }.ok_or("a child is NULL")?, depth + 1)?;
    }
    // SAFETY: by the interface it is NULL or leads to a schema.
    match unsafe { schema.dictionary.as_ref() } {
        Some(dictionary) => of_schema(dictionary, depth + 1),
        None => Ok(()),
    }
}

/// Returns the minimum number of children of a type; structs and unions may have none.
fn least_children(format: &[u8]) -> i64 {
    match format {
        [b'+', b's' | b'u', ..] => 0,
        b"+r" => 2,
        [b'+', ..] => 1,
        _ => 0,
    }
}

/// Checks an array of a type that [`schema`] has checked.
pub(crate) fn array(array: &FFI_ArrowArray, schema: &FFI_ArrowSchema) -> ShapeCheck {
    // SAFETY: both are the structure of the interface.
    let array = unsafe { &*std::ptr::from_ref(array).cast::<Array>() };
    // SAFETY: as above.
    let schema = unsafe { &*std::ptr::from_ref(schema).cast::<Schema>() };
    of_array(array, schema)
}

fn of_array(array: &Array, schema: &Schema) -> ShapeCheck {
    if array.length < 0 || array.offset < 0 || array.length.checked_add(array.offset).is_none()
    {
        return Err("a length or an offset is impossible");
    }
    // SAFETY: by the interface there are this many pointers.
    unsafe { pointers(array.buffers, array.n_buffers) }?;
    if array.n_children != schema.n_children {
        return Err("it has more or fewer children than its type");
    }
    // SAFETY: by the interface there are this many pointers.
    let children = unsafe { pointers(array.children, array.n_children) }?;
    // SAFETY: as above.
    let types = unsafe { pointers(schema.children, schema.n_children) }?;
    for (&child, &kind) in children.iter().zip(types) {
        // SAFETY: by the interface each leads to an array.
        let child = unsafe { child.as_ref() }.ok_or("a child is NULL")?;
        // SAFETY: as above, to a schema.
        of_array(child, unsafe { kind.as_ref() }.ok_or("a child is NULL")?)?;
    }
    // SAFETY: by the interface it is NULL or leads to an array.
    let dictionary = unsafe { array.dictionary.as_ref() };
    // SAFETY: as above, to a schema.
    match (dictionary, unsafe { schema.dictionary.as_ref() }) {
        (Some(dictionary), Some(kind)) => of_array(dictionary, kind),
        (None, None) => Ok(()),
        _ => Err("it has a dictionary and its type has none, or the other way round"),
    }
}

/// Returns the pointers in a C array.
///
/// # Safety
///
/// `first` is NULL, or leads to `count` pointers that outlive `'p`.
unsafe fn pointers<'p, T>(
    first: *const *const T,
    count: i64,
) -> Result<&'p [*const T], &'static str> {
    let count = usize::try_from(count).map_err(|_| "a count is negative")?;
    match count {
        0 => Ok(&[]),
        _ if first.is_null() => Err("pointers are missing"),
        // SAFETY: as above.
        _ => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}
