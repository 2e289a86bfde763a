//! Reads many files, compared with the bare calls, the device, and study B's threads.

use crate::args::FilesReader;
use crate::bench::Bench;
use crate::child;
use crate::contestants::device;
use crate::contestants::files::{self, FilesSetting};
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use std::ffi::OsStr;
use std::fs;
use std::rc::Rc;
use swath_study::fields::grove::Grove;
use swath_study::many::manager::THREADS;
use swath_study::many::tree::{Spread, Tree};
use swath_study::measure::{Entrant, Entrants, Goal, Meter};
use swath_study::peers::Absent;
use swath_study::results::State;

/// The number of files and their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    files: u64,
    size: u64,
    label: &'static str,
}

const fn shape(files: u64, size: u64, label: &'static str) -> Shape {
    Shape { files, size, label }
}

impl Shape {
    pub(crate) const WARM: Self = shape(100_000, 10_000, "100k-10kB");
    pub(crate) const COLD: Self = shape(20_000, 10_000, "20k-10kB");

    /// Returns the label.
    pub(crate) fn label(self) -> &'static str {
        self.label
    }

    /// Makes the files: fewer and smaller ones for smoke tests.
    pub(crate) fn make(self, bench: &Bench) -> Result<Rc<Grove>> {
        let name = format!("tree-{}", self.label);
        eprintln!("making {name}");
        let (most, largest) = bench.pick((u64::MAX, u64::MAX), (40, 100_000));
        let (files, size) = (self.files.min(most), self.size.min(largest));
        Grove::new(&bench.stage, &name, &Tree { files, size, spread: Spread::Even, seed: 1 })
    }
}

/// Compares reused and fresh memory with the bare calls, the standard library and ripgrep.
pub(super) fn build_warm(warm: &FilesSetting<'_>) -> Result<Entrants> {
    let mut here = Vec::from(warm.bare()?);
    let swath = [warm.streamed(), warm.reused(), warm.fresh()];
    here.extend(swath.into_iter().chain([warm.std_dropped(), warm.std_kept()]));
    let goals = [
        Goal::time(files::STREAMED, 1.05, &[files::BARE]),
        Goal::time(files::REUSED, 1.05, &[files::BARE_REUSED]),
        Goal::time(files::FRESH, 1.75, &[files::BARE_REUSED]),
        Goal::speed(files::REUSED, 2.8, &[files::RIPGREP]),
        Goal::speed(files::FRESH, 2.8, &[files::RIPGREP]),
        Goal::speed(files::REUSED, 1.15, &[files::STD_DROPPED]),
        Goal::speed(files::FRESH, 1.15, &[files::STD_KEPT]),
    ];
    let mut entrants = Entrants::new(here, goals);
    entrants.add(warm.ripgrep());
    Ok(entrants)
}

/// The reads in flight at which Swath is compared with the device.
const DEPTHS: [u32; 3] = [64, 128, 256];

/// Compares with random reads of the device at the same depth, and with threads.
pub(super) fn build_cold(cold: &FilesSetting<'_>) -> Result<Entrants> {
    let mut entrants = Entrants::default();
    device::add(cold.bench, &cold.files, &DEPTHS, &mut entrants)?;
    for depth in DEPTHS {
        entrants.here.push(cold.at_depth(depth));
        let floor = device::names(depth);
        entrants.goals.push(Goal::speed(&files::depth_name(depth), 0.90, &floor));
    }
    entrants.here.extend([cold.by_ring(), cold.fresh()]);
    entrants.here.extend(THREADS.map(|threads| cold.manager(threads)));
    let managers = THREADS.map(files::manager_name);
    entrants.goals.push(Goal::speed(files::FRESH, 0.95, &managers));
    Ok(entrants)
}

/// Counts the calls of a program that reads a tree from the page cache.
const CALLS_WARM: &str = "swath::ingest, warm";
/// Counts the calls of a program that reads a tree from the device.
const CALLS_COLD: &str = "swath::ingest, cold";
const CALLS_RING: &str = "swath::ingest, cold, opened by the ring";
const CALLS_STD: &str = "std::fs::read, warm";

/// Counts system calls.
pub(super) fn build_calls(setting: &FilesSetting<'_>) -> Result<Entrants> {
    let goals = [Goal::calls_per_file(CALLS_WARM, 3.0), Goal::calls_per_file(CALLS_RING, 0.1)];
    let mut entrants = Entrants::new([], goals);
    for (name, reader, state) in [
        (CALLS_WARM, FilesReader::Ingest, State::Warm),
        (CALLS_COLD, FilesReader::Ingest, State::Cold),
        (CALLS_RING, FilesReader::IngestByRing, State::Cold),
        (CALLS_STD, FilesReader::Std, State::Warm),
    ] {
        entrants.add(counted(setting, name, reader, state));
    }
    Ok(entrants)
}

/// Reads files in a separate process whose system calls strace(1) counts; its time includes strace.
/// Entering io_uring is a system call; the work of io_uring inside the kernel is not.
fn counted(
    setting: &FilesSetting<'_>,
    name: &str,
    reader: FilesReader,
    state: State,
) -> Result<Entrant, Absent> {
    child::find("strace").map_err(|error| Absent::new(name, format!("strace: {error}")))?;
    let trace = setting.bench.stage.output("trace");
    Ok(setting.files.entrant(name, state, 0, move |files: &Grove, meter: &mut Meter| {
        let word = reader.to_possible_value().context("every reader has a word")?;
        let strace: [&OsStr; 5] =
            ["strace".as_ref(), "-f".as_ref(), "-c".as_ref(), "-o".as_ref(), trace.as_ref()];
        let words: [&OsStr; 3] =
            ["read-files".as_ref(), word.get_name().as_ref(), files.folder.as_ref()];
        let outcome = child::start(&strace, &words)?.tell(meter);
        let calls = total(&fs::read_to_string(&trace)?)?;
        fs::remove_file(&trace)?;
        meter.note("calls_per_file", calls as f64 / files.made.files as f64);
        Ok(outcome)
    }))
}

/// Adds up the calls in strace's table: `% time, seconds, usecs/call, calls, [errors,] syscall`.
fn total(table: &str) -> Result<u64> {
    let mut total = 0;
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // A line about a detached thread begins with a number, too.
        let is_row = words.first().is_some_and(|word| word.parse::<f64>().is_ok())
            && !line.contains("<detached");
        if is_row && words.last() != Some(&"total") {
            let calls = words.get(3).with_context(|| format!("strace: {line:?}"))?;
            total += calls.parse::<u64>().with_context(|| format!("strace: {line:?}"))?;
        }
    }
    ensure!(total > 0, "strace counted nothing:\n{table}");
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_strace_is_added_up() {
        let table = "\
19665 ???( <detached ...>
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 60.00    0.006000           3      2000        12 openat
 40.00    0.004000           2      2000           read
------ ----------- ----------- --------- --------- ------------------
100.00    0.010000           2      4000        12 total
";
        assert_eq!(total(table).expect("a table"), 4000);
        assert!(total("").is_err() && total(" 1.00 2 3 x y\n").is_err());
    }
}
