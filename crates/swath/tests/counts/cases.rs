//! The same work with any number of workers, for tests that count what it takes. The library's own
//! tests use it too: only they see its locks.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use swath::append::{self, Ordered, OrderedOptions, Writer};
use swath::ingest::IngestOptions;
use swath::{ReadOptions, Result};

/// Bytes of a chunk, and chunks of the file: the units of work.
const CHUNK: u64 = 64 << 10;
pub(crate) const CHUNKS: u64 = 256;
/// Small files, read in claims.
pub(crate) const FILES: u64 = 2_000;
pub(crate) const WORKERS: [usize; 4] = [1, 2, 8, 64];

/// Does the work of a case.
pub(crate) type Run = fn(&Inputs, usize) -> Result<()>;

/// The inputs and outputs of the cases.
pub(crate) struct Inputs {
    lines: PathBuf,
    files: PathBuf,
    output: PathBuf,
}

fn options(workers: usize) -> ReadOptions {
    ReadOptions::new().with_workers(workers).with_chunk_size(CHUNK)
}

pub(crate) fn read(inputs: &Inputs, workers: usize) -> Result<()> {
    options(workers).read(&inputs.lines).map(drop)
}

pub(crate) fn scan(inputs: &Inputs, workers: usize) -> Result<()> {
    let fold = |chunk: swath::Chunk<'_>| chunk.bytes.len();
    options(workers).scan(&inputs.lines, fold, |one, other| one + other).map(drop)
}

pub(crate) fn map_blocks(inputs: &Inputs, workers: usize) -> Result<()> {
    let lines = |block: swath::Block<'_>| -> Result<usize> { Ok(block.records().count()) };
    options(workers).records(&inputs.lines).map_blocks(lines).map(drop)
}

pub(crate) fn in_turn(inputs: &Inputs, workers: usize) -> Result<()> {
    let look = |block: swath::Block<'_>| -> Result<usize> { Ok(block.records().count()) };
    let records = options(workers).records(&inputs.lines);
    records.map_blocks_in_turn(look, Ok, |_, before| Ok(before)).map(drop)
}

pub(crate) fn transform(inputs: &Inputs, workers: usize) -> Result<()> {
    let copy = |line: &[u8], to: &mut Vec<u8>| -> Result<()> {
        to.extend_from_slice(line);
        Ok(())
    };
    options(workers).records(&inputs.lines).transform(&*inputs.output, copy).map(drop)
}

pub(crate) fn ingest(inputs: &Inputs, workers: usize) -> Result<()> {
    let options = IngestOptions::new().with_read(ReadOptions::new().with_workers(workers));
    options.ingest(&*inputs.files).map(drop)
}

/// As a program takes tickets in threads of its own: each waits for a place by itself.
pub(crate) fn tickets(inputs: &Inputs, workers: usize) -> Result<()> {
    let output = OrderedOptions::new().with_window(2 * workers).ordered(&inputs.output)?;
    let each = CHUNKS.div_ceil(workers as u64);
    let wrote = |ordered: &Ordered| {
        for _ in 0..each {
            let mut ticket = ordered.ticket()?;
            ticket.buffer().resize(1000, 7);
            ticket.done()?;
        }
        Ok::<(), swath::Error>(())
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| drop(scope.spawn(|| wrote(&output).expect("room"))));
    });
    output.commit().map(drop)
}

pub(crate) fn forks(inputs: &Inputs, workers: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("threads");
    let output = append::create(&inputs.output)?;
    pool.install(|| output.scope(|w| tree(w, CHUNKS))).expect("room");
    output.commit().map(drop)
}

fn tree(w: &mut Writer<'_>, leaves: u64) -> io::Result<()> {
    match leaves {
        1 => w.write_all(&[7; 1000]),
        _ => w.join(|w| tree(w, leaves / 2), |w| tree(w, leaves / 2)).map(drop),
    }
}

impl Inputs {
    pub(crate) fn made(folder: &Path) -> Self {
        let inputs = Self::of(folder);
        let line = "a line of thirty-two characters\n";
        let lines = line.repeat(usize::try_from(CHUNK * CHUNKS).expect("16 MiB") / line.len());
        fs::write(&inputs.lines, lines).expect("room");
        fs::create_dir(&inputs.files).expect("a folder");
        for index in 0..FILES {
            fs::write(inputs.files.join(index.to_string()), [7; 100]).expect("room");
        }
        inputs
    }

    /// Those that were made in a folder.
    pub(crate) fn of(folder: &Path) -> Self {
        let [lines, files, output] = ["lines", "files", "output"].map(|name| folder.join(name));
        Self { lines, files, output }
    }

    /// Removes the output of the case before.
    pub(crate) fn clear(&self) {
        let _ = fs::remove_file(&self.output);
    }
}
