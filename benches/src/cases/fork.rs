//! Parallel strands against separate files, the serial program, and no output at all.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::fork::{self, Trees};
use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use swath::OutputOptions;
use swath::append::{self, AppendOptions};
use swath::sink::Durability;
use swath_os::file_system::{FileSystem, file_system};
use swath_study::cache;
use swath_study::harness::{Contestant, Expected, Work, timed};

/// Study E's benchmark, nothing synced.
pub(super) fn build_fib(bench: &Bench, threads: usize) -> Result<Case<'_>> {
    let trees = Trees::new(bench, threads)?;
    let mut contestants = trees.contestants();
    contestants.push(control::memory(bench));
    let mut goals = vec![Goal::speed(fork::SEGMENTS, 0.98, &[fork::OWN_FILES])];
    if threads == 2 {
        goals.push(Goal::speed(fork::SEGMENTS, 1.8, &[fork::SERIAL]));
        let share = if kind(bench)? == FileSystem::Xfs { 1.5 } else { 1.0 };
        goals.push(Goal::speed(fork::PLAIN, share, &[fork::SERIAL]));
    }
    Ok(Case { contestants, absent: Vec::new(), goals })
}

fn kind(bench: &Bench) -> Result<FileSystem> {
    Ok(file_system(&File::open(bench.folder())?)?)
}

const IN_MEMORY: &str = "join and a write of 16 bytes, kept in memory";
const TO_A_FILE: &str = "join and a write of 16 bytes, to a plain file";
const BARE: &str = "rayon::join alone";

/// What a write and a join cost beyond the join: seconds of a million calls, so µs of one.
pub(super) fn build_join(bench: &Bench, threads: usize) -> Result<Case<'_>> {
    let n = if bench.quick { 12 } else { 30 };
    let of = |name, buffer_size| -> Result<Contestant<'_>> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let folder = bench.output("joins");
        let run = move || {
            fs::create_dir_all(&folder)?;
            let options = AppendOptions::new()
                .with_output(OutputOptions::new().with_durability(Durability::None));
            let out = options.with_buffer_size(buffer_size).create(folder.join("out"))?;
            let (calls, bare) = timed(|| pool.install(|| fork::joins(n)))?;
            let (written, with) =
                timed(|| out.scope(|w| pool.install(|| fork::joins_and_writes(n, w))))?;
            drop(out);
            fs::remove_dir(&folder)?;
            let beyond = (with.seconds - bare.seconds).max(0.0);
            let work = Work::new(calls, written?);
            let a_million = beyond / calls as f64 * 1e6;
            Ok(Work { seconds: Some(a_million), ..work })
        };
        let calls = fork::joins(n);
        Ok(Contestant::new(name, Expected { bytes: calls, checksum: calls }, run))
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    let calls = fork::joins(n);
    let bare = move || {
        let (calls, timing) = timed(|| pool.install(|| fork::joins(n)))?;
        let seconds = timing.seconds / calls as f64 * 1e6;
        let work = Work::new(calls, calls);
        Ok(Work { seconds: Some(seconds), ..work })
    };
    let contestants = vec![
        Contestant::new(BARE, Expected { bytes: calls, checksum: calls }, bare),
        of(IN_MEMORY, 1 << 30)?,
        of(TO_A_FILE, 0)?,
        control::memory(bench),
    ];
    let goals = vec![Goal::seconds(IN_MEMORY, 0.012), Goal::seconds(TO_A_FILE, 0.012)];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

const ALIGNED: &str = "swath commit, spilled extents aligned";
const UNALIGNED: &str = "swath commit, spilled extents unaligned";
const COPY: &str = "one thread, read and write";

/// How long a commit takes that moves spilled bytes to their place; they are on the device, and in
/// the page cache. Nothing is synced.
pub(super) fn build_stitch(bench: &Bench, threads: usize) -> Result<Case<'_>> {
    let len = if bench.quick { 1 << 20 } else { 1 << 30 };
    let expected = |skew: u64| Expected { bytes: len + skew, checksum: skew };
    let of = |name, skew: u64| -> Result<Contestant<'_>> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let folder = bench.output("stitched");
        let room = usize::try_from(2 * len).unwrap_or(usize::MAX);
        let before = move || cache::touch_memory(room).context("cannot touch memory");
        let run = move || {
            fs::create_dir_all(&folder)?;
            let path = folder.join("out");
            let out = spilled(&path, len, skew)?;
            let start = Instant::now();
            let committed = pool.install(|| out.commit())?;
            let seconds = start.elapsed().as_secs_f64();
            let is_there = fs::metadata(&path)?.len() == committed.bytes;
            fs::remove_dir_all(&folder)?;
            let work = Work::new(if is_there { committed.bytes } else { 0 }, skew);
            Ok(Work { seconds: Some(seconds), ..work })
        };
        Ok(Contestant::new(name, expected(skew), run).with_before(before))
    };
    let contestants = vec![
        plain_copy(bench, len, expected(0)),
        of(ALIGNED, 4096)?,
        of(UNALIGNED, 4099)?,
        control::memory(bench),
    ];
    // 4 GB/s, and 1 ms a GB where blocks can be shared.
    let (slow, fast) = (len as f64 / 4e9, len as f64 / 1e9 * 1e-3);
    let shares_blocks = matches!(kind(bench)?, FileSystem::Xfs | FileSystem::Btrfs);
    let aligned = if shares_blocks { fast } else { slow };
    let goals = vec![Goal::seconds(ALIGNED, aligned), Goal::seconds(UNALIGNED, slow)];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// An output whose second fork, all of it spilled, has its place only when the first one ends.
fn spilled(path: &Path, len: u64, skew: u64) -> Result<append::Append> {
    let options = AppendOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .with_memory(1);
    let out = options.create(path)?;
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

fn plain_copy(bench: &Bench, len: u64, expected: Expected) -> Contestant<'_> {
    let folder = bench.output("copied");
    let room = usize::try_from(2 * len).unwrap_or(usize::MAX);
    let run = move || {
        fs::create_dir_all(&folder)?;
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::write(&from, vec![7; usize::try_from(len).unwrap_or(0)])?;
        rustix::fs::sync();
        let mut buffer = vec![0; 256 << 10];
        let start = Instant::now();
        let (mut source, mut target) = (File::open(&from)?, File::create(&to)?);
        let mut bytes = 0;
        loop {
            let read = std::io::Read::read(&mut source, &mut buffer)?;
            if read == 0 {
                break;
            }
            target.write_all(&buffer[..read])?;
            bytes += read as u64;
        }
        let seconds = start.elapsed().as_secs_f64();
        fs::remove_dir_all(&folder)?;
        Ok(Work { seconds: Some(seconds), ..Work::new(bytes, 0) })
    };
    Contestant::new(COPY, expected, run)
        .with_before(move || cache::touch_memory(room).context("cannot touch memory"))
}
