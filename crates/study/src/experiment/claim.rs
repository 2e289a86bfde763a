//! What a study says, the rule by which it is judged, and the verdicts: one for each state of the
//! files.

use crate::results::{Claimed, Finding, Holds, Run, Selected, Source, State};

use super::Experiment;

/// Series that begin so are what others are measured by.
const LIMITS: &str = "limit:";

/// Something that a study says, or that is asked although it does not.
#[derive(Clone)]
pub struct Claim {
    /// That of the experiment, with more after it where there are several.
    pub id: &'static str,
    /// Its words.
    pub source: Source,
    /// When it holds, in a sentence.
    pub rule: &'static str,
    /// What the runs on files in a state say.
    pub judge: fn(&Selected<'_>, State) -> Finding,
}

/// How large an experiment of `--full` is beside that of the study.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// What the study had.
    pub study: &'static str,
    /// What is smaller or other with `--full`, and why; empty if nothing is.
    pub other: &'static str,
    /// Minutes that it takes with `--full` on two cores and a disk of 2 GB/s.
    pub minutes: u32,
}

impl Scale {
    /// The sentence for a study of that extent.
    #[must_use]
    pub fn sentence(&self, is_full: bool) -> String {
        let Self { study, other, .. } = self;
        match (is_full, other.is_empty()) {
            (true, true) => format!("As large as in the study: {study}."),
            (true, false) => format!("In the study: {study}. Here: {other}."),
            (false, _) => format!("Smaller than with --full. In the study: {study}."),
        }
    }
}

/// Where the runs are from.
#[derive(Clone, Copy, Debug)]
pub struct Places<'p> {
    /// The folders that were measured, by number.
    pub folders: &'p [String],
    /// Of the intervals.
    pub seed: u64,
    /// How far the control was spread.
    pub noise: Option<f64>,
}

impl Experiment {
    /// What the runs say of each claim, for every state that was measured.
    #[must_use]
    pub fn judged(&self, runs: &[Run], places: Places<'_>) -> Vec<Claimed> {
        let has = |state: &State| {
            let mut own = runs.iter().filter(|run| !run.series.starts_with(LIMITS));
            own.any(|run| run.state == *state)
        };
        let states: Vec<State> =
            [State::Warm, State::Cold, State::None].into_iter().filter(has).collect();
        let claimed = self.claims.iter().map(|claim| Claimed {
            id: claim.id.to_owned(),
            source: claim.source.clone(),
            rule: claim.rule.to_owned(),
            verdicts: states.iter().map(|&state| verdict(claim, runs, places, state)).collect(),
        });
        claimed.collect()
    }
}

/// The findings of all folders in one: where they differ, nothing is decided.
fn verdict(claim: &Claim, runs: &[Run], places: Places<'_>, state: State) -> Finding {
    let in_folder = |folder| {
        let runs = Selected::new(runs, folder, places.seed).with_noise(places.noise);
        Finding { state, ..(claim.judge)(&runs, state) }
    };
    let findings: Vec<Finding> = (0..places.folders.len().max(1)).map(in_folder).collect();
    if let [one] = findings.as_slice() {
        return one.clone();
    }
    let first = findings.first().map_or(Holds::Undecided, |finding| finding.verdict);
    let agree = findings.iter().all(|finding| finding.verdict == first);
    let texts = places.folders.iter().zip(&findings).map(|(folder, finding)| {
        format!("{folder}: {} ({})", finding.verdict.words(), finding.because)
    });
    Finding {
        state,
        verdict: if agree { first } else { Holds::Undecided },
        because: texts.collect::<Vec<_>>().join("; "),
        of_limit: findings.first().and_then(|finding| finding.of_limit),
    }
}
