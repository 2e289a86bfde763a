//! Study D: loading a graph beside going through its bytes.

use std::fs::File;
use std::rc::Rc;

use anyhow::{Result, bail};
use swath::append::OrderedOptions;
use swath::maps::Guard;
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::matrix::{AnyCsr, MatrixOptions};

use super::limit::{MEMORY, memory};
use super::shape::{chart, read, states};
use crate::experiment::{
    Entrant, Entrants, Experiment, Input, Meter, Outcome, Point, Scale, Stage, Study, all_of,
};
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::stats::Bound;
use crate::workload::Generated;
use crate::workload::graph::{Rmat, Text};

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
    claims: &[read(
        "d-graph",
        "Going through a mapped file is far faster than loading the graph in it: parsing, not \
             reading, is what a graph loader waits for.",
        "",
        "Of the largest graph, a sum of its bytes is at least 3 × as fast as loading it, with one \
         thread and with all.",
        judge,
    )],
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
            chart(
                "how many times as long as the sum, as a speed",
                "MB",
                Measure::SpeedUp { series: SUM.to_owned(), x: None },
            )
            .log_x(),
        ]
    },
    entrants,
};

/// A graph as text, and what is in it.
struct Graph {
    input: Rc<Input>,
    /// Places in MB.
    x: f64,
    /// Rows and columns of all edges added up.
    ends: u64,
}

impl Graph {
    fn new(stage: &Stage, scale: u32, edges: u64) -> Result<Self> {
        let rmat = Rmat::new(scale, edges).with_seed(stage.seed());
        let input = stage.made(&format!("graph-{scale}.mtx"), |path| {
            let output = OutputOptions::new().with_durability(Durability::None);
            let output = OrderedOptions::new().with_output(output).ordered(path)?;
            let bytes = rmat.write(Text::MatrixMarket, 0, output)?.bytes;
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
        checksum: u64,
        load: impl Fn(&Input, &mut Meter) -> Result<u64> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(&self.input), Rc::clone(&self.input));
        let expected = Outcome { bytes: here.made.bytes, checksum };
        let work = move |meter: &mut Meter| {
            let checksum = load(&here, meter)?;
            Ok(Outcome { checksum, ..expected })
        };
        Entrant::new(series, self.x, state, expected, work)
            .with_before(move || before.bring(state))
    }

    /// Opening and guarding is part of it.
    fn mapped(&self, series: &str, state: State, options: ReadOptions) -> Entrant {
        self.entrant(series, state, self.input.made.sum, move |input, meter| {
            meter.measure(|| {
                let file = File::open(&input.path)?;
                let guard = Guard::install(&file, &input.path)?;
                Ok(options.sum_mapped(guard, input.path.as_path())?.value)
            })?
        })
    }

    fn rows(&self, series: &str, state: State, workers: usize) -> Entrant {
        let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
        self.entrant(series, state, self.ends, move |input, meter| {
            let read = meter.measure(|| options.read_rows(&input.path))??;
            let AnyCsr::U32(graph) = read else { bail!("it needs no 64 bits") };
            let columns = graph.columns.iter().map(|&id| u64::from(id)).sum::<u64>();
            let lens = graph.offsets.windows(2).map(|pair| pair[1] - pair[0]);
            let rows = (0..).zip(lens).map(|(row, len): (u64, u64)| row * len).sum::<u64>();
            Ok(rows + columns)
        })
    }
}

fn entrants(stage: &Stage) -> Result<Entrants> {
    let scales: &[u32] = stage.pick(&[8], &[14, 17], &[14, 16, 18, 20, 22]);
    let mut entrants = Entrants::default();
    for &scale in scales {
        let graph = Graph::new(stage, scale, 16 << scale)?;
        for &state in states(stage) {
            let one = ReadOptions::new().with_workers(1);
            entrants.here.push(graph.mapped(SUM_SERIAL, state, one));
            entrants.here.push(graph.mapped(SUM, state, ReadOptions::new()));
            entrants.here.push(graph.rows(ROWS_SERIAL, state, 1));
            entrants.here.push(graph.rows(ROWS, state, 0));
            let sum = graph.input.made.sum;
            entrants.here.push(graph.entrant(BUFFERS, state, sum, |input, meter| {
                let sum = || ReadOptions::new().sum(input.path.as_path());
                Ok(meter.measure(sum)??.value)
            }));
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
