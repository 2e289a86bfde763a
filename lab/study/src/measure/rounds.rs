//! Rounds: each entrant runs once in every round, in a changing order.

use anyhow::{Context, Result};
use swath::CancelToken;

use super::{Counting, Entrant};
use crate::results::Run;
use swath_plan::random::SplitMix64;

/// The number of rounds, and their settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Rounds that count.
    pub count: usize,
    /// The seed of the orders.
    pub seed: u64,
    /// The number of the folder, which the runs record.
    pub folder: usize,
    /// The counters to read.
    pub counting: Counting,
}

/// Whether the rounds were stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All rounds were run.
    No,
    /// The rounds were stopped; earlier runs are kept.
    Yes,
}

/// The order within each round.
#[derive(Clone, Debug)]
pub struct Turns {
    order: RoundOrder,
    round: usize,
}

#[derive(Clone, Debug)]
enum RoundOrder {
    Shuffled(SplitMix64),
    Rotated(usize),
    BackAndForth,
}

/// A place in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round, from 0.
    pub round: usize,
    /// The place within the round, from 0.
    pub order: usize,
}

impl Turns {
    /// Draws a new order for each round.
    pub fn shuffled(seed: u64) -> Self {
        Self { order: RoundOrder::Shuffled(SplitMix64::new(seed)), round: 0 }
    }

    /// Keeps the given order; each round begins `step` places later. With 1, two entrants alternate.
    pub fn rotated(step: usize) -> Self {
        Self { order: RoundOrder::Rotated(step), round: 0 }
    }

    /// Reverses the given order in every second round: neighbours stay neighbours, and each of two entrants
    /// runs first in every second round.
    pub fn back_and_forth() -> Self {
        Self { order: RoundOrder::BackAndForth, round: 0 }
    }

    /// Brings `turns` into the order of the next round.
    fn next_round(&mut self, turns: &mut [usize]) {
        match &mut self.order {
            RoundOrder::Shuffled(random) => random.shuffle(turns),
            RoundOrder::Rotated(step) if self.round > 0 && !turns.is_empty() => {
                turns.rotate_left(*step % turns.len());
            }
            RoundOrder::BackAndForth if self.round > 0 => turns.reverse(),
            RoundOrder::Rotated(_) | RoundOrder::BackAndForth => {}
        }
        self.round += 1;
    }
}

/// Runs all entrants in turns for `count` rounds, which continue those that `turns` has counted. `run`
/// gets the entrant and its turn, and returns whether to stop.
///
/// # Errors
///
/// The first error of `run`.
pub fn interleave<E>(
    entrants: &mut [E],
    turns: &mut Turns,
    count: usize,
    run: &mut dyn FnMut(&mut E, Turn) -> Result<Stopped>,
) -> Result<Stopped> {
    let mut places: Vec<usize> = (0..entrants.len()).collect();
    for _ in 0..count {
        let round = turns.round;
        turns.next_round(&mut places);
        for (order, &place) in places.iter().enumerate() {
            if run(&mut entrants[place], Turn { round, order })? == Stopped::Yes {
                return Ok(Stopped::Yes);
            }
        }
    }
    Ok(Stopped::No)
}

/// Runs one round that does not count, then `rounds`; `each` gets every run that counts.
///
/// A cancellation takes effect after the current run. Runs of an incomplete round count, because only runs
/// of the same round are compared.
///
/// # Errors
///
/// The first preparation or run that fails, or whose outcome is not the expected one.
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
        entrant.run_once(rounds.counting).context("in the round that does not count")?;
    }
    let mut turns = Turns::shuffled(rounds.seed);
    interleave(entrants, &mut turns, rounds.count, &mut |entrant, Turn { round, order }| {
        if cancel.is_cancelled() {
            return Ok(Stopped::Yes);
        }
        let meter =
            entrant.run_once(rounds.counting).with_context(|| format!("in round {round}"))?;
        each(Run {
            folder: rounds.folder,
            series: entrant.series.clone(),
            x: entrant.x,
            state: entrant.state,
            round,
            order,
            bytes: entrant.expected.bytes * entrant.repeats,
            ..meter.into_run()
        });
        Ok(Stopped::No)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{CONTROL, Outcome, control};
    use crate::results::State;
    use std::cell::RefCell;
    use std::rc::Rc;

    const SEVEN: Outcome = Outcome { bytes: 7, checksum: 7 };

    fn entrant(series: &str, gives: Outcome) -> Entrant {
        Entrant::new(series, SEVEN, move |meter| meter.measure(|| gives)).at(2.0, State::Warm)
    }

    fn rounds(count: usize) -> Rounds {
        Rounds { count, seed: 1, folder: 3, ..Rounds::default() }
    }

    #[test]
    fn every_round_runs_each_once_and_the_first_does_not_count() {
        let ran = Rc::new(RefCell::new(0));
        let count = Rc::clone(&ran);
        let mut entrants =
            vec![entrant("a", SEVEN), entrant("b", SEVEN), control(1 << 20, 4).expect("1 MiB")];
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

    #[test]
    fn preparation_comes_before_each_run_and_is_not_timed() {
        let log = Rc::new(RefCell::new(String::new()));
        let (prepared, ran) = (Rc::clone(&log), Rc::clone(&log));
        let slow_to_prepare = Entrant::new("p", SEVEN, move |meter| {
            ran.borrow_mut().push('r');
            meter.measure(|| SEVEN)
        });
        let slow_to_prepare = slow_to_prepare.with_before(move || {
            prepared.borrow_mut().push('b');
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(())
        });
        let mut seconds = Vec::new();
        let mut keep = |run: Run| seconds.push(run.seconds);
        run(&mut [slow_to_prepare], rounds(2), &CancelToken::new(), &mut keep).expect("well");
        assert_eq!(*log.borrow(), "brbrbr");
        // A busy machine may delay one of the runs.
        assert!(seconds.iter().any(|&seconds| seconds < 0.02));
    }

    #[test]
    fn where_time_alone_is_counted_nothing_else_is() {
        let mut entrants = [Entrant::new("watched", SEVEN, |meter| meter.watch(|| SEVEN))];
        let rounds = Rounds { counting: Counting::Time, ..rounds(1) };
        let mut runs = Vec::new();
        run(&mut entrants, rounds, &CancelToken::new(), &mut |run| runs.push(run))
            .expect("well");
        let names: Vec<&String> = runs[0].metrics.keys().collect();
        assert!(names == ["cpu_seconds"] && runs[0].courses.is_empty(), "{runs:?}");
    }

    #[test]
    fn back_and_forth_neighbours_stay_neighbours_and_take_turns_to_be_first() {
        let mut seen = String::new();
        let mut add = |name: &mut char, _: Turn| {
            seen.push(*name);
            Ok(Stopped::No)
        };
        let mut turns = Turns::back_and_forth();
        interleave(&mut ['a', 'b', 'c'], &mut turns, 3, &mut add).expect("no failure");
        assert_eq!(seen, "abccbaabc");
    }

    #[test]
    fn rounds_that_are_rotated_begin_with_each_in_turn_and_go_on() {
        let mut turns = Turns::rotated(1);
        let mut seen = String::new();
        for count in [2, 1] {
            let mut add = |name: &mut char, turn: Turn| {
                seen += &format!("{}{name} ", turn.round);
                Ok(if seen.len() > 14 { Stopped::Yes } else { Stopped::No })
            };
            interleave(&mut ['a', 'b', 'c'], &mut turns, count, &mut add).expect("no failure");
        }
        assert_eq!(seen, "0a 0b 0c 1b 1c 2b 2c 2a ".get(..seen.len()).unwrap_or_default());
    }
}
