//! How late a timer fires while something else runs: study B's responsiveness.
//!
//! ```
//! use swath_study::late::beside;
//!
//! let (sum, late) = beside(|| (0..2_000_000_u64).sum::<u64>());
//! assert_eq!(sum, 1_999_999_000_000);
//! assert!(late.median <= late.most);
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the timer is set to.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// How late it was, in seconds beyond [`INTERVAL`]; 0 where it never fired.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Late {
    /// Half of the times less.
    pub median: f64,
    /// Once this much.
    pub most: f64,
}

/// Does `work` while another thread sleeps for a millisecond again and again.
///
/// # Panics
///
/// If `work` does.
pub fn beside<T>(work: impl FnOnce() -> T) -> (T, Late) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A machine that has no thread left tells nothing of its timers.
        let timer = std::thread::Builder::new().spawn_scoped(scope, || watch(&done)).ok();
        let ended = StopOnDrop(&done);
        let result = work();
        drop(ended);
        let times = timer.map(|timer| timer.join().expect("sleeping does not panic"));
        (result, summary(times.unwrap_or_default()))
    })
}

struct StopOnDrop<'d>(&'d AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        // Relaxed: nothing but the end is told.
        self.0.store(true, Ordering::Relaxed);
    }
}

fn watch(done: &AtomicBool) -> Vec<f64> {
    let mut late = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let start = Instant::now();
        std::thread::sleep(INTERVAL);
        late.push(start.elapsed().saturating_sub(INTERVAL).as_secs_f64());
    }
    late
}

fn summary(mut late: Vec<f64>) -> Late {
    late.sort_unstable_by(f64::total_cmp);
    let median = late.get(late.len() / 2).copied().unwrap_or_default();
    Late { median, most: late.last().copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_worst_are_told() {
        assert_eq!(summary(vec![3.0, 1.0, 2.0]), Late { median: 2.0, most: 3.0 });
        assert_eq!(summary(Vec::new()), Late::default());
    }

    #[test]
    fn the_timer_ends_with_the_work_also_when_it_panics() {
        let (seven, _) = beside(|| 7);
        assert_eq!(seven, 7);
        let caught = std::panic::catch_unwind(|| beside(|| panic!("on purpose")));
        assert!(caught.is_err());
    }
}
