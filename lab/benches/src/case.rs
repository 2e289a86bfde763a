//! The outcome of a case: its runs, and whether they reached their goals.

use crate::bench::Bench;
use crate::load::ForeignLoad;
use anyhow::Result;
use std::collections::BTreeMap;
use swath::CancelToken;
use swath_study::measure::{Entrants, Goal, Reached, Rounds, control, run};
use swath_study::peers::Absent;
use swath_study::results::{Run, Selected};

/// Every timed run of one case.
pub(crate) struct Ran {
    /// The series whose speed is 1 in the table.
    pub(crate) reference: String,
    pub(crate) runs: Vec<Run>,
    /// The checksum of each series.
    pub(crate) checksums: BTreeMap<String, u64>,
    pub(crate) absent: Vec<Absent>,
    pub(crate) goals: Vec<(Goal, Reached)>,
    /// The load beside all rounds.
    pub(crate) load: Option<ForeignLoad>,
}

impl Ran {
    pub(crate) fn selected(&self) -> Selected<'_> {
        Selected::new(&self.runs, 0, 1)
    }
}

impl Bench {
    /// Runs all rounds with the control, and judges all goals; the first entrant that is here is the
    /// reference of the others.
    pub(crate) fn run(&self, mut entrants: Entrants) -> Result<Ran> {
        const TIMES: u64 = 4;
        entrants.here.push(control(self.control_len(), TIMES)?);
        measured(entrants, self.rounds)
    }
}

/// Makes a case without a control.
pub(crate) fn measured(mut entrants: Entrants, rounds: Rounds) -> Result<Ran> {
    let expected = entrants.here.iter();
    let checksums = expected.map(|it| (it.series.to_owned(), it.expected.checksum)).collect();
    let reference = entrants.here[0].series.to_owned();
    let mut runs = Vec::new();
    let mut each = |run: Run| {
        if run.order == 0 {
            eprintln!("  round {} of {}", run.round + 1, rounds.count);
        }
        runs.push(run);
    };
    run(&mut entrants.here, rounds, &CancelToken::new(), &mut each)?;
    let selected = Selected::new(&runs, 0, rounds.seed);
    let judged = |goal: Goal| {
        let reached = goal.judge(&selected, rounds.seed);
        (goal, reached)
    };
    let goals = entrants.goals.into_iter().map(judged).collect();
    Ok(Ran { reference, runs, checksums, absent: entrants.absent, goals, load: None })
}
