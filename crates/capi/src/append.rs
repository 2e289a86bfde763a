//! The verb `append`: parallel strands write, and the file is the one of the serial program.

pub mod appended;
pub mod fork;
pub mod ordered;
pub(crate) mod owned;

use std::ffi::{c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;

use swath::WriteOptions;

use crate::failure::Result;
use crate::guard::{guard, quietly};
use crate::options::{CallOptions, CallVerb};
use crate::pointer::{self, Place, given, handle};
use crate::status::Status;

use fork::Fork;
use owned::Shared;

/// An output that is being written. Nothing of it is visible before the commit. If it is freed
/// before that, nothing of it remains.
#[derive(Debug)]
pub struct Append {
    output: Shared<swath::append::Append>,
}

/// Begins an output that replaces or creates `path` when it is committed. Free it with
/// `swath_append_free`, after the commit too.
///
/// SWATH_STATUS_BUSY if another process or thread is writing the output; SWATH_STATUS_IO and
/// others if the folder cannot be written or `path` names something that cannot be replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_append_create(
    path: *const c_char,
    options: Option<&CallOptions>,
    append: Option<&mut MaybeUninit<Option<Box<Append>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let path = unsafe { pointer::path(path, "path") };
    begin(append, || Ok(CallOptions::append(options)?.create(path?)?))
}

/// Begins an output that starts with the bytes of the existing file; new bytes follow them.
/// `path` stays unchanged until the commit. If there is no file, this is `swath_append_create`.
///
/// If another program changes the file before the commit or checkpoint, that call returns
/// SWATH_STATUS_CHANGED and nothing is replaced; the lock keeps out only other writers that use
/// Swath. The change is detected by the file's inode number, length and time, up to the moment of
/// the commit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_append_to_existing(
    path: *const c_char,
    options: Option<&CallOptions>,
    append: Option<&mut MaybeUninit<Option<Box<Append>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let path = unsafe { pointer::path(path, "path") };
    begin(append, || Ok(CallOptions::append(options)?.append_to_existing(path?)?))
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

/// Writes after everything written to this handle before, including its forks. The bytes are
/// copied.
///
/// SWATH_STATUS_BUSY if another thread is writing to this handle: let each thread write to its
/// own fork. A failure to store the bytes may be reported by a later call.
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

/// Reserves a place in the output: bytes written to the fork come after everything written to
/// `append` before this call, and before everything written to it afterwards, whenever they are
/// written. The fork may be passed to any thread. Free it with `swath_fork_free`, after
/// `swath_fork_finish` too.
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

/// Makes everything written before this call durable under the output's name; later writes follow
/// it. All forks must be finished.
///
/// SWATH_STATUS_BUSY if a fork is open or another call on the handle is running; both leave
/// everything unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_checkpoint(append: Option<&Append>) -> Status {
    guard(|| {
        given(append, "append")?.output.get()?.checkpoint()?;
        Ok(())
    })
}

/// Ends writing. The output is complete under its name, and durable unless the options say
/// otherwise; after a failure, the old file remains and the new bytes are discarded. `bytes`,
/// which may be NULL, is set to the length of the output. Free the handle afterwards; any other
/// use of it is SWATH_STATUS_INVALID_ARGUMENT.
///
/// SWATH_STATUS_BUSY if another call on the handle is running, which leaves everything unchanged.
/// SWATH_STATUS_BUSY also if a fork is open; the new bytes are then discarded: finish all forks,
/// and let no other thread use the handle, before this call. SWATH_STATUS_POISONED if a fork was
/// freed before it was finished, or a write failed. SWATH_STATUS_OUTCOME_UNKNOWN if the name was
/// changed but the device did not confirm it.
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

/// Discards the new bytes; the old file remains. Free the handle and the forks afterwards; any
/// other use of a fork is then SWATH_STATUS_POISONED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_abort(append: Option<&Append>) -> Status {
    guard(|| {
        drop(given(append, "append")?.output.take()?);
        Ok(())
    })
}

/// Frees the handle and discards bytes that are not committed; NULL is ignored. Its forks must
/// still be freed; writing to one or finishing it is SWATH_STATUS_POISONED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_append_free(append: Option<Box<Append>>) {
    quietly(|| drop(append));
}

/// Writes `len` bytes to `path`, replacing an existing file. On success the file is complete
/// under its name, and durable unless the options say otherwise; after a failure the old file is
/// unchanged. `options` may be NULL for defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_write(
    path: *const c_char,
    options: Option<&CallOptions>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        // SAFETY: as above.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        let output = CallOptions::output(options, CallVerb::Write)?;
        WriteOptions::new().with_output(output).write(path, bytes)?;
        Ok(())
    })
}
