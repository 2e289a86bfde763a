//! Runs every row once a round, so that a drift of the machine affects all rows.

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use swath_profile::stats;
use swath_study::measure::{Budget, CONTROL, Counting, Stopped, Turns, control, interleave};

use super::compared::FEWEST;
use super::row::{About, DemoRow};
use crate::report::counted;

/// Rounds that count, if there is time for them.
const ROUNDS: usize = 9;

/// Bytes of the control, and the number of times that it sums them.
const CONTROLLED: (usize, u64) = (1 << 20, 16);

/// Runs `rows` in turns; adds a note for each fallback, once, and for doubts about the figures.
pub(super) fn run(
    rows: &mut Vec<DemoRow>,
    budget: Budget,
    notes: &mut Vec<String>,
) -> Result<()> {
    let (len, times) = CONTROLLED;
    rows.push(DemoRow::of(About::warm(CONTROL, "", ""), control(len, times)?));
    let bar = ProgressBar::new((rows.len() * (ROUNDS + 1)) as u64);
    let budget = budget.begin();
    interleave(rows, &mut Turns::back_and_forth(), ROUNDS + 1, &mut |row, turn| {
        if !budget.allows(turn) {
            return Ok(Stopped::Yes);
        }
        once(row, notes)?;
        bar.inc(1);
        Ok(Stopped::No)
    })?;
    bar.finish_and_clear();
    let rounds = keep_whole(rows);
    let control = rows.pop().context("it was added last")?;
    if rounds < FEWEST {
        let rounds = counted(rounds as u64, "round");
        notes.push(format!("only {rounds}, too few to decide; try: pass a smaller --size"));
    }
    if let Some(spread) = stats::noisy_spread(&control.seconds) {
        let percent = spread * 100.0;
        notes.push(format!(
            "this machine is busy: the time of the same work varied by {percent:.0} %"
        ));
    }
    Ok(())
}

/// Drops an incomplete round, and the first one, which fills caches, unless it is the only one. Returns
/// how many rounds are left.
fn keep_whole(rows: &mut [DemoRow]) -> usize {
    let whole = rows.iter().map(DemoRow::rounds).min().unwrap_or(0);
    let first = usize::from(whole > 1);
    for row in rows {
        row.seconds.truncate(whole);
        row.seconds.drain(..first);
    }
    whole - first
}

/// Runs one row.
fn once(row: &mut DemoRow, notes: &mut Vec<String>) -> Result<()> {
    let name = row.name();
    let entrant = row.entrant.as_mut().context("the rounds are over")?;
    let (meter, outcome) =
        entrant.attempt(Counting::Time).with_context(|| format!("cannot measure {name}"))?;
    row.is_right &= outcome == entrant.expected;
    row.seconds.push(meter.seconds());
    for fallback in meter.fallbacks() {
        let note = format!("{name}: {fallback}");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::demo::row::timed;

    #[test]
    fn rounds_that_are_whole_count_but_for_the_first() {
        let about = About::read("auto");
        let mut rows = [timed(about, &[9.0, 1.0, 2.0, 3.0]), timed(about, &[9.0, 1.0, 2.0])];
        assert_eq!(keep_whole(&mut rows), 2);
        assert!(rows.iter().all(|row| row.seconds == [1.0, 2.0]));
        let mut rows = [timed(about, &[9.0, 1.0]), timed(about, &[9.0])];
        assert_eq!(keep_whole(&mut rows), 1);
        assert!(rows.iter().all(|row| row.seconds == [9.0]));
        assert_eq!(keep_whole(&mut []), 0);
    }
}
