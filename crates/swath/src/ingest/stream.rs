//! Many files, one after the other, in bounded memory.
//!
//! ```text
//! workers: room → read → keep ─┐ slabs, full        ┌→ each(part), on the thread that called
//!                              └→ in input order or ┘   and the slab returns
//! ```

mod slabs;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;

use swath_plan::fallback::Fallback;
use swath_plan::files::Lender;

use slabs::{Exchange, Slab, SlabPiece, Slabs, ToSlabs};

use super::claims::{Claims, NAP};
use super::file_reader::SMALL;
use super::listing::Listing;
use super::options::{Content, Delivery, Failures, FileOrder, IngestOptions};
use super::report::IngestReport;
use super::summary::Summary;
use super::{run, run_beside};
use crate::error::Error;
use crate::locks::{Condvar, Mutex};
use crate::timeline::{Activity, Recorder};

/// A file, or a part of one, passed on by [`IngestOptions::stream`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Part<'p> {
    /// The index of the file, in input order.
    pub index: usize,
    /// The path, as it was given or found.
    pub path: &'p Path,
    /// Offset of the bytes in the file.
    pub offset: u64,
    /// The bytes; empty for an empty file, and for one that failed.
    pub bytes: &'p [u8],
    /// Whether this is the last part of the file.
    pub is_last: bool,
    /// The reason why the file cannot be read, or not to its end.
    pub error: Option<&'p Error>,
}

/// A slab that pieces refer to; it returns when the last piece is delivered.
struct HeldSlab<'x> {
    exchange: &'x Exchange,
    slab: Slab,
}

impl Drop for HeldSlab<'_> {
    fn drop(&mut self) {
        if let Slab::Lent(pages) = std::mem::take(&mut self.slab) {
            self.exchange.give_back(pages);
        }
    }
}

type WaitingPieces<'x> = VecDeque<(Rc<HeldSlab<'x>>, SlabPiece)>;

/// Puts the pieces in order and passes them on.
struct Desk<'x, F> {
    claims: &'x Claims<'x>,
    exchange: &'x Exchange,
    each: F,
    waiting: BTreeMap<usize, WaitingPieces<'x>>,
    /// With completion order: files with bytes, in the order of their first bytes.
    arrived: VecDeque<usize>,
    /// The file whose pieces are passed on.
    turn: Option<usize>,
    /// Whether a part of this file has been passed on.
    begun: bool,
    finished: usize,
    failed: u64,
    recorder: Recorder,
}

impl<'x, F> Desk<'x, F> {
    fn deliver<E: From<Error>>(&mut self) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        while self.finished < self.claims.listing.len() {
            if self.claims.is_stopped() {
                break;
            }
            self.receive(SlabWait::Waits);
            self.recorder.waited();
            self.hand_over_all()?;
        }
        Ok(())
    }

    /// Passes on available pieces without waiting: for a thread that reads as well.
    fn deliver_now<E: From<Error>>(&mut self) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        self.receive(SlabWait::None);
        self.recorder.mark();
        self.hand_over_all()
    }

    fn hand_over_all<E: From<Error>>(&mut self) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        while !self.claims.is_stopped()
            && let Some((held, piece)) = self.next()
        {
            self.hand_over(&held, piece)?;
            self.claims.tell();
        }
        Ok(())
    }

    /// Takes the filled slabs, after publishing the file it waits for.
    fn receive(&mut self, patience: SlabWait) {
        let mut slabs = self.exchange.slabs();
        slabs.turn = self.turn.unwrap_or(usize::MAX);
        self.exchange.returned.notify_all();
        if slabs.filled.is_empty() && patience == SlabWait::Waits {
            let waited = self.exchange.filled.wait_timeout(slabs, NAP);
            slabs = waited.0;
        }
        let filled = std::mem::take(&mut slabs.filled);
        drop(slabs);
        for (slab, pieces) in filled {
            let held = Rc::new(HeldSlab { exchange: self.exchange, slab });
            for piece in pieces {
                let waiting = self.waiting.entry(piece.index).or_default();
                if self.claims.options.delivery == Delivery::Completion && waiting.is_empty() {
                    self.arrived.push_back(piece.index);
                }
                waiting.push_back((Rc::clone(&held), piece));
            }
        }
    }

    /// Returns the next piece in order, if it is available.
    fn next(&mut self) -> Option<(Rc<HeldSlab<'x>>, SlabPiece)> {
        if self.claims.options.delivery == Delivery::Completion && self.turn.is_none() {
            // A file whose pieces have all been passed on may be in the queue.
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
        held: &HeldSlab<'_>,
        mut piece: SlabPiece,
    ) -> std::result::Result<(), E>
    where
        F: FnMut(Part<'_>) -> std::result::Result<(), E>,
    {
        let options = self.claims.options;
        if options.failures == Failures::Fail
            && let Some(error) = piece.error.take()
        {
            self.claims.fail(piece.index, error);
            self.claims.stop();
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
                path: self.claims.listing.path(piece.index),
                offset,
                bytes: &bytes[..cut],
                is_last: piece.is_last && cut == bytes.len(),
                error: piece.error.as_ref(),
            };
            if !silent {
                (self.each)(part)?;
                self.recorder.turn_to(self.claims.source(piece.index));
                self.recorder.lap(Activity::Compute, offset, cut as u64);
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

/// Whether other threads fill slabs in the meantime.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlabWait {
    Waits,
    None,
}

/// Returns how many bytes to pass on at a time: at most `most`, and whole characters of text.
fn cut(bytes: &[u8], most: usize, shape: Content) -> usize {
    let mut cut = bytes.len().min(most);
    if shape == Content::Text && cut < bytes.len() {
        while cut > 1 && bytes[cut] & 0xc0 == 0x80 {
            cut -= 1;
        }
    }
    cut
}

/// Runs the stream: workers fill slabs, this thread passes them on. If no worker can be started,
/// this thread fills them as well.
pub(super) fn stream<E: From<Error>>(
    options: &IngestOptions,
    listing: &Listing,
    first_source: u32,
    began: i64,
    each: impl FnMut(Part<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<IngestReport, E> {
    let slab_len = options.part_len().max(SMALL);
    let limit = if options.memory_limit == 0 { 64 << 20 } else { options.memory_limit };
    // Half of the limit: as much again may be in rings or on its way from them.
    let most = usize::try_from(limit / 2 / slab_len as u64).unwrap_or(usize::MAX);
    let most = most.saturating_sub(Lender::RESERVE).clamp(2, 1 << 16);
    let turn = (options.delivery == Delivery::Input).then_some(0);
    let exchange = Exchange {
        slabs: Mutex::new(Slabs {
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
    let claims = Claims::new(listing, first_source, options, began, None, false);
    let mut desk = Desk {
        claims: &claims,
        exchange: &exchange,
        each,
        waiting: BTreeMap::new(),
        arrived: VecDeque::new(),
        turn,
        begun: false,
        finished: 0,
        failed: 0,
        recorder: claims.recorder(),
    };
    let outcome = work(&exchange, &claims, &mut desk);
    let failed = desk.failed;
    drop(desk);
    outcome?;
    if let Some(error) = claims.failure() {
        return Err(error.into());
    }
    let mut report = IngestReport::default();
    if options.order != FileOrder::Given {
        let why = "a stream reads in the order given";
        report.fallbacks.push(Fallback::Unused { what: "order", why });
    }
    Summary::of(claims).fill_in(&mut report, options);
    match options.failures {
        Failures::Skip => report.skipped = failed,
        Failures::Fail | Failures::Collect => report.failed = failed,
    }
    Ok(report)
}

/// Reads and passes on, with workers or without.
fn work<'x, F, E: From<Error>>(
    exchange: &Exchange,
    claims: &Claims<'_>,
    desk: &mut Desk<'x, F>,
) -> std::result::Result<(), E>
where
    F: FnMut(Part<'_>) -> std::result::Result<(), E>,
{
    let mut outcome = Ok(());
    let make = || ToSlabs::new(exchange, claims, None);
    let mut deliver = || {
        outcome = desk.deliver();
        // Stop: no file is needed any more.
        claims.stop();
    };
    if run_beside(claims, &make, &mut deliver) {
        return outcome;
    }
    let mut deliver = || {
        if outcome.is_ok() {
            outcome = desk.deliver_now();
            if outcome.is_err() {
                claims.stop();
            }
        }
    };
    let make = || ToSlabs::new(exchange, claims, None);
    run(claims, &make, ToSlabs::new(exchange, claims, Some(&mut deliver)));
    // The last pieces of the worker.
    deliver();
    outcome
}
