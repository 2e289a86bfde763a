//! One file that is read by position: leases of whole blocks, given to a consumer.

use std::num::NonZeroU64;
use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::{Lease, Way};

use crate::engine::fill::Hands;
use crate::engine::{Job, Trouble, Visit, worker};
use crate::error::{Error, Operation, Reason, Result};
use crate::ingest::consume::Consume;
use crate::ingest::runs::{Plan, Start};
use crate::observe::Observer;
use crate::records::piece::Grid;
use crate::records::window::{Cutter, Window};
use crate::report::Report;
use crate::source::Opened;
use crate::survey;

/// One file while it is read.
pub(crate) struct FileRun {
    job: Job<'static>,
    cutter: Cutter,
    first_piece: u64,
    lease_size: NonZeroU64,
    slots: usize,
    report: Report,
    plan: Arc<Plan>,
}

impl FileRun {
    /// Decides how to read `extent` of a source.
    pub(crate) fn new(
        plan: &Arc<Plan>,
        source: Opened,
        extent: Extent,
        (start, observer): (Start, &Observer),
    ) -> Result<Self> {
        let options = &plan.options;
        if options.wishes.engine == Engine::Map {
            let error = Error::new(Operation::Map, Reason::Invalid, source.name());
            return Err(error.detail("a map needs the promise that nobody changes the file"));
        }
        let source = Arc::new(source);
        let facts = survey::facts(&source, extent, options, survey::WINDOWS);
        let (mut decision, by_lease) = options.scan_decision(&facts);
        let direct = decision.queues.iter().flatten().any(|run| run.way == Way::Direct);
        if !(by_lease || direct) {
            // From the page cache, block by block: they stay in the second-level cache.
            decision.cut.size = decision.chunk_size;
        }
        let decision = in_order(decision, extent);
        let mut report = survey::report(&decision);
        report.fallbacks.extend(survey::advise(&source, extent, options.advice));
        let scheduler = survey::scheduler(&decision, options, None);
        let manner = survey::manner(&decision, &facts, options);
        let cutter = Cutter {
            cut: plan.cut,
            extent,
            grid: Grid { base: extent.offset(), size: plan.block_size, first: start.block },
            record_limit: plan.record_limit,
            memory: plan.memory,
        };
        Ok(Self {
            job: Job::new(source, extent, scheduler, manner, observer.clone()),
            cutter,
            first_piece: start.piece,
            lease_size: decision.cut.size,
            slots: decision.workers.len().max(1),
            report,
            plan: Arc::clone(plan),
        })
    }

    /// Workers that it is worth.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Where the next file starts.
    pub(crate) fn next_start(&self) -> Start {
        let extent = self.cutter.extent;
        let pieces = extent.len().div_ceil(self.lease_size.get());
        Start { piece: self.first_piece + pieces, block: self.cutter.grid.behind(extent) }
    }

    /// Does what is left, as worker `slot`.
    pub(crate) fn work<C: Consume>(&self, slot: usize, consumer: &C) {
        let visit = Cutting { run: self, consumer };
        worker::work(&self.job, &visit, slot % self.slots);
    }

    /// Ends it, when all workers have left.
    pub(crate) fn finish<C: Consume<Error: From<Error>>>(self, consumer: &C) -> Report {
        let extent = self.cutter.extent;
        let (source, options) = (Arc::clone(&self.job.source), &self.plan.options);
        if let Some(error) = self.job.failure() {
            let number = match error.extent() {
                Some((offset, _)) => self.number(offset),
                None => self.first_piece,
            };
            consumer.failures().failed(number, error.into());
        } else if !consumer.failures().any() {
            // Of what is known to be cut short nobody asks whether it has changed too.
            if let Err(error) = source.check_unchanged(extent, options.growth) {
                consumer.failures().failed(self.next_start().piece, error.into());
            }
        }
        let mut report = self.report;
        let (tally, fallbacks) = self.job.summary();
        report.fill_in(tally, fallbacks);
        report
    }

    fn number(&self, offset: u64) -> u64 {
        let behind = offset.saturating_sub(self.cutter.extent.offset());
        self.first_piece + behind / self.lease_size
    }
}

/// Takes leases apart.
struct Cutting<'c, C> {
    run: &'c FileRun,
    consumer: &'c C,
}

impl<C: Consume> Visit for Cutting<'_, C> {
    type Scratch = Window;

    fn scratch(&self) -> Result<Window> {
        Ok(Window::new(self.run.plan.options.pool.clone()))
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        window: &mut Window,
        lease: &Lease,
    ) -> std::result::Result<(), Trouble> {
        let run = self.run;
        let piece = run.cutter.load(&run.job.source, hands, window, lease)?;
        self.consumer.consume(run.number(lease.extent.offset()), piece);
        if self.consumer.failures().any() {
            run.job.stop();
        }
        Ok(())
    }
}
