//! Ways to write many chunks to a disk; fsync included.

use crate::bench::Bench;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use swath::OutputOptions;
use swath::append::{self, Direct, OrderedOptions};
use swath::sink::Durability;
use swath_os::direct::reopen_direct_to_write;
use swath_os::memory::Pages;
use swath_plan::random::SplitMix64;
use swath_study::cache;
use swath_study::limits;
use swath_study::measure::{Entrant, Outcome};

/// Bytes of one chunk: not a multiple of a device's unit.
pub(crate) const CHUNK: usize = (1 << 20) + 37;

/// The chunks that each contestant writes. A pattern is copied into a buffer, as a program formats
/// its output.
pub(crate) struct Chunks {
    pattern: Vec<u8>,
    count: usize,
}

impl Chunks {
    /// Returns as many chunks as fit into `bytes`, at least one.
    pub(crate) fn of(bytes: u64) -> Self {
        let mut random = SplitMix64::new(1);
        let words = std::iter::repeat_with(|| random.next_word().to_le_bytes());
        let pattern = words.take(CHUNK / 4).flatten().collect();
        let count = usize::try_from(bytes).unwrap_or(usize::MAX) / CHUNK;
        Self { pattern, count: count.max(1) }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn chunk(&self, index: usize) -> &[u8] {
        let start = index * 4099 % (self.pattern.len() - CHUNK);
        &self.pattern[start..start + CHUNK]
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.count * CHUNK) as u64
    }

    pub(crate) fn expected(&self) -> Outcome {
        let sums = (0..self.count).map(|index| limits::memory_sum(self.chunk(index), 1));
        Outcome { bytes: self.bytes(), checksum: sums.sum() }
    }
}

/// The way to write the chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// One thread, one file.
    Serial,
    /// A file for each thread, through the page cache.
    OwnFiles,
    /// A file for each thread, aligned and past the page cache: the device's limit.
    OwnFilesDirect,
    /// One file in ordered mode.
    Ordered,
    /// One file in ordered mode, past the page cache.
    OrderedDirect,
}

impl Writer {
    pub(crate) const ALL: [Self; 5] = [
        Self::OwnFiles,
        Self::OwnFilesDirect,
        Self::Serial,
        Self::Ordered,
        Self::OrderedDirect,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Serial => "one thread, one file",
            Self::OwnFiles => "each thread its own file",
            Self::OwnFilesDirect => "limit: each thread its own file, O_DIRECT, aligned",
            Self::Ordered => "swath ordered",
            Self::OrderedDirect => "swath ordered, direct",
        }
    }

    /// Writes all chunks into `folder`, durably.
    pub(crate) fn write(self, chunks: &Chunks, folder: &Path, workers: usize) -> Result<()> {
        match self {
            Self::Serial => own_files(chunks, folder, 1, write_share),
            Self::OwnFiles => own_files(chunks, folder, workers, write_share),
            Self::OwnFilesDirect => own_files(chunks, folder, workers, write_share_direct),
            Self::Ordered => write_ordered(chunks, folder, workers, Direct::No),
            Self::OrderedDirect => write_ordered(chunks, folder, workers, Direct::Yes),
        }
    }

    /// Returns an entrant that writes to its own folder.
    pub(crate) fn entrant(
        self,
        bench: &Bench,
        chunks: &Rc<Chunks>,
        expected: Outcome,
    ) -> Entrant {
        let (chunks, workers) = (Rc::clone(chunks), bench.workers);
        let room = usize::try_from(chunks.bytes()).unwrap_or(usize::MAX);
        into_folder(bench, self.name(), expected, room, move |folder| {
            self.write(&chunks, folder, workers)
        })
    }
}

/// Returns an entrant that writes to a folder that is emptied before each run.
pub(crate) fn into_folder(
    bench: &Bench,
    name: &str,
    expected: Outcome,
    room: usize,
    write: impl Fn(&Path) -> Result<()> + 'static,
) -> Entrant {
    let folder = bench.stage.output("written");
    let target = folder.clone();
    let entrant = Entrant::new(name, expected, move |meter| {
        meter.measure(|| write(&target))??;
        take(&target)
    });
    entrant.with_before(move || empty(&folder, room))
}

/// Empties the folder and waits until the device has written or discarded its old content; then
/// touches as much memory as the page cache will take.
fn empty(folder: &Path, room: usize) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Smoke tests do not wait.
    if room >= 32 << 20 {
        rustix::fs::sync();
    }
    cache::touch_memory(room).context("cannot touch memory")
}

/// Sums the files of the folder and removes them.
pub(crate) fn take(folder: &Path) -> Result<Outcome> {
    let mut all = Outcome::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let scanned = swath::ReadOptions::new().sum(&path)?;
        all.bytes += scanned.report.bytes;
        all.checksum += scanned.value;
        fs::remove_file(&path)?;
    }
    fs::remove_dir(folder)?;
    Ok(all)
}

/// Writes a range in order in the strands of a tree of joins, `leaf` indices without a join.
pub(crate) fn tree(
    w: &mut append::Writer<'_>,
    range: Range<usize>,
    leaf: usize,
    write: &(impl Fn(&mut append::Writer<'_>, usize) -> io::Result<()> + Sync),
) -> io::Result<()> {
    if range.len() <= leaf {
        return range.into_iter().try_for_each(|index| write(w, index));
    }
    let middle = range.start + range.len() / 2;
    let (left, right) = (range.start..middle, middle..range.end);
    w.join(|w| tree(w, left, leaf, write), |w| tree(w, right, leaf, write))?;
    Ok(())
}

/// Returns options without a sync: the speed of the disk is not measured.
pub(crate) fn output() -> OutputOptions {
    OutputOptions::new().with_durability(Durability::None)
}

type Share = fn(&Chunks, &Path, Range<usize>) -> Result<()>;

fn own_files(chunks: &Chunks, folder: &Path, workers: usize, write: Share) -> Result<()> {
    let share = chunks.count.div_ceil(workers);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|worker| {
                let range = worker * share..((worker + 1) * share).min(chunks.count);
                let path = folder.join(worker.to_string());
                scope.spawn(move || write(chunks, &path, range))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

fn write_share(chunks: &Chunks, path: &Path, range: Range<usize>) -> Result<()> {
    let mut file = File::create(path)?;
    let mut buffer = Vec::with_capacity(CHUNK);
    for index in range {
        buffer.clear();
        buffer.extend_from_slice(chunks.chunk(index));
        file.write_all(&buffer)?;
    }
    Ok(file.sync_all()?)
}

/// Writes a range with `O_DIRECT`; the unaligned rest goes through the page cache at the end.
fn write_share_direct(chunks: &Chunks, path: &Path, range: Range<usize>) -> Result<()> {
    let file = File::create(path)?;
    let direct = reopen_direct_to_write(&file)?;
    let size = 1 << 20;
    let mut pages = Pages::map(2 * size)?;
    let (mut filled, mut offset) = (0, 0);
    for index in range {
        pages[filled..filled + CHUNK].copy_from_slice(chunks.chunk(index));
        filled += CHUNK;
        // In long shares the odd bytes of the chunks add up to whole blocks.
        while filled >= size {
            direct.write_all_at(&pages[..size], offset)?;
            offset += size as u64;
            pages.copy_within(size..filled, 0);
            filled -= size;
        }
    }
    file.write_all_at(&pages[..filled], offset)?;
    Ok(file.sync_all()?)
}

fn write_ordered(chunks: &Chunks, folder: &Path, workers: usize, direct: Direct) -> Result<()> {
    let options = OrderedOptions::new().with_direct(direct).with_chunk_size(CHUNK as u64);
    let out = options.ordered(folder.join("out"))?;
    out.map_ordered(0..chunks.count, workers, |index, ticket| {
        ticket.buffer().extend_from_slice(chunks.chunk(index));
        Ok::<_, swath::Error>(())
    })?;
    out.commit()?;
    Ok(())
}
