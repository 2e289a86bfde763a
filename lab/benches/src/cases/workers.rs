//! Runs more workers than cores: each number of workers is compared with the best of the other numbers.
//!
//! On a machine with few cores this shows contention: a convoy at a lock, a spin, a wake-up of all
//! workers for each chunk. It does not show the gain of more cores.

use crate::bench::{Bench, Size};
use crate::contestants::files;
use crate::contestants::write::{CHUNK, Chunks, into_folder, output, tree};
use anyhow::Result;
use rayon::ThreadPoolBuilder;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use swath::ReadOptions;
use swath::append::{AppendOptions, OrderedOptions, Writer};
use swath::ingest::IngestOptions;
use swath_study::fields::file::FileScan;
use swath_study::measure::{Entrant, Entrants, Goal};
use swath_study::results::State;

const WORKERS: [usize; 4] = [2, 8, 64, 256];
/// The required share of the best speed.
const SHARE: f64 = 0.95;

fn name(verb: &str, workers: usize) -> String {
    format!("{verb}, {workers} workers")
}

/// Returns an entrant for each number of workers, all with the same goal.
fn beside(verb: &str, entrant: impl Fn(&str, usize) -> Result<Entrant>) -> Result<Entrants> {
    let names = WORKERS.map(|workers| name(verb, workers));
    let goals: Vec<Goal> = names
        .iter()
        .map(|one| {
            let others: Vec<&String> = names.iter().filter(|other| *other != one).collect();
            Goal::speed(one, SHARE, &others)
        })
        .collect();
    let here = names.iter().zip(WORKERS).map(|(name, workers)| entrant(name, workers));
    Ok(Entrants::new(here.collect::<Result<Vec<_>>>()?, goals))
}

fn options(workers: usize) -> ReadOptions {
    ReadOptions::new().with_workers(workers)
}

/// Reads into existing memory.
pub(super) fn build_read(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?;
    beside("read", |name, workers| Ok(warm.read_into(name, options(workers))))
}

/// Sums a file.
pub(super) fn build_scan(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.numbers(size)?;
    beside("scan", |name, workers| Ok(warm.scanned(name, FileScan::Sum, options(workers))))
}

/// Counts lines in blocks of whole records.
pub(super) fn build_records(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.numbers(size)?;
    beside("records", |name, workers| {
        Ok(warm.scanned(name, FileScan::Records, options(workers)))
    })
}

/// Reads many files into memory that was used before.
pub(super) fn build_ingest(warm: &files::FilesSetting<'_>) -> Result<Entrants> {
    beside("ingest", |name, workers| {
        Ok(warm.with(name, IngestOptions::new().with_read(options(workers))))
    })
}

/// Writes chunks in order, each in a ticket.
pub(super) fn build_tickets(bench: &Bench, size: Size) -> Result<Entrants> {
    written(bench, size, "ordered", |workers| {
        Ok(move |chunks: &Chunks, folder: &Path| {
            let options = OrderedOptions::new().with_output(output());
            let out = options.with_chunk_size(CHUNK as u64).ordered(folder.join("out"))?;
            out.map_ordered(0..chunks.count(), workers, |index, ticket| {
                ticket.buffer().extend_from_slice(chunks.chunk(index));
                Ok::<_, swath::Error>(())
            })?;
            out.commit()?;
            Ok(())
        })
    })
}

/// Writes chunks in the strands of a tree of joins, on a pool with this many threads. The pool exists
/// before the timed run, as in a program that owns it.
pub(super) fn build_append(bench: &Bench, size: Size) -> Result<Entrants> {
    written(bench, size, "append", |workers| {
        let pool = ThreadPoolBuilder::new().num_threads(workers).build()?;
        Ok(move |chunks: &Chunks, folder: &Path| {
            let out = AppendOptions::new().with_output(output()).create(folder.join("out"))?;
            let write = |w: &mut Writer<'_>, index| w.write_all(chunks.chunk(index));
            pool.install(|| out.scope(|w| tree(w, 0..chunks.count(), 1, &write)))?;
            out.commit()?;
            Ok(())
        })
    })
}

fn written<W>(
    bench: &Bench,
    size: Size,
    verb: &str,
    write: impl Fn(usize) -> Result<W>,
) -> Result<Entrants>
where
    W: Fn(&Chunks, &Path) -> Result<()> + 'static,
{
    let chunks = Rc::new(Chunks::of(bench.bytes(size, State::None)?.input.made.bytes));
    let expected = chunks.expected();
    let room = usize::try_from(chunks.bytes()).unwrap_or(usize::MAX);
    beside(verb, |name, workers| {
        let (chunks, write) = (Rc::clone(&chunks), write(workers)?);
        Ok(into_folder(bench, name, expected, room, move |folder| write(&chunks, folder)))
    })
}
