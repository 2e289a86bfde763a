//! Compares the choice of `auto` with each fixed engine, on the same file.

use anyhow::Result;
use swath::{Engine, PageCache, ReadOptions};

use super::shape::{named_charts, states};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, told};
use crate::fields::file::{FileField, FileMemory, FileScan};
use crate::measure::{Entrants, Stage};
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::workload::FileContent;

const AUTO: &str = "auto";
const FIXED: [(&str, Engine); 4] = [
    ("serial", Engine::Serial),
    ("pool", Engine::Pool),
    ("ring", Engine::Ring),
    ("map", Engine::Map),
];
/// The verbs and the lengths of their files.
const PLACES: [&str; 5] =
    ["sum, 64 MiB", "read, 64 MiB", "sum, 1 GiB", "read, 1 GiB", "sum, 4 GiB"];

/// Compares `auto` with the engines.
pub(super) const AUTO_AND_FIXED: Experiment = Experiment {
    id: "s-auto",
    study: Study::S,
    figure: "bandwidth of `auto` and of each engine fixed by hand, keeping the page cache",
    claims: &[Claim::new("s-auto", judge)],
    scale: Scale { study: "", other: "64 MiB, 1 and 4 GiB", minutes: 10 },
    least_rounds: 5,
    charts: || named_charts("verb and length", &PLACES, [("bandwidth", Measure::Rate)]),
    entrants,
};

fn entrants(stage: &Stage) -> Result<Entrants> {
    let lens: &[u64] = stage.pick(&[1 << 18], &[64 << 20], &[64 << 20, 1 << 30, 4 << 30]);
    let mut entrants = Entrants::default();
    let settings = [(AUTO, Engine::Auto)].into_iter().chain(FIXED);
    for (x, &len) in (0_u8..).step_by(2).zip(lens) {
        // Reused memory, as in a program that reads file after file.
        let file = FileField::of(stage, &stage.file(FileContent::Bytes, len)?);
        for &state in states(stage) {
            for (series, engine) in settings.clone() {
                let keeping = ReadOptions::new().with_page_cache(PageCache::Keep);
                let options = keeping.with_engine(engine);
                let (sum, read) =
                    (file.at(f64::from(x), state), file.at(f64::from(x + 1), state));
                let summed = sum.scanned(series, FileScan::SumMapped, options.clone());
                entrants.here.push(summed);
                // A map is not read into memory, and 4 GiB may exceed the memory.
                if engine != Engine::Map && usize::from(x) + 1 < PLACES.len() {
                    entrants.here.push(read.read(series, FileMemory::Reused, options));
                }
            }
        }
    }
    Ok(entrants)
}

fn judge(runs: &Selected<'_>, state: State) -> Finding {
    let points = runs.places(AUTO, state).into_iter().map(|x| {
        let fixed = FIXED.map(|(series, _)| Key { series, x, state });
        let times = fixed.into_iter().filter_map(|key| Some((runs.time(key)?.estimate, key)));
        let best = times.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, key)| key);
        let ratio = best.and_then(|best| runs.speed_up(Key { series: AUTO, x, state }, best));
        let place = (0_u8..).zip(PLACES).find(|&(at, _)| f64::from(at) == x);
        let place = place.map_or("", |(_, place)| place);
        let name = best.map_or("", |best| best.series);
        let sentence = format!("{place}: `auto` is {{}} as fast as the best, `{name}`");
        Point::told(sentence, ratio)
    });
    told(&points.collect::<Vec<_>>())
}
