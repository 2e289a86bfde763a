//! Runs a plan: carries out the scheduler's actions.
//!
//! ```text
//! Scheduler → ReadJob::next → worker: fill → Visit → ReadJob::completed → Scheduler
//! ```
//!
//! A [`ReadJob`] is one running read. Workers (our own threads, never those of the caller's pools)
//! and the ring ask it for leases; a [`Visit`] says where the bytes of a lease go. Nothing is
//! decided here: neither what comes next nor whether to retry.

pub(crate) mod crew;
pub(crate) mod fill;
pub(crate) mod patience;
pub(crate) mod presence;
pub(crate) mod ring;
pub(crate) mod running;
pub(crate) mod stream;
pub(crate) mod worker;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use swath_os::map::Map;
use swath_os::priority::IoPriority;
use swath_plan::extent::Extent;
use swath_plan::schedule::{Action, Lease, Outcome, Pause, Scheduler};
use swath_plan::window::{Residency, WINDOW_SIZE};

use crate::engine::crew::Watch;
use crate::engine::running::{Running, Schedule};
use crate::error::{Error, Result};
use crate::observe::Observer;
use crate::report::Report;
use crate::source::{Growth, OpenSource};

/// How often a lease may fail for a transient reason.
pub(crate) const RETRIES: u32 = 3;
/// Roughly how long to wait before the first retry.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Returns the pauses before retries, different in each read.
pub(crate) fn pause() -> Pause {
    let first = u64::try_from(FIRST_PAUSE.as_nanos()).unwrap_or(u64::MAX);
    Pause { first, seed: RandomState::new().build_hasher().finish() }
}

/// Decides where the bytes of a lease go. Each verb has its own implementation.
pub(crate) trait Visit: Sync {
    /// The state that one worker keeps from lease to lease.
    type Scratch;

    /// Returns the scratch state; called once by each worker.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    fn scratch(&self) -> Result<Self::Scratch>;

    /// Reads `lease` with `hands` and consumes or stores its bytes.
    ///
    /// # Errors
    ///
    /// The failure, as the scheduler needs it.
    fn visit(
        &self,
        hands: &mut fill::Hands<'_>,
        scratch: &mut Self::Scratch,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble>;
}

/// A failed lease: its error, and its outcome for the scheduler.
#[derive(Debug)]
pub(crate) struct LeaseTrouble {
    pub(crate) error: Error,
    pub(crate) outcome: Outcome,
}

impl LeaseTrouble {
    pub(crate) fn fatal(error: Error) -> Self {
        Self { error, outcome: Outcome::Fatal }
    }
}

/// Windows to drop from the page cache after they were read: those that were not in it before.
#[derive(Debug)]
pub(crate) struct DropBehind {
    pub(crate) first_window: u64,
    pub(crate) residency: Vec<Residency>,
}

impl DropBehind {
    fn wants(&self, offset: u64) -> bool {
        let index = (offset / WINDOW_SIZE).saturating_sub(self.first_window);
        let known = usize::try_from(index).ok().and_then(|index| self.residency.get(index));
        !matches!(known, Some(Residency::Resident))
    }

    /// Drops `extent` of `source`, which has been read, if it was not in the page cache before.
    pub(crate) fn drop(&self, source: &OpenSource, extent: Extent) {
        use swath_os::advise::{FileAdvice, advise_file};
        if !self.wants(extent.offset()) {
            return;
        }
        for file in source.files() {
            // A failure only occupies page cache for longer.
            let _ = advise_file(file, extent.offset(), extent.len(), FileAdvice::DontNeed);
        }
    }
}

/// Settings of a job besides those of the scheduler.
#[derive(Default)]
pub(crate) struct Manner {
    /// Bytes of one call.
    pub(crate) chunk_size: Option<NonZeroU64>,
    pub(crate) drop_behind: Option<DropBehind>,
    pub(crate) io_priority: Option<IoPriority>,
    /// How the source may change while it is read.
    pub(crate) growth: Growth,
    /// Determines the number of workers during the read, if it is not known.
    pub(crate) watch: Option<Watch>,
}

/// One running read of one source.
pub(crate) struct ReadJob<'m> {
    pub(crate) running: Running<Scheduler>,
    pub(crate) source: Arc<OpenSource>,
    pub(crate) manner: Manner,
    /// A promised or guarded map of the extent; bytes are copied from it instead of being read.
    map: Option<&'m Map<'m>>,
    extent: Extent,
}

impl Schedule for Scheduler {
    type Lease = Lease;

    fn next(&mut self, slot: usize, now: u64) -> Action {
        self.next(slot, now)
    }

    fn stop(&mut self) {
        self.stop();
    }

    fn cut_by(&mut self, size: NonZeroU64) {
        self.cut_by(size);
    }
}

impl<'m> ReadJob<'m> {
    pub(crate) fn new(
        source: Arc<OpenSource>,
        extent: Extent,
        scheduler: Scheduler,
        mut manner: Manner,
        observer: Observer,
    ) -> Self {
        // The last slot belongs to the ring.
        source.expect(extent, scheduler.slots().saturating_sub(1).max(1) as u64);
        let (watch, io_priority) = (manner.watch.take(), manner.io_priority);
        let first = Some(Arc::clone(&source));
        let running = Running::new(scheduler, first, extent, observer, watch, io_priority);
        Self { running, source, manner, map: None, extent }
    }

    /// Returns the job, copying from a map of its extent.
    pub(crate) fn copying_from(self, map: Option<&'m Map<'m>>) -> Self {
        Self { map, ..self }
    }

    /// Returns the job for a consumer that takes leases in order: workers with a later one wait.
    pub(crate) fn keeping_order(self) -> Self {
        self.running.state().schedule.keep_order();
        self
    }

    /// Tells the scheduler how `lease` ended.
    pub(crate) fn completed(&self, lease: Lease, ended: std::result::Result<(), LeaseTrouble>) {
        let trouble = ended.err();
        let bytes = if trouble.is_none() { lease.extent.len() } else { 0 };
        if let (None, Some(drop_behind)) = (&trouble, &self.manner.drop_behind) {
            drop_behind.drop(&self.source, lease.extent);
        }
        self.running.ended(bytes, trouble, |scheduler, outcome, now| {
            scheduler.completed(lease, outcome, now)
        });
    }

    /// Records that all bytes before `offset` have been consumed.
    pub(crate) fn release(&self, offset: u64) {
        let mut state = self.running.state();
        state.schedule.released(offset);
        self.running.wake_all(&state);
    }

    /// Ends the job: returns its failure, a change of its source, or `report` completed with the
    /// counts.
    pub(crate) fn finish(&self, mut report: Report) -> Result<Report> {
        if let Some(error) = self.running.failure() {
            return Err(error);
        }
        self.source.check_unchanged(self.extent, self.manner.growth)?;
        self.tell(&mut report);
        Ok(report)
    }

    /// Adds the current counts, including the source's, to a report.
    pub(crate) fn tell(&self, report: &mut Report) {
        self.running.tell(report);
        self.source.tell(report);
    }
}
