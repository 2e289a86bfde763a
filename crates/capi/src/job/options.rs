//! How to plan a job.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;

use swath::job::{self, Division};

use crate::guard::quietly;
use crate::number::numbers;
use crate::output::OutputOptions;
use crate::pointer::{self, value};
use crate::setter::{Holds, made, set};
use crate::status::Status;

/// The form of a job's output.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// One ordinary file: the commit copies what the parts wrote to their places, sharing blocks
    /// where the file system can.
    #[default]
    File = 0,
    /// The folder of the job is the output: the commit adds a manifest and moves nothing.
    /// `swath_appended_open`, `swath cat` and `swath cp` read it.
    Segments = 1,
}
numbers!(Form, "swath_form", [File, Segments] -> job::Form);

/// How to plan a job. One thread at a time may set options. NULL means defaults: parts of 64 MiB,
/// divided at any byte; one durable file.
#[derive(Debug, Default)]
pub struct JobOptions {
    options: job::JobOptions,
}

impl JobOptions {
    pub(super) fn of(options: Option<&Self>) -> job::JobOptions {
        options.map_or_else(job::JobOptions::new, |set| set.options.clone())
    }
}

impl Holds for JobOptions {
    type Held = job::JobOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with the defaults. Free them with `swath_job_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_new(
    options: Option<&mut MaybeUninit<Option<Box<JobOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_free(options: Option<Box<JobOptions>>) {
    quietly(|| drop(options));
}

/// Sets how many parts, at most: no part is empty. Default 0: as many as the part size gives; without
/// inputs 1. Ignored where each input is a part.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_parts(
    options: Option<&mut JobOptions>,
    parts: usize,
) -> Status {
    set(options, |options| Ok(options.with_parts(parts)))
}

/// Sets the bytes of input of a part. Default 0: 64 MiB. The number of parts takes precedence.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_part_size(
    options: Option<&mut JobOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_part_size(bytes)))
}

/// Divides inputs at multiples of `width` bytes from their start, which each input must consist of: for
/// records of one length. 0: at any byte, for readers that take the records that begin in an extent.
/// UINT64_MAX: each input that has bytes is one part. UINT64_MAX - 1: between inputs only, and a part
/// may have several. Default 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_division(
    options: Option<&mut JobOptions>,
    width: u64,
) -> Status {
    let division = match NonZeroU64::new(width) {
        None => Division::Bytes,
        Some(NonZeroU64::MAX) => Division::Inputs,
        Some(width) if width.get() == u64::MAX - 1 => Division::Groups,
        Some(width) => Division::Width(width),
    };
    set(options, |options| Ok(options.with_division(division)))
}

/// Sets the form of the output. Default: SWATH_FORM_FILE.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_form(
    options: Option<&mut JobOptions>,
    form: MaybeUninit<Form>,
) -> Status {
    set(options, |options| Ok(options.with_form(value(form)?.into())))
}

/// Sets the folder for what parts write; it must not exist. Default: next to the target, with a
/// name of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_job_options_set_folder(
    options: Option<&mut JobOptions>,
    folder: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let folder = unsafe { pointer::path(folder, "folder") };
    set(options, |options| Ok(options.with_folder(folder?)))
}

/// Sets how the output is written. The options keep a copy.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_output(
    options: Option<&mut JobOptions>,
    output: Option<&OutputOptions>,
) -> Status {
    set(options, |options| Ok(options.with_output(OutputOptions::of(output))))
}
