//! Times reads into shared pages and into fresh memory, and checks what they read.

use crate::bench::{Bench, Input, Residency, SharedPages};
use anyhow::{Context, Result};
use std::ops::Deref;
use std::rc::Rc;
use swath_study::cache;
use swath_study::harness::{Contestant, Work, timed};
use swath_study::limits;

/// The byte that stands where nothing has been read yet.
pub(super) const UNREAD: u8 = 0;

/// The file and the state it is in before each run.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'b> {
    pub(crate) bench: &'b Bench,
    pub(crate) input: &'b Input,
    pub(crate) residency: Residency,
}

impl<'b> Setting<'b> {
    /// Has the page cache brought into the setting's state before each run.
    pub(super) fn prepared(self, contestant: Contestant<'b>) -> Contestant<'b> {
        contestant.with_before(move || self.prepare(0))
    }

    /// Does the same, then has as much memory touched as the run will take.
    pub(super) fn prepared_with_memory(self, contestant: Contestant<'b>) -> Contestant<'b> {
        contestant.with_before(move || self.prepare(self.input.len()))
    }

    /// Touches as much memory as the run will take: what it asks for itself, and what the page
    /// cache takes for a file that is not in it.
    fn prepare(self, own: usize) -> Result<()> {
        self.bench.bring(self.input, self.residency)?;
        let cached = if self.residency == Residency::Warm { 0 } else { self.input.len() };
        match own + cached {
            0 => Ok(()),
            len => cache::touch_memory(len).context("cannot touch memory"),
        }
    }

    /// Times `repeats` reads into pages that exist.
    pub(super) fn into_pages(
        self,
        name: &str,
        pages: &SharedPages,
        repeats: u64,
        mut read: impl FnMut(&mut [u8]) -> Result<()> + 'b,
    ) -> Contestant<'b> {
        let Self { bench, input, .. } = self;
        let pages = Rc::clone(pages);
        let contestant = Contestant::new(name, input.expected(repeats), move || {
            let mut pages = pages.borrow_mut();
            let target = &mut pages[..input.len()];
            limits::fill(target, UNREAD, bench.workers);
            let (result, timing) = timed(|| (0..repeats).try_for_each(|_| read(target)))?;
            result?;
            let sum = limits::memory_sum(target, bench.workers);
            Ok(Work::new(input.made.bytes * repeats, sum).with_timing(timing))
        });
        self.prepared(contestant)
    }

    /// Times reads that bring their own memory. Letting go of the last is not timed.
    pub(super) fn fresh<M: Deref<Target = [u8]>>(
        self,
        name: &str,
        mut read: impl FnMut() -> Result<M> + 'b,
    ) -> Contestant<'b> {
        let Self { bench, input, .. } = self;
        let contestant = Contestant::new(name, input.expected(input.repeats), move || {
            let (last, timing) = timed(|| {
                (1..input.repeats).try_for_each(|_| read().map(drop))?;
                read()
            })?;
            let last = last?;
            let sum = limits::memory_sum(&last, bench.workers);
            Ok(Work::new(last.len() as u64 * input.repeats, sum).with_timing(timing))
        });
        self.prepared_with_memory(contestant)
    }
}
