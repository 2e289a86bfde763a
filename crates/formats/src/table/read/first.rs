//! The first rows of a text that must be read, decompressed or decoded from its start: no more is
//! read than they need.
//!
//! ```text
//! first bytes    2 MiB       8 MiB            32 MiB           four times as many each time
//! trial          table? no   table? no        table? yes
//! no             the table needs bytes beyond these
//! yes            nothing that follows can change the result
//! ```

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath::machine::Mutex;
use swath::{Input, Output, ReadAt, ReadOptions, Reader, Source, SourceFacts};

use super::batches::Batches;
use crate::compressed::{DecompressOptions, Format};
use crate::error::{Error, FormatReason, Result};
use crate::input::{Grown, HEAD, InputText, check_end};
use crate::table::open::file::{self, TableFile};
use crate::table::open::table::Table;
use crate::table::options::BatchOptions;

/// Bytes of the first trial: more than a sample of ordinary records takes.
const FIRST: usize = 2 << 20;
/// Bytes that are read at a time.
const CHUNK: usize = 256 << 10;

/// Makes batches of a table.
type Make = fn(Table) -> Result<Batches>;

/// Opens a source of which the first rows are needed, and makes batches of them.
pub(in crate::table) fn open(
    source: Source,
    options: &BatchOptions,
    make: Make,
) -> Result<Batches> {
    let input = Input::open(source)?;
    let usual = || make(Table::open(vec![Source::from(&input)], options)?);
    if input.is_device() || !options.read.is_whole() || options.starting_in.is_some() {
        return usual();
    }
    let mut options = options.clone();
    options.read = options.read.without_progress();
    let trial = Trial::new(options, input.name(), make);
    if let Some(len) = input.len() {
        let first = ReadOptions::new().with_workers(1).with_len(len.min(HEAD as u64));
        let head = first.read(&input)?.buffer;
        if Format::is_certain(&head) {
            return unpacked(Source::from(&input), trial);
        }
        if file::is_plain(&head, &trial.options) {
            return usual();
        }
    }
    in_order(&input, trial)
}

/// Reads a text from its start.
fn in_order(input: &Input, mut trial: Trial) -> Result<Batches> {
    let mut reader = trial.options.read.reader(input)?;
    let mut bytes = vec![0; CHUNK];
    let mut len = 0;
    while len < HEAD {
        match read(&mut reader, &mut bytes[len..], input.name())? {
            0 => break,
            more => len += more,
        }
    }
    if Format::is_certain(&bytes[..len]) {
        bytes.truncate(len);
        let rest =
            StreamRest { head: bytes, rest: Mutex::new(reader), name: input.name().to_owned() };
        return unpacked(Source::custom(Arc::new(rest)), trial);
    }
    while len > 0 {
        if trial.push(&bytes[..len]) {
            break;
        }
        len = read(&mut reader, &mut bytes, input.name())?;
    }
    trial.end()
}

fn read(reader: &mut Reader, bytes: &mut [u8], path: &Path) -> Result<usize> {
    reader.read(bytes).map_err(|error| Error::from_io(error, path))
}

/// Decompresses a text from its start.
fn unpacked(source: Source, trial: Trial) -> Result<Batches> {
    let (path, read) = (trial.path.clone(), trial.options.read.clone());
    let shared = Arc::new(Mutex::new(trial));
    let output = Output::stream(Tried(Arc::clone(&shared)), &path);
    let ended = DecompressOptions::new().with_read(read).decompress(source, output);
    let mut trial = shared.lock();
    if trial.done.is_none() {
        check_end(&path, &ended?)?;
    }
    trial.end()
}

/// The first bytes of a text, and the table once they suffice.
struct Trial {
    options: BatchOptions,
    path: PathBuf,
    make: Make,
    text: Grown,
    /// Bytes at which the next trial is due.
    next: usize,
    done: Option<Result<Batches>>,
}

impl Trial {
    fn new(options: BatchOptions, path: &Path, make: Make) -> Self {
        let path = path.to_owned();
        Self { options, path, make, text: Grown::default(), next: FIRST, done: None }
    }

    /// Adds bytes; returns whether the trial needs no more.
    fn push(&mut self, bytes: &[u8]) -> bool {
        if self.done.is_some() {
            return true;
        }
        if self.text.grow(bytes.len()).is_none() {
            self.done = Some(Err(self.no_room()));
            return true;
        }
        self.text.bytes.extend_from_slice(bytes);
        if self.text.bytes.len() >= self.next {
            self.next = self.text.bytes.len().saturating_mul(4);
            let is_short = Arc::new(AtomicBool::new(false));
            let table = self.table(Some(Arc::clone(&is_short)));
            // Relaxed: all workers have ended.
            if !is_short.load(Ordering::Relaxed) {
                self.done = Some(table);
            }
        }
        self.done.is_some()
    }

    /// Returns the table once the bytes end or suffice.
    fn end(&mut self) -> Result<Batches> {
        match self.done.take() {
            Some(done) => done,
            None => self.table(None),
        }
    }

    fn table(&mut self, cut: Option<Arc<AtomicBool>>) -> Result<Batches> {
        let bytes = Arc::new(std::mem::take(&mut self.text.bytes));
        let text = InputText::in_memory(Arc::clone(&bytes), &self.path, cut);
        let file = text.and_then(|text| TableFile::of(text, &self.options));
        let table = Table::of(std::iter::once(file), &self.options).and_then(self.make);
        self.text.bytes = Arc::unwrap_or_clone(bytes);
        table
    }

    fn no_room(&self) -> Error {
        let detail = format!(
            "its first rows take more than {} bytes, and there is not enough memory",
            self.text.bytes.len()
        );
        let error = Error::reading(&self.path, FormatReason::OutOfMemory, detail);
        error.hint("look for a quote that is not closed")
    }
}

/// Passes decompressed bytes to a trial until they suffice.
struct Tried(Arc<Mutex<Trial>>);

impl Write for Tried {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut trial = self.0.lock();
        match trial.push(bytes) {
            true => Err(io::Error::other("no more is needed")),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream whose first bytes have been read, read in order.
struct StreamRest {
    head: Vec<u8>,
    rest: Mutex<Reader>,
    name: PathBuf,
}

impl ReadAt for StreamRest {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(None))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        match self.head.get(at..).filter(|head| !head.is_empty()) {
            Some(head) => {
                let len = head.len().min(target.len());
                target[..len].copy_from_slice(&head[..len]);
                Ok(len)
            }
            None => self.rest.lock().read(target),
        }
    }

    fn name(&self) -> PathBuf {
        self.name.clone()
    }
}
