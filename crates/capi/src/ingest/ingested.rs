//! Many files in one memory, and how C looks at them.

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

/// Many files, read into one memory. Used by any number of threads at one time.
#[derive(Debug)]
pub struct Ingested {
    ingested: swath::ingest::Ingested,
    fallbacks: Vec<CString>,
    /// Made when C first asks for a file.
    table: OnceLock<Table>,
}

/// One file of many. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct File {
    /// Its path, as it was given or found.
    pub path: *const c_char,
    /// Its bytes; none if it could not be read.
    pub data: *const u8,
    /// How many.
    pub len: usize,
    /// Where `data` is in the bytes of all files.
    pub offset: u64,
    /// Whether it was read; else see `swath_ingested_error`.
    pub status: Status,
}

/// All files as C looks at them.
#[derive(Debug)]
struct Table {
    files: Vec<File>,
    /// What the paths in `files` point to.
    _names: Vec<u8>,
}

// SAFETY: the pointers in it lead to names of its own and to bytes beside it, which nobody changes.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Puts a path behind `names`, with a NUL at its end.
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

/// Returns how many files there are, those with an error included.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_count(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.ingested.len())
}

/// Returns a file by its place in input order; NULL from the count on. Valid until `ingested` is
/// freed.
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

/// Returns why a file was not read, as if the call for it had failed just now: message, errno and
/// path are those of the last failure. SWATH_STATUS_OK for a file that was read.
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

/// Returns the bytes of all files, one behind the other in input order; NULL for NULL only.
/// Between them may be bytes that belong to none.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_data(ingested: Option<&Ingested>) -> *const u8 {
    ingested.map_or(ptr::null(), |it| it.ingested.bytes().as_ptr())
}

/// Returns how many bytes `swath_ingested_data` has.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_len(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.ingested.bytes().len())
}

/// Returns how many files could not be read and kept their place, with an error.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_failed(ingested: Option<&Ingested>) -> u64 {
    ingested.map_or(0, |it| it.ingested.report().failed)
}

/// Returns how many files could not be read and were left out.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_skipped(ingested: Option<&Ingested>) -> u64 {
    ingested.map_or(0, |it| it.ingested.report().skipped)
}

/// Returns how many wishes could not be granted.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_fallback_count(ingested: Option<&Ingested>) -> usize {
    ingested.map_or(0, |it| it.fallbacks.len())
}

/// Returns a wish that could not be granted, and what was done instead; NULL from the count on.
/// Valid until `ingested` is freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_fallback(
    ingested: Option<&Ingested>,
    index: usize,
) -> *const c_char {
    text_at(ingested.map(|it| &it.fallbacks), index)
}

/// Frees what was read; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingested_free(ingested: Option<Box<Ingested>>) {
    quietly(|| drop(ingested));
}

/// Some bytes of one file of many: valid until the callback returns. Fields may be added at the
/// end.
#[repr(C)]
#[derive(Debug)]
pub struct FilePart {
    /// Which file, in input order.
    pub index: usize,
    /// Its path, as it was given or found.
    pub path: *const c_char,
    /// Where the bytes are in the file.
    pub offset: u64,
    /// The bytes; of an empty file, and of one that failed, none.
    pub data: *const u8,
    /// How many.
    pub len: usize,
    /// Whether nothing of this file follows.
    pub is_last: bool,
    /// Whether it can be read to here.
    pub status: Status,
}

/// Looks at a part of a file; 0 to go on, anything else to stop. Called by the calling thread
/// alone. It must not throw or `longjmp`.
pub type FilePartFn =
    Option<extern "C" fn(part: *const FilePart, user_data: *mut c_void) -> i32>;

impl FilePart {
    /// Its name is kept in `name`.
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
