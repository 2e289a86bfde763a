//! How to write in the order of tickets.

use std::mem::MaybeUninit;

use swath::append;

use crate::guard::quietly;
use crate::number::numbers;
use crate::output::OutputOptions;
use crate::pointer::value;
use crate::setter::{Holds, made, set};
use crate::status::Status;

/// Whether ordered writes go past the page cache.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectWrites {
    /// Through it.
    #[default]
    No = 0,
    /// Past it (O_DIRECT), where the file system allows it.
    Yes = 1,
}
numbers!(DirectWrites, "swath_direct_writes", [No, Yes] -> append::Direct);

/// How to write in the order of tickets. One thread sets at a time; a call takes what is set when it
/// begins. Wherever it is wanted, NULL stands for defaults.
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

/// Makes options with everything as it is best for most. To be freed by
/// `swath_ordered_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_new(
    options: Option<&mut MaybeUninit<Option<Box<OrderedOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_free(options: Option<Box<OrderedOptions>>) {
    quietly(|| drop(options));
}

/// Sets how the output is written; NULL: as it is best for most, which is the default. What is set in
/// `output` later does not count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_output(
    options: Option<&mut OrderedOptions>,
    output: Option<&OutputOptions>,
) -> Status {
    set(options, |options| Ok(options.with_output(OutputOptions::of(output))))
}

/// Sets how many chunks may exist at one time: open tickets, and chunks not written yet. Default 0: two
/// for each core.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_window(
    options: Option<&mut OrderedOptions>,
    window: usize,
) -> Status {
    set(options, |options| Ok(options.with_window(window)))
}

/// Sets the bytes that a chunk usually holds. Default 0: 64 KiB, then as the longest chunk so far.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_chunk_size(
    options: Option<&mut OrderedOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_chunk_size(bytes)))
}

/// Sets whether writes go past the page cache. Default: SWATH_DIRECT_WRITES_NO.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_options_set_direct(
    options: Option<&mut OrderedOptions>,
    direct: MaybeUninit<DirectWrites>,
) -> Status {
    set(options, |options| Ok(options.with_direct(value(direct)?.into())))
}
