//! The hook for progress, cancellation and the timeline.
//!
//! Every executor calls [`Observer::delivered`] once for each lease, stops when it is cancelled, and
//! calls its [`Observer::recorder`] at the end of each activity. No executor has a loop of its own
//! for this.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Result};
use crate::locks::AtomicU64;
use crate::timeline::{Activity, Flights, Recorder, Timeline};

/// The progress of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes delivered until now. Workers report as they finish, so calls may come out of order.
    pub bytes: u64,
    /// Bytes in total; `None` for a stream.
    pub total: Option<u64>,
}

impl Progress {
    /// Returns the progress of several reads, for a caller that combines them.
    pub fn new(bytes: u64, total: Option<u64>) -> Self {
        Self { bytes, total }
    }
}

/// A callback for progress. Workers call it about once for each MiB: it must be quick.
pub(crate) type ProgressFn = Arc<dyn Fn(Progress) + Send + Sync>;

/// Cancels a read from another thread.
///
/// The read returns an error with [`Reason::Cancelled`](crate::Reason) once the requests in
/// flight have ended.
///
/// ```
/// let token = swath::CancelToken::new();
/// token.cancel();
/// let error = swath::ReadOptions::new()
///     .with_cancel(token)
///     .read("/etc/passwd")
///     .expect_err("cancelled before it began");
/// assert_eq!(error.reason(), swath::Reason::Cancelled);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    /// The flags of the tokens of which this one is a child.
    above: Arc<[Arc<AtomicBool>]>,
}

impl CancelToken {
    /// Returns a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a token that is cancelled when this one is, and can be cancelled alone: to end
    /// one read early and leave the other reads of this token running.
    ///
    /// ```
    /// let all = swath::CancelToken::new();
    /// let one = all.child();
    /// one.cancel();
    /// assert!(one.is_cancelled() && !all.is_cancelled());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        let above = std::iter::once(&self.cancelled).chain(&*self.above).cloned();
        Self { cancelled: Arc::default(), above: above.collect() }
    }

    /// Returns a token that is cancelled when either of these is.
    pub(crate) fn either(one: &Self, other: &Self) -> Self {
        let flags = |token: &Self| -> Vec<Arc<AtomicBool>> {
            std::iter::once(&token.cancelled).chain(&*token.above).cloned().collect()
        };
        let above = flags(one).into_iter().chain(flags(other)).collect();
        Self { cancelled: Arc::default(), above }
    }

    /// Cancels every read that has this token, a clone of it or a child.
    pub fn cancel(&self) {
        // Relaxed: a flag that publishes nothing else.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        is_set(&self.cancelled) || self.above.iter().any(is_set)
    }
}

/// The hooks of a read.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) progress: Option<ProgressFn>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) timeline: Option<Timeline>,
}

impl Hooks {
    /// Joins the hooks of a verb that reads and writes: both progress callbacks are called, either
    /// token cancels, and spans go to the timeline of the output, or to that of the reading if the
    /// output has none.
    pub(crate) fn joined(reading: &Self, output: &Self) -> Self {
        let progress = match (reading.progress.clone(), output.progress.clone()) {
            (Some(one), Some(other)) => Some(Arc::new(move |progress| {
                one(progress);
                other(progress);
            }) as ProgressFn),
            (one, other) => one.or(other),
        };
        let cancel = match (&reading.cancel, &output.cancel) {
            (Some(one), Some(other)) => Some(CancelToken::either(one, other)),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        let timeline = output.timeline.clone().or_else(|| reading.timeline.clone());
        Self { progress, cancel, timeline }
    }

    /// Records what this thread does with `path`, if a timeline is attached.
    pub(crate) fn recorder(&self, path: &Path) -> Recorder {
        self.timeline.as_ref().map_or_else(Recorder::off, |timeline| timeline.recorder(path))
    }

    /// Runs a step and records it as one span of `bytes` bytes at `offset`.
    pub(crate) fn record<T, E>(
        &self,
        activity: Activity,
        path: &Path,
        extent: Extent,
        work: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut recorder = self.recorder(path);
        let ended = work();
        recorder.lap_if(&ended, activity, extent.offset(), extent.len());
        ended
    }

    /// Commits `len` bytes, as one span, unless the call has been cancelled, perhaps by the progress
    /// callback for the last bytes.
    pub(crate) fn commit<T>(
        &self,
        path: &Path,
        len: u64,
        commit: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let extent = Extent::between(0, len);
        self.check(Operation::Commit, path, extent)?;
        self.record(Activity::Commit, path, extent, commit)
    }

    /// Fails if the call was cancelled.
    pub(crate) fn check(
        &self,
        operation: Operation,
        path: &Path,
        extent: Extent,
    ) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::cancelled(operation, path).at(extent)),
            false => Ok(()),
        }
    }

    /// Whether it was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("progress", &self.progress.is_some())
            .field("cancel", &self.cancel)
            .field("timeline", &self.timeline)
            .finish()
    }
}

/// The hook of one running read or write. Clones share its count.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    hooks: Hooks,
    total: Option<u64>,
    delivered: Arc<AtomicU64>,
}

impl Observer {
    pub(crate) fn new(hooks: Hooks, total: Option<u64>) -> Self {
        Self { hooks, total, delivered: Arc::default() }
    }

    /// Counts `bytes` more that have been delivered.
    pub(crate) fn delivered(&self, bytes: u64) {
        if let Some(progress) = &self.hooks.progress {
            // Relaxed: a counter for display only.
            let bytes = self.delivered.fetch_add(bytes, Ordering::Relaxed) + bytes;
            progress(Progress { bytes, total: self.total });
        }
    }

    /// Records what this thread does with `path`, if a timeline is attached.
    pub(crate) fn recorder(&self, path: &Path) -> Recorder {
        self.hooks.recorder(path)
    }

    /// Returns lanes for reads in flight, for a timeline.
    pub(crate) fn flights(&self) -> Flights {
        Flights::new(self.hooks.timeline.as_ref())
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Fails if the read of `extent` was cancelled.
    pub(crate) fn check(&self, path: &Path, extent: Extent) -> Result<()> {
        self.hooks.check(Operation::Read, path, extent)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.hooks.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_cancelled_with_all_above_it_and_never_cancels_them() {
        let top = CancelToken::new();
        let (middle, other) = (top.child(), top.child());
        let low = middle.child();
        middle.cancel();
        assert!(low.is_cancelled() && low.child().is_cancelled());
        assert!(!top.is_cancelled() && !other.is_cancelled());
        top.clone().cancel();
        assert!(other.is_cancelled());
    }

    #[test]
    fn either_of_two_tokens_cancels_what_both_hang_on() {
        for index in 0..2 {
            let tokens = [CancelToken::new(), CancelToken::new()];
            let either = CancelToken::either(&tokens[0].child(), &tokens[1]);
            assert!(!either.is_cancelled());
            tokens[index].cancel();
            assert!(either.is_cancelled() && !tokens[1 - index].is_cancelled());
        }
    }
}
