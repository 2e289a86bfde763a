//! Study A: loading with fewer cores.

use std::rc::Rc;

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use swath::ReadOptions;

use super::loading::{
    Loading, MAPPED, MIRRORED, PARALLEL, SEQUENTIAL, SWATH, charts_by_workers, own,
};
use super::shape::{powers_of_two, read, states};
use crate::experiment::{Experiment, Point, Scale, Study, all_of};
use crate::loading::{Load, load};
use crate::measure::{Entrants, Stage};
use crate::peers::Absent;
use crate::results::{Finding, Key, Selected, State};
use crate::stats::Bound;

const MB: u64 = 1_000_000;

/// By cores.
pub(super) const CORES: Experiment = Experiment {
    id: "a-cores",
    study: Study::A,
    figure: "time by cores, 8 threads, chunks of 1,024 bytes",
    claims: &[read(
        "a-cores",
        "Eight threads load faster the more cores there are.",
        "§5.1 to 5.6",
        "Eight threads on all cores are at least 1.2 × as fast as on one.",
        judge_cores,
    )],
    scale: Scale {
        study: "500 MB",
        other: "500 MB, on as many cores as there are",
        minutes: 2,
    },
    least_rounds: 5,
    charts: || charts_by_workers("cores"),
    entrants: by_cores,
};

/// The calling thread, and those that it starts, on the first cores of those that it may use.
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
        // What was allowed before is allowed again.
        let _ = sched_setaffinity(None, &self.0);
    }
}

fn by_cores(stage: &Stage) -> Result<Entrants> {
    let loading = Loading::new(stage, stage.pick(MB / 4, 32 * MB, 500 * MB), 2)?;
    let mut entrants = Entrants::default();
    if let Err(error) = Pinned::to(stage.workers()) {
        entrants.absent.push(Absent::new("fewer cores", format!("not allowed: {error}")));
        return Ok(entrants);
    }
    for &state in states(stage) {
        for cores in powers_of_two(stage.workers()) {
            add(&mut entrants, &loading, cores, state);
        }
    }
    Ok(entrants)
}

fn add(entrants: &mut Entrants, loading: &Rc<Loading>, cores: usize, state: State) {
    let x = cores as f64;
    let pinned = |series, copies, how: Load| {
        let paths = loading.paths(copies);
        loading.entrant(series, x, state, copies, move |target| {
            let _pinned = Pinned::to(cores)?;
            Ok(load(&paths, target, how)?)
        })
    };
    entrants.here.push(pinned(SEQUENTIAL, 1, own(1)));
    entrants.here.push(pinned(PARALLEL, 1, own(8)));
    entrants.here.push(pinned(MIRRORED, 2, own(8)));
    entrants.here.push(pinned(MAPPED, 1, Load { mapped: true, ..own(8) }));
    let path = loading.paths(1).remove(0);
    entrants.here.push(loading.entrant(SWATH, x, state, 1, move |target| {
        let _pinned = Pinned::to(cores)?;
        ReadOptions::new().read_into(path.as_path(), target)?;
        Ok(())
    }));
}

fn judge_cores(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let most = runs.places(PARALLEL, state).last().copied().unwrap_or(1.0);
    if most <= 1.0 {
        let because = "there is one core only".to_owned();
        return Finding { because, ..Finding::default() };
    }
    let ratio = runs.speed_up(key(most), key(1.0));
    let sentence = format!("8 threads on {most} cores are {{}} as fast as on one");
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.2))])
}
