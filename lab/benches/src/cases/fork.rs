//! Measures the cost of a join, and of a commit that moves spilled bytes. The study's `e-fib` and
//! `e-files` compare parallel strands with separate files and with the serial program.

use crate::bench::Bench;
use crate::contestants::write::output;
use anyhow::{Context, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use swath::append::{self, AppendOptions, Writer};
use swath_os::file_system::{FileSystem, file_system};
use swath_study::cache;
use swath_study::measure::{Entrant, Entrants, Goal, Meter, Outcome};

fn kind(bench: &Bench) -> Result<FileSystem> {
    Ok(file_system(&File::open(bench.stage.output(""))?)?)
}

fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Returns options that sync nothing.
fn options() -> AppendOptions {
    AppendOptions::new().with_output(output())
}

/// Touches twice the memory that the page cache will take for `len` bytes.
fn touched(entrant: Entrant, len: u64) -> Entrant {
    let room = usize::try_from(2 * len).unwrap_or(usize::MAX);
    entrant.with_before(move || cache::touch_memory(room).context("cannot touch memory"))
}

const IN_MEMORY: &str = "join and a write of 16 bytes, kept in memory";
const TO_A_FILE: &str = "join and a write of 16 bytes, to a plain file";
const BARE: &str = "rayon::join alone";

/// Runs the tree of calls, which write nothing.
fn joins(n: u32) -> u64 {
    if n < 2 {
        return std::hint::black_box(1);
    }
    let (a, b) = rayon::join(|| joins(n - 1), || joins(n - 2));
    a + b + 1
}

/// Runs the tree of calls, each of which first writes 16 bytes.
fn joins_and_writes(n: u32, w: &mut Writer<'_>) -> io::Result<u64> {
    w.write_all(&[7; 16])?;
    if n < 2 {
        return Ok(std::hint::black_box(1));
    }
    let (a, b) = w.join(|w| joins_and_writes(n - 1, w), |w| joins_and_writes(n - 2, w))?;
    Ok(a + b + 1)
}

/// Times a write and a join, less the time of the join alone: seconds per million calls, or µs per call.
pub(super) fn build_join(bench: &Bench, threads: usize) -> Result<Entrants> {
    let n = bench.pick(30, 12);
    let calls = joins(n);
    let expected = Outcome { bytes: calls, checksum: calls };
    let a_million = 1e6 / calls as f64;
    let of = |name, buffer_size| -> Result<Entrant> {
        let (pool, folder) = (pool(threads)?, bench.stage.output("joins"));
        Ok(Entrant::new(name, expected, move |meter| {
            fs::create_dir_all(&folder)?;
            let out = options().with_buffer_size(buffer_size).create(folder.join("out"))?;
            let mut bare = Meter::default();
            let bytes = bare.measure(|| pool.install(|| joins(n)))?;
            let write = || out.scope(|w| pool.install(|| joins_and_writes(n, w)));
            let checksum = meter.measure(write)??;
            drop(out);
            fs::remove_dir(&folder)?;
            meter.took((meter.seconds() - bare.seconds()).max(0.0));
            meter.scale(a_million);
            Ok(Outcome { bytes, checksum })
        }))
    };
    let bare = pool(threads)?;
    let bare = Entrant::new(BARE, expected, move |meter| {
        let bytes = meter.measure(|| bare.install(|| joins(n)))?;
        meter.scale(a_million);
        Ok(Outcome { bytes, ..expected })
    });
    let goals = [Goal::seconds(IN_MEMORY, 0.012), Goal::seconds(TO_A_FILE, 0.012)];
    Ok(Entrants::new([bare, of(IN_MEMORY, 1 << 30)?, of(TO_A_FILE, 0)?], goals))
}

const ALIGNED: &str = "swath commit, spilled extents aligned";
const UNALIGNED: &str = "swath commit, spilled extents unaligned";

/// Times a commit that moves spilled bytes to their place. The bytes are on the device and in the page
/// cache; nothing is synced.
pub(super) fn build_stitch(bench: &Bench, threads: usize) -> Result<Entrants> {
    let len = bench.pick(1 << 30, 1 << 20);
    let of = |name, skew: u64| -> Result<Entrant> {
        let (pool, folder) = (pool(threads)?, bench.stage.output("stitched"));
        let expected = Outcome { bytes: len + skew, checksum: skew };
        let entrant = Entrant::new(name, expected, move |meter| {
            fs::create_dir_all(&folder)?;
            let path = folder.join("out");
            let out = spilled(&path, len, skew)?;
            let committed = meter.measure(|| pool.install(|| out.commit()))??;
            let is_there = fs::metadata(&path)?.len() == committed.bytes;
            fs::remove_dir_all(&folder)?;
            Ok(Outcome { bytes: if is_there { committed.bytes } else { 0 }, checksum: skew })
        });
        Ok(touched(entrant, len))
    };
    let here = [plain_copy(bench, len), of(ALIGNED, 4096)?, of(UNALIGNED, 4099)?];
    // Copied at 4 GB/s; 1 ms a GB where blocks can be shared.
    let (slow, fast) = (len as f64 / 4e9, len as f64 / 1e9 * 1e-3);
    let shares_blocks = matches!(kind(bench)?, FileSystem::Xfs | FileSystem::Btrfs);
    let aligned = if shares_blocks { fast } else { slow };
    Ok(Entrants::new(here, [Goal::seconds(ALIGNED, aligned), Goal::seconds(UNALIGNED, slow)]))
}

/// Returns an output whose second fork is all spilled: its place is known only when the first fork ends.
fn spilled(path: &Path, len: u64, skew: u64) -> Result<append::Append> {
    let out = options().with_memory_limit(1).create(path)?;
    let (mut first, mut second) = (out.fork()?, out.fork()?);
    let block = vec![7; 1 << 20];
    for _ in 0..len >> 20 {
        second.write_all(&block)?;
    }
    second.finish()?;
    first.write_all(&vec![0; usize::try_from(skew).unwrap_or(0)])?;
    first.finish()?;
    rustix::fs::sync();
    Ok(out)
}

fn plain_copy(bench: &Bench, len: u64) -> Entrant {
    let folder = bench.stage.output("copied");
    let expected = Outcome { bytes: len, checksum: 0 };
    let entrant = Entrant::new("one thread, read and write", expected, move |meter| {
        fs::create_dir_all(&folder)?;
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::write(&from, vec![7; usize::try_from(len).unwrap_or(0)])?;
        rustix::fs::sync();
        let bytes = meter.measure(|| copied(&from, &to))??;
        fs::remove_dir_all(&folder)?;
        Ok(Outcome { bytes, checksum: 0 })
    });
    touched(entrant, len)
}

/// Copies through a buffer of 256 KiB, as a program without a library does.
fn copied(from: &Path, to: &Path) -> io::Result<u64> {
    let mut buffer = vec![0; 256 << 10];
    let (mut source, mut target) = (File::open(from)?, File::create(to)?);
    let mut bytes = 0;
    loop {
        let read = io::Read::read(&mut source, &mut buffer)?;
        if read == 0 {
            return Ok(bytes);
        }
        target.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
}
