//! Study A: loading with fewer cores.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::loading::{FOUR, LoadingField, PARALLEL, THREADS, charts_by_workers};
use super::shape::{powers_of_two, states};
use crate::experiment::{Claim, Experiment, Point, Scale, all_of};
use crate::measure::{Absent, Entrant, Entrants, Stage};
use crate::results::{Finding, Key, Selected, State};
use swath_profile::stats::Bound;

const MB: u64 = 1_000_000;

/// Varies the number of cores.
pub(super) const CORES: Experiment = Experiment {
    id: "a-cores",
    figure: "time by cores, 8 threads, chunks of 1,024 bytes",
    claims: &[Claim::new("a-cores", judge_cores)],
    scale: Scale {
        study: "500 MB on 2, 4 and 8 cores",
        other: "500 MB, on as many cores as there are",
        minutes: 2,
    },
    charts: || charts_by_workers("cores"),
    entrants: by_cores,
    ..THREADS
};

/// Pins the calling thread, and the threads that it starts, to the first allowed cores until dropped.
struct Pinned(CpuSet);

impl Pinned {
    fn to(cores: usize) -> Result<Self> {
        let before = sched_getaffinity(None)?;
        let mut fewer = CpuSet::new();
        let allowed = (0..CpuSet::MAX_CPU).filter(|&core| before.is_set(core));
        allowed.take(cores).for_each(|core| fewer.set(core));
        sched_setaffinity(None, &fewer)?;
        Ok(Self(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Restore the earlier set of cores.
        let _ = sched_setaffinity(None, &self.0);
    }
}

fn by_cores(stage: &Stage) -> Result<Entrants> {
    let loading = LoadingField::new(stage, stage.pick(MB / 4, 32 * MB, 500 * MB), FOUR)?;
    let mut entrants = Entrants::default();
    if let Err(error) = Pinned::to(stage.workers) {
        entrants.absent.push(Absent::new("fewer cores", format!("not allowed: {error}")));
        return Ok(entrants);
    }
    for &state in states(stage) {
        for cores in powers_of_two(stage.workers) {
            let ways = loading.at(cores as f64, state).ways();
            entrants.here.extend(ways.into_iter().map(|way| pinned(way, cores)));
        }
    }
    Ok(entrants)
}

/// Pins an entrant to this many cores.
fn pinned(entrant: Entrant, cores: usize) -> Entrant {
    let before = Rc::new(RefCell::new(None));
    let after = Rc::clone(&before);
    let pin = move || {
        before.replace(Some(Pinned::to(cores)?));
        Ok(())
    };
    entrant.with_before(pin).with_after(move || {
        after.take();
        Ok(())
    })
}

fn judge_cores(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let most = runs.places(PARALLEL, state).last().copied().unwrap_or(1.0);
    let ratio = runs.speed_up(key(most), key(1.0));
    let sentence = format!("8 threads on {most} cores are {{}} as fast as on one");
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.2)).from_cores(runs, 2)])
}
