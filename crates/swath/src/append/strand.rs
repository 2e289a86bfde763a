//! One strand: a stretch of work without a fork, and the bytes it wrote.
//!
//! ```text
//! start |-- landed --|-- rope --|-- tail --|
//!        in place     elsewhere  in memory, still growing
//! ```
//!
//! A strand is owned by exactly one handle at a time, so nothing in it is locked.

use std::mem;
use std::sync::Arc;

use swath_plan::segment::rope::{Rope, RopePiece};

use crate::append::options::Mode;
use crate::append::output::{AppendOutput, Counters};
use crate::append::start_offset::StartOffset;
use crate::append::unplaced::Unplaced;
use crate::error::Result;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Strand {
    /// The bytes after everything that has been written or spilled.
    tail: Vec<u8>,
    /// Length of `tail` above which it is written or spilled.
    limit: usize,
    /// Bytes at the front that are already in their place.
    landed: u64,
    /// The bytes between `landed` and `tail`.
    rope: Rope<Unplaced>,
    start: Arc<StartOffset>,
    forks: u64,
}

impl Strand {
    pub(super) fn new(output: &AppendOutput, start: Arc<StartOffset>) -> Box<Self> {
        Box::new(Self {
            tail: Vec::new(),
            limit: output.buffer_size,
            landed: 0,
            rope: Rope::new(),
            start,
            forks: 0,
        })
    }

    /// Returns an empty strand without a place, to be left where the real one was taken from.
    pub(super) fn stand_in(output: &AppendOutput) -> Box<Self> {
        Self::new(output, StartOffset::unknown())
    }

    pub(super) fn start(&self) -> &Arc<StartOffset> {
        &self.start
    }

    /// Number of bytes written.
    pub(super) fn len(&self) -> u64 {
        self.landed + self.rope.len() + self.tail.len() as u64
    }

    pub(super) fn count_fork(&mut self) {
        self.forks += 1;
    }

    #[inline]
    pub(super) fn write(&mut self, output: &AppendOutput, bytes: &[u8]) -> Result<()> {
        if bytes.len() <= self.limit.saturating_sub(self.tail.len()) {
            self.tail.extend_from_slice(bytes);
            Ok(())
        } else {
            self.write_slowly(output, bytes)
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slowly(&mut self, output: &AppendOutput, mut bytes: &[u8]) -> Result<()> {
        output.check()?;
        while bytes.len() > self.limit - self.tail.len() {
            if self.tail.is_empty() && bytes.len() >= self.limit {
                let rest = self.write_through(output, bytes)?;
                bytes = rest;
                continue;
            }
            let (now, later) = bytes.split_at(self.limit - self.tail.len());
            self.tail.extend_from_slice(now);
            bytes = later;
            self.shed(output)?;
        }
        self.tail.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes long `bytes` directly, without copying them into the tail, where possible; returns the
    /// rest.
    fn write_through<'b>(
        &mut self,
        output: &AppendOutput,
        bytes: &'b [u8],
    ) -> Result<&'b [u8]> {
        let mut now = bytes;
        match output.mode {
            Mode::Segments => output.keep(&mut self.rope, now)?,
            Mode::Plain => match self.land(output)? {
                Some(next) => {
                    output.place(now, next)?;
                    self.landed += now.len() as u64;
                }
                None => {
                    now = &bytes[..self.limit];
                    output.keep(&mut self.rope, now)?;
                }
            },
        }
        Ok(&bytes[now.len()..])
    }

    /// Writes the tail to its place, if that is known; otherwise keeps or spills it.
    pub(super) fn shed(&mut self, output: &AppendOutput) -> Result<()> {
        output.check()?;
        if self.tail.is_empty() {
            return Ok(());
        }
        let len = self.tail.len() as u64;
        match output.mode {
            Mode::Plain => match self.land(output)? {
                Some(next) => output.place(&self.tail, next)?,
                None => return self.keep_tail(output),
            },
            Mode::Segments => return self.keep_tail(output),
        }
        self.tail.clear();
        self.landed += len;
        Ok(())
    }

    fn keep_tail(&mut self, output: &AppendOutput) -> Result<()> {
        output.keep(&mut self.rope, &self.tail)?;
        self.tail.clear();
        Ok(())
    }

    /// Plain mode: moves the rope to its place, if that is known, and returns where the next
    /// byte goes.
    fn land(&mut self, output: &AppendOutput) -> Result<Option<u64>> {
        let Some(base) = self.start.known() else { return Ok(None) };
        for piece in mem::take(&mut self.rope).into_pieces() {
            let len = piece.len();
            output.land(piece, base + self.landed)?;
            self.landed += len;
        }
        Ok(Some(base + self.landed))
    }

    /// Appends all of `right`, in O(1) except for bytes whose place is now known, which are written.
    /// Called by the strand that forked, after both have ended.
    pub(super) fn absorb(&mut self, output: &AppendOutput, mut right: Self) -> Result<()> {
        self.forks += mem::take(&mut right.forks);
        if right.len() == 0 {
            return Ok(());
        }
        let is_small = right.len() == right.tail.len() as u64;
        if is_small && right.tail.len() <= self.limit.saturating_sub(self.tail.len()) {
            self.tail.extend_from_slice(&right.tail);
            return Ok(());
        }
        self.shed(output)?;
        if right.landed > 0 {
            // The place of `right` is known, so ours, just before it, is too.
            self.land(output)?;
            debug_assert!(self.rope.is_empty(), "everything before a known place is known");
            self.landed += right.landed;
        }
        self.rope.concat(mem::take(&mut right.rope));
        self.tail = mem::take(&mut right.tail);
        Ok(())
    }

    /// Moves the tail of an ended strand, unless it is short, out of its buffer, which does not
    /// count towards the memory limit.
    pub(super) fn settle(&mut self, output: &AppendOutput) {
        const FEW: usize = 16 << 10;
        if self.tail.len() > FEW
            && let Err(error) = self.shed(output)
        {
            output.fail_untold(error);
        }
        if self.tail.capacity() > 2 * self.tail.len().max(FEW) {
            self.tail.shrink_to_fit();
        }
    }

    /// Discards bytes that the serial program would not have written, freeing their memory.
    pub(super) fn discard(mut self, output: &AppendOutput) {
        for piece in mem::take(&mut self.rope).into_pieces() {
            output.give_back(piece);
        }
    }

    /// Takes all bytes out, in order, for the commit.
    pub(super) fn into_written(mut self, output: &AppendOutput) -> Result<StrandBytes> {
        Counters::add(&output.counters.forks, self.forks);
        if output.mode == Mode::Segments {
            self.shed(output)?;
        }
        Ok(StrandBytes {
            len: self.len(),
            landed: self.landed,
            pieces: self.rope.into_pieces(),
            tail: self.tail,
        })
    }
}

/// Everything that a strand wrote.
#[derive(Debug)]
pub(super) struct StrandBytes {
    /// Bytes in total.
    pub(super) len: u64,
    /// Bytes of these that are at the front and already in their place.
    pub(super) landed: u64,
    /// The bytes after them, in order.
    pub(super) pieces: Vec<Unplaced>,
    /// The last bytes, in memory; empty for a folder.
    pub(super) tail: Vec<u8>,
}
