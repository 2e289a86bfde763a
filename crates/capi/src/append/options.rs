//! How to append.

use std::mem::MaybeUninit;

use swath::append;

use crate::guard::quietly;
use crate::number::numbers;
use crate::output::OutputOptions;
use crate::pointer::value;
use crate::setter::{Holds, made, set};
use crate::status::Status;

/// Where the bytes of parallel strands are left.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One ordinary file, byte for byte the one that the serial program would leave.
    #[default]
    Plain = 0,
    /// A folder of segments and a manifest with their serial order: nothing is moved at commit.
    /// `swath_appended_open`, `swath cat` and `swath cp` read it.
    Segments = 1,
}
numbers!(Mode, "swath_mode", [Plain, Segments] -> append::Mode);

/// Whether the bytes of segments are checksummed.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// Each extent has one (CRC-32C), for `swath_appended_verify`.
    #[default]
    Extents = 0,
    /// None.
    None = 1,
}
numbers!(Checksums, "swath_checksums", [Extents, None] -> append::ExtentChecksums);

/// How to append. The caller's threads write; a commit that has much to move, and
/// `swath_appended_verify`, take one thread for each core as long as they run. One thread sets at a
/// time; a call takes what is set when it begins. Wherever it is wanted, NULL stands for defaults.
#[derive(Debug, Default)]
pub struct AppendOptions {
    options: append::AppendOptions,
}

impl AppendOptions {
    pub(super) fn of(options: Option<&Self>) -> append::AppendOptions {
        options.map_or_else(append::AppendOptions::new, |set| set.options.clone())
    }
}

impl Holds for AppendOptions {
    type Held = append::AppendOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with everything as it is best for most. To be freed by `swath_append_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_new(
    options: Option<&mut MaybeUninit<Option<Box<AppendOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_free(options: Option<Box<AppendOptions>>) {
    quietly(|| drop(options));
}

/// Sets where bytes are left. Default: SWATH_MODE_PLAIN.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_mode(
    options: Option<&mut AppendOptions>,
    mode: MaybeUninit<Mode>,
) -> Status {
    set(options, |options| Ok(options.with_mode(value(mode)?.into())))
}

/// Sets how the output is written; NULL: as it is best for most, which is the default. What is set in
/// `output` later does not count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_output(
    options: Option<&mut AppendOptions>,
    output: Option<&OutputOptions>,
) -> Status {
    set(options, |options| Ok(options.with_output(OutputOptions::of(output))))
}

/// Sets the bytes of forks that may wait in memory for their place before they are spilled.
/// Default 0: an eighth of the memory at hand, at most 2 GiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_memory(
    options: Option<&mut AppendOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_memory(bytes)))
}

/// Sets the bytes that a strand collects before it leaves them somewhere. Default 0: 256 KiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_buffer_size(
    options: Option<&mut AppendOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_buffer_size(bytes)))
}

/// Sets whether segments are checksummed. Default: SWATH_CHECKSUMS_EXTENTS.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_checksums(
    options: Option<&mut AppendOptions>,
    checksums: MaybeUninit<Checksums>,
) -> Status {
    set(options, |options| Ok(options.with_checksums(value(checksums)?.into())))
}
