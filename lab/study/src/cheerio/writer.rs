//! The handle of one strand, which writes, forks and joins.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::target::SharedTarget;
use crate::forks::Strand;

/// The handle of one strand.
///
/// It may move to any thread. A drop, even by a panic, keeps the whole records;
/// [`finish`](Self::finish) also returns errors.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<SharedTarget>,
    /// Bytes that are not written yet.
    buffer: Vec<u8>,
    /// The length beyond which the buffer is written.
    limit: usize,
    /// Local mode: the offset of the buffer in the file.
    place: u64,
    /// The end of the whole records in the buffer; `None` between records.
    record_start: Option<usize>,
}

impl Writer {
    pub(super) fn new(shared: Arc<SharedTarget>, limit: usize, place: u64) -> Self {
        let buffer = if shared.is_local { Vec::new() } else { shared.take_buffer() };
        Self { shared, buffer, limit, place, record_start: None }
    }

    /// Makes a writer for another strand. In local mode it begins at the same position.
    pub fn fork(&self) -> Self {
        self.shared.forks.fetch_add(1, Ordering::Relaxed);
        Self::new(Arc::clone(&self.shared), self.limit, self.position())
    }

    /// Runs both closures, in parallel if another worker of the current rayon pool is idle, and returns
    /// both results. In local mode both begin at this position, which the join restores.
    ///
    /// # Errors
    ///
    /// The error of `a`, else that of `b`. Both have run, and their output stays.
    pub fn join<A, B, RA, RB, E>(&mut self, a: A, b: B) -> Result<(RA, RB), E>
    where
        A: FnOnce(&mut Self) -> Result<RA, E> + Send,
        B: FnOnce(&mut Self) -> Result<RB, E> + Send,
        RA: Send,
        RB: Send,
        E: Send,
    {
        let mut other = self.fork();
        let (here, shared) = (self.position(), Arc::clone(&self.shared));
        let (left, right) = rayon::join_context(
            |_| a(self),
            |context| {
                shared.steals.fetch_add(u64::from(context.migrated()), Ordering::Relaxed);
                let result = b(&mut other);
                drop(other);
                result
            },
        );
        if self.shared.is_local {
            // A failed write makes the commit fail.
            let _ = self.seek_to(here);
        }
        Ok((left?, right?))
    }

    /// Makes one record of everything that `write` writes: the record stays whole, and is absent if `write`
    /// fails. In local mode this only calls `write`.
    ///
    /// # Errors
    ///
    /// The error of `write`.
    pub fn record<R, E>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        let begins = self.record_start.is_none() && !self.shared.is_local;
        if begins {
            self.record_start = Some(self.buffer.len());
        }
        let mut record = Record { writer: self, begins, is_whole: false };
        let result = write(record.writer);
        record.is_whole = result.is_ok();
        result
    }

    /// Moves the position of this strand to `offset` of the file; in local mode only.
    ///
    /// # Errors
    ///
    /// `InvalidInput` in other modes, where the order of arrival decides the place of bytes. The error of
    /// writing the bytes in the buffer.
    pub fn seek_to(&mut self, offset: u64) -> io::Result<()> {
        if !self.shared.is_local {
            let why = "only a writer in local mode has a position of its own; try: make it with \
                       `local`";
            return Err(self.shared.refused(ErrorKind::InvalidInput, "seek in", why));
        }
        if offset != self.position() {
            self.shed()?;
            self.place = offset;
        }
        Ok(())
    }

    /// Returns the offset of the next byte in local mode; 0 in other modes, where it is not known.
    pub fn position(&self) -> u64 {
        if self.shared.is_local {
            self.place.saturating_add(self.buffer.len() as u64)
        } else {
            0
        }
    }

    /// Ends the strand and writes its buffer.
    ///
    /// # Errors
    ///
    /// If the output is gone; the error of writing the last bytes.
    pub fn finish(mut self) -> io::Result<()> {
        self.shared.check()?;
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        if self.shared.is_local {
            return self.shed();
        }
        self.drop_torn_record();
        let buffer = mem::take(&mut self.buffer);
        if buffer.capacity() > 0 {
            self.shared.give_back(buffer);
        }
        Ok(())
    }

    /// Writes the whole records.
    fn shed(&mut self) -> io::Result<()> {
        let whole = self.record_start.unwrap_or(self.buffer.len());
        if whole > 0 {
            let left = self.shared.leave(&self.buffer[..whole], self.place);
            self.buffer.drain(..whole);
            self.place = self.place.saturating_add(whole as u64);
            self.record_start = self.record_start.map(|_| 0);
            left?;
        }
        Ok(())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.shared.check()?;
        if bytes.len() > self.limit.saturating_sub(self.buffer.len()) {
            self.shed()?;
            if self.record_start.is_none() && bytes.len() >= self.limit {
                self.shared.leave(bytes, self.place)?;
                self.place = self.place.saturating_add(bytes.len() as u64);
                return Ok(());
            }
        }
        // An unfinished record stays whole, whatever its length.
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Drops a record that a failure or a panic cut short.
    fn drop_torn_record(&mut self) {
        if let Some(start) = self.record_start.take() {
            self.buffer.truncate(start);
        }
    }
}

/// Ends a record, even if its writer panics.
struct Record<'w> {
    writer: &'w mut Writer,
    begins: bool,
    is_whole: bool,
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        match (self.begins, self.is_whole) {
            (true, true) => self.writer.record_start = None,
            (true, false) => self.writer.drop_torn_record(),
            (false, _) => {}
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_bytes(bytes).map(|()| bytes.len())
    }

    /// Writes one record, whatever the number of pieces it is formatted from.
    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        struct WriterPieces<'w>(&'w mut Writer);
        impl Write for WriterPieces<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        self.record(|w| WriterPieces(w).write_fmt(arguments))
    }

    /// Does nothing: only the commit makes bytes durable.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Strand for Writer {
    fn both(
        &mut self,
        left: impl FnOnce(&mut Self) -> io::Result<()> + Send,
        right: impl FnOnce(&mut Self) -> io::Result<()> + Send,
    ) -> io::Result<()> {
        self.join(left, right).map(|_| ())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A failed write makes the commit fail.
        let _ = self.end();
    }
}
