//! How to write.

use std::mem::MaybeUninit;

use swath::OutputOptions;
use swath::append::{self, Direct, OrderedOptions};
use swath::sink;

use crate::cancel::CancelToken;
use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::number::numbers;
use crate::pointer::{given, handle, value};
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
numbers!(Mode, "swath_mode", [Plain, Segments]);

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
numbers!(Durability, "swath_durability", [Full, None]);

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
numbers!(Checksums, "swath_checksums", [Extents, None]);

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
numbers!(DirectWrites, "swath_direct_writes", [No, Yes]);

/// How to write. There are no workers, and but for `swath_ordered_create` no token and no progress:
/// the caller's threads write. A commit that has much to move, and `swath_appended_verify`, take
/// one thread for each core as long as they run. One thread sets at a time; a call takes what is set when it begins. Wherever it is
/// wanted, NULL stands for defaults.
#[derive(Debug, Default)]
pub struct AppendOptions {
    mode: Mode,
    durability: Durability,
    memory: u64,
    buffer_size: usize,
    checksums: Checksums,
    window: usize,
    direct: DirectWrites,
    cancel: Option<swath::CancelToken>,
}

impl AppendOptions {
    pub(crate) fn output(&self) -> OutputOptions {
        let output = OutputOptions::new().with_durability(match self.durability {
            Durability::Full => sink::Durability::Full,
            Durability::None => sink::Durability::None,
        });
        match &self.cancel {
            Some(token) => output.with_cancel(token.clone()),
            None => output,
        }
    }

    pub(super) fn append(options: Option<&Self>) -> append::AppendOptions {
        let new = append::AppendOptions::new();
        let Some(set) = options else { return new };
        let new = new.with_output(set.output()).with_memory(set.memory);
        let new = new.with_buffer_size(set.buffer_size as u64);
        let new = new.with_mode(match set.mode {
            Mode::Plain => append::Mode::Plain,
            Mode::Segments => append::Mode::Segments,
        });
        new.with_checksums(match set.checksums {
            Checksums::Extents => append::Checksums::Extents,
            Checksums::None => append::Checksums::None,
        })
    }

    pub(super) fn ordered(options: Option<&Self>) -> Result<OrderedOptions> {
        let new = OrderedOptions::new();
        let Some(set) = options else { return Ok(new) };
        if set.mode != Mode::Plain {
            let text = "tickets are for SWATH_MODE_PLAIN: their order is that of one file";
            return Err(Failure::invalid(text));
        }
        let new = new.with_output(set.output()).with_window(set.window);
        let new = new.with_chunk_size(set.buffer_size as u64);
        Ok(new.with_direct(match set.direct {
            DirectWrites::No => Direct::No,
            DirectWrites::Yes => Direct::Yes,
        }))
    }
}

/// Makes options with everything as it is best for most. To be freed by `swath_append_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_new(
    options: Option<&mut MaybeUninit<Option<Box<AppendOptions>>>>,
) -> Status {
    guard(|| {
        *handle(options, "options")? = Some(Box::default());
        Ok(())
    })
}

/// Frees options; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_free(options: Option<Box<AppendOptions>>) {
    quietly(|| drop(options));
}

fn set(
    options: Option<&mut AppendOptions>,
    set: impl FnOnce(&mut AppendOptions) -> Result<()>,
) -> Status {
    guard(|| set(given(options, "options")?))
}

/// Sets where bytes are left. Default: SWATH_MODE_PLAIN, the only one that `swath_ordered_create`
/// takes.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_mode(
    options: Option<&mut AppendOptions>,
    mode: MaybeUninit<Mode>,
) -> Status {
    set(options, |options| {
        options.mode = value(mode)?;
        Ok(())
    })
}

/// Sets whether a commit waits for the device. Default: SWATH_SYNC_FULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_durability(
    options: Option<&mut AppendOptions>,
    durability: MaybeUninit<Durability>,
) -> Status {
    set(options, |options| {
        options.durability = value(durability)?;
        Ok(())
    })
}

/// Sets the bytes of forks that may wait in memory for their place before they are spilled.
/// Default 0: an eighth of the memory at hand, at most 2 GiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_memory(
    options: Option<&mut AppendOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| {
        options.memory = bytes;
        Ok(())
    })
}

/// Sets the bytes that a strand collects before it leaves them somewhere; for tickets, what a chunk
/// usually holds. Default 0: 256 KiB; for tickets, as the longest chunk so far.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_buffer_size(
    options: Option<&mut AppendOptions>,
    bytes: usize,
) -> Status {
    set(options, |options| {
        options.buffer_size = bytes;
        Ok(())
    })
}

/// Sets whether segments are checksummed. Default: SWATH_CHECKSUMS_EXTENTS.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_checksums(
    options: Option<&mut AppendOptions>,
    checksums: MaybeUninit<Checksums>,
) -> Status {
    set(options, |options| {
        options.checksums = value(checksums)?;
        Ok(())
    })
}

/// For `swath_ordered_create`: sets how many chunks may exist at one time, open tickets and chunks
/// not written yet. Default 0: two for each core.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_window(
    options: Option<&mut AppendOptions>,
    window: usize,
) -> Status {
    set(options, |options| {
        options.window = window;
        Ok(())
    })
}

/// For `swath_ordered_create`: sets whether writes go past the page cache. Default:
/// SWATH_DIRECT_WRITES_NO.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_direct(
    options: Option<&mut AppendOptions>,
    direct: MaybeUninit<DirectWrites>,
) -> Status {
    set(options, |options| {
        options.direct = value(direct)?;
        Ok(())
    })
}

/// For `swath_ordered_create`: sets the token that cancels writing; NULL: none, which is the
/// default.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_options_set_cancel(
    options: Option<&mut AppendOptions>,
    token: Option<&CancelToken>,
) -> Status {
    set(options, |options| {
        options.cancel = token.map(|token| token.0.clone());
        Ok(())
    })
}
