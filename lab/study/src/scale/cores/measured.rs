//! Measures the costs of locks, wake-ups, threads and bytes on this machine, for predictions.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use anyhow::{Context, Result};
use swath_os::locks::Mutex;

use super::{Machine, Rates};
use crate::limits::{self, CHUNK_SIZE, Schedule};
use crate::scale::Bandwidth;
use crate::threads::each;

/// The number of locks of each thread.
const TIMES: u32 = 50_000;
const MESSAGES: u32 = 2_000;
const THREADS: usize = 64;

impl Machine {
    /// Measures with the file `input`, which is in the page cache, and with a file `output`, which is written
    /// and removed. Bandwidths of all cores are those of this machine's cores.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written.
    pub fn measure(input: &Path, output: &Path, cores: usize) -> Result<(Self, Rates)> {
        let what = || format!("cannot measure with {}", input.display());
        let file = File::open(input).with_context(what)?;
        let len = usize::try_from(file.metadata()?.len()).context(what())?;
        let pages = &mut *limits::touched_pages(len, cores)?;
        let rates = rates(&file, &mut pages[..len])?;
        let mut together = || {
            let (read, seconds) =
                timed(|| limits::pread(&file, &mut pages[..len], cores, Schedule::Dynamic));
            read.map(|()| len as f64 / seconds)
        };
        let all = [together()?, together()?].into_iter().fold(rates.to_memory, f64::max);
        let machine = Self {
            lock_s: lock_s(cores.min(2)),
            wake_s: wake_s()?,
            thread_s: timed(|| each(vec![(); THREADS], drop)).1 / THREADS as f64,
            read: Bandwidth { all, each: rates.to_memory },
            write: write(&pages[..len], output, cores)?,
        };
        Ok((machine, rates))
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let result = work();
    // Never 0, even with a coarse clock.
    (result, begun.elapsed().as_secs_f64().max(1e-9))
}

/// Measures threads that take one lock again and again.
fn lock_s(threads: usize) -> f64 {
    let count = Mutex::new(0_u64);
    let work = |()| {
        for _ in 0..TIMES {
            *count.lock() += 1;
        }
    };
    let (_, seconds) = timed(|| each(vec![(); threads], work));
    seconds / f64::from(TIMES) / threads as f64
}

/// Measures two threads that wake each other in turn.
fn wake_s() -> Result<f64> {
    let (there, here) = (sync_channel::<()>(0), sync_channel::<()>(0));
    let (ask, asked) = there;
    let (answer, answered) = here;
    let other = std::thread::Builder::new()
        .spawn(move || asked.iter().all(|()| answer.send(()).is_ok()))
        .context("cannot start a thread")?;
    let (done, seconds) =
        timed(|| (0..MESSAGES).all(|_| ask.send(()).is_ok() && answered.recv().is_ok()));
    drop(ask);
    let joined = other.join().unwrap_or(false);
    anyhow::ensure!(done && joined, "the threads did not wake each other");
    Ok(seconds / f64::from(MESSAGES) / 2.0)
}

fn rates(file: &File, target: &mut [u8]) -> Result<Rates> {
    let len = target.len();
    limits::pread(file, target, 1, Schedule::Dynamic)?;
    let (read, seconds) = timed(|| limits::pread(file, target, 1, Schedule::Dynamic));
    read?;
    let to_memory = len as f64 / seconds;
    let mut block = vec![0; CHUNK_SIZE.min(len)];
    let mut other = block.clone();
    let times = (len / block.len()).max(1);
    let bytes = (times * block.len()) as f64;
    let (read, seconds) = timed(|| {
        (0..times)
            .try_for_each(|index| file.read_exact_at(&mut block, (index * other.len()) as u64))
    });
    read?;
    let to_cache = bytes / seconds;
    let mut again = |work: &mut dyn FnMut(&[u8], &mut [u8])| {
        bytes / timed(|| (0..times).for_each(|_| work(&block, &mut other))).1
    };
    Ok(Rates {
        to_memory,
        to_cache,
        sum: again(&mut |block, _| _ = std::hint::black_box(swath_simd::sum(block))),
        lines: again(&mut |block, _| _ = std::hint::black_box(swath_simd::count(block, 7))),
        copy: again(&mut |block, other| other.copy_from_slice(std::hint::black_box(block))),
    })
}

/// Measures writes to one file, by one thread and by all.
fn write(bytes: &[u8], output: &Path, cores: usize) -> Result<Bandwidth> {
    let rate = |threads: usize| -> Result<f64> {
        let file = File::create(output)
            .with_context(|| format!("cannot write {}", output.display()))?;
        let chunks = bytes.chunks(CHUNK_SIZE).enumerate().collect::<Vec<_>>();
        let shares = chunks.chunks(chunks.len().div_ceil(threads).max(1)).collect::<Vec<_>>();
        let put = |share: &[(usize, &[u8])]| {
            share.iter().try_for_each(|&(index, chunk)| {
                file.write_all_at(chunk, (index * CHUNK_SIZE) as u64)
            })
        };
        let (done, seconds) = timed(|| each(shares, put).all());
        done?.into_iter().collect::<std::io::Result<()>>()?;
        std::fs::remove_file(output)?;
        Ok(bytes.len() as f64 / seconds)
    };
    // The first file takes new memory.
    rate(cores)?;
    let one = rate(1)?;
    Ok(Bandwidth { all: rate(cores)?.max(one), each: one })
}
