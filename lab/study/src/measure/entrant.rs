//! An entrant: a way to do the work, its expected outcome, and the preparation of each run.

use std::fmt;

use anyhow::{Context, Result, ensure};

use super::{Counting, Goal, Meter};
use crate::limits;
use crate::results::State;

/// The bytes that a run read or wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes.
    pub bytes: u64,
    /// The sum of the bytes, or another number that verifies them.
    pub checksum: u64,
}

impl Outcome {
    /// Returns the outcome of `bytes`, summed by this many threads.
    pub fn of(bytes: &[u8], workers: usize) -> Self {
        Self { bytes: bytes.len() as u64, checksum: limits::memory_sum(bytes, workers) }
    }
}

/// Adds up outcomes.
impl std::iter::Sum for Outcome {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |all, one| Self {
            bytes: all.bytes + one.bytes,
            checksum: all.checksum + one.checksum,
        })
    }
}

type Hook = Box<dyn FnMut() -> Result<()>>;
type EntrantWork = Box<dyn FnMut(&mut Meter) -> Result<Outcome>>;

/// One series at one place.
pub struct Entrant {
    /// The name of the series.
    pub series: String,
    pub(super) x: f64,
    pub(super) state: State,
    /// The outcome that each of its runs must have.
    pub expected: Outcome,
    pub(super) repeats: u64,
    before: Hook,
    work: EntrantWork,
    after: Hook,
}

impl Entrant {
    /// Makes an entrant at place 0, without a file. `work` times its main part with the [`Meter`] and returns
    /// its outcome, which must be `expected`.
    pub fn new(
        series: impl Into<String>,
        expected: Outcome,
        work: impl FnMut(&mut Meter) -> Result<Outcome> + 'static,
    ) -> Self {
        let (series, work) = (series.into(), Box::new(work));
        let (before, after) = (Box::new(|| Ok(())), Box::new(|| Ok(())));
        Self { series, x: 0.0, state: State::None, expected, repeats: 1, before, work, after }
    }

    /// Sets the value of the varied parameter, and the state of the files.
    pub fn at(self, x: f64, state: State) -> Self {
        Self { x, state, ..self }
    }

    /// Expects another outcome.
    pub fn expecting(self, expected: Outcome) -> Self {
        Self { expected, ..self }
    }

    /// Expects another checksum.
    pub fn giving(self, checksum: u64) -> Self {
        let expected = Outcome { checksum, ..self.expected };
        self.expecting(expected)
    }

    /// Repeats the work this many times in one run; the last repetition is verified.
    pub fn times(self, repeats: u64) -> Self {
        Self { repeats, ..self }
    }

    /// Calls `note` after each run, to add numbers to the meter.
    pub fn noting(self, note: impl Fn(&mut Meter) + 'static) -> Self {
        let mut work = self.work;
        let work = move |meter: &mut Meter| {
            let outcome = work(meter)?;
            note(meter);
            Ok(outcome)
        };
        Self { work: Box::new(work), ..self }
    }

    /// Runs `after` after each run, even a failed one.
    pub fn with_after(self, after: impl FnMut() -> Result<()> + 'static) -> Self {
        Self { after: Box::new(after), ..self }
    }

    /// Runs `before` ahead of each run, after the preparations added earlier: make cold, touch memory.
    #[must_use]
    pub fn with_before(mut self, mut before: impl FnMut() -> Result<()> + 'static) -> Self {
        let mut first = self.before;
        self.before = Box::new(move || {
            first()?;
            before()
        });
        self
    }

    /// Prepares and runs the entrant once; returns any outcome, expected or not.
    ///
    /// # Errors
    ///
    /// If the preparation or the run fails.
    pub fn attempt(&mut self, counting: Counting) -> Result<(Meter, Outcome)> {
        (self.before)().with_context(|| format!("cannot prepare {self:?}"))?;
        let mut meter = Meter::new(counting);
        let outcome = (self.work)(&mut meter);
        (self.after)().with_context(|| format!("cannot clear up after {self:?}"))?;
        Ok((meter, outcome.with_context(|| format!("{self:?} failed"))?))
    }

    /// Runs the entrant once; any outcome but the expected one is an error.
    pub(crate) fn run_once(&mut self, counting: Counting) -> Result<Meter> {
        let (meter, outcome) = self.attempt(counting)?;
        let expected = self.expected;
        ensure!(outcome == expected, "{self:?} gave {outcome:?}, expected {expected:?}");
        Ok(meter)
    }
}

impl fmt::Debug for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { series, x, state, .. } = self;
        write!(f, "{series} at {x}, {state:?}")
    }
}

/// An absent peer, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The name of the peer.
    pub peer: String,
    /// The reason.
    pub reason: String,
}

impl Absent {
    /// Names the peer and the reason.
    pub fn new(peer: &str, reason: impl Into<String>) -> Self {
        Self { peer: peer.to_owned(), reason: reason.into() }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is absent: {}", self.peer, self.reason)
    }
}

impl std::error::Error for Absent {}

/// The entrants, the absent peers, and the goals.
#[derive(Default)]
pub struct Entrants {
    /// The entrants that can run.
    pub here: Vec<Entrant>,
    /// The absent peers.
    pub absent: Vec<Absent>,
    /// The goals, for cases without a study's claim.
    pub goals: Vec<Goal>,
}

impl Entrants {
    /// Returns entrants without absent peers, and their goals.
    pub fn new(here: impl Into<Vec<Entrant>>, goals: impl Into<Vec<Goal>>) -> Self {
        Self { here: here.into(), absent: Vec::new(), goals: goals.into() }
    }

    /// Adds an entrant, or the reason why it is absent.
    pub fn add(&mut self, entrant: Result<Entrant, Absent>) {
        match entrant {
            Ok(entrant) => self.here.push(entrant),
            Err(absent) => self.absent.push(absent),
        }
    }

    /// Removes the entrants that need `state`, which cannot be reached, and records the reason.
    pub(crate) fn without(&mut self, state: State, why: &str) {
        let before = self.here.len();
        self.here.retain(|entrant| entrant.state != state);
        if self.here.len() < before {
            self.absent.push(Absent::new(&format!("{} files", state.word()), why));
        }
    }

    pub(crate) fn need(&self, state: State) -> bool {
        self.here.iter().any(|entrant| entrant.state == state)
    }
}
