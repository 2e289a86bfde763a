//! Study A: loading with fewer cores, and with less memory than the file has.

use std::fs;
use std::rc::Rc;

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use swath::{PageCache, ReadOptions};
use swath_os::memory_limit::MemoryLimit;

use super::loading::{
    Loading, MAPPED, MIRRORED, PARALLEL, SEQUENTIAL, SWATH, charts_by_workers, own,
};
use super::shape::{chart, metric, powers_of_two};
use crate::experiment::{Claim, Entrant, Entrants, Experiment, Stage, Study, all_of};
use crate::loading::{Load, load};
use crate::peers::Absent;
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::stats::Bound;

const MB: u64 = 1_000_000;
/// Swath with the page cache left as it is.
const KEEPING: &str = "swath, into the page cache";

/// By cores.
pub(super) const CORES: Experiment = Experiment {
    id: "a-cores",
    study: Study::A,
    figure: "time by cores, 8 threads, chunks of 1,024 bytes",
    claim: "Eight threads load faster the more cores there are.",
    least_rounds: 5,
    charts: || charts_by_workers("cores"),
    entrants: by_cores,
    judge: judge_cores,
};

/// By memory.
pub(super) const MEMORY: Experiment = Experiment {
    id: "a-memory",
    study: Study::A,
    figure: "time, major faults and swapping of a second pass, by a limit of memory",
    claim: "With less memory than the file has, loading it again is slower.",
    least_rounds: 5,
    charts: || {
        let x = "memory, % of the file";
        vec![
            chart("time of the second pass", x, Measure::Seconds).log_x().log_y(),
            chart("major page faults", x, metric("major_faults", "")).log_x(),
            chart("pages swapped, by the whole machine", x, metric("swapped_pages", ""))
                .log_x(),
            chart("voluntary context switches", x, metric("voluntary_switches", "")).log_x(),
        ]
    },
    entrants: by_memory,
    judge: judge_memory,
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
    for cores in powers_of_two(stage.workers()) {
        let place = |series| (series, cores as f64, State::Warm);
        let pinned = |place: (&str, f64, State), copies, how: Load| {
            let paths = loading.paths(copies);
            loading.entrant(place, copies, move |target| {
                let _pinned = Pinned::to(cores)?;
                Ok(load(&paths, target, how)?)
            })
        };
        entrants.here.push(pinned(place(SEQUENTIAL), 1, own(1)));
        entrants.here.push(pinned(place(PARALLEL), 1, own(8)));
        entrants.here.push(pinned(place(MIRRORED), 2, own(8)));
        entrants.here.push(pinned(place(MAPPED), 1, Load { mapped: true, ..own(8) }));
        let path = loading.paths(1).remove(0);
        entrants.here.push(loading.entrant(place(SWATH), 1, move |target| {
            let _pinned = Pinned::to(cores)?;
            ReadOptions::new().read_into(path.as_path(), target)?;
            Ok(())
        }));
    }
    Ok(entrants)
}

fn judge_cores(runs: &Selected<'_>) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state: State::Warm };
    let most = runs.places(PARALLEL, State::Warm).last().copied().unwrap_or(1.0);
    if most <= 1.0 {
        let because = "there is one core only".to_owned();
        return Finding { because, ..Finding::default() };
    }
    let ratio = runs.speed_up(key(most), key(1.0));
    let what = format!("{most} cores against one, as fast as");
    all_of(&[Claim::new(what, ratio, Bound::AtLeast(1.2))])
}

/// Limits, in per cent of the file.
const SHARES: [u64; 4] = [25, 50, 100, 400];
/// Less than this leaves the kernel no room to work in.
const LEAST_LIMIT: u64 = 8 << 20;

fn by_memory(stage: &Stage) -> Result<Entrants> {
    let mut entrants = Entrants::default();
    if let Err(error) = MemoryLimit::new(1 << 30).and_then(|limit| limit.enter().map(drop)) {
        entrants.absent.push(Absent::new("a limit of memory", error.to_string()));
        return Ok(entrants);
    }
    let size = stage.pick(MB / 4, 48 * MB, 500 * MB);
    let loading = Loading::new(stage, size, 1)?;
    for share in SHARES {
        let limit = (size * share / 100).max(LEAST_LIMIT);
        let place = |series| (series, share as f64, State::None);
        let path = loading.paths(1);
        let how = own(8);
        let parallel = path.clone();
        entrants.here.push(twice(&loading, place(PARALLEL), limit, move |target| {
            Ok(load(&parallel, target, how)?)
        }));
        let mapped = path.clone();
        entrants.here.push(twice(&loading, place(MAPPED), limit, move |target| {
            Ok(load(&mapped, target, Load { mapped: true, ..how })?)
        }));
        for (series, page_cache) in [(KEEPING, PageCache::Keep), (SWATH, PageCache::Auto)] {
            let path = path[0].clone();
            let options = ReadOptions::new().with_page_cache(page_cache);
            entrants.here.push(twice(&loading, place(series), limit, move |target| {
                options.read_into(path.as_path(), target)?;
                Ok(())
            }));
        }
    }
    Ok(entrants)
}

/// Times the second of two passes, both under a limit and the first from the device. The memory
/// that is read into was taken before, so the limit is for the page cache.
fn twice(
    loading: &Rc<Loading>,
    place: (&str, f64, State),
    limit: u64,
    fill: impl Fn(&mut [u8]) -> Result<()> + 'static,
) -> Entrant {
    let input = loading.input();
    loading.measured(place, 1, move |target, meter| {
        input.bring(State::Cold)?;
        let limit = MemoryLimit::new(limit)?;
        let _inside = limit.enter()?;
        fill(target)?;
        let before = swapped_pages();
        meter.measure(|| fill(target))??;
        if let (Some(before), Some(after)) = (before, swapped_pages()) {
            meter.note("swapped_pages", after.saturating_sub(before) as f64);
        }
        Ok(())
    })
}

/// Pages that went to the swap and came from it since the machine started.
fn swapped_pages() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse::<u64>().ok()
    };
    Some(count("pswpin ")? + count("pswpout ")?)
}

fn judge_memory(runs: &Selected<'_>) -> Finding {
    let state = State::None;
    let claims = [PARALLEL, MAPPED].map(|series| {
        let key = |x| Key { series, x, state };
        let places = runs.places(series, state);
        let (least, most) = (places.first().copied(), places.last().copied());
        let ratio =
            least.zip(most).and_then(|(least, most)| runs.speed_up(key(most), key(least)));
        let what = format!(
            "{series}, room for all of it against {} % of it, as fast as",
            least.unwrap_or(0.0)
        );
        Claim::new(what, ratio, Bound::AtLeast(1.2))
    });
    all_of(&claims)
}
