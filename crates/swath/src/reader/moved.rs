//! Moves bytes from the page cache into a pipe without a copy.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

use swath_os::pipe::{capacity, enlarge, most_capacity, put_pages};
use swath_os::residency::residency_of_part;
use swath_plan::extent::Extent;

use super::Reader;
use crate::buffer::Buffer;

/// Bytes that are moved before the page cache is checked again.
const STEP: u64 = 8 << 20;
/// Minimum number of last bytes, which are never moved; more if the pipe holds more, or can be made to.
const LEAST: u64 = 1 << 20;

impl Reader {
    /// Moves bytes from the position into `pipe`, inside the kernel, as long as they are in the page cache.
    /// Returns their number: 0 if `pipe` is not a pipe, or if the options or the source do not allow it.
    /// Read and write the rest.
    ///
    /// A pipe that holds less than a MiB is enlarged to that, if this process may: both ends then take fewer turns.
    ///
    /// The pipe then holds pages of the file. If the file changes before the other end has read them, that end
    /// reads the changes. So the last bytes, a MiB or as many as the pipe can hold, are never moved. Once you
    /// have written these, the other end has read everything before them; at the end of the file, `fill_buf`
    /// then returns nothing, or an error if the file has changed since it was opened.
    ///
    /// A program at the other end that moves the pages on, into another pipe or a socket, has not read them. If
    /// such a program may follow and the file may change, read and write instead. A privileged program may
    /// enlarge the pipe beyond the usual limit during the call, and leave more than the last bytes unread.
    ///
    /// ```
    /// use std::io::{BufRead, Read, Write};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("data");
    /// # std::fs::write(&path, vec![7; 3 << 20])?;
    /// let (mut from, mut to) = std::io::pipe()?;
    /// let counting = std::thread::spawn(move || from.read_to_end(&mut Vec::new()));
    /// let mut reader = swath::reader(&path)?;
    /// reader.move_to_pipe(&to)?;
    /// while !reader.fill_buf()?.is_empty() {
    ///     let written = to.write(reader.fill_buf()?)?;
    ///     reader.consume(written);
    /// }
    /// drop(to);
    /// assert_eq!(counting.join().unwrap()?, 3 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the other end of the pipe is closed, or the call is cancelled. Bytes moved before are lost for this reader.
    pub fn move_to_pipe(&mut self, pipe: impl AsFd) -> io::Result<u64> {
        let end = self.end.unwrap_or(self.next);
        let rest = end.saturating_sub(self.next);
        if rest <= LEAST || !self.may_move() {
            return Ok(0);
        }
        let Some(mut holds) = capacity(&pipe) else { return Ok(0) };
        if holds < LEAST {
            enlarge(&pipe, usize::try_from(LEAST).unwrap_or(usize::MAX));
            holds = capacity(&pipe).unwrap_or(holds);
        }
        let kept = holds.max(most_capacity().unwrap_or(0)).max(LEAST);
        let end = end.saturating_sub(kept);
        let start = self.next;
        while self.next < end {
            let step = Extent::between(self.next, end.min(self.next + STEP));
            let moved = self.move_step(step, &pipe)?;
            if moved > 0 {
                self.next += moved;
                (self.block, self.at) = (Buffer::default(), 0);
                (self.is_moved, self.sequential) = (true, true);
                self.observer.delivered(moved);
            }
            if moved < step.len() {
                break;
            }
        }
        Ok(self.next.saturating_sub(start))
    }

    /// Whether the options and the source allow moving.
    fn may_move(&self) -> bool {
        self.seekable
            && self.at == self.block.len()
            && self.ahead.is_none()
            && self.may_read_cached()
            && self.options.timeline().is_none()
    }

    /// Moves the bytes of a step that are in the page cache; returns their number.
    fn move_step(&self, step: Extent, pipe: &impl AsFd) -> io::Result<u64> {
        let (Some(file), Some(len)) = (self.source.file(), NonZeroU64::new(step.len())) else {
            return Ok(0);
        };
        self.observer.check(self.source.name(), step)?;
        let is_cached = residency_of_part(file, step.offset(), len)
            .is_ok_and(|pages| pages.cached_pages >= pages.total_pages);
        if !is_cached {
            return Ok(0);
        }
        let mut at = step.offset();
        while at < step.end() {
            let len = usize::try_from(step.end() - at).unwrap_or(usize::MAX);
            match put_pages(file, at, pipe, len) {
                Ok(0) => break,
                Ok(moved) => at += moved as u64,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
                // Reading or writing will get the same error and report it.
                Err(_) => break,
            }
        }
        Ok(at - step.offset())
    }
}
