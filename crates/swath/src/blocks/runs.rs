//! Reads one source after the other with the same workers: the first worker that finds a source
//! finished opens the next.

use std::sync::Arc;

use swath_os::machine;
use swath_os::map::Map;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Engine, MOST_IN_FLIGHT};

use crate::blocks::Records;
use crate::blocks::consume::Consume;
use crate::blocks::file::FileRun;
use crate::blocks::mapped;
use crate::blocks::plan::{BLOCK_SIZE, BlockPlan, SourceStart};
use crate::blocks::stream::StreamRun;
use crate::error::Result;
use crate::locks::Mutex;
use crate::observe::Observer;
use crate::planned::Clock;
use crate::report::Report;
use crate::source::{OpenSource, Source, SourceLength};
use crate::threads;

/// Reads all sources and passes their pieces to `consumer`.
///
/// The caller then ends the consumer, which may have failed or kept a panic of its closure.
///
/// # Errors
///
/// If nothing can be read at all; failures of single pieces are the consumer's.
pub(crate) fn run(mut records: Records<'_>, consumer: &dyn Consume) -> Result<Report> {
    let clock = Clock::start(&records.options);
    let mapped = mapped::open(&mut records)?;
    let map = mapped.map.as_ref().and_then(|map| Some((map, map.frozen_bytes()?)));
    let runs = Runs {
        plan: Arc::new(BlockPlan::of(&records)),
        consumer,
        map,
        several: records.sources.len() > 1,
        state: Mutex::new(RunsState {
            sources: records.sources.into_iter(),
            fallbacks: mapped.fallbacks,
            ..RunsState::default()
        }),
    };
    runs.run();
    let state = runs.state.into_inner();
    let report = state.report.unwrap_or_else(|| Report::serial("no source", BLOCK_SIZE));
    let fallbacks = [report.fallbacks, state.fallbacks].concat();
    let reason = match state.ended {
        0 | 1 => report.reason,
        ended => format!("{ended} sources, one of them: {}", report.reason),
    };
    let workers = report.workers.min(state.started.unwrap_or(usize::MAX));
    Ok(clock.stop(Report { fallbacks, reason, workers, ..report }))
}

/// One source while it is read.
enum Run<'m> {
    File(Box<FileRun<'m>>),
    Stream(Box<StreamRun>),
}

impl Run<'_> {
    fn slots(&self) -> usize {
        match self {
            Self::File(file) => file.slots(),
            Self::Stream(stream) => stream.slots(),
        }
    }

    fn next_start(&self) -> SourceStart {
        match self {
            Self::File(file) => file.next_start(),
            Self::Stream(stream) => stream.next_start(),
        }
    }

    fn work(&self, slot: usize, consumer: &dyn Consume) {
        match self {
            Self::File(file) => file.work(slot, consumer),
            Self::Stream(stream) => stream.work(consumer),
        }
    }

    fn finish(self, consumer: &dyn Consume) -> Report {
        match self {
            Self::File(file) => file.finish(consumer),
            Self::Stream(stream) => stream.finish(),
        }
    }
}

/// See the [module](self).
struct Runs<'r, 'm> {
    plan: Arc<BlockPlan>,
    consumer: &'r dyn Consume,
    map: Option<(&'m Map<'m>, &'m [u8])>,
    several: bool,
    state: Mutex<RunsState<'m>>,
}

#[derive(Default)]
struct RunsState<'m> {
    sources: std::vec::IntoIter<Source>,
    /// The source that is being read; workers may still be busy with earlier ones.
    current: Option<Arc<Run<'m>>>,
    next: SourceStart,
    /// Created for the first source; counts all sources together.
    observer: Option<Observer>,
    fallbacks: Vec<Fallback>,
    /// Number of workers, if fewer than planned.
    started: Option<usize>,
    /// The report of the sources that were read to their end, and their number.
    report: Option<Report>,
    ended: u64,
}

impl<'m> Runs<'_, 'm> {
    fn run(&self) {
        let Some(first) = self.current() else { return };
        let wishes = &self.plan.options.wishes;
        let wanted = match (wishes.engine, wishes.workers) {
            (Engine::Serial, _) => 1,
            // Later sources may be worth more workers.
            (_, 0) if self.several => first.slots().max(machine::usable_cpus()),
            (_, workers) if self.several => {
                usize::try_from(workers.min(MOST_IN_FLIGHT)).unwrap_or(1)
            }
            _ => first.slots(),
        };
        drop(first);
        if let Some((started, error)) = threads::run(wanted, &|slot| self.work(slot)) {
            let mut state = self.state.lock();
            state.fallbacks.push(Fallback::not_started(started, &error));
            state.started = Some(started);
        }
    }

    /// Works on one source after the other.
    fn work(&self, slot: usize) {
        while let Some(run) = self.current() {
            run.work(slot, self.consumer);
            let mut state = self.state.lock();
            if state.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &run)) {
                state.next = run.next_start();
                state.current = None;
            }
            drop(state);
            // The last worker to leave ends the run.
            if let Some(run) = Arc::into_inner(run) {
                let report = run.finish(self.consumer);
                self.state.lock().add(report);
            }
        }
    }

    /// Returns the source to work on; opens the next one if necessary.
    fn current(&self) -> Option<Arc<Run<'m>>> {
        let mut state = self.state.lock();
        if self.consumer.failures().any() {
            return None;
        }
        if state.current.is_none() {
            let source = state.sources.next()?;
            match self.open(source, &mut state) {
                Ok(run) => state.current = Some(Arc::new(run)),
                Err(error) => {
                    self.consumer.failures().not_read(state.next.piece, error);
                    self.consumer.lost(state.next.piece);
                    return None;
                }
            }
        }
        state.current.clone()
    }

    fn open(&self, source: Source, state: &mut RunsState<'_>) -> Result<Run<'m>> {
        let (plan, start) = (&self.plan, state.next);
        let source = OpenSource::open(source)?;
        plan.check_cut(&source)?;
        let options = &plan.options;
        let extent = match source.kind() {
            SourceLength::Sized(len) => Some(plan.extent_of(&source, len)?),
            SourceLength::Stream | SourceLength::Made => None,
        };
        let total = extent.map(|extent| extent.len()).or(options.len);
        let total = total.filter(|_| !self.several);
        let observer = || Observer::new(options.hooks.clone(), total);
        let observer = &*state.observer.get_or_insert_with(observer);
        Ok(match extent {
            Some(extent) => {
                let run = FileRun::new(plan, source, extent, self.map, start, observer)?;
                Run::File(Box::new(run))
            }
            None => Run::Stream(Box::new(StreamRun::new(plan, source, start, observer)?)),
        })
    }
}

impl RunsState<'_> {
    /// Adds the report of a source that was read to its end.
    fn add(&mut self, more: Report) {
        self.ended += 1;
        let Some(report) = &mut self.report else {
            self.report = Some(more);
            return;
        };
        report.bytes += more.bytes;
        report.workers = report.workers.max(more.workers);
        report.queue_depth = report.queue_depth.max(more.queue_depth);
        report.chunks += more.chunks;
        report.calls += more.calls;
        report.retries += more.retries;
        report.direct_bytes += more.direct_bytes;
        report.populated_bytes += more.populated_bytes;
        report.fallbacks.extend(more.fallbacks);
    }
}
