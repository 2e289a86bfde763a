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

/// The counters to read; more of them disturb short runs more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// All counters that entrants request.
    #[default]
    All,
    /// Seconds on the clock and of CPU time.
    Time,
}

const CONTEXT: &str = "cannot read the counters of this process";

/// Times the part of a run that counts, and reads the kernel's counters for it: processor seconds, page
/// faults, context switches, and the peak of resident memory beyond the start.
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

/// The counters at the start of a measurement.
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

    /// Runs and times `work`. Further calls add to the first.
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
        // A peak that cannot be reset is that of the whole process, and is left out.
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

    /// Replaces the usage by that of another process.
    pub(crate) fn used_by(&mut self, other: &Usage) {
        self.note("cpu_seconds", (other.user + other.system).as_secs_f64());
        counts(other).into_iter().for_each(|(name, count)| self.note(name, count));
    }

    /// Adds a number of the entrant's own.
    pub fn note(&mut self, name: &str, value: f64) {
        self.metrics.insert(name.to_owned(), value);
    }

    /// Measures as [`measure`](Self::measure) does, with the hardware counters of this thread and of threads
    /// that `work` starts. Counters that the machine lacks, or that ran only part of the time, are left out.
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
            // Stop only counters that were started.
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

    /// Measures as [`measure`](Self::measure) does, with a timer that records its lateness and the busy
    /// processors over time.
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
        // Without the wait for the timer, which is still asleep when the work ends.
        self.seconds = before + seconds;
        self.note("late_median_seconds", watched.late_median);
        self.note("late_most_seconds", watched.late_most);
        self.courses.insert("busy".to_owned(), watched.busy);
        Ok(result)
    }

    /// Replaces the seconds by those of a better clock, such as a child's.
    pub fn took(&mut self, seconds: f64) {
        self.seconds = seconds;
    }

    /// Scales the seconds and the CPU time, as if `factor` times as much had been done.
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

    /// Returns the fallbacks: work that was done differently than requested.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Returns the measured seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the counts by name.
    pub fn metrics(&self) -> &BTreeMap<String, f64> {
        &self.metrics
    }

    /// Turns the counts into a run without a place.
    pub(super) fn into_run(self) -> Run {
        let Self { seconds, metrics, courses, .. } = self;
        Run { seconds, metrics, courses, ..Run::default() }
    }
}

/// Returns whether hardware counters can be read, or the reason why not; tried once.
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
        // The measured time must exclude the sleep of the timer.
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
