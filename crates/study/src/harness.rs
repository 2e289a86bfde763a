//! Lets contestants take turns, checks what each of them read, and keeps every run.
//!
//! A machine's speed drifts: neighbours come and go, memory is given back to the host, the
//! clock follows the heat. So contestants never run one after the other, each to its end.
//! Every round runs all of them once, in an order that is shuffled anew, and they are
//! compared within the round (see [`stats`](crate::stats)).
//!
//! ```text
//! warm-up   a b control c      not timed, but checked
//! round 0   c control a b      before(c) run(c) check(c) before(control) …
//! round 1   b c a control
//! ```
//!
//! The control does the same fixed work in every case: if even its times are spread, the
//! machine was noisy and the verdicts of that case mean little.
//!
//! ```
//! use swath_study::harness::{Contestant, Expected, Rounds, Work, interleave};
//!
//! let bytes = vec![1_u8; 1000];
//! let sum = Contestant::new("sum", Expected { bytes: 1000, checksum: 1000 }, || {
//!     let sum = bytes.iter().map(|&byte| u64::from(byte)).sum();
//!     Ok(Work::new(1000, sum))
//! });
//! let record = interleave(&mut [sum], Rounds { count: 7, seed: 1 }, &mut |_| {})?;
//! assert_eq!(record.seconds("sum").len(), 7);
//! # anyhow::Ok(())
//! ```

use crate::random::SplitMix64;
use crate::stats::Summary;
use anyhow::{Context, Result, ensure};
use std::time::Instant;
use swath_os::usage;

/// Control times that are spread wider than this share of their median are called noisy.
pub(crate) const NOISY_SPREAD: f64 = 0.15;

/// Fewer rounds give no interval worth printing.
pub const MIN_ROUNDS: usize = 7;

/// What every run of a contestant must deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Bytes read by one run, all repetitions together.
    pub bytes: u64,
    /// The checksum of what was read: a byte sum, or whatever the contestant computes.
    pub checksum: u64,
}

/// How long something took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Seconds on the clock.
    pub seconds: f64,
    /// Seconds of CPU time, all threads of this process together.
    pub cpu_seconds: f64,
}

/// Runs `work` and says how long it took.
///
/// # Errors
///
/// If the kernel does not tell the CPU time.
pub fn timed<T>(work: impl FnOnce() -> T) -> Result<(T, Timing)> {
    let cpu_before = cpu_seconds()?;
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    let cpu_seconds = cpu_seconds()? - cpu_before;
    Ok((result, Timing { seconds, cpu_seconds }))
}

/// Returns the CPU time that this process has used so far, ended threads included.
fn cpu_seconds() -> Result<f64> {
    let usage = usage::usage().context("cannot read the CPU time of this process")?;
    Ok((usage.user + usage.system).as_secs_f64())
}

/// What one run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Bytes read.
    pub bytes: u64,
    /// The checksum of what was read.
    pub checksum: u64,
    /// Seconds by the contestant's own clock; `None`: the harness times the whole run.
    pub seconds: Option<f64>,
    /// CPU seconds that belong to `seconds`, where known.
    pub cpu_seconds: Option<f64>,
    /// Peak memory beyond the start, in bytes, for contestants that are judged by it.
    pub peak_bytes: Option<u64>,
    /// Bytes that it left behind, for contestants that are judged by it.
    pub left_bytes: Option<u64>,
    /// System calls for each file, for contestants that are judged by them.
    pub calls_per_file: Option<f64>,
}

impl Work {
    /// Says what was read and leaves the timing to the harness.
    #[must_use]
    pub fn new(bytes: u64, checksum: u64) -> Self {
        let (seconds, cpu_seconds, peak_bytes) = (None, None, None);
        let (left_bytes, calls_per_file) = (None, None);
        Self { bytes, checksum, seconds, cpu_seconds, peak_bytes, left_bytes, calls_per_file }
    }

    /// Adds the contestant's own timing, so that checking is not part of it.
    #[must_use]
    pub fn with_timing(self, timing: Timing) -> Self {
        let cpu_seconds = Some(timing.cpu_seconds);
        Self { seconds: Some(timing.seconds), cpu_seconds, ..self }
    }
}

type Hook<'a> = Box<dyn FnMut() -> Result<()> + 'a>;
type Run<'a> = Box<dyn FnMut() -> Result<Work> + 'a>;

/// One of several ways to do the same work.
pub struct Contestant<'a> {
    name: String,
    expected: Expected,
    before: Hook<'a>,
    run: Run<'a>,
}

impl<'a> Contestant<'a> {
    /// Names a way to do the work that gives `expected`.
    pub fn new(
        name: impl Into<String>,
        expected: Expected,
        run: impl FnMut() -> Result<Work> + 'a,
    ) -> Self {
        Self { name: name.into(), expected, before: Box::new(|| Ok(())), run: Box::new(run) }
    }

    /// Has `before` run ahead of each run, outside the timing: make warm, make cold, touch
    /// memory.
    #[must_use]
    pub fn with_before(mut self, before: impl FnMut() -> Result<()> + 'a) -> Self {
        self.before = Box::new(before);
        self
    }

    /// Returns the name that rows and goals call it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prepares, runs and checks it once.
    fn run_once(&mut self) -> Result<Work> {
        (self.before)().with_context(|| format!("cannot prepare {}", self.name))?;
        let (work, timing) = timed(&mut self.run)?;
        let work = work.with_context(|| format!("{} failed", self.name))?;
        let read = Expected { bytes: work.bytes, checksum: work.checksum };
        let expected = self.expected;
        ensure!(read == expected, "{} gave {read:?}, expected {expected:?}", self.name);
        Ok(if work.seconds.is_some() { work } else { work.with_timing(timing) })
    }
}

/// One timed run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The round, from 0.
    pub round: usize,
    /// The position within the round, from 0.
    pub order: usize,
    /// Who ran.
    pub contestant: String,
    /// What it did; `seconds` is always there.
    pub work: Work,
}

/// How often everything runs, and in which orders.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Timed rounds; [`MIN_ROUNDS`] or more for anything but a smoke test.
    pub count: usize,
    /// Decides the order within each round.
    pub seed: u64,
}

/// Every timed run of one case.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The runs in the order they were made.
    pub rows: Vec<Row>,
}

impl Record {
    /// Returns the seconds of `contestant`, one per round.
    #[must_use]
    pub fn seconds(&self, contestant: &str) -> Vec<f64> {
        self.samples(contestant, |work| work.seconds)
    }

    /// Returns the CPU seconds of `contestant`, one per round, where known.
    #[must_use]
    pub fn cpu_seconds(&self, contestant: &str) -> Vec<f64> {
        self.samples(contestant, |work| work.cpu_seconds)
    }

    /// Returns the peak memory of `contestant` in bytes, one per round, where known.
    #[must_use]
    pub fn peak_bytes(&self, contestant: &str) -> Vec<f64> {
        self.samples(contestant, |work| work.peak_bytes.map(|bytes| bytes as f64))
    }

    /// Returns the bytes that `contestant` left behind, one per round, where known.
    #[must_use]
    pub fn left_bytes(&self, contestant: &str) -> Vec<f64> {
        self.samples(contestant, |work| work.left_bytes.map(|bytes| bytes as f64))
    }

    /// Returns the system calls a file of `contestant`, one per round, where known.
    #[must_use]
    pub fn calls_per_file(&self, contestant: &str) -> Vec<f64> {
        self.samples(contestant, |work| work.calls_per_file)
    }

    fn samples(&self, contestant: &str, pick: impl Fn(&Work) -> Option<f64>) -> Vec<f64> {
        let rows = self.rows.iter().filter(|row| row.contestant == contestant);
        rows.filter_map(|row| pick(&row.work)).collect()
    }

    /// Returns the one of `contestants` with the lowest median time, if any of them ran.
    #[must_use]
    pub fn fastest<'n>(&self, contestants: &[&'n str]) -> Option<&'n str> {
        let median = |name: &str| Summary::of(&self.seconds(name)).map(|times| times.median);
        let timed = contestants.iter().filter_map(|&name| Some((name, median(name)?)));
        timed.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(name, _)| name)
    }

    /// Returns how far the times of `control` are spread, if that is too far.
    #[must_use]
    pub fn noise(&self, control: &str) -> Option<f64> {
        noisy_spread(&self.seconds(control))
    }
}

/// Returns how far the times of a control are spread, as a share of their median, if that is too
/// far.
#[must_use]
pub fn noisy_spread(seconds: &[f64]) -> Option<f64> {
    let spread = Summary::of(seconds)?.spread();
    (spread > NOISY_SPREAD).then_some(spread)
}

/// Runs `contestants` in turns: one untimed round, then `rounds`, telling `progress` each run.
///
/// # Errors
///
/// The first preparation or run that fails, or that read something other than expected. The
/// text names the contestant and the round.
pub fn interleave(
    contestants: &mut [Contestant<'_>],
    rounds: Rounds,
    progress: &mut dyn FnMut(&Row),
) -> Result<Record> {
    for contestant in contestants.iter_mut() {
        contestant.run_once().context("in the warm-up round")?;
    }
    let mut random = SplitMix64::new(rounds.seed);
    let mut turns: Vec<usize> = (0..contestants.len()).collect();
    let mut record = Record::default();
    for round in 0..rounds.count {
        random.shuffle(&mut turns);
        for (order, &turn) in turns.iter().enumerate() {
            let contestant = &mut contestants[turn];
            let work = contestant.run_once().with_context(|| format!("in round {round}"))?;
            let row = Row { round, order, contestant: contestant.name.clone(), work };
            progress(&row);
            record.rows.push(row);
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    const NOTHING: Expected = Expected { bytes: 0, checksum: 0 };
    const SEVEN: Rounds = Rounds { count: 7, seed: 1 };

    fn at_speed(name: &str, seconds: f64) -> Contestant<'_> {
        let timing = Timing { seconds, cpu_seconds: seconds / 2.0 };
        Contestant::new(name, NOTHING, move || Ok(Work::new(0, 0).with_timing(timing)))
    }

    #[test]
    fn every_round_runs_every_contestant_once_in_changing_order() {
        let mut contestants = [at_speed("a", 1.0), at_speed("b", 2.0), at_speed("c", 3.0)];
        let record = interleave(&mut contestants, SEVEN, &mut |_| {}).expect("all is well");
        let orders: Vec<String> = record
            .rows
            .chunks(3)
            .map(|rows| rows.iter().map(|r| &*r.contestant).collect())
            .collect();
        assert_eq!(orders.len(), 7);
        assert!(orders.iter().any(|order| order != &orders[0]), "{orders:?}");
        for order in &orders {
            let mut names: Vec<char> = order.chars().collect();
            names.sort_unstable();
            assert_eq!(names, ['a', 'b', 'c']);
        }
    }

    #[test]
    fn the_warm_up_is_run_and_checked_but_not_recorded() {
        let runs = Cell::new(0);
        let counted = Contestant::new("counted", NOTHING, || {
            runs.set(runs.get() + 1);
            Ok(Work::new(0, 0))
        });
        let record = interleave(&mut [counted], SEVEN, &mut |_| {}).expect("all is well");
        assert_eq!((runs.get(), record.rows.len()), (8, 7));
    }

    #[test]
    fn preparation_comes_before_each_run_and_is_not_timed() {
        let log = RefCell::new(String::new());
        let slow_to_prepare = Contestant::new("p", NOTHING, || {
            log.borrow_mut().push('r');
            Ok(Work::new(0, 0))
        })
        .with_before(|| {
            log.borrow_mut().push('b');
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(())
        });
        let rounds = Rounds { count: 2, seed: 1 };
        let record = interleave(&mut [slow_to_prepare], rounds, &mut |_| {}).expect("well");
        assert_eq!(*log.borrow(), "brbrbr");
        // A busy machine may hold up one of the runs.
        assert!(record.seconds("p").iter().any(|&seconds| seconds < 0.02));
    }

    #[test]
    fn a_contestant_that_read_something_else_ends_the_case() {
        let expected = Expected { bytes: 3, checksum: 6 };
        let wrong = Contestant::new("wrong", expected, || Ok(Work::new(3, 7)));
        let error = interleave(&mut [wrong], SEVEN, &mut |_| {}).expect_err("7 is not 6");
        let text = format!("{error:#}");
        assert!(text.contains("warm-up") && text.contains("wrong gave"), "{text}");
    }

    #[test]
    fn the_fastest_is_the_one_with_the_lowest_median() {
        let mut contestants = [at_speed("slow", 2.0), at_speed("fast", 1.0)];
        let record = interleave(&mut contestants, SEVEN, &mut |_| {}).expect("all is well");
        assert_eq!(record.fastest(&["slow", "fast", "never ran"]), Some("fast"));
        assert_eq!(record.fastest(&["never ran"]), None);
        assert_eq!(record.cpu_seconds("slow"), [1.0; 7]);
    }

    #[test]
    fn a_control_that_wavers_makes_the_machine_noisy() {
        let record_of = |times: [f64; 4]| {
            let work = |seconds| Work { seconds: Some(seconds), ..Work::new(0, 0) };
            let row = |(round, &seconds): (usize, &f64)| Row {
                round,
                order: 0,
                contestant: "control".to_owned(),
                work: work(seconds),
            };
            Record { rows: times.iter().enumerate().map(row).collect() }
        };
        assert_eq!(record_of([1.0, 1.01, 1.02, 1.0]).noise("control"), None);
        assert!(record_of([1.0, 1.5, 1.0, 2.0]).noise("control").is_some());
    }
}
