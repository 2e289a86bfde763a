//! Many files, one after the other, in bounded memory.
//!
//! ```text
//! workers: room → read → keep ─┐ slabs, full        ┌→ each(part), on the thread that called
//!                              └→ in input order or ┘   and the slab comes back
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use swath_os::memory::Pages;
use swath_plan::files::{Grant, Lender};

use super::crew::{Crew, NAP};
use super::listing::Listing;
use super::options::{Delivery, FileOrder, IngestOptions, Shape};
use super::report::IngestReport;
use super::worker::{Caller, Place, SMALL, run};
use super::{Failures, summary};
use crate::error::{Error, Operation, Reason, Result};

/// Some bytes of a file that [`IngestOptions::stream`] hands over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Part<'p> {
    /// Which file, in input order.
    pub index: usize,
    /// Its path, as it was given or found.
    pub path: &'p Path,
    /// Where the bytes are in the file.
    pub offset: u64,
    /// The bytes; of an empty file, and of one that failed, none.
    pub bytes: &'p [u8],
    /// Whether nothing of this file follows.
    pub is_last: bool,
    /// Why the file cannot be read, or not to its end.
    pub error: Option<&'p Error>,
}

/// A part on its way.
struct Piece {
    index: usize,
    offset: u64,
    start: usize,
    len: usize,
    is_last: bool,
    error: Option<Error>,
}

/// Slabs, and who waits for them; filled ones, and who waits for those.
struct Exchange {
    state: Mutex<State>,
    /// A slab came back, or the turn moved on.
    returned: Condvar,
    /// Something is there to be handed over.
    filled: Condvar,
    slab_len: usize,
}

/// Where the bytes of some pieces are.
#[derive(Default)]
enum Slab {
    /// They are errors.
    #[default]
    None,
    Lent(Pages),
    /// A file that came when all slabs were lent.
    Own(Vec<u8>),
}

struct State {
    lender: Lender,
    most: usize,
    lent: usize,
    idle: Vec<Pages>,
    filled: VecDeque<(Slab, Vec<Piece>)>,
    /// The file that is handed over next.
    turn: usize,
}

impl Exchange {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, pages: Pages) {
        let mut state = self.state();
        state.lender.returned();
        state.lent -= 1;
        state.idle.push(pages);
        drop(state);
        self.returned.notify_all();
    }
}

/// With less than that a slab is not handed on before it is full: waking up costs more than
/// reading a few small files.
const FEW: usize = 256 << 10;
/// Empty files take room in lists alone.
const MANY: usize = 1024;

/// Where one worker's bytes go: into slabs.
struct Streamer<'x> {
    exchange: &'x Exchange,
    crew: &'x Crew<'x>,
    slab: Option<Pages>,
    used: usize,
    /// The slab is one of the reserve, for this file: it is for no other one, and handed on at once.
    reserved: Option<usize>,
    pieces: Vec<Piece>,
}

impl Streamer<'_> {
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

    /// Gives back what is reserved for another file: full of others it would be kept until they
    /// are handed over, and the file that all wait for had none.
    fn keep_reserve(&mut self, index: usize) {
        if self.reserved.is_some_and(|file| file != index) {
            self.flush();
        }
    }

    fn send(&self, slab: Slab, pieces: Vec<Piece>) {
        self.exchange.state().filled.push_back((slab, pieces));
        self.exchange.filled.notify_one();
    }

    /// Gets a slab: now, or waited for; `false` if there is none.
    fn take(&mut self, index: usize, waits: bool) -> bool {
        let mut state = self.exchange.state();
        loop {
            let turn = state.turn;
            let grant = state.lender.ask(index, turn);
            if grant != Grant::Wait {
                state.lent += 1;
                self.reserved = (state.lent > state.most).then_some(index);
                let idle = if grant == Grant::Reuse { state.idle.pop() } else { None };
                drop(state);
                // Without memory the file goes through memory of its own, or waits.
                self.slab = idle.or_else(|| Pages::map(self.exchange.slab_len).ok());
                if self.slab.is_none() {
                    let mut state = self.exchange.state();
                    state.lender.refused();
                    state.lent -= 1;
                }
                return self.slab.is_some();
            }
            if !waits || self.crew.is_stopped() {
                return false;
            }
            let waited = self.exchange.returned.wait_timeout(state, NAP);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Place for Streamer<'_> {
    const SHARED: bool = false;

    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>> {
        self.keep_reserve(index);
        let left = self.slab.as_ref().map_or(0, |slab| slab.len() - self.used);
        if left < want || self.slab.is_none() {
            self.flush();
            if !self.take(index, true) && !self.crew.is_stopped() {
                return Err(Error::new(Operation::Allocate, Reason::OutOfMemory, path));
            }
        }
        Ok(self.slab.as_mut().map(|slab| &mut slab[self.used..]))
    }

    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool) {
        let start = self.used;
        self.pieces.push(Piece { index, offset, start, len, is_last, error: None });
        self.used += len;
        if self.reserved.is_some() {
            self.flush();
        }
    }

    fn failed(&mut self, index: usize, error: Error) {
        let (offset, start, len) = (0, 0, 0);
        self.pieces.push(Piece {
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
                let piece = Piece { index, offset, start, len, is_last, error };
                self.send(Slab::Own(bytes.to_vec()), vec![piece]);
            }
        }
        Ok(())
    }

    fn pause(&mut self) {
        if self.used < FEW && self.pieces.len() < MANY {
            return;
        }
        let idle = self.exchange.state().filled.is_empty();
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

impl Drop for Streamer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A slab that pieces still refer to; it goes back when the last of them is delivered.
struct Held<'x> {
    exchange: &'x Exchange,
    slab: Slab,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Slab::Lent(pages) = std::mem::take(&mut self.slab) {
            self.exchange.give_back(pages);
        }
    }
}

type Waiting<'x> = VecDeque<(Rc<Held<'x>>, Piece)>;

/// Puts the pieces in order and hands them over.
struct Desk<'x, F> {
    crew: &'x Crew<'x>,
    exchange: &'x Exchange,
    each: F,
    waiting: BTreeMap<usize, Waiting<'x>>,
    /// In completion order: files of which something came, in the order it did.
    arrived: VecDeque<usize>,
    /// The file whose pieces are handed over.
    turn: Option<usize>,
    /// Of the file in turn something was handed over.
    begun: bool,
    finished: usize,
    failed: u64,
}

impl<'x, F> Desk<'x, F> {
    fn deliver<E: From<Error>>(&mut self) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        while self.finished < self.crew.listing.len() {
            if self.crew.is_stopped() {
                break;
            }
            self.receive();
            while let Some((held, piece)) = self.next() {
                self.hand_over(&held, piece)?;
                self.crew.tell();
                if self.crew.is_stopped() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Waits for filled slabs; tells before who is waited for.
    fn receive(&mut self) {
        let mut state = self.exchange.state();
        state.turn = self.turn.unwrap_or(usize::MAX);
        self.exchange.returned.notify_all();
        if state.filled.is_empty() {
            let waited = self.exchange.filled.wait_timeout(state, NAP);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let filled = std::mem::take(&mut state.filled);
        drop(state);
        for (slab, pieces) in filled {
            let held = Rc::new(Held { exchange: self.exchange, slab });
            for piece in pieces {
                let waiting = self.waiting.entry(piece.index).or_default();
                if self.crew.options.delivery == Delivery::Completion && waiting.is_empty() {
                    self.arrived.push_back(piece.index);
                }
                waiting.push_back((Rc::clone(&held), piece));
            }
        }
    }

    /// The next piece in order, if it is there.
    fn next(&mut self) -> Option<(Rc<Held<'x>>, Piece)> {
        if self.crew.options.delivery == Delivery::Completion && self.turn.is_none() {
            // A file whose pieces went already may be among them.
            while let Some(index) = self.arrived.pop_front() {
                if self.waiting.contains_key(&index) {
                    self.turn = Some(index);
                    break;
                }
            }
        }
        let turn = self.turn?;
        let waiting = self.waiting.get_mut(&turn)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&turn);
        }
        next
    }

    fn hand_over<E: From<Error>>(
        &mut self,
        held: &Held<'_>,
        mut piece: Piece,
    ) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        let options = self.crew.options;
        if options.failures == Failures::Fail
            && let Some(error) = piece.error.take()
        {
            self.crew.fail(piece.index, error);
            self.crew.stop();
            return Ok(());
        }
        let whole: &[u8] = match &held.slab {
            Slab::None => &[],
            Slab::Lent(pages) => pages,
            Slab::Own(bytes) => bytes,
        };
        let mut bytes = &whole[piece.start..][..piece.len];
        let mut offset = piece.offset;
        let silent = piece.error.is_some() && options.failures == Failures::Skip && !self.begun;
        loop {
            let cut = cut(bytes, options.part_len(), options.shape);
            let part = Part {
                index: piece.index,
                path: self.crew.listing.path(piece.index),
                offset,
                bytes: &bytes[..cut],
                is_last: piece.is_last && cut == bytes.len(),
                error: piece.error.as_ref(),
            };
            if !silent {
                (self.each)(part)?;
            }
            offset += cut as u64;
            bytes = &bytes[cut..];
            if bytes.is_empty() {
                break;
            }
        }
        self.begun = !piece.is_last;
        if piece.is_last {
            self.finished += 1;
            self.failed += u64::from(piece.error.is_some());
            self.turn = match options.delivery {
                Delivery::Input => self.turn.map(|turn| turn + 1),
                Delivery::Completion => None,
            };
        }
        Ok(())
    }
}

/// How many bytes go at one time: at most `most`, and of text whole characters.
fn cut(bytes: &[u8], most: usize, shape: Shape) -> usize {
    let mut cut = bytes.len().min(most);
    if shape == Shape::Text && cut < bytes.len() {
        while cut > 1 && bytes[cut] & 0xc0 == 0x80 {
            cut -= 1;
        }
    }
    cut
}

/// Runs it all: workers fill slabs, this thread hands them over.
pub(super) fn stream<E: From<Error>>(
    options: &IngestOptions,
    listing: &Listing,
    began: i64,
    each: impl FnMut(Part<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<IngestReport, E> {
    let slab_len = options.part_len().max(SMALL);
    let limit = if options.memory_limit == 0 { 64 << 20 } else { options.memory_limit };
    // Half of it, for as much may be in rings and behind them.
    let most = usize::try_from(limit / 2 / slab_len as u64).unwrap_or(usize::MAX);
    let most = most.saturating_sub(Lender::RESERVE).clamp(2, 1 << 16);
    let turn = (options.delivery == Delivery::Input).then_some(0);
    let exchange = Exchange {
        state: Mutex::new(State {
            lender: Lender::new(most),
            most,
            lent: 0,
            idle: Vec::new(),
            filled: VecDeque::new(),
            turn: turn.unwrap_or(usize::MAX),
        }),
        returned: Condvar::new(),
        filled: Condvar::new(),
        slab_len,
    };
    let crew = Crew::new(listing, options, began, None, false);
    let mut desk = Desk {
        crew: &crew,
        exchange: &exchange,
        each,
        waiting: BTreeMap::new(),
        arrived: VecDeque::new(),
        turn,
        begun: false,
        finished: 0,
        failed: 0,
    };
    let mut outcome = Ok(());
    let make = || Streamer {
        exchange: &exchange,
        crew: &crew,
        slab: None,
        used: 0,
        reserved: None,
        pieces: Vec::new(),
    };
    let mut work = || {
        outcome = desk.deliver();
        // Nobody is waited for any more, whatever came.
        crew.stop();
    };
    run(&crew, &make, Caller::Does(&mut work));
    let failed = desk.failed;
    drop(desk);
    outcome?;
    if let Some(error) = crew.failure() {
        return Err(error.into());
    }
    let mut report = IngestReport::default();
    if options.order != FileOrder::Given {
        report.fallbacks.push(String::from("order: a stream reads in the order given"));
    }
    summary(crew).fill_in(&mut report, options);
    match options.failures {
        Failures::Skip => report.skipped = failed,
        Failures::Fail | Failures::Collect => report.failed = failed,
    }
    Ok(report)
}
