//! Prepares a read of known length, from the facts about its source to its workers: the beginning
//! of every verb. [`ReadJob::finish`] is the end.
//!
//! ```text
//! Opened, ReadOptions → facts → decide → Planned → Job → workers → Job::finish → Report
//! ```

mod clock;
mod consumed;
mod facts;
mod mapped;
mod memory;
mod nodes;

use std::num::NonZeroU64;
use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, Facts, PageCache};
use swath_plan::schedule::{ScheduleSetup, Scheduler};
use swath_plan::window::WINDOW_SIZE;

use crate::engine::crew::Watch;
use crate::engine::{self, DropBehind, Manner, ReadJob};
use crate::error::Result;
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::report::Report;
use crate::source::OpenSource;

pub(crate) use clock::Clock;
pub(crate) use consumed::{FOLD_SIZE, decide_to_consume};
pub(crate) use facts::{WINDOWS, facts};
pub(crate) use mapped::{Mapping, Shares};
pub(crate) use memory::pages;
pub(crate) use nodes::place;

/// Extra bytes that direct reads may need for whole units.
const DIRECT_EDGES: u64 = 128 << 10;

/// The decisions for one extent of a source.
pub(crate) struct Planned<'o> {
    source: Arc<OpenSource>,
    options: &'o ReadOptions,
    pub(crate) facts: Facts,
    pub(crate) decision: Decision,
    /// The report before anything has been counted.
    pub(crate) report: Report,
}

impl<'o> Planned<'o> {
    /// Inspects `extent` of a source and calls `decide` to choose how to read it.
    pub(crate) fn of(
        source: &Arc<OpenSource>,
        extent: Extent,
        options: &'o ReadOptions,
        decide: impl FnOnce(&mut Facts) -> Decision,
    ) -> Self {
        let mut facts = facts(source, extent, options, WINDOWS);
        let decision = decide(&mut facts);
        Self::decided(source, facts, options, decision)
    }

    /// Plans with an existing decision. Passes the caller's advice to the kernel, unless it is for a
    /// map.
    pub(crate) fn decided(
        source: &Arc<OpenSource>,
        facts: Facts,
        options: &'o ReadOptions,
        mut decision: Decision,
    ) -> Self {
        decision.leave_out_idle();
        let mut report = Report {
            profile: options.profile_name(),
            engine: decision.engine,
            page_cache: decision.page_cache,
            workers: decision.first_workers().max(1),
            queue_depth: decision.first_workers() as u64 + decision.ring_depth,
            fallbacks: decision.fallbacks.clone(),
            ..Report::serial(&decision.reason, decision.chunk_size.get())
        };
        if decision.engine != Engine::Map {
            report.fallbacks.extend(facts::advise(source, facts.extent, options.advice));
        }
        Self { source: Arc::clone(source), options, facts, decision, report }
    }

    /// Returns the bytes of this many leases.
    pub(crate) fn leases(&self, count: u64) -> Option<NonZeroU64> {
        NonZeroU64::new(self.decision.cut.size.get().saturating_mul(count))
    }

    /// Bytes of memory for a worker that keeps none of its bytes: a chunk, or a lease and a unit at
    /// either end.
    pub(crate) fn scratch_size(&self, by_lease: bool) -> usize {
        let bytes = match by_lease || self.decision.is_direct() {
            true => self.decision.cut.size.get(),
            false => self.decision.chunk_size.get(),
        };
        let edges = if self.decision.is_direct() { DIRECT_EDGES } else { 0 };
        let bytes = bytes.min(self.facts.extent.len()).saturating_add(edges);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Returns the windows to drop from the page cache after they were read, if any.
    pub(crate) fn drop_behind(&self) -> Option<DropBehind> {
        (self.decision.page_cache == PageCache::Drop).then(|| DropBehind {
            first_window: self.facts.extent.offset() / WINDOW_SIZE,
            residency: self.facts.residency.clone(),
        })
    }

    /// Returns the job for its workers, which read at most `ahead` bytes past the released ones.
    ///
    /// # Errors
    ///
    /// If the read is cancelled already.
    pub(crate) fn job<'m>(
        &self,
        observer: Observer,
        ahead: Option<NonZeroU64>,
    ) -> Result<ReadJob<'m>> {
        observer.check(self.source.name(), self.facts.extent)?;
        let (decision, options) = (&self.decision, self.options);
        let mut slots = decision.workers.clone();
        // The ring's slot comes after those of the workers.
        slots.push(decision.ring_queues.clone());
        let scheduler = Scheduler::new(ScheduleSetup {
            queues: decision.queues.clone(),
            slots,
            cut: decision.cut,
            retries: engine::RETRIES,
            pause: engine::pause(),
            ahead,
            rate_bytes_per_s: options.rate_bytes_per_s,
        });
        let manner = Manner {
            chunk_size: Some(decision.chunk_size),
            drop_behind: self.drop_behind(),
            io_priority: options.io_priority,
            growth: options.growth,
            watch: decision.crew.map(Watch::new),
        };
        Ok(ReadJob::new(
            Arc::clone(&self.source),
            self.facts.extent,
            scheduler,
            manner,
            observer,
        ))
    }
}
