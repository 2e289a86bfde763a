//! Reads many files that are not in the page cache at a time.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{FileType, makedev};
use swath_os::file_ring::{FileDone, FileRing};
use swath_plan::fallback::Fallback;
use swath_plan::files::By;

use super::file_reader::SMALL;
use crate::buffer::BufferPool;
use crate::error::{Error, Result};
use crate::timeline::Flight;

/// The outcome of a file.
pub(super) enum FileOutcome {
    /// The bytes are in their place.
    Done,
    /// The bytes could not be put in their place.
    Failed(Error),
    /// The file was not read, or is not proven to be whole.
    Unproven,
}

/// One worker's ring, created when the first file has to be waited for.
pub(super) struct InFlight {
    depth: u32,
    ring: Option<FileRing>,
    refused: Option<Fallback>,
    begun: Vec<Begun>,
    /// Calls of a closed ring.
    calls: u64,
}

/// A file in flight.
struct Begun {
    index: usize,
    /// The device of its folder.
    device: u64,
    flight: Flight,
}

/// A file that is no longer in flight.
pub(super) struct Landed {
    pub(super) index: usize,
    pub(super) came: FileOutcome,
    /// Number of bytes that were read.
    pub(super) bytes: u64,
    /// The file, if it was opened before.
    pub(super) file: Option<OwnedFd>,
    pub(super) flight: Flight,
}

impl InFlight {
    /// Returns a ring of this depth, not yet created; with `depth` 0 there is none.
    pub(super) fn new(depth: u32) -> Self {
        Self { depth, ring: None, refused: None, begun: Vec::new(), calls: 0 }
    }

    /// Whether there is a ring, or may be one.
    pub(super) fn is_allowed(&self) -> bool {
        self.depth > 0 && self.refused.is_none()
    }

    pub(super) fn is_full(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| ring.room() == 0)
    }

    /// Returns how many files to wait for when the ring is full; the others keep the device busy in
    /// the meantime. If the worker opens files, refilling takes long; if the ring opens them, smaller
    /// batches cost calls and save no time.
    pub(super) fn batch(&self, by: By) -> usize {
        let half = (self.depth as usize / 2).max(1);
        match by {
            By::Worker => half.min(16),
            By::Ring => half,
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth as usize
    }

    pub(super) fn count(&self) -> usize {
        self.ring.as_ref().map_or(0, FileRing::in_flight)
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls + self.ring.as_ref().map_or(0, FileRing::calls)
    }

    /// Closes the ring, because its descriptor is needed; `false` if there is no ring.
    pub(super) fn give_up(&mut self) -> bool {
        let is_there = self.ring.is_some();
        if is_there {
            self.calls = self.calls();
            self.close();
            self.refused = Some(Fallback::RingClosed);
        }
        is_there
    }

    fn close(&mut self) {
        if let Some(memory) = self.ring.take().and_then(FileRing::into_memory) {
            BufferPool::shared().put(memory);
        }
    }

    /// Returns why there is no ring, although one was wanted.
    pub(super) fn refused(&mut self) -> Option<Fallback> {
        self.refused.take()
    }

    /// Begins to read a file by its name in a folder; returns `false` if there is no ring.
    pub(super) fn begin(
        &mut self,
        folder: &Rc<OwnedFd>,
        device: u64,
        name: &CStr,
        index: usize,
    ) -> bool {
        let Some(ring) = self.with_room() else { return false };
        ring.begin(folder, name, index);
        self.begun.push(Begun { index, device, flight: Flight::default() });
        true
    }

    /// Begins to read an open file; returns it if there is no ring.
    pub(super) fn begin_open(
        &mut self,
        file: OwnedFd,
        device: u64,
        index: usize,
    ) -> std::result::Result<(), OwnedFd> {
        let Some(ring) = self.with_room() else { return Err(file) };
        ring.begin_open(file, index);
        self.begun.push(Begun { index, device, flight: Flight::default() });
        Ok(())
    }

    /// Returns the ring, created on first use; `None` if it is refused or full.
    fn with_room(&mut self) -> Option<&mut FileRing> {
        if self.ring.is_none() {
            let memory = BufferPool::shared().take(SMALL * self.depth as usize);
            match memory.and_then(|memory| FileRing::new(self.depth, SMALL, memory)) {
                Ok(ring) => self.ring = Some(ring),
                Err(error) => {
                    let why = error.to_string();
                    self.refused = Some(Fallback::RingRefused { why, each: "file" });
                }
            }
        }
        self.ring.as_mut().filter(|ring| ring.room() > 0)
    }

    /// Sets the lane of the file that was begun last.
    pub(super) fn recorded(&mut self, flight: Flight) {
        if let Some(last) = self.begun.last_mut() {
            last.flight = flight;
        }
    }

    /// Waits for `want` files.
    pub(super) fn wait(&mut self, want: usize) {
        let Some(ring) = &mut self.ring else { return };
        ring.wait(want);
        if let Some(error) = ring.lost() {
            self.refused = Some(Fallback::RingLost { why: error.to_string() });
        }
    }

    /// Passes a file that was read, and is proven to be whole and unchanged since `old`, to `put`.
    pub(super) fn take(
        &mut self,
        old: i64,
        put: impl FnOnce(usize, &[u8]) -> Result<()>,
    ) -> Option<Landed> {
        let begun = &mut self.begun;
        self.ring.as_mut()?.take(|done| {
            let at = begun.iter().position(|begun| begun.index == done.token);
            let begun = at.map(|at| begun.swap_remove(at));
            let device = begun.as_ref().map(|begun| begun.device);
            let came = match is_proven(&done, device, old) {
                false => FileOutcome::Unproven,
                true => match put(done.token, done.bytes) {
                    Ok(()) => FileOutcome::Done,
                    Err(error) => FileOutcome::Failed(error),
                },
            };
            let bytes =
                if matches!(came, FileOutcome::Done) { done.bytes.len() as u64 } else { 0 };
            let flight = begun.map_or_else(Flight::default, |begun| begun.flight);
            Landed { index: done.token, came, bytes, file: done.file, flight }
        })
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether the bytes are those of a whole regular file on the same device, unchanged since `old`.
fn is_proven(done: &FileDone<'_>, device: Option<u64>, old: i64) -> bool {
    let Ok(facts) = &done.outcome else { return false };
    let (major, minor) = facts.device;
    FileType::from_raw_mode(facts.mode).is_file()
        && facts.len == facts.came as u64
        && facts.came < SMALL
        && facts.changed < old
        && device == Some(makedev(major, minor))
}
