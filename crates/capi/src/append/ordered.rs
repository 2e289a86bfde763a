//! Chunks in the order of their tickets, whoever finishes first.

use std::ffi::{c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;

use crate::append::ordered_options::OrderedOptions;
use crate::append::owned::{Exclusive, Shared};
use crate::guard::{guard, quietly};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A file that threads write chunk by chunk in serial order, in bounded memory; nothing of it is
/// visible before the commit. Freed before that, it leaves nothing behind.
#[derive(Debug)]
pub struct Ordered {
    output: Shared<swath::append::Ordered>,
}

/// A place in the serial order, and the chunk that goes there. May go to any thread; one uses it at
/// a time, another one gets SWATH_STATUS_BUSY.
#[derive(Debug)]
pub struct Ticket {
    chunk: Exclusive<swath::append::Ticket>,
    index: u64,
}

/// Begins a file that is written in the order of tickets. To be freed by `swath_ordered_free`, also
/// after the commit.
///
/// As `swath_append_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_ordered_create(
    path: *const c_char,
    options: Option<&OrderedOptions>,
    ordered: Option<&mut MaybeUninit<Option<Box<Ordered>>>>,
) -> Status {
    guard(|| {
        let ordered = handle(ordered, "ordered")?;
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let output = OrderedOptions::of(options).ordered(path)?;
        *ordered = Some(Box::new(Ordered { output: Shared::new(output, "output") }));
        Ok(())
    })
}

/// Takes the next place in serial order; waits while the window is full. The waiting thread must
/// not be the one that has to finish the open tickets. To be freed by `swath_ticket_free`, also
/// after `swath_ticket_done`.
///
/// SWATH_STATUS_POISONED once a ticket was freed before it was done; the first failed write, again
/// for everybody; SWATH_STATUS_CANCELLED.
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

/// Writes what is left and gives the file its name. `bytes`, which may be NULL, is how long it is.
/// The handle is still to be freed.
///
/// SWATH_STATUS_BUSY if another call with the handle is running, which leaves everything as it is;
/// SWATH_STATUS_BUSY too if tickets are open, whose bytes would be missing, and then what was
/// written is given up: let all tickets be done, and no other thread use the handle, before this.
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

/// Gives up what was written. The handle is still to be freed, and so are tickets, which get
/// SWATH_STATUS_POISONED from now on.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_abort(ordered: Option<&Ordered>) -> Status {
    guard(|| {
        drop(given(ordered, "ordered")?.output.take()?);
        Ok(())
    })
}

/// Frees the handle, and gives up what was written and not committed; NULL is nothing to free.
/// Tickets of it stay valid, and are still to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ordered_free(ordered: Option<Box<Ordered>>) {
    quietly(|| drop(ordered));
}

/// Returns the number of a ticket in serial order, from 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_index(ticket: Option<&Ticket>) -> u64 {
    ticket.map_or(0, |ticket| ticket.index)
}

/// Writes behind everything that was written to this ticket before. Copies the bytes into memory.
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

/// Gives the chunk back to be written; never waits for another ticket. The handle is still to be
/// freed.
///
/// As `swath_ordered_ticket`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_done(ticket: Option<&Ticket>) -> Status {
    guard(|| Ok(given(ticket, "ticket")?.chunk.take()?.done()?))
}

/// Frees the handle; NULL is nothing to free. One that was not done poisons the file: what follows
/// it has no place.
#[unsafe(no_mangle)]
pub extern "C" fn swath_ticket_free(ticket: Option<Box<Ticket>>) {
    quietly(|| drop(ticket));
}
