//! How to write, for every call that leaves a file.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use swath::sink;

use crate::cancel::CancelToken;
use crate::guard::quietly;
use crate::number::numbers;
use crate::options::{Hooks, ProgressFn};
use crate::pointer::value;
use crate::setter::{Holds, made, put, set};
use crate::status::Status;

/// How sure to be, at commit, that a power cut does not undo it.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The device has bytes and name when commit returns.
    #[default]
    Full = 0,
    /// The kernel has them, and will write them when it likes: readers see all or nothing, but
    /// after a power cut the target may be old, empty or damaged.
    None = 1,
}
numbers!(Durability, "swath_durability", [Full, None] -> sink::Durability);

/// What to do if the target exists.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// It is replaced in one step; mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed = 0,
    /// The call fails, and the file is never touched.
    Refused = 1,
}
numbers!(Replace, "swath_replace", [Allowed, Refused] -> sink::Replace);

/// What to do if the target has further names (hard links), which would keep the old bytes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// The call fails.
    #[default]
    Refused = 0,
    /// This name gets the new bytes; the others keep the old ones.
    Broken = 1,
}
numbers!(HardLinks, "swath_hard_links", [Refused, Broken] -> sink::HardLinks);

/// How to write: one set of choices for every call that leaves a file. One thread sets at a time, and
/// none while a call writes with it. Wherever it is wanted, NULL stands for defaults.
#[derive(Debug, Default)]
pub struct OutputOptions {
    options: swath::OutputOptions,
    hooks: Hooks,
}

impl OutputOptions {
    /// What C has set, for the library; the defaults without options.
    pub(crate) fn of(options: Option<&Self>) -> swath::OutputOptions {
        let Some(set) = options else { return swath::OutputOptions::new() };
        let mut output = set.options.clone();
        if let Some(progress) = set.hooks.progress() {
            output = output.with_progress(progress);
        }
        match &set.hooks.cancel {
            Some(token) => output.with_cancel(token.clone()),
            None => output,
        }
    }
}

impl Holds for OutputOptions {
    type Held = swath::OutputOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with everything as it is best for most. To be freed by `swath_output_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_new(
    options: Option<&mut MaybeUninit<Option<Box<OutputOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_free(options: Option<Box<OutputOptions>>) {
    quietly(|| drop(options));
}

/// Sets whether a commit waits for the device. Default: SWATH_DURABILITY_FULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_durability(
    options: Option<&mut OutputOptions>,
    durability: MaybeUninit<Durability>,
) -> Status {
    set(options, |options| Ok(options.with_durability(value(durability)?.into())))
}

/// Sets what happens if the target exists. Default: SWATH_REPLACE_ALLOWED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_replace(
    options: Option<&mut OutputOptions>,
    replace: MaybeUninit<Replace>,
) -> Status {
    set(options, |options| Ok(options.with_replace(value(replace)?.into())))
}

/// Sets what happens if the target has further names. Default: SWATH_HARD_LINKS_REFUSED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_hard_links(
    options: Option<&mut OutputOptions>,
    hard_links: MaybeUninit<HardLinks>,
) -> Status {
    set(options, |options| Ok(options.with_hard_links(value(hard_links)?.into())))
}

/// Sets how many threads write, the calling one included; at most 1024. Only `swath_write` starts
/// threads: forks and tickets are written by the caller's. Default 0: one; over a network or FUSE up
/// to 4.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_workers(
    options: Option<&mut OutputOptions>,
    workers: usize,
) -> Status {
    set(options, |options| Ok(options.with_workers(workers)))
}

/// Sets a function that is told how many bytes were written. NULL: none, which is the default.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_progress(
    options: Option<&mut OutputOptions>,
    progress: ProgressFn,
    user_data: *mut c_void,
) -> Status {
    put(options, |options| options.hooks.set_progress(progress, user_data))
}

/// Sets the token that cancels calls with these options until their commit begins; NULL: none, which
/// is the default. The options keep what they need of it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_cancel(
    options: Option<&mut OutputOptions>,
    token: Option<&CancelToken>,
) -> Status {
    put(options, |options| options.hooks.set_cancel(token))
}
