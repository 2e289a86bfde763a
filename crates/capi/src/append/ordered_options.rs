//! How to write in the order of tickets.

use std::mem::MaybeUninit;

use swath::append;

use crate::guard::quietly;
use crate::number::numbers;
use crate::output::OutputOptions;
use crate::pointer::value;
use crate::setter::{Holds, made, set};
use crate::status::Status;

/// Whether ordered writes bypass the page cache.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectWrites {
    /// They go through it.
    #[default]
    No = 0,
    /// They bypass it (O_DIRECT) where the file system allows it.
    Yes = 1,
}
numbers!(DirectWrites, "swath_direct_writes", [No, Yes] -> append::Direct);

/// How long runs of zeros are written.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sparse {
    /// They are written, and take space.
    #[default]
    Never = 0,
    /// Runs of at least 32 KiB become holes, where the file system has holes.
    Auto = 1,
}
numbers!(Sparse, "swath_sparse", [Never, Auto] -> swath::sink::Sparse);

/// How to write in the order of tickets. One thread at a time may set options; a call uses what
/// is set when it begins. NULL means defaults.
#[derive(Debug, Default)]
pub struct OrderedOptions {
    options: append::OrderedOptions,
}

impl OrderedOptions {
    pub(super) fn of(options: Option<&Self>) -> append::OrderedOptions {
        options.map_or_else(append::OrderedOptions::new, |set| set.options.clone())
    }
}

impl Holds for OrderedOptions {
    type Held = append::OrderedOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with the defaults. Free them with `swath_ordered_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_new(
    options: Option<&mut MaybeUninit<Option<Box<OrderedOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_free(options: Option<Box<OrderedOptions>>) {
    quietly(|| drop(options));
}

/// Sets how the output is written. Default NULL: the defaults. Later changes to `output` have no
/// effect.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_output(
    options: Option<&mut OrderedOptions>,
    output: Option<&OutputOptions>,
) -> Status {
    set(options, |options| Ok(options.with_output(OutputOptions::of(output))))
}

/// Sets how many chunks may exist at once: open tickets, and chunks not yet written. Default 0:
/// two per core.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_window(
    options: Option<&mut OrderedOptions>,
    window: usize,
) -> Status {
    set(options, |options| Ok(options.with_window(window)))
}

/// Sets how many bytes a chunk usually holds. Default 0: 64 KiB, then the longest chunk so far.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_chunk_size(
    options: Option<&mut OrderedOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_chunk_size(bytes)))
}

/// Sets whether long runs of zeros become holes; direct writes write them. Default:
/// SWATH_SPARSE_NEVER.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_sparse(
    options: Option<&mut OrderedOptions>,
    sparse: MaybeUninit<Sparse>,
) -> Status {
    set(options, |options| Ok(options.with_sparse(value(sparse)?.into())))
}

/// Sets whether writes bypass the page cache. Default: SWATH_DIRECT_WRITES_NO.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_direct(
    options: Option<&mut OrderedOptions>,
    direct: MaybeUninit<DirectWrites>,
) -> Status {
    set(options, |options| Ok(options.with_direct(value(direct)?.into())))
}
