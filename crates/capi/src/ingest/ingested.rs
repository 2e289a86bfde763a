//! Many files in one block of memory, in C's form.

use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use crate::failure::Failure;
use crate::guard::{guard, quietly};
use crate::pointer::given;
use crate::report::{c_strings, text_at};
use crate::status::Status;

/// Many files, read into one block of memory. Any number of threads may use it at once.
#[derive(Debug)]
pub struct Ingested {
    ingested: swath::ingest::Ingested,
    fallbacks: Vec<CString>,
    /// Built when C first requests a file.
    table: OnceLock<Table>,
}

/// One of many files. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct File {
    /// Path of the file, as given or found.
    pub path: *const c_char,
    /// Bytes of the file; none if it could not be read.
    pub data: *const u8,
    /// Length in bytes.
    pub len: usize,
    /// Offset of `data` in the bytes of all files.
    pub offset: u64,
    /// SWATH_STATUS_OK if it was read; otherwise see `swath_ingested_error`.
    pub status: Status,
}

/// All files in C's form.
#[derive(Debug)]
struct Table {
    files: Vec<File>,
    /// The bytes that the paths in `files` point to.
    _names: Vec<u8>,
}

// SAFETY: the pointers in it lead to its own names and to bytes of the same owner; neither changes.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Appends a path to `names`, with a NUL at its end.
fn push_name(names: &mut Vec<u8>, path: &Path) {
    names.extend_from_slice(path.as_os_str().as_bytes());
    names.push(0);
}

fn status_of(error: Option<&swath::Error>) -> Status {
    error.map_or(Status::Ok, |error| Status::of(error.reason(), error.io_kind()))
}

impl Table {
    fn new(ingested: &swath::ingest::Ingested) -> Self {
        let mut names = Vec::new();
        ingested.iter().for_each(|entry| push_name(&mut names, entry.path));
        let mut place = 0;
        let file = |entry: swath::ingest::Entry<'_>| {
            let path = names[place..].as_ptr().cast();
            place += entry.path.as_os_str().len() + 1;
            let (data, len) = (entry.bytes.as_ptr(), entry.bytes.len());
            File { path, data, len, offset: entry.offset, status: status_of(entry.error) }
        };
        Self { files: ingested.iter().map(file).collect(), _names: names }
    }
}

impl Ingested {
    pub(super) fn new(ingested: swath::ingest::Ingested) -> Self {
        let fallbacks = c_strings(&ingested.report().fallbacks);
        Self { ingested, fallbacks, table: OnceLock::new() }
    }
}

/// Returns the number of files, including those with an error.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_count(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.ingested.len())
}

/// Returns a file by its index in input order; NULL if `index` is not below the count. Valid
/// until `ingested` is freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_file(
    ingested: Option<&Ingested>,
    index: usize,
) -> *const File {
    let mut found = ptr::null();
    quietly(|| {
        let table = ingested.map(|it| it.table.get_or_init(|| Table::new(&it.ingested)));
        found = table.and_then(|it| it.files.get(index)).map_or(ptr::null(), ptr::from_ref);
    });
    found
}

/// Returns why a file was not read, as if a call for it had just failed: sets the message, errno
/// and path of the last failure. SWATH_STATUS_OK for a file that was read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_error(ingested: Option<&Ingested>, index: usize) -> Status {
    guard(|| {
        let ingested = &given(ingested, "ingested")?.ingested;
        let entry = ingested.get(index).ok_or_else(|| {
            Failure::invalid(format!("there is no file {index} of {}", ingested.len()))
        })?;
        entry.error.map_or(Ok(()), |error| Err(Failure::of(error)))
    })
}

/// Returns the bytes of all files, in input order; NULL for NULL only. There may be bytes between
/// them that belong to no file.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_data(ingested: Option<&Ingested>) -> *const u8 {
    ingested.map_or(ptr::null(), |it| it.ingested.bytes().as_ptr())
}

/// Returns the length of `swath_ingested_data` in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_len(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.ingested.bytes().len())
}

/// Returns the number of files that could not be read and kept their place, with an error.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_failed(ingested: Option<&Ingested>) -> u64 {
    ingested.map_or(0, |it| it.ingested.report().failed)
}

/// Returns the number of files that could not be read and were left out.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_skipped(ingested: Option<&Ingested>) -> u64 {
    ingested.map_or(0, |it| it.ingested.report().skipped)
}

/// Returns the number of requested settings that could not be applied.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_fallback_count(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.fallbacks.len())
}

/// Describes a requested setting that could not be applied, and what was done instead; NULL if
/// `index` is not below the count. Valid until `ingested` is freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_fallback(
    ingested: Option<&Ingested>,
    index: usize,
) -> *const c_char {
    text_at(ingested.map(|it| &it.fallbacks), index)
}

/// Frees the files and their bytes; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_free(ingested: Option<Box<Ingested>>) {
    quietly(|| drop(ingested));
}

/// Some bytes of one of many files. Valid until the callback returns. Fields may be added at the
/// end.
#[repr(C)]
#[derive(Debug)]
pub struct FilePart {
    /// Index of the file in input order.
    pub index: usize,
    /// Path of the file, as given or found.
    pub path: *const c_char,
    /// Offset of the bytes in the file.
    pub offset: u64,
    /// The bytes; no bytes for a file that is empty or has failed.
    pub data: *const u8,
    /// Length in bytes.
    pub len: usize,
    /// Whether this is the last part of the file.
    pub is_last: bool,
    /// SWATH_STATUS_OK if the file could be read up to here.
    pub status: Status,
}

/// Receives a part of a file. Returns 0 to go on, any other value to stop. Called only on the
/// calling thread. It must not throw or `longjmp`.
pub type FilePartFn =
    Option<extern "C" fn(part: *const FilePart, user_data: *mut c_void) -> i32>;

impl FilePart {
    /// Converts a part, whose path is stored in `name`.
    pub(super) fn new(part: &swath::ingest::Part<'_>, name: &mut Vec<u8>) -> Self {
        name.clear();
        push_name(name, part.path);
        Self {
            index: part.index,
            path: name.as_ptr().cast(),
            offset: part.offset,
            data: part.bytes.as_ptr(),
            len: part.bytes.len(),
            is_last: part.is_last,
            status: status_of(part.error),
        }
    }
}
