//! The verb `ingest`: many files.

pub mod ingested;

use std::ffi::c_void;
use std::mem::{self, MaybeUninit};

use crate::failure::Failure;
use crate::files::Files;
use crate::guard::guard;
use crate::options::CallOptions;
use crate::pointer::{given, handle};
use crate::status::Status;

pub use ingested::{File, FilePart, FilePartFn, Ingested};

/// Reads all files of a list into one block of memory. Free `ingested` with
/// `swath_ingested_free`; after a failure it is NULL.
///
/// Fails with the first failure in input order, unless `options` say otherwise. Errors of each
/// file as for `swath_read`; SWATH_STATUS_OUT_OF_MEMORY if they do not all fit.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest(
    files: Option<&Files>,
    options: Option<&CallOptions>,
    ingested: Option<&mut MaybeUninit<Option<Box<Ingested>>>>,
) -> Status {
    guard(|| {
        let ingested = handle(ingested, "ingested")?;
        let files = given(files, "files")?;
        let read = CallOptions::ingest(options, files.first.as_deref())?
            .ingest(files.files.clone())?;
        *ingested = Some(Box::new(Ingested::new(read)));
        Ok(())
    })
}

/// Reads the files of a list and passes them to `callback` one after another, on the calling
/// thread, in input order and in bounded memory: small files whole, larger ones in parts.
///
/// If the callback returns a value other than 0, no further part is passed, and this function
/// returns SWATH_STATUS_STOPPED. A file can still fail after some of its parts were passed: its
/// last part then has no bytes and a status other than SWATH_STATUS_OK.
///
/// Errors as for `swath_ingest`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ingest_each(
    files: Option<&Files>,
    options: Option<&CallOptions>,
    callback: FilePartFn,
    user_data: *mut c_void,
) -> Status {
    guard(|| {
        let files = given(files, "files")?;
        let callback = given(callback, "callback")?;
        let mut name = Vec::new();
        CallOptions::ingest(options, files.first.as_deref())?.stream(
            files.files.clone(),
            |part| {
                let mut told = mem::take(&mut name);
                let shown = FilePart::new(&part, &mut told);
                let value = callback(&raw const shown, user_data);
                name = told;
                match value {
                    0 => Ok(()),
                    value => Err(Failure::stopped(value, part.path)),
                }
            },
        )?;
        Ok(())
    })
}
