//! The verb `ingest`: many files.

pub mod ingested;

use std::ffi::c_void;
use std::mem::{self, MaybeUninit};

use crate::failure::Failure;
use crate::files::Files;
use crate::guard::{guard, quietly};
use crate::number::numbers;
use crate::options::ReadOptions;
use crate::pointer::{given, handle, value};
use crate::setter::{Holds, change, made, set};
use crate::status::Status;

pub use ingested::{File, FilePart, FilePartFn, Ingested};

/// How to continue after a file that cannot be read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// The call fails, with the first failure in input order.
    Fail = 0,
    /// The file is left out and counted.
    Skip = 1,
    /// The file keeps its place, with its error.
    Collect = 2,
}
numbers!(Failures, "swath_failures", [Fail, Skip, Collect] -> swath::ingest::Failures);

/// How a walk through folders treats symbolic links. A path that is given by name is always followed.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symlinks {
    /// Reads files that links point to, but enters no folder through a link.
    Files = 0,
    /// Ignores links.
    Skip = 1,
    /// Reads files and enters folders; a link to a folder that contains it is an error.
    Follow = 2,
}
numbers!(Symlinks, "swath_symlinks", [Files, Skip, Follow] -> swath::ingest::Symlinks);

/// How to read many files. One thread at a time may set options, and no thread while a call uses
/// them. NULL means defaults.
#[derive(Debug, Default)]
pub struct IngestOptions {
    options: swath::ingest::IngestOptions,
    read: Option<ReadOptions>,
}

impl Holds for IngestOptions {
    type Held = swath::ingest::IngestOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with the defaults. Free them with `swath_ingest_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_new(
    options: Option<&mut MaybeUninit<Option<Box<IngestOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_free(options: Option<Box<IngestOptions>>) {
    quietly(|| drop(options));
}

/// Sets how the files are read. These settings of `read` apply: workers (default: one per core,
/// and for files outside the page cache as many as keep the device busy), queue depth (files
/// waiting for the device at once; default: 128 with a ring, 64 threads), progress (called on the
/// calling thread, total not known), token, and profile (of the file system of the first file
/// named). NULL restores the defaults. Later changes to `read` have no effect.
///
/// SWATH_STATUS_INVALID_ARGUMENT if `read` has mirrors or verification, which are for calls that
/// read one file.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_read(
    options: Option<&mut IngestOptions>,
    read: Option<&ReadOptions>,
) -> Status {
    change(options, |options| {
        options.read = read.map(ReadOptions::of_many_files).transpose()?;
        Ok(())
    })
}

/// Sets what to do when a file cannot be read. Default: SWATH_FAILURES_FAIL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_failures(
    options: Option<&mut IngestOptions>,
    failures: MaybeUninit<Failures>,
) -> Status {
    set(options, |options| Ok(options.with_failures(value(failures)?.into())))
}

/// Sets what a walk does with symbolic links. Default: SWATH_SYMLINKS_FILES.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_symlinks(
    options: Option<&mut IngestOptions>,
    symlinks: MaybeUninit<Symlinks>,
) -> Status {
    set(options, |options| Ok(options.with_symlinks(value(symlinks)?.into())))
}

/// Sets how many bytes `swath_ingest` may keep, or `swath_ingest_each` may hold at once. Default
/// 0: the memory available; for `swath_ingest_each`, 64 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_memory_limit(
    options: Option<&mut IngestOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_memory_limit(bytes)))
}

/// Sets how many bytes of a large file one worker reads at once, which is also the most that
/// `swath_ingest_each` passes in one call; at least 4096. Default 0: 1 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_part_size(
    options: Option<&mut IngestOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_part_size(bytes)))
}

/// The options of a call.
fn resolve(options: Option<&IngestOptions>, files: &Files) -> swath::ingest::IngestOptions {
    let Some(set) = options else { return swath::ingest::IngestOptions::new() };
    let options = set.options.clone();
    match &set.read {
        Some(read) => options.with_read(read.of_first(files.first.as_deref())),
        None => options,
    }
}

/// Reads all files of a list into one block of memory. Free `ingested` with
/// `swath_ingested_free`; after a failure it is NULL.
///
/// Fails with the first failure in input order, unless `options` say otherwise. Errors of each
/// file as for `swath_read`; SWATH_STATUS_OUT_OF_MEMORY if not all of them fit.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest(
    files: Option<&Files>,
    options: Option<&IngestOptions>,
    ingested: Option<&mut MaybeUninit<Option<Box<Ingested>>>>,
) -> Status {
    guard(|| {
        let ingested = handle(ingested, "ingested")?;
        let files = given(files, "files")?;
        let read = resolve(options, files).ingest(files.files.clone())?;
        *ingested = Some(Box::new(Ingested::new(read)));
        Ok(())
    })
}

/// Reads the files of a list and passes them one after another, on the calling thread, in input
/// order and in bounded memory: small files whole, larger ones in parts.
///
/// If the callback returns a value other than 0, nothing more is passed, and this function
/// returns SWATH_STATUS_STOPPED. A file can still fail after some of its parts were passed: its
/// last part then has no bytes and a status other than SWATH_STATUS_OK.
///
/// Errors as for `swath_ingest`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_each(
    files: Option<&Files>,
    options: Option<&IngestOptions>,
    callback: FilePartFn,
    user_data: *mut c_void,
) -> Status {
    guard(|| {
        let files = given(files, "files")?;
        let callback = given(callback, "callback")?;
        let mut name = Vec::new();
        resolve(options, files).stream(files.files.clone(), |part| {
            let mut told = mem::take(&mut name);
            let shown = FilePart::new(&part, &mut told);
            let value = callback(&raw const shown, user_data);
            name = told;
            match value {
                0 => Ok(()),
                value => Err(Failure::stopped(value, part.path)),
            }
        })?;
        Ok(())
    })
}
