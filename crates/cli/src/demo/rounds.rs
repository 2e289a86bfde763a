//! Runs every row once a round, so that a machine that drifts drifts for all of them.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use swath_study::cache::{self, ColdBy};
use swath_study::measure::{
    Counting, Entrant, Meter, Outcome, Stopped, Turn, Turns, interleave,
};
use swath_study::results::State;
use swath_study::stats;

use super::stage::Stage;
use super::{About, Memory, ROUNDS};

/// No round is begun that would probably end after this.
const PATIENCE: Duration = Duration::from_secs(40);

/// What a row is to give: that every byte, or what was computed of them, is that of the input.
const RIGHT: Outcome = Outcome { bytes: 0, checksum: 1 };

/// A row, and how it went.
pub(super) struct Row {
    pub(super) about: About,
    /// Until all rounds are over.
    entrant: Option<Entrant>,
    pub(super) is_right: bool,
    seconds: Vec<f64>,
}

impl Row {
    /// `work` does once what the row is about, and says whether it is right.
    pub(super) fn new(
        stage: &Rc<Stage>,
        about: About,
        mut work: impl FnMut(&Stage, &mut Meter) -> Result<bool> + 'static,
    ) -> Self {
        let (here, before) = (Rc::clone(stage), Rc::clone(stage));
        let entrant = Entrant::new(about.capability, RIGHT, move |meter| {
            Ok(Outcome { bytes: 0, checksum: u64::from(work(&here, meter)?) })
        });
        let entrant = entrant.at(0.0, about.state).with_before(move || {
            match about.state {
                State::Warm => cache::make_warm(&before.path)?,
                State::Cold => cache::make_cold(&before.path, ColdBy::DontNeed)?,
                State::None => {}
            }
            if about.memory == Memory::Fresh {
                // Else the first who takes memory that this machine gave back to its host pays for
                // all.
                cache::touch_memory(before.bytes.len())?;
            }
            Ok(())
        });
        Self { about, entrant: Some(entrant), is_right: true, seconds: Vec::new() }
    }

    /// Lets go of the input.
    pub(super) fn let_go(&mut self) {
        self.entrant = None;
    }

    /// Returns the median time in seconds.
    pub(super) fn median(&self) -> f64 {
        stats::median(&self.seconds).unwrap_or(f64::NAN)
    }

    /// Returns the median speed for an input of `size` bytes.
    pub(super) fn bytes_per_s(&self, size: u64) -> f64 {
        let size = self.about.bytes.unwrap_or(size) as f64;
        size / self.median()
    }

    /// How many times it ran.
    pub(super) fn rounds(&self) -> usize {
        self.seconds.len()
    }

    /// The times of the fastest run and the slowest.
    pub(super) fn range(&self) -> (f64, f64) {
        let fastest = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        (fastest, self.seconds.iter().copied().fold(0.0, f64::max))
    }

    /// Whether it is faster or slower than `other` for more than chance: every run of the one than
    /// every run of the other, and more than one of each.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let ((fastest, slowest), (its_fastest, its_slowest)) = (self.range(), other.range());
        self.rounds().min(other.rounds()) > 1
            && (slowest < its_fastest || its_slowest < fastest)
    }

    /// Returns what messages call it.
    pub(super) fn name(&self) -> String {
        let About { capability, engine, way, .. } = self.about;
        format!("{capability} by {engine}, {way}")
    }
}

/// Runs `rows` in turns; what was done other than asked for goes into `notes`, each once.
pub(super) fn run(rows: &mut [Row], notes: &mut Vec<String>) -> Result<()> {
    let count = rows.len();
    let bar = ProgressBar::new((count * ROUNDS) as u64);
    let start = Instant::now();
    // Everyone follows everyone's neighbour at some time.
    let mut turns = Turns::rotated((count / ROUNDS).max(1));
    interleave(rows, &mut turns, ROUNDS, &mut |row, Turn { round, order }| {
        let so_far = start.elapsed();
        let per_round = so_far / u32::try_from(round.max(1)).unwrap_or(1);
        if round > 0 && order == 0 && so_far + per_round > PATIENCE {
            notes.push(format!("only {round} of {ROUNDS} rounds: they take long here"));
            return Ok(Stopped::Yes);
        }
        let name = row.name();
        let entrant = row.entrant.as_mut().context("the rounds are over")?;
        let (meter, outcome) = entrant
            .attempt(Counting::Time)
            .with_context(|| format!("cannot measure {name}"))?;
        row.is_right &= outcome == RIGHT;
        row.seconds.push(meter.seconds());
        for fallback in meter.fallbacks() {
            let note = format!("{name}: {fallback}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        bar.inc(1);
        Ok(Stopped::No)
    })?;
    bar.finish_and_clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(seconds: &[f64]) -> Row {
        let about = About::warm("read", "", "");
        let entrant = Entrant::new("", RIGHT, |_| unreachable!("it is only named"));
        Row { about, entrant: Some(entrant), is_right: true, seconds: seconds.to_vec() }
    }

    #[test]
    fn runs_that_overlap_or_are_alone_decide_nothing() {
        let row = timed(&[1.0, 1.5, 1.2]);
        assert_eq!((row.rounds(), row.range()), (3, (1.0, 1.5)));
        assert!(row.differs_from(&timed(&[1.6, 1.7])) && row.differs_from(&timed(&[0.8, 0.9])));
        assert!(
            !row.differs_from(&timed(&[1.4, 1.7])) && !row.differs_from(&timed(&[1.1, 1.2]))
        );
        assert!(!row.differs_from(&timed(&[9.0])) && !timed(&[9.0]).differs_from(&row));
    }
}
