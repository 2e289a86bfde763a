//! How to plan a job.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;

use swath::job;

use crate::failure::{Failure, Result};
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

/// Where inputs may be divided, and so what a part has.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// At any byte, and a part has the records that begin in its pieces; each input is taken alone.
    /// Read them with `swath_record_options_set_starting_in`. Only their reader knows where they end, so
    /// all parts must be done with the same reader. The command `swath job` does none of them.
    #[default]
    Records = 0,
    /// At any byte, and a part has exactly the bytes of its pieces.
    Bytes = 1,
    /// Where a line begins: a part has exactly the bytes of its pieces, which are whole lines. The inputs
    /// are seen as one text: where one does not end with a newline, its last line goes on in the next.
    Lines = 2,
    /// At multiples of a width from the start of each input, for records of one length: a part has exactly
    /// the bytes of its pieces. Set with `swath_job_options_set_width`.
    Width = 3,
    /// Each input that has bytes is one part.
    Inputs = 4,
    /// Between inputs only, and a part may have several.
    Groups = 5,
}
numbers!(Division, "swath_division", [Records, Bytes, Lines, Width, Inputs, Groups]);

impl Division {
    /// A division of the library; one that C has no name for is of bytes, which its pieces say.
    pub(super) fn of(division: job::Division) -> Self {
        match division {
            job::Division::Records => Self::Records,
            job::Division::Lines => Self::Lines,
            job::Division::Width(_) => Self::Width,
            job::Division::Inputs => Self::Inputs,
            job::Division::Groups => Self::Groups,
            _ => Self::Bytes,
        }
    }

    fn chosen(self) -> Result<job::Division> {
        Ok(match self {
            Self::Records => job::Division::Records,
            Self::Bytes => job::Division::Bytes,
            Self::Lines => job::Division::Lines,
            Self::Inputs => job::Division::Inputs,
            Self::Groups => job::Division::Groups,
            Self::Width => {
                let text = "SWATH_DIVISION_WIDTH needs the width of a record; try: call \
                            swath_job_options_set_width";
                return Err(Failure::invalid(text));
            }
        })
    }
}

/// How to plan a job. One thread at a time may set options. NULL means defaults: parts of 64 MiB,
/// which have the records that begin in their bytes; one durable file.
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

/// Sets where inputs may be divided. Default: SWATH_DIVISION_RECORDS.
///
/// SWATH_STATUS_INVALID_ARGUMENT for SWATH_DIVISION_WIDTH, which needs a width: see
/// `swath_job_options_set_width`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_division(
    options: Option<&mut JobOptions>,
    division: MaybeUninit<Division>,
) -> Status {
    set(options, |options| Ok(options.with_division(value(division)?.chosen()?)))
}

/// Divides inputs at multiples of `width` bytes from their start, which each input must consist of: for
/// records of one length. It takes the place of the division that was set before.
///
/// SWATH_STATUS_INVALID_ARGUMENT if `width` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_options_set_width(
    options: Option<&mut JobOptions>,
    width: u64,
) -> Status {
    set(options, |options| {
        let width = NonZeroU64::new(width)
            .ok_or_else(|| Failure::invalid("width is 0; try: pass the bytes of one record"))?;
        Ok(options.with_division(job::Division::Width(width)))
    })
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
