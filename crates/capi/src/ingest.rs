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

/// What happens when a file cannot be read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// The call fails, with the first failure in input order.
    Fail = 0,
    /// The file is left out, and counted.
    Skip = 1,
    /// The file keeps its place, with its error.
    Collect = 2,
}
numbers!(Failures, "swath_failures", [Fail, Skip, Collect] -> swath::ingest::Failures);

/// What a walk through folders does with symbolic links. What is named is always followed.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symlinks {
    /// Reads the files that links lead to, and enters no folder through a link.
    Files = 0,
    /// Leaves them out.
    Skip = 1,
    /// Reads files and enters folders; a link to a folder that it is in is an error.
    Follow = 2,
}
numbers!(Symlinks, "swath_symlinks", [Files, Skip, Follow] -> swath::ingest::Symlinks);

/// How to read many files. One thread sets at a time, and none while a call reads with it. Wherever
/// it is wanted, NULL stands for defaults.
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

/// Makes options that leave everything to the library. To be freed by `swath_ingest_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_new(
    options: Option<&mut MaybeUninit<Option<Box<IngestOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_free(options: Option<Box<IngestOptions>>) {
    quietly(|| drop(options));
}

/// Sets how the files are read, of which count: workers (default: one for each core, and where files
/// are not in the page cache as many as keep the device busy), the queue depth (files that wait for the
/// device at one time; default: 128 in rings, 64 threads), progress (told on the calling thread; the
/// total is not known), the token, and the profile (that of the file system of the first file that is
/// named). NULL: all as it is best for most, which is the default. What is set in `read` later does
/// not count.
///
/// SWATH_STATUS_INVALID_ARGUMENT for mirrors and checks, which are for calls that read one file.
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

/// Sets what happens when a file cannot be read. Default: SWATH_FAILURES_FAIL.
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

/// Sets the bytes that `swath_ingest` may keep, or `swath_ingest_each` hold at one time. Default 0:
/// what memory is at hand; one after the other 64 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_memory_limit(
    options: Option<&mut IngestOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_memory_limit(bytes)))
}

/// Sets the bytes that one worker reads of a large file at one time, and the most that
/// `swath_ingest_each` hands over at once; at least 4096. Default 0: 1 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_options_set_part_size(
    options: Option<&mut IngestOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_part_size(bytes)))
}

/// What a call goes by.
fn resolve(options: Option<&IngestOptions>, files: &Files) -> swath::ingest::IngestOptions {
    let Some(set) = options else { return swath::ingest::IngestOptions::new() };
    let options = set.options.clone();
    match &set.read {
        Some(read) => options.with_read(read.of_first(files.first.as_deref())),
        None => options,
    }
}

/// Reads all files of a list into one memory. `ingested` is to be freed by `swath_ingested_free`;
/// after a failure it is NULL.
///
/// The first failure in input order, unless `options` say otherwise: as `swath_read` for each file,
/// and SWATH_STATUS_OUT_OF_MEMORY if there is none for all of them.
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

/// Reads the files of a list and hands them over one after the other, on the calling thread, in
/// bounded memory and in input order: small files whole, larger ones in parts.
///
/// If a call returns something else than 0, nothing is handed over any more, and this returns
/// SWATH_STATUS_STOPPED. A file of which parts have been handed over may still fail: then its last
/// part has no bytes and a status that is not SWATH_STATUS_OK.
///
/// As `swath_ingest`.
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
