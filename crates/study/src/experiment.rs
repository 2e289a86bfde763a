//! One question that a study asked, asked again here: what is varied, who takes part, and how the
//! answer is judged.
//!
//! ```text
//! Experiment ─ entrants(stage) → Entrant: series, x, state ─┐
//!                                                           ├─ rounds → Run, Run, …
//!              control ─────────────────────────────────────┘             │
//!  claims: words, rule ─ judge(runs, state) → Finding: holds, does not hold, undecided  ←──┘
//! ```
//!
//! Entrants take turns: every round runs each of them once, in an order shuffled anew. Each run is
//! verified by its checksum, and a control that does the same fixed work all along tells how noisy
//! the machine was. Experiments themselves are in [`experiments`](crate::experiments).

mod claim;
mod judge;
mod meter;
mod rounds;
mod stage;

pub use claim::{Claim, Places, Scale};
pub use judge::{Point, all_of, any_of, told};
pub use meter::{Meter, Outcome, hardware};
pub use rounds::{CONTROL, Rounds, Stopped, control, run};
pub use stage::{Extent, Input, SharedPages, Stage};

use anyhow::Result;

use crate::peers::Absent;
use crate::results::{Chart, State};

/// The study that an experiment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Study {
    /// Parallel, mirrored, mapped and prioritised loading.
    A,
    /// Many files by many threads.
    B,
    /// Records read, computed on and written.
    C,
    /// Sums through maps, and graphs.
    D,
    /// Serial-append.
    E,
}

impl Study {
    /// Its letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::E => "E",
        }
    }
}

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Experiment {
    /// As in `a-threads`.
    pub id: &'static str,
    /// Where it comes from.
    pub study: Study,
    /// What of it is reproduced.
    pub figure: &'static str,
    /// What the study says, and the rules by which it is judged.
    pub claims: &'static [Claim],
    /// How large it is beside that of the study.
    pub scale: Scale,
    /// Rounds that count, at least.
    pub least_rounds: usize,
    /// What is drawn.
    pub charts: fn() -> Vec<Chart>,
    /// Who takes part.
    pub entrants: fn(&Stage) -> Result<Entrants>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Who takes part in an experiment, and who cannot.
#[derive(Default)]
pub struct Entrants {
    /// Those who can.
    pub here: Vec<Entrant>,
    /// The others, and why.
    pub absent: Vec<Absent>,
}

type Before = Box<dyn FnMut() -> Result<()>>;
type Work = Box<dyn FnMut(&mut Meter) -> Result<Outcome>>;

/// One series at one place.
pub struct Entrant {
    series: String,
    x: f64,
    state: State,
    expected: Outcome,
    before: Before,
    work: Work,
}

impl Entrant {
    /// `work` times what counts with the [`Meter`], and answers what it read or wrote, which is to
    /// be `expected`.
    pub fn new(
        series: impl Into<String>,
        x: f64,
        state: State,
        expected: Outcome,
        work: impl FnMut(&mut Meter) -> Result<Outcome> + 'static,
    ) -> Self {
        let before = Box::new(|| Ok(()));
        Self { series: series.into(), x, state, expected, before, work: Box::new(work) }
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
}

impl Entrants {
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

impl std::fmt::Debug for Entrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { series, x, state, .. } = self;
        write!(f, "{series} at {x}, {state:?}")
    }
}
