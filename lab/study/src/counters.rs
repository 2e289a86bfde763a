//! Hardware counters: the cost of work in instructions, cycles and misses.
//!
//! Virtual machines and containers often hide them, and `perf_event_paranoid` may forbid them: then
//! [`Counters::open`] returns the reason, and nothing is estimated. They count the calling thread and
//! all threads that it starts afterwards, not threads that exist already.

use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware};
use perf_event::{Builder, Counter};

/// Counters that run while they are [started](Self::start).
///
/// ```
/// use swath_study::counters::Counters;
///
/// match Counters::open() {
///     Ok(mut counters) => {
///         counters.start()?;
///         let sum: u64 = std::hint::black_box(0..1000).sum();
///         for (name, count) in counters.stop()? {
///             println!("{name}: {count} for a sum of {sum}");
///         }
///     }
///     Err(error) => println!("not available here: {error}"),
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Counters {
    counters: Vec<(&'static str, Counter)>,
    with_kernel: bool,
}

impl Counters {
    /// Opens the counters that this machine has.
    ///
    /// They include the kernel's work where that is [allowed](Self::with_kernel).
    ///
    /// # Errors
    ///
    /// If the kernel refuses all: its reason for the first one.
    pub fn open() -> io::Result<Self> {
        Self::opened(true).or_else(|_| Self::opened(false))
    }

    fn opened(with_kernel: bool) -> io::Result<Self> {
        let misses =
            |which| Cache { which, operation: CacheOp::READ, result: CacheResult::MISS };
        let all = [
            ("instructions", counter(Hardware::INSTRUCTIONS, with_kernel)),
            ("cycles", counter(Hardware::CPU_CYCLES, with_kernel)),
            ("cache_misses", counter(Hardware::CACHE_MISSES, with_kernel)),
            ("l1_load_misses", counter(misses(CacheId::L1D), with_kernel)),
            ("branch_misses", counter(Hardware::BRANCH_MISSES, with_kernel)),
            ("tlb_misses", counter(misses(CacheId::DTLB), with_kernel)),
        ];
        let mut failure = None;
        let mut counters = Vec::new();
        for (name, counter) in all {
            match counter {
                Ok(counter) => counters.push((name, counter)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) if counters.is_empty() => Err(error),
            _ => Ok(Self { counters, with_kernel }),
        }
    }

    /// Returns whether the kernel's work for the program is counted.
    pub fn with_kernel(&self) -> bool {
        self.with_kernel
    }

    /// Starts counting from 0.
    ///
    /// # Errors
    ///
    /// The errors of ioctl(2).
    pub fn start(&mut self) -> io::Result<()> {
        for (_, counter) in &mut self.counters {
            counter.reset()?;
            counter.enable()?;
        }
        Ok(())
    }

    /// Stops counting and returns the counts by name.
    ///
    /// A counter that shared its hardware register with others ran only part of the time. It is left out,
    /// since its count would be an estimate.
    ///
    /// # Errors
    ///
    /// The errors of ioctl(2) and read(2).
    pub fn stop(&mut self) -> io::Result<Vec<(&'static str, u64)>> {
        for (_, counter) in &mut self.counters {
            counter.disable()?;
        }
        let mut counts = Vec::new();
        for (name, counter) in &mut self.counters {
            let read = counter.read_count_and_time()?;
            if read.time_running == read.time_enabled {
                counts.push((*name, read.count));
            }
        }
        Ok(counts)
    }
}

/// Opens one counter, which threads started later inherit: that rules out a group of counters.
fn counter(event: impl Event, with_kernel: bool) -> io::Result<Counter> {
    let mut builder = Builder::new(event);
    builder.inherit(true).exclude_kernel(!with_kernel).exclude_hv(true);
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(counters: &mut Counters, work: impl FnOnce()) -> u64 {
        counters.start().expect("open");
        work();
        let counts = counters.stop().expect("started");
        counts.iter().find(|(name, _)| *name == "instructions").map_or(0, |count| count.1)
    }

    #[test]
    fn more_work_is_more_instructions_also_on_other_threads() {
        let mut counters = match Counters::open() {
            Ok(counters) => counters,
            Err(error) => return swath_reference::skip("hardware-counters", error),
        };
        let sum = |to: u64| {
            std::hint::black_box(
                (0..to).fold(0, |sum: u64, next| std::hint::black_box(sum ^ next)),
            );
        };
        let little = count(&mut counters, || sum(1_000));
        let much = count(&mut counters, || sum(1_000_000));
        let elsewhere = count(&mut counters, || {
            std::thread::scope(|scope| drop(scope.spawn(|| sum(1_000_000)).join()));
        });
        assert!(much > 1_000_000 && much > 10 * little, "{little} and {much}");
        assert!(elsewhere > 1_000_000, "{elsewhere}");
    }
}
