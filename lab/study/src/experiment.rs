//! One question of a study, asked again here: what is varied, the entrants, and how the answer is
//! judged.
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
    /// None: what we ask about jobs of many processes, and simulate past this machine.
    S,
}

words!(Study { A = "A", B = "B", C = "C", D = "D", E = "E", S = "S" });

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Experiment {
    /// As in `a-threads`.
    pub id: &'static str,
    /// Where it comes from.
    pub study: Study,
    /// The figure or table that is reproduced.
    pub figure: &'static str,
    /// The study's claims, and the rules that judge them.
    pub claims: &'static [Claim],
    /// Its size beside that of the study.
    pub scale: Scale,
    /// Rounds that count, at least.
    pub least_rounds: usize,
    /// The charts.
    pub charts: fn() -> Vec<Chart>,
    /// Its entrants.
    pub entrants: fn(&Stage) -> Result<Entrants>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("id", &self.id).finish_non_exhaustive()
    }
}
