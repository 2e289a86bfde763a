//! What is counted while an entrant works.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use swath_os::usage::{self, Usage};

/// What a run read or wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes.
    pub bytes: u64,
    /// Their sum, or whatever tells that they are right.
    pub checksum: u64,
}

/// Times the part of a run that counts, and counts what the kernel counts meanwhile: processor
/// seconds, page faults, context switches, and the most memory that was resident beyond the
/// beginning.
///
/// ```
/// use swath_study::experiment::Meter;
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
    seconds: f64,
    metrics: BTreeMap<String, f64>,
}

impl Meter {
    /// Does what counts. Called again, it adds.
    ///
    /// # Errors
    ///
    /// If the kernel does not tell its counters.
    pub fn measure<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        const CONTEXT: &str = "cannot read the counters of this process";
        // Where it cannot be reset, the peak is that of the process, and left out.
        let resets = usage::reset_peak_rss().is_ok();
        let before = usage::usage().context(CONTEXT)?;
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        let after = usage::usage().context(CONTEXT)?;
        self.seconds += seconds;
        self.count(after.since(&before));
        if resets {
            let peak = after.peak_rss.saturating_sub(before.peak_rss);
            let most = self.metrics.entry("peak_bytes".to_owned()).or_default();
            *most = most.max(as_float(peak));
        }
        Ok(result)
    }

    fn count(&mut self, used: Usage) {
        for (name, count) in [
            ("minor_faults", as_float(used.minor_faults)),
            ("major_faults", as_float(used.major_faults)),
            ("voluntary_switches", as_float(used.voluntary_switches)),
            ("involuntary_switches", as_float(used.involuntary_switches)),
            ("cpu_seconds", (used.user + used.system).as_secs_f64()),
        ] {
            *self.metrics.entry(name.to_owned()).or_default() += count;
        }
    }

    /// Adds a number that only this entrant knows.
    pub fn note(&mut self, name: &str, value: f64) {
        self.metrics.insert(name.to_owned(), value);
    }

    /// Replaces the seconds, by a clock that knows better: that of a child, or of a first part.
    pub fn took(&mut self, seconds: f64) {
        self.seconds = seconds;
    }

    /// Seconds on the clock so far.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// What was counted, by name.
    #[must_use]
    pub fn metrics(&self) -> &BTreeMap<String, f64> {
        &self.metrics
    }

    pub(super) fn into_parts(self) -> (f64, BTreeMap<String, f64>) {
        (self.seconds, self.metrics)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counters of one run are far below 2^53")]
fn as_float(count: u64) -> f64 {
    count as f64
}
