//! Runs every row once a round, so that a machine that drifts drifts for all of them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use swath_study::cache::{self, ColdBy};
use swath_study::stats;

use super::stage::Stage;
use super::{Limit, Memory, ROUNDS, Row, State};

/// No round is begun that would probably end after this.
const PATIENCE: Duration = Duration::from_secs(40);

/// A row, and how it went.
pub(super) struct Timed {
    pub(super) capability: &'static str,
    pub(super) engine: &'static str,
    pub(super) way: &'static str,
    pub(super) state: State,
    pub(super) memory: Memory,
    pub(super) limit: Limit,
    pub(super) is_peer: bool,
    /// That it is about; none for the input's.
    bytes: Option<u64>,
    pub(super) is_right: bool,
    seconds: Vec<f64>,
}

impl Timed {
    /// Returns the median time in seconds.
    pub(super) fn median(&self) -> f64 {
        stats::median(&self.seconds).unwrap_or(f64::NAN)
    }

    /// Returns the median speed for an input of `size` bytes.
    pub(super) fn bytes_per_s(&self, size: u64) -> f64 {
        let size = self.bytes.unwrap_or(size) as f64;
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
        format!("{} by {}, {}", self.capability, self.engine, self.way)
    }
}

impl From<&Row> for Timed {
    fn from(row: &Row) -> Self {
        let &Row { capability, engine, way, state, memory, limit, is_peer, bytes, .. } = row;
        let (is_right, seconds) = (true, Vec::new());
        Self {
            capability,
            engine,
            way,
            state,
            memory,
            limit,
            is_peer,
            bytes,
            is_right,
            seconds,
        }
    }
}

/// Runs `rows` in turns; what was done other than asked for goes into `notes`, each once.
pub(super) fn interleave(
    stage: &Stage,
    mut rows: Vec<Row>,
    notes: &mut Vec<String>,
) -> Result<Vec<Timed>> {
    let mut timed: Vec<Timed> = rows.iter().map(Timed::from).collect();
    let count = rows.len();
    let bar = ProgressBar::new((count * ROUNDS) as u64);
    let start = Instant::now();
    for round in 0..ROUNDS {
        let so_far = start.elapsed();
        let per_round = so_far / u32::try_from(round.max(1)).unwrap_or(1);
        if round > 0 && so_far + per_round > PATIENCE {
            notes.push(format!("only {round} of {ROUNDS} rounds: they take long here"));
            break;
        }
        for turn in 0..count {
            // Everyone follows everyone's neighbour at some time.
            let index = (turn + round * (count / ROUNDS).max(1)) % count;
            let row = &mut timed[index];
            let run = run_once(stage, &mut rows[index])
                .with_context(|| format!("cannot measure {}", row.name()))?;
            row.is_right &= run.is_right;
            row.seconds.push(run.elapsed.as_secs_f64());
            for fallback in run.fallbacks {
                let note = format!("{}: {fallback}", row.name());
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(timed)
}

fn run_once(stage: &Stage, row: &mut Row) -> Result<super::Run> {
    match row.state {
        State::Warm => cache::make_warm(&stage.path)?,
        State::Cold => cache::make_cold(&stage.path, ColdBy::DontNeed)?,
        State::New => {}
    }
    if row.memory == Memory::Fresh {
        // Else the first who takes memory that this machine gave back to its host pays for all.
        cache::touch_memory(stage.bytes.len())?;
    }
    (row.run)(stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(seconds: &[f64]) -> Timed {
        let row = Row {
            capability: "read",
            engine: "",
            way: "",
            state: State::Warm,
            memory: Memory::None,
            limit: Limit::Copy,
            is_peer: false,
            bytes: None,
            run: Box::new(|_| unreachable!("it is only named")),
        };
        Timed { seconds: seconds.to_vec(), ..Timed::from(&row) }
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
