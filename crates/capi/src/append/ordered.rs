//! Writes chunks in the order of their tickets, in whatever order they are finished.

use std::ffi::{c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;

use crate::append::owned::{Exclusive, Shared};
use crate::guard::{guard, quietly};
use crate::options::CallOptions;
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A file that threads write chunk by chunk in serial order, in bounded memory. Nothing of it is
/// visible before the commit. If it is freed before that, nothing of it remains.
#[derive(Debug)]
pub struct Ordered {
    output: Shared<swath::append::Ordered>,
}

/// A place in the serial order, and the chunk that goes there. It may be passed to any thread,
/// but only one may use it at a time; another gets SWATH_STATUS_BUSY.
#[derive(Debug)]
pub struct Ticket {
    chunk: Exclusive<swath::append::Ticket>,
    index: u64,
}

/// Begins a file that is written in the order of its tickets. Free it with `swath_ordered_free`,
/// after the commit too.
///
/// Errors as for `swath_append_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_ordered_create(
    path: *const c_char,
    options: Option<&CallOptions>,
    ordered: Option<&mut MaybeUninit<Option<Box<Ordered>>>>,
) -> Status {
    guard(|| {
        let ordered = handle(ordered, "ordered")?;
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let output = CallOptions::ordered(options)?.ordered(path)?;
        *ordered = Some(Box::new(Ordered { output: Shared::new(output, "output") }));
        Ok(())
    })
}

/// Takes the next place in the serial order; waits while the window is full. The waiting thread
/// must not be the one that has to finish the open tickets. Free the ticket with
/// `swath_ticket_free`, after `swath_ticket_done` too.
///
/// SWATH_STATUS_POISONED once a ticket was freed before it was done. A failed write is reported
/// by every later call. SWATH_STATUS_CANCELLED if a token cancelled it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_ticket(
    ordered: Option<&Ordered>,
    ticket: Option<&mut MaybeUninit<Option<Box<Ticket>>>>,
) -> Status {
    guard(|| {
        let ticket = handle(ticket, "ticket")?;
        let taken = given(ordered, "ordered")?.output.get()?.ticket()?;
        let index = taken.index();
        *ticket = Some(Box::new(Ticket { chunk: Exclusive::new(taken, "chunk"), index }));
        Ok(())
    })
}

/// Writes the remaining chunks and gives the file its name. `bytes`, which may be NULL, is set to
/// its length. Free the handle afterwards.
///
/// SWATH_STATUS_BUSY if another call on the handle is running, which leaves everything unchanged.
/// SWATH_STATUS_BUSY also if tickets are open, whose bytes would be missing; all bytes are then
/// discarded: finish all tickets, and let no other thread use the handle, before this call.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_commit(
    ordered: Option<&Ordered>,
    bytes: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let written = given(ordered, "ordered")?.output.take()?.commit()?;
        bytes.map(|it| it.write(written.bytes));
        Ok(())
    })
}

/// Discards all bytes. Free the handle and the tickets afterwards; any other use of a ticket is
/// then SWATH_STATUS_POISONED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_abort(ordered: Option<&Ordered>) -> Status {
    guard(|| {
        drop(given(ordered, "ordered")?.output.take()?);
        Ok(())
    })
}

/// Frees the handle and discards bytes that are not committed; NULL is ignored. Its tickets stay
/// valid and must still be freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_free(ordered: Option<Box<Ordered>>) {
    quietly(|| drop(ordered));
}

/// Returns the position of a ticket in the serial order, from 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_index(ticket: Option<&Ticket>) -> u64 {
    ticket.map_or(0, |ticket| ticket.index)
}

/// Writes after everything written to this ticket before. The bytes are copied into memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_ticket_write(
    ticket: Option<&Ticket>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        let ticket = given(ticket, "ticket")?;
        // SAFETY: the contract of the header.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        ticket.chunk.with(|chunk| Ok(chunk.write_all(bytes)?))
    })
}

/// Hands the chunk over for writing; never waits for another ticket. Free the handle afterwards.
///
/// Errors as for `swath_ordered_ticket`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_done(ticket: Option<&Ticket>) -> Status {
    guard(|| Ok(given(ticket, "ticket")?.chunk.take()?.done()?))
}

/// Frees the handle; NULL is ignored. Freeing a ticket that was not done poisons the file: the
/// bytes after it have no place.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_free(ticket: Option<Box<Ticket>>) {
    quietly(|| drop(ticket));
}
