//! Rounds: every entrant once in each, in an order shuffled anew.

use anyhow::{Context, Result, ensure};
use swath::CancelToken;

use super::{Entrant, Meter, Outcome};
use crate::limits;
use crate::random::SplitMix64;
use crate::results::{Run, State};

/// The series that does the same fixed work in every experiment.
pub const CONTROL: &str = "control";

/// Bytes that the control sums.
const CONTROL_LEN: usize = 16 << 20;

/// How often everything runs.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Rounds that count.
    pub count: usize,
    /// Decides the orders.
    pub seed: u64,
    /// The folder's number, for the runs.
    pub folder: usize,
}

/// Whether it came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All rounds were run.
    No,
    /// It was cancelled; whole rounds that were run before are kept.
    Yes,
}

/// Makes a control: a sum of memory that nothing else uses, by one thread.
///
/// # Errors
///
/// If there is no memory for it.
pub fn control() -> Result<Entrant> {
    let mut pages =
        limits::touched_pages(CONTROL_LEN, 1).context("no memory for the control")?;
    limits::fill(&mut pages[..CONTROL_LEN], 1, 1);
    let outcome = Outcome { bytes: CONTROL_LEN as u64, checksum: CONTROL_LEN as u64 };
    let work = move |meter: &mut Meter| {
        let checksum = meter.measure(|| limits::memory_sum(&pages[..CONTROL_LEN], 1))?;
        Ok(Outcome { checksum, ..outcome })
    };
    Ok(Entrant::new(CONTROL, 0.0, State::None, outcome, work))
}

impl Entrant {
    /// Prepares and runs it; what it gave is what was expected.
    pub(crate) fn run_once(&mut self) -> Result<Meter> {
        let name = format!("{self:?}");
        (self.before)().with_context(|| format!("cannot prepare {name}"))?;
        let mut meter = Meter::default();
        let outcome = (self.work)(&mut meter).with_context(|| format!("{name} failed"))?;
        let expected = self.expected;
        ensure!(outcome == expected, "{name} gave {outcome:?}, expected {expected:?}");
        Ok(meter)
    }
}

/// Runs one round that does not count, then `rounds`; `each` is told every run that counts.
///
/// Cancelled, it ends after the run on its way: runs of a round that is not whole are kept, too,
/// since only those of the same round are compared.
///
/// # Errors
///
/// The first preparation or run that fails, or that gave something else than expected.
pub fn run(
    entrants: &mut [Entrant],
    rounds: Rounds,
    cancel: &CancelToken,
    each: &mut dyn FnMut(Run),
) -> Result<Stopped> {
    for entrant in entrants.iter_mut() {
        if cancel.is_cancelled() {
            return Ok(Stopped::Yes);
        }
        entrant.run_once().context("in the round that does not count")?;
    }
    let mut random = SplitMix64::new(rounds.seed);
    let mut turns: Vec<usize> = (0..entrants.len()).collect();
    for round in 0..rounds.count {
        random.shuffle(&mut turns);
        for (order, &turn) in turns.iter().enumerate() {
            if cancel.is_cancelled() {
                return Ok(Stopped::Yes);
            }
            let entrant = &mut entrants[turn];
            let meter = entrant.run_once().with_context(|| format!("in round {round}"))?;
            each(Run {
                folder: rounds.folder,
                series: entrant.series.clone(),
                x: entrant.x,
                state: entrant.state,
                round,
                order,
                bytes: entrant.expected.bytes,
                ..meter.into_run()
            });
        }
    }
    Ok(Stopped::No)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    const SEVEN: Outcome = Outcome { bytes: 7, checksum: 7 };

    fn entrant(series: &str, gives: Outcome) -> Entrant {
        Entrant::new(series, 2.0, State::Warm, SEVEN, move |meter| meter.measure(|| gives))
    }

    fn rounds(count: usize) -> Rounds {
        Rounds { count, seed: 1, folder: 3 }
    }

    #[test]
    fn every_round_runs_each_once_and_the_first_does_not_count() {
        let ran = Rc::new(RefCell::new(0));
        let count = Rc::clone(&ran);
        let mut entrants =
            vec![entrant("a", SEVEN), entrant("b", SEVEN), control().expect("16 MiB")];
        entrants.push(entrant("c", SEVEN).with_before(move || {
            *count.borrow_mut() += 1;
            Ok(())
        }));
        let mut runs = Vec::new();
        let stopped =
            run(&mut entrants, rounds(5), &CancelToken::new(), &mut |run| runs.push(run));
        assert_eq!(stopped.expect("all is well"), Stopped::No);
        assert_eq!((runs.len(), *ran.borrow()), (20, 6));
        assert!(runs.iter().all(|run| run.folder == 3 && run.seconds > 0.0));
        for series in ["a", "b", "c", CONTROL] {
            let of: Vec<usize> =
                runs.iter().filter(|run| run.series == series).map(|run| run.round).collect();
            assert_eq!(of, [0, 1, 2, 3, 4]);
        }
        let first = |round: usize| runs[4 * round].series.clone();
        assert!((1..5).any(|round| first(round) != first(0)), "one order for all rounds");
    }

    #[test]
    fn what_gives_something_else_ends_it_with_its_name() {
        let wrong = Outcome { bytes: 7, checksum: 8 };
        let mut entrants = [entrant("right", SEVEN), entrant("wrong", wrong)];
        let error = run(&mut entrants, rounds(1), &CancelToken::new(), &mut |_| {});
        let text = format!("{:#}", error.expect_err("8 is not 7"));
        assert!(text.contains("wrong at 2, Warm gave"), "{text}");
    }

    #[test]
    fn cancelled_it_ends_and_keeps_what_was_run() {
        let cancel = CancelToken::new();
        let mut runs = 0;
        let mut entrants = [entrant("a", SEVEN), entrant("b", SEVEN)];
        let stopped = run(&mut entrants, rounds(9), &cancel, &mut |_| {
            runs += 1;
            if runs == 3 {
                cancel.cancel();
            }
        });
        assert_eq!((stopped.expect("no failure"), runs), (Stopped::Yes, 3));
    }
}
