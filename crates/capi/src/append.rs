//! The verb `append`: parallel strands write, and the file is the one of the serial program.

pub mod appended;
pub mod fork;
pub mod options;
pub mod ordered;
pub mod ordered_options;
mod owned;

use std::ffi::{c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;

use swath::WriteOptions;

use crate::failure::Result;
use crate::guard::{guard, quietly};
use crate::output::OutputOptions;
use crate::pointer::{self, Place, given, handle};
use crate::status::Status;

use fork::Fork;
use options::AppendOptions;
use owned::Shared;

/// An output that is being written; nothing of it is visible before the commit. Freed before that,
/// it leaves nothing behind.
#[derive(Debug)]
pub struct Append {
    output: Shared<swath::append::Append>,
}

/// Begins an output that replaces what is at `path`, if anything, when it is committed. To be freed
/// by `swath_append_free`, also after the commit.
///
/// SWATH_STATUS_BUSY if somebody else is writing it; SWATH_STATUS_IO and others if the folder
/// cannot be written, or `path` names something that cannot be replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_append_create(
    path: *const c_char,
    options: Option<&AppendOptions>,
    append: Option<&mut MaybeUninit<Option<Box<Append>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let path = unsafe { pointer::path(path, "path") };
    begin(append, || Ok(AppendOptions::of(options).create(path?)?))
}

/// Begins an output whose first bytes are those of what is at `path`; new ones come behind them.
/// Until the commit `path` stays what it is. Without anything there, as `swath_append_create`.
///
/// If another program has changed a file meanwhile, the commit or checkpoint is
/// SWATH_STATUS_CHANGED and nothing is replaced; a lock keeps only writers of Swath out. It is found
/// by the file's number, length and time, up to the moment of the commit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_append_to_existing(
    path: *const c_char,
    options: Option<&AppendOptions>,
    append: Option<&mut MaybeUninit<Option<Box<Append>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let path = unsafe { pointer::path(path, "path") };
    begin(append, || Ok(AppendOptions::of(options).append_to_existing(path?)?))
}

fn begin(
    place: Place<'_, Option<Box<Append>>>,
    begin: impl FnOnce() -> Result<swath::append::Append>,
) -> Status {
    guard(|| {
        let place = handle(place, "append")?;
        *place = Some(Box::new(Append { output: Shared::new(begin()?, "output") }));
        Ok(())
    })
}

/// Writes behind everything that was written to this handle before, forks included. Copies the
/// bytes.
///
/// SWATH_STATUS_BUSY if another thread is just writing to this handle: let each thread write to a
/// fork of its own. What leaving bytes somewhere fails with may be told by a later call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_append_write(
    append: Option<&Append>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        let append = given(append, "append")?.output.get()?;
        // SAFETY: the contract of the header.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        Ok((&*append).write_all(bytes)?)
    })
}

/// Takes a place in the output, here: what is written to the fork comes behind everything that was
/// written to `append` before this call, and before everything written to it after, whenever that
/// happens. The fork may go to any thread. To be freed by `swath_fork_free`, also after
/// `swath_fork_finish`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_fork(
    append: Option<&Append>,
    fork: Option<&mut MaybeUninit<Option<Box<Fork>>>>,
) -> Status {
    guard(|| {
        let fork = handle(fork, "fork")?;
        let append = given(append, "append")?.output.get()?;
        *fork = Some(Box::new(Fork::new(append.fork()?)));
        Ok(())
    })
}

/// Makes everything written so far durable under the output's name, and goes on behind it. All
/// forks must be finished.
///
/// SWATH_STATUS_BUSY if one is not, or another call with the handle is running: both leave
/// everything as it is.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_checkpoint(append: Option<&Append>) -> Status {
    guard(|| {
        given(append, "append")?.output.get()?.checkpoint()?;
        Ok(())
    })
}

/// Ends writing: the output is complete under its name, and durable unless the options say
/// otherwise; or, after a failure, what was there before is still there and what was written is
/// given up. `bytes`, which may be NULL, is how long the output is. The handle is still to be
/// freed; everything else that is done with it is SWATH_STATUS_INVALID_ARGUMENT.
///
/// SWATH_STATUS_BUSY if another call with the handle is running, which leaves everything as it is;
/// SWATH_STATUS_BUSY too if a fork is not finished, and then what was written is given up: finish
/// all forks, and let no other thread use the handle, before this. SWATH_STATUS_POISONED if a fork
/// was freed before it was finished, or a write failed. SWATH_STATUS_OUTCOME_UNKNOWN if the name was changed and the device
/// did not confirm it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_commit(
    append: Option<&Append>,
    bytes: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let committed = given(append, "append")?.output.take()?.commit()?;
        bytes.map(|it| it.write(committed.bytes));
        Ok(())
    })
}

/// Gives up what was written; what was at the path before is still there. The handle is still to be
/// freed, and so are forks: what is done with them from now on is SWATH_STATUS_POISONED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_abort(append: Option<&Append>) -> Status {
    guard(|| {
        drop(given(append, "append")?.output.take()?);
        Ok(())
    })
}

/// Frees the handle, and gives up what was written and not committed; NULL is nothing to free.
/// Forks of it are still to be freed; writing to one, or finishing it, is SWATH_STATUS_POISONED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_free(append: Option<Box<Append>>) {
    quietly(|| drop(append));
}

/// Writes `len` bytes to `path` in place of what is there, if anything: complete under its name, and
/// durable unless the options say otherwise, or, after a failure, as before. `options`: NULL for
/// defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_write(
    path: *const c_char,
    options: Option<&OutputOptions>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        // SAFETY: as above.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        let output = OutputOptions::of(options);
        WriteOptions::new().with_output(output).write(path, bytes)?;
        Ok(())
    })
}
