//! The clock and the counters of a run.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result};
use swath::Fallback;
use swath_os::usage::{self, Usage};

use crate::counters::Counters;
use crate::results::Run;
use crate::watch::beside;

/// How much is counted; counting more disturbs short runs more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Everything that entrants request.
    #[default]
    All,
    /// Seconds on the clock and of CPU time.
    Time,
}

const CONTEXT: &str = "cannot read the counters of this process";

/// Times the part of a run that counts, and reads the kernel's counters for it: processor seconds, page
/// faults, context switches, and the most memory that was resident beyond the beginning.
///
/// ```
/// use swath_study::measure::Meter;
///
/// let mut meter = Meter::default();
/// let sum = meter.measure(|| (0..1000_u64).sum::<u64>())?;
/// meter.note("steps", 1000.0);
/// assert!(meter.seconds() > 0.0 && sum == 499_500);
/// assert!(meter.metrics().contains_key("minor_faults"));
/// # anyhow::Ok(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Meter {
    counting: Counting,
    seconds: f64,
    metrics: BTreeMap<String, f64>,
    courses: BTreeMap<String, Vec<f64>>,
    fallbacks: Vec<Fallback>,
}

/// The counters when it began.
struct Started {
    /// Whether the peak was reset here.
    resets: bool,
    before: Usage,
    at: Instant,
}

impl Meter {
    pub(super) fn new(counting: Counting) -> Self {
        Self { counting, ..Self::default() }
    }

    /// Runs and times `work`. Another call adds to the first.
    ///
    /// # Errors
    ///
    /// If the kernel's counters cannot be read.
    pub fn measure<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        let started = self.start()?;
        let result = work();
        self.stop(started)?;
        Ok(result)
    }

    fn start(&self) -> Result<Started> {
        // Where it cannot be reset, the peak is that of the process, and left out.
        let resets = self.counting == Counting::All && usage::reset_peak_rss().is_ok();
        let before = usage::usage().context(CONTEXT)?;
        Ok(Started { resets, before, at: Instant::now() })
    }

    fn stop(&mut self, Started { resets, before, at }: Started) -> Result<()> {
        let seconds = at.elapsed().as_secs_f64();
        let after = usage::usage().context(CONTEXT)?;
        self.seconds += seconds;
        let used = after.since(&before);
        let cpu = self.metrics.entry("cpu_seconds".to_owned()).or_default();
        *cpu += (used.user + used.system).as_secs_f64();
        if self.counting == Counting::All {
            for (name, count) in counts(&used) {
                *self.metrics.entry(name.to_owned()).or_default() += count;
            }
        }
        if resets {
            let peak = after.peak_rss.saturating_sub(before.peak_rss);
            let most = self.metrics.entry("peak_bytes".to_owned()).or_default();
            *most = most.max(as_float(peak));
        }
        Ok(())
    }

    /// Keeps the usage of another process, in place of this one's.
    pub(crate) fn used_by(&mut self, other: &Usage) {
        self.note("cpu_seconds", (other.user + other.system).as_secs_f64());
        counts(other).into_iter().for_each(|(name, count)| self.note(name, count));
    }

    /// Adds a number that only this entrant knows.
    pub fn note(&mut self, name: &str, value: f64) {
        self.metrics.insert(name.to_owned(), value);
    }

    /// As [`measure`](Self::measure), with the processor's own counters of this thread and those
    /// that `work` starts. Where the machine has none, or they cannot be read whole, nothing is
    /// noted.
    ///
    /// # Errors
    ///
    /// As [`measure`](Self::measure).
    pub fn count<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        let mut counters = match (self.counting, hardware()) {
            (Counting::All, Ok(())) => Counters::open().ok(),
            _ => None,
        };
        let result = self.measure(|| {
            let started = counters.as_mut().map(Counters::start);
            let result = work();
            // Counters that did not begin have no end.
            let is_on = started.is_some_and(|started| started.is_ok());
            let counts = counters.as_mut().filter(|_| is_on).map(Counters::stop);
            (result, counts)
        });
        let (result, counts) = result?;
        for (name, count) in counts.and_then(Result::ok).unwrap_or_default() {
            self.note(name, as_float(count));
        }
        Ok(result)
    }

    /// As [`measure`](Self::measure), with a timer beside it that records how late it fires, and how busy
    /// the processors are over time.
    ///
    /// # Errors
    ///
    /// As [`measure`](Self::measure).
    pub fn watch<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        if self.counting == Counting::Time {
            return self.measure(work);
        }
        let before = self.seconds;
        let timed = || {
            let start = Instant::now();
            let result = work();
            (result, start.elapsed().as_secs_f64())
        };
        let ((result, seconds), watched) = self.measure(|| beside(timed))?;
        // The timer is still asleep when the work is done, and must be waited for.
        self.seconds = before + seconds;
        self.note("late_median_seconds", watched.late_median);
        self.note("late_most_seconds", watched.late_most);
        self.courses.insert("busy".to_owned(), watched.busy);
        Ok(result)
    }

    /// Replaces the seconds with those of a better clock: of a child, or of a first part.
    pub fn took(&mut self, seconds: f64) {
        self.seconds = seconds;
    }

    /// Counts as if `factor` times as much had been done, and CPU time with it.
    pub fn scale(&mut self, factor: f64) {
        self.seconds *= factor;
        if let Some(seconds) = self.metrics.get_mut("cpu_seconds") {
            *seconds *= factor;
        }
    }

    /// Adds fallbacks: work that was done differently than requested.
    pub fn fell_back(&mut self, fallbacks: Vec<Fallback>) {
        self.fallbacks.extend(fallbacks);
    }

    /// Work that was done differently than requested.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Seconds on the clock so far.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The counts, by name.
    pub fn metrics(&self) -> &BTreeMap<String, f64> {
        &self.metrics
    }

    /// The counts, as a run without a place.
    pub(super) fn into_run(self) -> Run {
        let Self { seconds, metrics, courses, .. } = self;
        Run { seconds, metrics, courses, ..Run::default() }
    }
}

/// Whether this machine has counters of its own to read, or why it has none; found out once.
///
/// # Errors
///
/// The kernel's reason.
pub fn hardware() -> Result<(), &'static str> {
    static REASON: OnceLock<Option<String>> = OnceLock::new();
    let reason = REASON.get_or_init(|| Counters::open().err().map(|error| error.to_string()));
    reason.as_deref().map_or(Ok(()), Err)
}

fn counts(used: &Usage) -> [(&'static str, f64); 4] {
    [
        ("minor_faults", as_float(used.minor_faults)),
        ("major_faults", as_float(used.major_faults)),
        ("voluntary_switches", as_float(used.voluntary_switches)),
        ("involuntary_switches", as_float(used.involuntary_switches)),
    ]
}

fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_watched_does_not_pay_for_the_timer() {
        // The timer sleeps, so the whole takes longer than nothing, however busy the machine is.
        let is_less = (0..20).any(|_| {
            let mut meter = Meter::default();
            let start = Instant::now();
            let seven = meter.watch(|| std::hint::black_box(7)).expect("counters");
            let whole = start.elapsed().as_secs_f64();
            assert_eq!(seven, 7);
            assert!(meter.metrics().contains_key("late_most_seconds"));
            meter.seconds() < whole / 2.0
        });
        assert!(is_less, "the time of nothing has the timer's in it");
    }
}
