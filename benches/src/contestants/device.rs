//! Random reads of one large file past the page cache: the floor of small cold files.

use crate::bench::Bench;
use crate::trees::Files;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::PathBuf;
use std::rc::Rc;
use swath_study::cache;
use swath_study::harness::{Contestant, Expected, Work, timed};
use swath_study::many::device::{Reads, by_ring, by_threads};
use swath_study::peers::Absent;
use swath_study::workload::{Kind, Recipe, generate};

/// The large file: as many places as there are small files, each as long as one of them on the
/// device. Removed when dropped.
struct Large {
    path: PathBuf,
    size: usize,
    expected: Expected,
}

impl Drop for Large {
    fn drop(&mut self) {
        // A file that stays is replaced by the next run.
        let _ = fs::remove_file(&self.path);
    }
}

impl Large {
    fn make(bench: &Bench, files: &Files) -> Result<Self> {
        let path = bench.output("random-reads");
        let size = Reads::size_for(files.made.largest);
        let len = files.made.files * size as u64;
        let recipe = Recipe { kind: Kind::Bytes, size: len, seed: 1 };
        let made = generate(recipe, &path, 0).context("cannot make the large file")?;
        let first = fs::read(&path)?.iter().step_by(size).map(|&byte| u64::from(byte)).sum();
        File::open(&path)?.sync_all()?;
        Ok(Self { path, size, expected: Expected { bytes: made.bytes, checksum: first } })
    }
}

/// Who keeps the reads in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Ring,
    Threads,
}

/// Returns the names of the floor at a depth, by whoever reaches it.
pub(crate) fn names(depth: u32) -> [String; 2] {
    [By::Ring, By::Threads].map(|by| name(by, depth))
}

fn name(by: By, depth: u32) -> String {
    let by = match by {
        By::Ring => "ring",
        By::Threads => "threads",
    };
    format!("limit: random O_DIRECT reads, {by}, {depth}")
}

/// Adds the floor at each of `depths` to the contestants, or says why there is none.
pub(crate) fn add<'b>(
    bench: &'b Bench,
    files: &Files,
    depths: &[u32],
    contestants: &mut Vec<Contestant<'b>>,
) -> Result<Vec<Absent>> {
    let large = Rc::new(Large::make(bench, files)?);
    let mut absent = Vec::new();
    for &depth in depths {
        for by in [By::Ring, By::Threads] {
            match contestant(bench, &large, by, depth) {
                Ok(contestant) => contestants.push(contestant),
                Err(error) => absent.push(Absent::new(&name(by, depth), error.to_string())),
            }
        }
    }
    Ok(absent)
}

fn contestant<'b>(
    bench: &'b Bench,
    large: &Rc<Large>,
    by: By,
    depth: u32,
) -> std::io::Result<Contestant<'b>> {
    let file = File::open(&large.path)?;
    let reads = Reads { size: large.size, depth, seed: 1 };
    let read = move || match by {
        By::Ring => by_ring(&file, reads),
        By::Threads => by_threads(&file, reads),
    };
    // Where it is refused, it is refused now.
    read()?;
    let expected = large.expected;
    let run = move || {
        let (sum, timing) = timed(&read)?;
        Ok(Work::new(expected.bytes, sum?).with_timing(timing))
    };
    let large = Rc::clone(large);
    let before = move || cache::make_cold(&large.path, bench.cold_by);
    Ok(Contestant::new(name(by, depth), expected, run).with_before(before))
}
