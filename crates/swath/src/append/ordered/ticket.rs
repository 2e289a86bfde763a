//! One place in the serial order, owned by the worker that fills it.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use crate::append::ordered::tickets::Tickets;
use crate::error::Result;

/// A place in the serial order, and the buffer of the chunk that goes there.
///
/// It is owned and can be sent to any thread. Its bytes stay in memory until
/// [`done`](Self::done). If it is dropped before that, also by a panic, it poisons the output:
/// later chunks have no place.
#[must_use = "a ticket that is dropped before it is done poisons the file"]
#[derive(Debug)]
pub struct Ticket {
    tickets: Arc<Tickets>,
    index: u64,
    bytes: Vec<u8>,
    open: bool,
}

impl Ticket {
    pub(super) fn new(tickets: Arc<Tickets>, index: u64, bytes: Vec<u8>) -> Self {
        Self { tickets, index, bytes, open: true }
    }

    /// The number of the chunk in serial order, from 0.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The chunk: empty at first, with the capacity of an earlier one.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Gives the chunk back to be written. Never waits for another ticket.
    ///
    /// If its offset is known, this thread writes it; if not, the thread that makes it known
    /// will. Direct writes are left to separate threads, several in flight. So `Ok` means that
    /// the chunk will be written; [`commit`](super::Ordered::commit) confirms that it was.
    ///
    /// # Errors
    ///
    /// As [`Ordered::ticket`](super::Ordered::ticket); of this chunk's write or of another's.
    pub fn done(mut self) -> Result<()> {
        self.open = false;
        let bytes = std::mem::take(&mut self.bytes);
        self.tickets.give_back(self.index, bytes)
    }
}

/// Appends to the buffer.
impl Write for Ticket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.bytes.try_reserve(bytes.len());
        room.map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open {
            self.tickets.abandon(self.index);
        }
    }
}
