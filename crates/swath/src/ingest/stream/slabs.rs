//! The workers' side of a stream: slabs to fill, and the file that gets the next one.

use std::collections::VecDeque;
use std::path::Path;

use swath_os::memory::Pages;
use swath_plan::files::{Grant, Lender};

use super::super::claims::{Claims, NAP};
use super::super::destination::Destination;
use super::super::file_reader::SMALL;
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::{Condvar, Mutex, MutexGuard};

/// A part on its way to the caller.
pub(super) struct SlabPiece {
    pub(super) index: usize,
    pub(super) offset: u64,
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) is_last: bool,
    pub(super) error: Option<Error>,
}

/// Exchanges empty slabs for workers and filled slabs for the caller's thread.
pub(super) struct Exchange {
    pub(super) slabs: Mutex<Slabs>,
    /// Signals that a slab came back, or that another file's turn has come.
    pub(super) returned: Condvar,
    /// Signals that there are pieces to pass on.
    pub(super) filled: Condvar,
    pub(super) slab_len: usize,
}

/// The memory of some pieces.
#[derive(Default)]
pub(super) enum Slab {
    /// No memory: the pieces are errors.
    #[default]
    None,
    Lent(Pages),
    /// A file that was read when all slabs were lent.
    Own(Vec<u8>),
}

pub(super) struct Slabs {
    pub(super) lender: Lender,
    pub(super) most: usize,
    pub(super) lent: usize,
    pub(super) idle: Vec<Pages>,
    pub(super) filled: VecDeque<(Slab, Vec<SlabPiece>)>,
    /// The file that is passed on next.
    pub(super) turn: usize,
}

impl Exchange {
    pub(super) fn slabs(&self) -> MutexGuard<'_, Slabs> {
        self.slabs.lock()
    }

    pub(super) fn give_back(&self, pages: Pages) {
        let mut slabs = self.slabs();
        slabs.lender.returned();
        slabs.lent -= 1;
        slabs.idle.push(pages);
        drop(slabs);
        self.returned.notify_all();
    }
}

/// Bytes below which a slab is only passed on when it is full: a wake-up costs more than reading a
/// few small files.
const FEW: usize = 256 << 10;
/// Pieces at which a slab is passed on: empty files take room in lists only.
const MANY: usize = 1024;

/// The destination of one worker's bytes: slabs.
pub(super) struct ToSlabs<'x> {
    pub(super) exchange: &'x Exchange,
    pub(super) claims: &'x Claims<'x>,
    pub(super) slab: Option<Pages>,
    pub(super) used: usize,
    /// The file of a slab from the reserve: no other file uses the slab, and it is passed on at once.
    pub(super) reserved: Option<usize>,
    pub(super) pieces: Vec<SlabPiece>,
    /// On a thread without workers: passes on filled slabs, so that they return.
    pub(super) deliver: Option<&'x mut dyn FnMut()>,
}

impl<'x> ToSlabs<'x> {
    pub(super) fn new(
        exchange: &'x Exchange,
        claims: &'x Claims<'x>,
        deliver: Option<&'x mut dyn FnMut()>,
    ) -> Self {
        let (slab, used, reserved, pieces) = (None, 0, None, Vec::new());
        Self { exchange, claims, slab, used, reserved, pieces, deliver }
    }

    fn flush(&mut self) {
        let slab = self.slab.take();
        (self.used, self.reserved) = (0, None);
        if self.pieces.is_empty() {
            if let Some(slab) = slab {
                self.exchange.give_back(slab);
            }
            return;
        }
        let pieces = std::mem::take(&mut self.pieces);
        self.send(slab.map_or(Slab::None, Slab::Lent), pieces);
    }

    /// Returns a slab reserved for another file: filled with other files, it would be kept until they
    /// are passed on, and the file that all threads wait for would have none.
    fn keep_reserve(&mut self, index: usize) {
        if self.reserved.is_some_and(|file| file != index) {
            self.flush();
        }
    }

    fn send(&self, slab: Slab, pieces: Vec<SlabPiece>) {
        self.exchange.slabs().filled.push_back((slab, pieces));
        self.exchange.filled.notify_one();
    }

    /// Takes a slab, now or by waiting; returns `false` if there is none.
    fn take(&mut self, index: usize, waits: bool) -> bool {
        let mut slabs = self.exchange.slabs();
        loop {
            let turn = slabs.turn;
            let grant = slabs.lender.ask(index, turn);
            if grant != Grant::Wait {
                slabs.lent += 1;
                self.reserved = (slabs.lent > slabs.most).then_some(index);
                let idle = if grant == Grant::Reuse { slabs.idle.pop() } else { None };
                drop(slabs);
                // Without a slab, the file uses memory of its own, or waits.
                self.slab = idle.or_else(|| Pages::map(self.exchange.slab_len).ok());
                if self.slab.is_none() {
                    let mut slabs = self.exchange.slabs();
                    slabs.lender.refused();
                    slabs.lent -= 1;
                }
                return self.slab.is_some();
            }
            if !waits || self.claims.is_stopped() {
                return false;
            }
            slabs = match &mut self.deliver {
                Some(deliver) => {
                    drop(slabs);
                    deliver();
                    self.exchange.slabs()
                }
                None => {
                    let waited = self.exchange.returned.wait_timeout(slabs, NAP);
                    waited.0
                }
            };
        }
    }
}

impl Destination for ToSlabs<'_> {
    const SHARED: bool = false;

    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>> {
        self.keep_reserve(index);
        let left = self.slab.as_ref().map_or(0, |slab| slab.len() - self.used);
        if left < want || self.slab.is_none() {
            self.flush();
            if !self.take(index, true) && !self.claims.is_stopped() {
                return Err(Error::new(Operation::Allocate, Reason::OutOfMemory, path));
            }
        }
        Ok(self.slab.as_mut().map(|slab| &mut slab[self.used..]))
    }

    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool) {
        let start = self.used;
        self.pieces.push(SlabPiece { index, offset, start, len, is_last, error: None });
        self.used += len;
        if self.reserved.is_some() {
            self.flush();
        }
    }

    fn failed(&mut self, index: usize, error: Error) {
        let (offset, start, len) = (0, 0, 0);
        self.pieces.push(SlabPiece {
            index,
            offset,
            start,
            len,
            is_last: true,
            error: Some(error),
        });
        if self.reserved.is_some() {
            self.flush();
        }
    }

    fn is_ready(&mut self, index: usize) -> bool {
        self.keep_reserve(index);
        if self.slab.as_ref().is_some_and(|slab| slab.len() - self.used >= SMALL) {
            return true;
        }
        self.flush();
        self.take(index, false)
    }

    fn put(&mut self, index: usize, bytes: &[u8], _path: &Path) -> Result<()> {
        self.keep_reserve(index);
        let (used, len) = (self.used, bytes.len());
        match &mut self.slab {
            Some(slab) if slab.len() - used >= len => {
                slab[used..used + len].copy_from_slice(bytes);
                self.keep(index, 0, len, true);
            }
            _ => {
                let (offset, start, is_last, error) = (0, 0, true, None);
                let piece = SlabPiece { index, offset, start, len, is_last, error };
                self.send(Slab::Own(bytes.to_vec()), vec![piece]);
            }
        }
        Ok(())
    }

    fn pause(&mut self) {
        if self.deliver.is_some() {
            self.flush();
        }
        if let Some(deliver) = &mut self.deliver {
            return deliver();
        }
        if self.used < FEW && self.pieces.len() < MANY {
            return;
        }
        let idle = self.exchange.slabs().filled.is_empty();
        if idle {
            self.flush();
        }
    }

    fn set_aside(&mut self, _len: u64, _path: &Path) -> Result<usize> {
        Ok(0)
    }

    fn part(
        &mut self,
        _at: usize,
        _len: usize,
        _path: &Path,
        _fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        Ok(())
    }

    fn complete(&mut self, _index: usize, _base: usize, _len: u64) -> Option<&[u8]> {
        None
    }
}

impl Drop for ToSlabs<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
