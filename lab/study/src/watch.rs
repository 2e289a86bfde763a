//! A timer that runs during the work, and measures its lateness and the busy processors.
//!
//! The lateness is study B's responsiveness; the busy processors over time are the load in the charts of
//! studies B and C.
//!
//! ```
//! use swath_study::watch::beside;
//!
//! let (sum, watched) = beside(|| (0..2_000_000_u64).sum::<u64>());
//! assert_eq!(sum, 1_999_999_000_000);
//! assert!(watched.late_median <= watched.late_most);
//! assert!(watched.busy.iter().all(|&processors| processors >= 0.0));
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The interval of the timer.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// The number of equal parts of the time for which the load is computed.
pub const PARTS: usize = 20;

/// The observations of the timer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// The median lateness of the timer, in seconds beyond [`INTERVAL`]. 0 if it never fired.
    pub late_median: f64,
    /// The greatest lateness.
    pub late_most: f64,
    /// Processors that this process kept busy, including the timer's own thread, in each of [`PARTS`] equal
    /// parts of the time; empty if the clock could not be read.
    pub busy: Vec<f64>,
}

/// Runs `work` while another thread sleeps for a millisecond again and again.
///
/// # Panics
///
/// If `work` panics.
pub fn beside<T>(work: impl FnOnce() -> T) -> (T, Watched) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let start = Sample::now(Instant::now());
        // If the timer's thread cannot be started, nothing is reported.
        let (done, at) = (&done, start.at);
        let timer =
            std::thread::Builder::new().spawn_scoped(scope, move || watch(at, done)).ok();
        let ended = StopOnDrop(done);
        let result = work();
        let end = Sample::now(at);
        drop(ended);
        let ticks = timer.map(|timer| timer.join().expect("sleeping does not panic"));
        (result, summary(start, &ticks.unwrap_or_default(), end))
    })
}

struct StopOnDrop<'d>(&'d AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        // Relaxed: the flag only signals the end.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The values of both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    /// Seconds since the beginning.
    seconds: f64,
    /// CPU seconds of this process.
    worked: f64,
}

impl Sample {
    fn now(start: Instant) -> Self {
        let worked = clock_gettime(ClockId::ProcessCPUTime);
        let at = Instant::now();
        let worked = worked.tv_sec as f64 + worked.tv_nsec as f64 / 1e9;
        Self { at, seconds: (at - start).as_secs_f64(), worked }
    }
}

/// One firing of the timer.
struct Tick {
    late: f64,
    sample: Sample,
}

fn watch(start: Instant, done: &AtomicBool) -> Vec<Tick> {
    let mut ticks = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let before = Instant::now();
        std::thread::sleep(INTERVAL);
        let late = before.elapsed().saturating_sub(INTERVAL).as_secs_f64();
        ticks.push(Tick { late, sample: Sample::now(start) });
    }
    ticks
}

fn summary(start: Sample, ticks: &[Tick], end: Sample) -> Watched {
    let mut late: Vec<f64> = ticks.iter().map(|tick| tick.late).collect();
    late.sort_unstable_by(f64::total_cmp);
    let inside = ticks.iter().map(|tick| tick.sample);
    let inside =
        inside.filter(|tick| tick.seconds > start.seconds && tick.seconds < end.seconds);
    let samples: Vec<(f64, f64)> = std::iter::once(start)
        .chain(inside)
        .chain([end])
        .map(|sample| (sample.seconds - start.seconds, sample.worked - start.worked))
        .collect();
    Watched {
        late_median: late.get(late.len() / 2).copied().unwrap_or_default(),
        late_most: late.last().copied().unwrap_or_default(),
        busy: busy(&samples),
    }
}

/// Converts samples of time and work, which both grow from 0, to the work per second in each part. Work is
/// interpolated linearly between samples.
fn busy(samples: &[(f64, f64)]) -> Vec<f64> {
    let Some(&(total, _)) = samples.last() else { return Vec::new() };
    if total <= 0.0 {
        return Vec::new();
    }
    let part = total / PARTS as f64;
    let done_at = |seconds: f64| {
        let after = samples.partition_point(|&(at, _)| at < seconds).min(samples.len() - 1);
        let (to, done) = samples[after];
        let (from, before) = samples[after.saturating_sub(1)];
        if to > from { before + (done - before) * (seconds - from) / (to - from) } else { done }
    };
    let bounds: Vec<f64> = (0..=PARTS).map(|index| done_at(index as f64 * part)).collect();
    bounds.windows(2).map(|pair| ((pair[1] - pair[0]) / part).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_worst_are_told() {
        let start = Sample { at: Instant::now(), seconds: 0.0, worked: 5.0 };
        let end = Sample { seconds: 2.0, worked: 8.0, ..start };
        let tick =
            |late, seconds, worked| Tick { late, sample: Sample { seconds, worked, ..start } };
        // The last tick comes after the end.
        let ticks = [tick(3.0, 0.5, 5.0), tick(1.0, 1.0, 6.0), tick(2.0, 2.5, 9.0)];
        let seen = summary(start, &ticks, end);
        assert_eq!((seen.late_median, seen.late_most), (2.0, 3.0));
        assert_eq!(seen.busy.len(), PARTS);
        for (part, processors) in seen.busy.iter().enumerate() {
            let expected = if part < 5 { 0.0 } else { 2.0 };
            assert!((processors - expected).abs() < 1e-9, "{part}: {processors}");
        }
        let nothing = summary(start, &[], start);
        assert_eq!(nothing, Watched::default());
    }

    #[test]
    fn what_was_done_is_shared_out_among_the_parts_and_none_of_it_is_lost() {
        let samples = [(0.0, 0.0), (0.3, 0.1), (0.31, 0.4), (1.0, 1.3), (4.0, 1.3)];
        let parts = busy(&samples);
        let all: f64 = parts.iter().map(|processors| processors * 4.0 / PARTS as f64).sum();
        assert!((all - 1.3).abs() < 1e-9, "{all}");
        assert!(parts[10..].iter().all(|&processors| processors == 0.0));
    }

    #[test]
    fn the_timer_ends_with_the_work_also_when_it_panics() {
        let (seven, _) = beside(|| 7);
        assert_eq!(seven, 7);
        let caught = std::panic::catch_unwind(|| beside(|| panic!("on purpose")));
        assert!(caught.is_err());
    }
}
