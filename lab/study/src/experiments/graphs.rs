//! Study D: loading a graph, compared with reading its bytes.

use std::path::Path;

use anyhow::Result;
use swath::ReadOptions;

use super::limit::{MEMORY, memory};
use super::shape::{chart, over, states};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of};
use crate::fields::file::{FileField, FileScan};
use crate::fields::text::{TextField, TextKind, rows};
use crate::measure::{Entrants, Meter, Stage};
use crate::results::{Finding, Key, Measure, Selected, State};
use swath_profile::stats::Bound;

const SUM: &str = "sum through a map, all cores";
const SUM_SERIAL: &str = "sum through a map, one thread";
const BUFFERS: &str = "swath sum, small buffers";
const ROWS: &str = "swath, to compressed rows";
const ROWS_SERIAL: &str = "swath, to compressed rows, one thread";

/// Varies the size of the graph.
pub(super) const LOADING: Experiment = Experiment {
    id: "d-graph",
    study: Study::D,
    figure: "bandwidth per file of a byte sum, and of loading the same graph to compressed rows",
    claims: &[Claim::new("d-graph", judge)],
    scale: Scale {
        study: "graphs that would have to be downloaded",
        other: "graphs of the same kind that are made here, up to 1 GB",
        minutes: 4,
    },
    least_rounds: 5,
    charts: || {
        vec![
            chart("bandwidth by file", "MB", Measure::Rate).log_x().log_y(),
            chart("time by file", "MB", Measure::Seconds).log_x().log_y(),
            chart("how many times as long as the sum, as a speed", "MB", over(SUM, None))
                .log_x(),
        ]
    },
    entrants,
};

fn entrants(stage: &Stage) -> Result<Entrants> {
    let scales: &[u32] = stage.pick(&[8], &[14, 17], &[14, 16, 18, 20, 22]);
    let mut entrants = Entrants::default();
    for &scale in scales {
        let kind = TextKind::Edges { scale, count: 16 << scale };
        let graph = TextField::new(stage, &format!("graph-{scale}.mtx"), kind)?;
        // In MB.
        let x = (graph.input.made.bytes as f64 / 1e5).round() / 10.0;
        for &state in states(stage) {
            let file = FileField::of(stage, &graph.input).at(x, state);
            let loaded = |series, workers| {
                let load = move |path: &Path, meter: &mut Meter| rows(path, workers, meter);
                graph.entrant(series, state, load).at(x, state)
            };
            let one = ReadOptions::new().with_workers(1);
            entrants.here.extend([
                file.scanned(SUM_SERIAL, FileScan::SumMapped, one),
                file.scanned(SUM, FileScan::SumMapped, ReadOptions::new()),
                loaded(ROWS_SERIAL, 1),
                loaded(ROWS, 0),
                file.scanned(BUFFERS, FileScan::Sum, ReadOptions::new()),
            ]);
        }
        entrants.here.push(memory(stage, &graph.input, x, State::Warm)?);
    }
    Ok(entrants)
}

fn judge(runs: &Selected<'_>, state: State) -> Finding {
    let largest = runs.places(ROWS, state).last().copied().unwrap_or(0.0);
    let key = |series| Key { series, x: largest, state };
    let points = [("one thread", SUM_SERIAL, ROWS_SERIAL), ("all cores", SUM, ROWS)].map(
        |(who, sum, rows)| {
            let sentence = format!(
                "{largest} MB with {who}: a sum of the bytes is {{}} as fast as loading the graph"
            );
            let ratio = runs.speed_up(key(sum), key(rows));
            Point::new(sentence, ratio, Bound::AtLeast(3.0))
        },
    );
    let memory = Key { series: MEMORY, x: largest, state: State::Warm };
    all_of(runs, &points).with_limit(runs.speed_up(key(BUFFERS), memory))
}
