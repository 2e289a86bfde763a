//! How to append.

use std::mem::MaybeUninit;

use swath::append;

use crate::guard::quietly;
use crate::number::numbers;
use crate::output::OutputOptions;
use crate::pointer::value;
use crate::setter::{Holds, made, set};
use crate::status::Status;

/// How the bytes of parallel strands are stored.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One ordinary file, byte for byte the one that the serial program would write.
    #[default]
    Plain = 0,
    /// A folder of segments with a manifest of their serial order: nothing is moved at commit.
    /// `swath_appended_open`, `swath cat` and `swath cp` read it.
    Segments = 1,
}
numbers!(Mode, "swath_mode", [Plain, Segments] -> append::Mode);

/// Whether segments have checksums.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// Each extent has one (CRC-32C), for `swath_appended_verify`.
    #[default]
    Extents = 0,
    /// No checksums.
    None = 1,
}
numbers!(Checksums, "swath_checksums", [Extents, None] -> append::ExtentChecksums);

/// How to append. The caller's threads write; a commit that has much to move, and
/// `swath_appended_verify`, use one thread per core while they run. One thread at a time may set
/// options; a call uses what is set when it begins. NULL means defaults.
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

/// Makes options with the defaults. Free them with `swath_append_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_new(
    options: Option<&mut MaybeUninit<Option<Box<AppendOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_free(options: Option<Box<AppendOptions>>) {
    quietly(|| drop(options));
}

/// Sets how the bytes are stored. Default: SWATH_MODE_PLAIN.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_mode(
    options: Option<&mut AppendOptions>,
    mode: MaybeUninit<Mode>,
) -> Status {
    set(options, |options| Ok(options.with_mode(value(mode)?.into())))
}

/// Sets how the output is written. Default NULL: the defaults. Later changes to `output` have no
/// effect.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_output(
    options: Option<&mut AppendOptions>,
    output: Option<&OutputOptions>,
) -> Status {
    set(options, |options| Ok(options.with_output(OutputOptions::of(output))))
}

/// Sets how many bytes of forks may wait in memory for their place before they are spilled to
/// disk. Default 0: an eighth of the available memory, at most 2 GiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_memory(
    options: Option<&mut AppendOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_memory(bytes)))
}

/// Sets how many bytes a strand collects before it stores them. Default 0: 256 KiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_buffer_size(
    options: Option<&mut AppendOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_buffer_size(bytes)))
}

/// Sets whether segments have checksums. Default: SWATH_CHECKSUMS_EXTENTS.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_checksums(
    options: Option<&mut AppendOptions>,
    checksums: MaybeUninit<Checksums>,
) -> Status {
    set(options, |options| Ok(options.with_checksums(value(checksums)?.into())))
}
