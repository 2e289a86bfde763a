//! A strand with places for other handles in its order: owned forks, tickets and spawned tasks.
//!
//! ```text
//! [strand] [slot 1] [strand] [slot 2] [strand, still writing]
//! ```
//!
//! A slot is taken where the fork happens. Its owner fills it, on any thread, at any time before
//! the sequence is closed. Then slots and strands become one strand, from left to right.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use crate::append::output::{AppendOutput, Counters};
use crate::append::start_offset::StartOffset;
use crate::append::strand::Strand;
use crate::error::Result;
use crate::locks::Mutex;

/// How a strand ended.
#[derive(Debug)]
pub(super) enum End<E> {
    Well,
    /// With an error: the serial program would have stopped here.
    Failed(E),
    Panicked(Box<dyn Any + Send>),
    /// Its handle was dropped before it was finished.
    Dropped,
}

/// A strand that has ended.
#[derive(Debug)]
pub(super) struct EndedStrand<E> {
    pub(super) strand: Box<Strand>,
    pub(super) end: End<E>,
}

/// A place in the order, to be filled.
#[derive(Debug)]
pub(super) struct Slot<E> {
    filled: Mutex<Option<EndedStrand<E>>>,
    /// The start of the bytes after it.
    next: Arc<StartOffset>,
}

impl<E> Slot<E> {
    /// Fills the slot. Called once, when its strand has ended.
    pub(super) fn fill(&self, ended: EndedStrand<E>) {
        if matches!(ended.end, End::Well) {
            self.next.follow(ended.strand.start(), ended.strand.len());
        }
        *self.filled.lock() = Some(ended);
    }

    fn is_filled(&self) -> bool {
        self.filled.lock().is_some()
    }
}

/// The result of a fork: the slot, the strand that will fill it, and the strand that continues
/// after it.
#[derive(Debug)]
pub(super) struct Forked<E> {
    pub(super) slot: Arc<Slot<E>>,
    pub(super) branch: Box<Strand>,
    pub(super) after: Box<Strand>,
}

/// Everything before the strand that is being written. See the [module](self).
#[derive(Debug)]
pub(super) struct Sequence<E> {
    before: Vec<(Box<Strand>, Arc<Slot<E>>)>,
}

impl<E> Sequence<E> {
    pub(super) const fn new() -> Self {
        Self { before: Vec::new() }
    }

    /// Takes a slot at the end of `current`.
    pub(super) fn fork(&mut self, output: &AppendOutput, current: Box<Strand>) -> Forked<E> {
        Counters::add(&output.counters.forks, 1);
        let here = StartOffset::unknown();
        here.follow(current.start(), current.len());
        let slot = Arc::new(Slot { filled: Mutex::new(None), next: StartOffset::unknown() });
        let after = Strand::new(output, Arc::clone(&slot.next));
        let branch = Strand::new(output, here);
        self.before.push((current, Arc::clone(&slot)));
        Forked { slot, branch, after }
    }

    /// The number of slots that are not filled yet.
    pub(super) fn open(&self) -> usize {
        self.before.iter().filter(|(_, slot)| !slot.is_filled()).count()
    }

    /// Joins all strands into one, `current` being the last; all slots must be filled. Leaves out
    /// bytes that the serial program would not have written because of an earlier failure, which
    /// `End` has.
    pub(super) fn close(
        &mut self,
        output: &AppendOutput,
        current: Box<Strand>,
    ) -> Result<(Box<Strand>, End<E>)> {
        let mut whole: Option<Box<Strand>> = None;
        let mut before = mem::take(&mut self.before).into_iter();
        while let Some((strand, slot)) = before.next() {
            let mut so_far = appended(output, whole, strand)?;
            let ended = slot.filled.lock().take();
            let Some(EndedStrand { strand, end }) = ended else {
                return Ok((so_far, End::Dropped));
            };
            so_far.absorb(output, *strand)?;
            if !matches!(end, End::Well) {
                for (strand, slot) in before {
                    strand.discard(output);
                    if let Some(ended) = slot.filled.lock().take() {
                        ended.strand.discard(output);
                    }
                }
                current.discard(output);
                return Ok((so_far, end));
            }
            whole = Some(so_far);
        }
        Ok((appended(output, whole, current)?, End::Well))
    }
}

fn appended(
    output: &AppendOutput,
    left: Option<Box<Strand>>,
    right: Box<Strand>,
) -> Result<Box<Strand>> {
    match left {
        None => Ok(right),
        Some(mut left) => left.absorb(output, *right).map(|()| left),
    }
}
