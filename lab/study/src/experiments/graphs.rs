//! Study D: loading a graph, compared with reading its bytes.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::{ReadOptions, Scanned};

use super::limit::{MEMORY, memory};
use super::shape::{chart, over, states};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of};
use crate::fields::contracts::unsynced;
use crate::fields::graph::rows;
use crate::fields::sums::mapped;
use crate::measure::{Entrant, Entrants, Input, Meter, Outcome, Stage};
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::workload::Generated;
use crate::workload::graph::{Rmat, Text};
use swath_profile::stats::Bound;

const SUM: &str = "sum through a map, all cores";
const SUM_SERIAL: &str = "sum through a map, one thread";
const BUFFERS: &str = "swath sum, small buffers";
const ROWS: &str = "swath, to compressed rows";
const ROWS_SERIAL: &str = "swath, to compressed rows, one thread";

/// By the size of the graph.
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

/// A graph as text, and its content.
struct Graph {
    input: Rc<Input>,
    /// Places in MB.
    x: f64,
    /// Rows and columns of all edges added up.
    ends: u64,
}

impl Graph {
    fn new(stage: &Stage, scale: u32, edges: u64) -> Result<Self> {
        let rmat = Rmat::new(scale, edges).with_seed(stage.seed);
        let input = stage.made(&format!("graph-{scale}.mtx"), |path| {
            let bytes = rmat.write(Text::MatrixMarket, 0, unsynced(path)?)?.bytes;
            Ok(Generated { bytes, lines: edges, sum: ReadOptions::new().sum(path)?.value })
        })?;
        let ends = (0..edges).map(|index| rmat.edge(index)).map(|(from, to)| from + to).sum();
        let x = (input.made.bytes as f64 / 1e5).round() / 10.0;
        Ok(Self { input, x, ends })
    }

    fn entrant(
        &self,
        series: &str,
        state: State,
        load: impl Fn(&Input, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        self.input.entrant(series, state, load).at(self.x, state)
    }

    fn sum(
        &self,
        series: &str,
        state: State,
        sum: impl Fn(&Path) -> Result<Scanned<u64>> + 'static,
    ) -> Entrant {
        self.entrant(series, state, move |input, meter| {
            let scanned = meter.measure(|| sum(&input.path))??;
            Ok(Outcome { bytes: scanned.report.bytes, checksum: scanned.value })
        })
    }

    fn rows(&self, series: &str, state: State, workers: usize) -> Entrant {
        let load = move |input: &Input, meter: &mut Meter| {
            let checksum = rows(&input.path, workers, meter)?.sum;
            Ok(Outcome { checksum, ..input.expected() })
        };
        self.entrant(series, state, load).giving(self.ends)
    }
}

fn entrants(stage: &Stage) -> Result<Entrants> {
    let scales: &[u32] = stage.pick(&[8], &[14, 17], &[14, 16, 18, 20, 22]);
    let mut entrants = Entrants::default();
    for &scale in scales {
        let graph = Graph::new(stage, scale, 16 << scale)?;
        for &state in states(stage) {
            let one = ReadOptions::new().with_workers(1);
            entrants.here.push(graph.sum(SUM_SERIAL, state, move |path| mapped(&one, path)));
            let all = ReadOptions::new();
            entrants.here.push(graph.sum(SUM, state, move |path| mapped(&all, path)));
            entrants.here.push(graph.rows(ROWS_SERIAL, state, 1));
            entrants.here.push(graph.rows(ROWS, state, 0));
            let buffers = |path: &Path| Ok(ReadOptions::new().sum(path)?);
            entrants.here.push(graph.sum(BUFFERS, state, buffers));
        }
        entrants.here.push(memory(stage, &graph.input, graph.x, State::Warm)?);
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
