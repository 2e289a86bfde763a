//! Reads one file by position and passes leases of whole blocks to a consumer.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_os::map::Map;
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::Lease;

use crate::blocks::consume::Consume;
use crate::blocks::plan::{BlockPlan, SourceStart};
use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, ReadJob, Visit, worker};
use crate::error::Result;
use crate::observe::Observer;
use crate::planned::{Planned, Shares, decide_to_consume};
use crate::records::piece::Grid;
use crate::records::quotes::Quotes;
use crate::records::window::{Cutter, Loading, Window};
use crate::report::Report;
use crate::source::OpenSource;

/// One file while it is read.
pub(crate) struct FileRun<'m> {
    job: ReadJob<'static>,
    cutter: Cutter<'m>,
    first_piece: u64,
    lease_size: NonZeroU64,
    slots: usize,
    /// Whether a worker leads the crew already, which starts more workers during the read.
    is_led: AtomicBool,
    report: Report,
    plan: Arc<BlockPlan>,
    map: Option<Shares<'m>>,
}

impl<'m> FileRun<'m> {
    /// Decides how to read `extent` of a source, through `map` if the source has one.
    pub(crate) fn new(
        plan: &Arc<BlockPlan>,
        source: Arc<OpenSource>,
        extent: Extent,
        map: Option<(&'m Map<'m>, &'m [u8])>,
        start: SourceStart,
        observer: &Observer,
    ) -> Result<Self> {
        let options = &plan.options;
        if options.wishes.engine == Engine::Map && map.is_none() {
            return Err(source.unmapped(plan.words.map_hint));
        }
        let planned = Planned::of(&source, extent, options, |facts| {
            let (mut decision, by_lease) = decide_to_consume(facts, options);
            if map.is_some() || !(by_lease || decision.is_direct()) {
                // From the page cache block by block: a block stays in the second-level cache.
                decision.cut.size = decision.chunk_size;
            }
            let mut decision = in_order(decision, extent);
            if map.is_some() && decision.engine != Engine::Map {
                decision.engine = Engine::Map;
                decision.reason += "; promised not to change: mapped";
            }
            decision
        });
        let cutter = Cutter {
            cut: plan.cut,
            extent,
            grid: Grid {
                base: extent.offset(),
                size: plan.block_size,
                first: start.block,
                source: start.source,
            },
            record_limit: plan.record_limit,
            memory: plan.memory,
            map: map.map(|(_, bytes)| bytes),
            quotes: Quotes::default(),
        };
        let slots = planned.decision.first_workers().max(1);
        Ok(Self {
            job: planned.job(observer.clone(), None)?.keeping_order(),
            cutter,
            first_piece: start.piece,
            lease_size: planned.decision.cut.size,
            slots,
            is_led: AtomicBool::new(false),
            report: planned.report,
            plan: Arc::clone(plan),
            map: map.map(|(map, _)| Shares::new(map, slots)),
        })
    }

    /// Returns the number of workers to use.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the start of the next source.
    pub(crate) fn next_start(&self) -> SourceStart {
        let Cutter { extent, grid, .. } = &self.cutter;
        let pieces = extent.len().div_ceil(self.lease_size.get());
        SourceStart {
            piece: self.first_piece + pieces,
            block: grid.after(extent.end()),
            source: grid.source + 1,
        }
    }

    /// Processes remaining leases as worker `slot`.
    pub(crate) fn work(&self, slot: usize, consumer: &dyn Consume) {
        let visit = Cutting { run: self, consumer };
        let work = |slot: usize| worker::work(&self.job, &visit, slot % self.slots);
        // Relaxed: only decides which worker is first.
        match self.is_led.swap(true, Ordering::Relaxed) {
            false => worker::with_crew(&self.job.running, &work, slot),
            true => work(slot),
        }
        if let Some((offset, panic)) = self.job.running.panic() {
            let number = self.first_piece + self.number(offset);
            consumer.failures().panicked(number, panic);
            consumer.lost(number);
        }
        if let Some(shares) = &self.map {
            shares.give_back();
        }
    }

    /// Ends the read, when all workers have left.
    pub(crate) fn finish(self, consumer: &dyn Consume) -> Report {
        let extent = self.cutter.extent;
        let (source, options) = (Arc::clone(&self.job.source), &self.plan.options);
        if let Some(error) = self.job.running.failure() {
            let number = match error.extent() {
                Some(extent) => self.first_piece + self.number(extent.offset()),
                None => self.first_piece,
            };
            consumer.failures().not_read(number, error);
        } else if !consumer.failures().any() {
            // After a failure it does not matter whether the source has changed too.
            if let Err(error) = source.check_unchanged(extent, options.growth) {
                consumer.failures().not_read(self.next_start().piece, error);
            }
        }
        let mut report = self.report;
        self.job.tell(&mut report);
        report
    }

    /// Returns the number of the lease that holds `offset`.
    fn number(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.cutter.extent.offset()) / self.lease_size
    }
}

/// Splits leases into records.
struct Cutting<'c, 'm> {
    run: &'c FileRun<'m>,
    consumer: &'c dyn Consume,
}

impl Visit for Cutting<'_, '_> {
    type Scratch = Window;

    fn scratch(&self) -> Result<Window> {
        Ok(Window::new(self.run.plan.options.pool.clone()))
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        window: &mut Window,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let Self { run, consumer } = *self;
        let is_over = || run.job.running.has_failed() || consumer.failures().any();
        let loading = Loading {
            source: &run.job.source,
            lease: *lease,
            number: run.number(lease.extent.offset()),
            is_over: &is_over,
        };
        let number = run.first_piece + loading.number;
        let piece = run.cutter.load(&loading, hands, window);
        let piece = piece.inspect_err(|_| consumer.lost(number))?;
        consumer.consume(number, piece, &is_over);
        let (offset, len) = (lease.extent.offset(), lease.extent.len());
        match run.map {
            None => hands.recorder.lap(run.plan.words.activity, offset, len),
            Some(_) => hands.recorder.lap_fused(run.plan.words.activity, offset, len),
        }
        if consumer.failures().any() {
            run.job.running.stop();
        }
        Ok(())
    }
}
