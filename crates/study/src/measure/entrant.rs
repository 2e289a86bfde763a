//! Who takes part: a way to do the work, what it must give, and what comes before each run.

use std::fmt;

use anyhow::{Context, Result, ensure};

use super::{Counting, Goal, Meter};
use crate::limits;
use crate::results::State;

/// What a run read or wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes.
    pub bytes: u64,
    /// Their sum, or whatever tells that they are right.
    pub checksum: u64,
}

impl Outcome {
    /// What `bytes` are, summed by so many threads.
    #[must_use]
    pub fn of(bytes: &[u8], workers: usize) -> Self {
        Self { bytes: bytes.len() as u64, checksum: limits::memory_sum(bytes, workers) }
    }
}

/// What several gave together.
impl std::iter::Sum for Outcome {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |all, one| Self {
            bytes: all.bytes + one.bytes,
            checksum: all.checksum + one.checksum,
        })
    }
}

type Hook = Box<dyn FnMut() -> Result<()>>;
type Work = Box<dyn FnMut(&mut Meter) -> Result<Outcome>>;

/// One series at one place.
pub struct Entrant {
    pub(super) series: String,
    pub(super) x: f64,
    pub(super) state: State,
    pub(super) expected: Outcome,
    pub(super) repeats: u64,
    before: Hook,
    work: Work,
    after: Hook,
}

impl Entrant {
    /// `work` times what counts with the [`Meter`], and answers what it read or wrote, which is to
    /// be `expected`. At place 0, of no file.
    pub fn new(
        series: impl Into<String>,
        expected: Outcome,
        work: impl FnMut(&mut Meter) -> Result<Outcome> + 'static,
    ) -> Self {
        let (series, work) = (series.into(), Box::new(work));
        let (before, after) = (Box::new(|| Ok(())), Box::new(|| Ok(())));
        Self { series, x: 0.0, state: State::None, expected, repeats: 1, before, work, after }
    }

    /// With so much of what is varied, on files in a state.
    #[must_use]
    pub fn at(self, x: f64, state: State) -> Self {
        Self { x, state, ..self }
    }

    /// Gives something else than was said.
    #[must_use]
    pub fn expecting(self, expected: Outcome) -> Self {
        Self { expected, ..self }
    }

    /// Gives another checksum than was said.
    #[must_use]
    pub fn giving(self, checksum: u64) -> Self {
        let expected = Outcome { checksum, ..self.expected };
        self.expecting(expected)
    }

    /// Does all of it so many times in one run, of which the last is verified.
    #[must_use]
    pub fn times(self, repeats: u64) -> Self {
        Self { repeats, ..self }
    }

    /// Has `after` run behind each run, also one that failed.
    #[must_use]
    pub fn with_after(self, after: impl FnMut() -> Result<()> + 'static) -> Self {
        Self { after: Box::new(after), ..self }
    }

    /// Has `before` run ahead of each run, after what was there before: make cold, touch memory.
    #[must_use]
    pub fn with_before(mut self, mut before: impl FnMut() -> Result<()> + 'static) -> Self {
        let mut first = self.before;
        self.before = Box::new(move || {
            first()?;
            before()
        });
        self
    }

    /// What it is called.
    #[must_use]
    pub fn series(&self) -> &str {
        &self.series
    }

    /// What each of its runs must give.
    #[must_use]
    pub fn expected(&self) -> Outcome {
        self.expected
    }

    /// Prepares and runs it once; returns what it gave, expected or not.
    ///
    /// # Errors
    ///
    /// If it cannot be prepared, or fails.
    pub fn attempt(&mut self, counting: Counting) -> Result<(Meter, Outcome)> {
        (self.before)().with_context(|| format!("cannot prepare {self:?}"))?;
        let mut meter = Meter::new(counting);
        let outcome = (self.work)(&mut meter);
        (self.after)().with_context(|| format!("cannot clear up after {self:?}"))?;
        Ok((meter, outcome.with_context(|| format!("{self:?} failed"))?))
    }

    /// The same; what it gave is what was expected.
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

/// A peer that is not here, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Who is missing.
    pub peer: String,
    /// Why.
    pub reason: String,
}

impl Absent {
    /// Names who is missing and why.
    #[must_use]
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

/// Who takes part, who cannot, and what is asked of whom.
#[derive(Default)]
pub struct Entrants {
    /// Those who can.
    pub here: Vec<Entrant>,
    /// The others, and why.
    pub absent: Vec<Absent>,
    /// What is asked, if it is no claim of a study.
    pub goals: Vec<Goal>,
}

impl Entrants {
    /// Those who are here, and what is asked of them.
    pub fn new(here: impl Into<Vec<Entrant>>, goals: impl Into<Vec<Goal>>) -> Self {
        Self { here: here.into(), absent: Vec::new(), goals: goals.into() }
    }

    /// Adds one, or why it cannot take part.
    pub fn add(&mut self, entrant: Result<Entrant, Absent>) {
        match entrant {
            Ok(entrant) => self.here.push(entrant),
            Err(absent) => self.absent.push(absent),
        }
    }

    /// Leaves out those who need a state that cannot be had, and says why.
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
