//! Verbs of one process: measured on the cores of this machine, predicted for more.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Result, ensure};
use swath::append::OrderedOptions;
use swath::ingest::IngestOptions;
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};

use super::super::shape::{chart, metric, powers_of_two};
use super::names::{RATIO, VERBS as NAMES, busy, measured_series, predicted_series};
use super::{COMMON, claims};
use crate::experiment::{Experiment, Scale};
use crate::fields::file::{FileField, FileScan};
use crate::fields::grove::Grove;
use crate::limits;
use crate::many::tree::{Spread, Tree};
use crate::measure::{Entrant, Entrants, Meter, Outcome, Stage};
use crate::results::{Measure, State};
use crate::scale::Bandwidth;
use crate::scale::cores::{Block, Machine, Rates, SHARED, predict};
use crate::workload::FileContent;

/// Varies the number of cores.
pub(in crate::experiments) const VERBS: Experiment = Experiment {
    id: "s-verbs",
    figure: "verbs by number of cores: measured on those that are here, predicted past them",
    claims: claims::VERBS,
    scale: Scale {
        other: "1 to 64 cores, computed from what blocks take here",
        ..COMMON.scale
    },
    charts: || {
        let by = |title: &str, y| chart(title, "cores", y).log_x();
        let shares =
            SHARED.map(|what| by(&format!("{what}: share of the time"), metric(&busy(what))));
        let times = [
            by("time", Measure::Seconds).log_y(),
            by("times as fast as one core", metric("speed_up")),
        ];
        times.into_iter().chain(shares).collect()
    },
    entrants: verbs,
    ..COMMON
};

/// The most predicted cores.
const MOST: usize = 64;
/// Bytes a second from the memory of a server with many channels: an assumption.
const SERVER_MEMORY: f64 = 200e9;
/// Bytes of a block of records or of a chunk.
const BLOCK: u64 = 1 << 20;
const LEASE: u64 = 2 * BLOCK;
/// Files of a claim, and bytes of each.
const CLAIM: u64 = 32;
const FILE: u64 = 10_000;
const BLOCK_LEN: usize = 1 << 20;
const FILE_ROOM: usize = 1 << 16;

/// The files that the verbs read and write.
struct Inputs {
    lines: FileField,
    files: Rc<Grove>,
    output: PathBuf,
}

/// A verb, and the costs of one block. The locks are the bound that the library's tests check.
struct Verb {
    name: &'static str,
    blocks: usize,
    block: Block,
    /// Bytes that one core reads a second.
    each: f64,
    /// Bytes of all blocks.
    bytes: u64,
    run: VerbRun,
}

/// Makes an entrant for a series and a number of workers.
type VerbRun = fn(&Rc<Inputs>, &str, usize) -> Entrant;

impl Inputs {
    fn of(stage: &Stage) -> Result<Self> {
        let size = stage.pick(4 << 20, 64 << 20, 512 << 20);
        let files = stage.pick(64, 2_000, 10_000);
        let tree = Tree { files, size: FILE, spread: Spread::Even, seed: stage.seed };
        let lines = stage.file(FileContent::CsvNumbers, size)?;
        // Warm in the rounds, too.
        lines.bring(State::Warm)?;
        Ok(Self {
            lines: FileField::of(stage, &lines).at(0.0, State::None),
            files: Grove::new(stage, "verbs", &tree)?,
            output: stage.output("verbs-output"),
        })
    }

    fn verbs(&self, rates: &Rates) -> Result<[Verb; 5]> {
        let bytes = self.lines.input.made.bytes;
        let blocks = |size: u64| usize::try_from(bytes.div_ceil(size));
        let len = BLOCK as f64;
        let read = Verb {
            name: NAMES[0],
            blocks: blocks(LEASE)?,
            block: Block { locks: 3.0, bytes_in: LEASE as f64, ..Block::default() },
            each: rates.to_memory,
            bytes,
            run: |inputs, series, workers| inputs.lines.read_into(series, reading(workers)),
        };
        let block = Block { bytes_in: len, ..Block::default() };
        let scan = Verb {
            name: NAMES[1],
            blocks: blocks(BLOCK)?,
            block: Block { locks: 5.0, compute_s: len / rates.sum, ..block },
            each: rates.to_cache,
            run: |inputs, series, workers| {
                inputs.lines.scanned(series, FileScan::Sum, reading(workers))
            },
            ..read
        };
        let records = Verb {
            name: NAMES[2],
            block: Block { locks: 3.0, compute_s: len / rates.lines, ..block },
            run: |inputs, series, workers| {
                inputs.lines.scanned(series, FileScan::Records, reading(workers))
            },
            ..scan
        };
        let claim_s = self.file_s()? * CLAIM as f64;
        let ingest = Verb {
            name: NAMES[3],
            blocks: usize::try_from(self.files.made.files.div_ceil(CLAIM))?,
            block: Block { locks: 3.0, compute_s: claim_s, ..Block::default() },
            bytes: self.files.made.bytes,
            run: |inputs, series, workers| {
                let options = IngestOptions::new().with_read(reading(workers));
                inputs.files.ingested(series, State::None, 0, options)
            },
            ..scan
        };
        let append = Verb {
            name: NAMES[4],
            block: Block {
                locks: 4.0,
                wake_ups: 1.0,
                compute_s: len / rates.to_cache + len / rates.copy,
                bytes_out: len,
                ..Block::default()
            },
            run: append,
            ..scan
        };
        Ok([read, scan, records, ingest, append])
    }

    /// Measures the seconds that one thread takes for one file, which is warm as in the rounds.
    fn file_s(&self) -> Result<f64> {
        let mut room = vec![0; FILE_ROOM];
        let mut read_all = || {
            let begun = Instant::now();
            self.files
                .paths
                .iter()
                .try_for_each(|path| limits::bare_read(path, &mut room).map(drop))?;
            anyhow::Ok(begun.elapsed().as_secs_f64())
        };
        read_all()?;
        Ok(read_all()? / self.files.paths.len().max(1) as f64)
    }
}

fn reading(workers: usize) -> ReadOptions {
    ReadOptions::new().with_workers(workers)
}

/// Copies the blocks in order, each through a ticket.
fn append(inputs: &Rc<Inputs>, series: &str, workers: usize) -> Entrant {
    let here = Rc::clone(inputs);
    Entrant::new(series, inputs.lines.input.expected(), move |meter| {
        let output = OutputOptions::new().with_durability(Durability::None);
        let options = OrderedOptions::new().with_output(output);
        let out = options.with_chunk_size(BLOCK).ordered(&here.output)?;
        let file = fs::File::open(&here.lines.input.path)?;
        let len = here.lines.input.made.bytes;
        meter.measure(|| {
            let starts = (0..len).step_by(BLOCK_LEN);
            out.map_ordered(starts, workers, |start, ticket| {
                let part = usize::try_from((len - start).min(BLOCK))?;
                ticket.buffer().resize(part, 0);
                std::os::unix::fs::FileExt::read_exact_at(&file, ticket.buffer(), start)
                    .map_err(anyhow::Error::from)
            })?;
            out.commit()?;
            anyhow::Ok(())
        })??;
        read_back(&here.output)
    })
}

fn read_back(path: &Path) -> Result<Outcome> {
    let bytes = fs::read(path)?;
    fs::remove_file(path)?;
    Ok(Outcome::of(&bytes, 1))
}

fn verbs(stage: &Stage) -> Result<Entrants> {
    let inputs = Rc::new(Inputs::of(stage)?);
    let here = stage.workers;
    let path = &inputs.lines.input.path;
    let (machine, rates) = Machine::measure(path, &stage.output("rate"), here)?;
    let mut entrants = Entrants::default();
    for verb in inputs.verbs(&rates)? {
        for (memory, all) in [(None, machine.read.all), (Some(SERVER_MEMORY), SERVER_MEMORY)] {
            // All cores together read at least as fast as one.
            let read = Bandwidth { all: all.max(verb.each), each: verb.each };
            let machine = Machine { read, ..machine };
            let series = predicted_series(verb.name, memory.is_some());
            for cores in powers_of_two(MOST) {
                entrants.here.push(predicted(&series, &verb, machine, cores)?);
            }
        }
        let read = Bandwidth { all: machine.read.all.max(verb.each), each: verb.each };
        let machine = Machine { read, ..machine };
        for workers in [1, 2].into_iter().filter(|&workers| workers <= here) {
            let expects = predict(&verb.block, &machine, verb.blocks, workers)?.seconds;
            let entrant = (verb.run)(&inputs, &measured_series(verb.name), workers);
            let entrant = entrant.noting(move |meter| {
                meter.note(RATIO, expects / meter.seconds());
            });
            entrants.here.push(entrant.at(workers as f64, State::None));
        }
    }
    Ok(entrants)
}

/// Returns an entrant that reports the prediction for a verb, the same in each round.
fn predicted(series: &str, verb: &Verb, machine: Machine, cores: usize) -> Result<Entrant> {
    let one = predict(&verb.block, &machine, verb.blocks, 1)?.seconds;
    let found = predict(&verb.block, &machine, verb.blocks, cores)?;
    ensure!(found.seconds > 0.0, "{series}: nothing takes time");
    let expected = Outcome { bytes: verb.bytes, checksum: cores as u64 };
    let work = move |meter: &mut Meter| {
        meter.took(found.seconds);
        meter.note("speed_up", one / found.seconds);
        let shares = [found.busy.client, found.busy.read, found.busy.write];
        for (what, share) in SHARED.into_iter().zip(shares) {
            meter.note(&busy(what), share);
        }
        Ok(expected)
    };
    Ok(Entrant::new(series, expected, work).at(cores as f64, State::None))
}
