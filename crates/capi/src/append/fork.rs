//! A place in the output, for a thread of the caller.

use std::ffi::c_void;
use std::io::Write;
use std::mem::MaybeUninit;

use crate::append::owned::Exclusive;
use crate::guard::{guard, quietly};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A place in the serial order of an output. It may be passed to any thread, but only one may use
/// it at a time; another gets SWATH_STATUS_BUSY.
#[derive(Debug)]
pub struct Fork {
    strand: Exclusive<swath::append::Fork>,
}

impl Fork {
    pub(super) fn new(fork: swath::append::Fork) -> Self {
        Self { strand: Exclusive::new(fork, "strand") }
    }
}

/// Writes after everything written to this fork before. The bytes are copied, and the call never
/// waits for another strand. SWATH_STATUS_POISONED once the output was aborted or freed, or a
/// write to it or its commit failed: the bytes of this fork are then discarded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_fork_write(
    fork: Option<&Fork>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        let fork = given(fork, "fork")?;
        // SAFETY: the contract of the header.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        fork.strand.with(|strand| Ok(strand.write_all(bytes)?))
    })
}

/// Reserves a place in this fork's own order, as `swath_append_fork` does in the output's. Free
/// `child` with `swath_fork_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_fork_fork(
    fork: Option<&Fork>,
    child: Option<&mut MaybeUninit<Option<Box<Fork>>>>,
) -> Status {
    guard(|| {
        let child = handle(child, "child")?;
        let fork = given(fork, "fork")?;
        *child = Some(Box::new(Fork::new(fork.strand.with(|strand| Ok(strand.fork()))?)));
        Ok(())
    })
}

/// Joins the fork: declares that everything is written. Free the handle afterwards; any other use
/// of it is SWATH_STATUS_INVALID_ARGUMENT.
///
/// SWATH_STATUS_BUSY if a fork of this fork is open, which leaves everything unchanged: finish
/// that one and call again. SWATH_STATUS_POISONED if one was freed before it was finished, or the
/// output is gone: it then cannot be committed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_fork_finish(fork: Option<&Fork>) -> Status {
    guard(|| {
        Ok(given(fork, "fork")?.strand.take_if(|strand| Ok(strand.check_forks()?))?.finish()?)
    })
}

/// Frees the handle; NULL is ignored. Freeing a fork that was not finished poisons the output:
/// the bytes after it have no place, so the commit fails.
#[unsafe(no_mangle)]
pub extern "C" fn swath_fork_free(fork: Option<Box<Fork>>) {
    quietly(|| drop(fork));
}
