//! Beyond the studies: jobs of many processes, and verbs on many cores, measured on this machine and
//! simulated beyond it.
//!
//! ```text
//! s-costs     what one step of a job costs here        ┐ measured
//! s-cluster   small jobs with real processes           ┘ and simulated: is the simulation right?
//! s-verbs     verbs of one process                  measured on the cores here, simulated to 64
//! s-pull, s-hedge, s-storage, s-size, s-commit           simulated: 10 to 10,000 workers
//! ```

mod claims;
mod clusters;
mod measured;
mod names;
mod simulated;
mod verbs;

pub(super) use measured::{CLUSTER, COSTS};
pub(super) use simulated::{COMMIT, HEDGE, PULL, SIZE, STORAGE};
pub(super) use verbs::VERBS;

use crate::experiment::{Experiment, Scale, Study};
use crate::measure::Entrants;

/// The fields that these experiments share.
const COMMON: Experiment = Experiment {
    id: "s-costs",
    study: Study::S,
    figure: "",
    claims: &[],
    scale: Scale { study: "", other: "", minutes: 1 },
    least_rounds: 5,
    charts: Vec::new,
    entrants: |_| Ok(Entrants { here: Vec::new(), absent: Vec::new(), goals: Vec::new() }),
};
