//! One question of a study, asked again here: the varied parameter, the entrants, and the rules that judge
//! the answer.
//!
//! ```text
//! Experiment ─ entrants(stage) → Entrant: series, x, state ─┐
//!                                                           ├─ rounds → Run, Run, …
//!              control ─────────────────────────────────────┘             │
//!  claims: words, rule ─ judge(runs, state) → Finding: holds, does not hold, undecided  ←──┘
//! ```
//!
//! Entrants take turns in the [frame](crate::measure) of all measurements. Experiments themselves are
//! in [`experiments`](crate::experiments).

mod claim;
mod judge;

pub use claim::{Claim, Places, Scale};
pub use judge::{Point, all_of, any_of, told};

pub use crate::measure::Extent;

use anyhow::Result;
use swath_plan::words;

use crate::measure::{Entrants, Stage};
use crate::results::Chart;

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
    /// No study: our questions about jobs of many processes and many cores, partly simulated.
    S,
}

words!(Study { A = "A", B = "B", C = "C", D = "D", E = "E", S = "S" });

/// One question of a study; see the [module](self).
#[derive(Clone, Copy)]
pub struct Experiment {
    /// The id, as in `a-threads`.
    pub id: &'static str,
    /// The study that asked the question.
    pub study: Study,
    /// The reproduced figure or table.
    pub figure: &'static str,
    /// The study's claims, and the rules that judge them.
    pub claims: &'static [Claim],
    /// The size, compared with that of the study.
    pub scale: Scale,
    /// The least number of rounds that count.
    pub least_rounds: usize,
    /// The charts.
    pub charts: fn() -> Vec<Chart>,
    /// Returns the entrants.
    pub entrants: fn(&Stage) -> Result<Entrants>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("id", &self.id).finish_non_exhaustive()
    }
}
