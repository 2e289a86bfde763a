//! Reading many files: against the bare calls, the device, and study B's threads.

use crate::args::FilesReader;
use crate::bench::{Bench, Residency};
use crate::case::{Case, Goal};
use crate::contestants::files::{self, Setting};
use crate::contestants::{calls, control, device, ingest};
use crate::trees::Files;
use anyhow::Result;
use swath_study::many::manager::THREADS;

/// Reads of small sets in one timed run.
const REPEATS: u64 = 20;

/// Compares reused and fresh memory with the bare calls, the standard library and ripgrep.
pub(super) fn build_warm<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let setting = Setting { bench, files: input, residency: Residency::Warm, repeats: 1 };
    let mut contestants = Vec::from(files::bare(setting)?);
    contestants.extend([
        ingest::streamed(setting),
        ingest::reused(setting),
        ingest::fresh(setting),
        files::std_dropped(setting),
        files::std_kept(setting),
        control::memory(bench),
    ]);
    let mut absent = Vec::new();
    match files::ripgrep(setting) {
        Ok(contestant) => contestants.push(contestant),
        Err(reason) => absent.push(reason),
    }
    let goals = vec![
        Goal::time(ingest::STREAMED, 1.05, &[files::BARE]),
        Goal::time(ingest::REUSED, 1.05, &[files::BARE_REUSED]),
        Goal::time(ingest::FRESH, 1.75, &[files::BARE_REUSED]),
        Goal::speed(ingest::REUSED, 2.8, &[files::RIPGREP]),
        Goal::speed(ingest::FRESH, 2.8, &[files::RIPGREP]),
        Goal::speed(ingest::REUSED, 1.15, &[files::STD_DROPPED]),
        Goal::speed(ingest::FRESH, 1.15, &[files::STD_KEPT]),
    ];
    Ok(Case { contestants, absent, goals })
}

/// Reads in flight at which the device and Swath are compared.
const DEPTHS: [u32; 3] = [64, 128, 256];

/// Compares with random reads of the device at the same depth, and with threads.
pub(super) fn build_cold<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let setting = Setting { bench, files: input, residency: Residency::Cold, repeats: 1 };
    let mut contestants = Vec::new();
    let absent = device::add(bench, input, &DEPTHS, &mut contestants)?;
    let mut goals = Vec::new();
    for depth in DEPTHS {
        contestants.push(ingest::at_depth(setting, depth));
        goals.push(Goal::speed(&ingest::depth_name(depth), 0.90, &device::names(depth)));
    }
    contestants.push(ingest::by_ring(setting));
    contestants.push(ingest::fresh(setting));
    contestants.extend(THREADS.map(|threads| files::manager(setting, threads)));
    contestants.push(control::memory(bench));
    goals.push(Goal::speed(ingest::FRESH, 0.95, &THREADS.map(files::manager_name)));
    Ok(Case { contestants, absent, goals })
}

/// Compares with every number of threads that study B tried, files in the page cache.
pub(super) fn build_study<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let repeats = if input.made.bytes < 10_000_000 { REPEATS } else { 1 };
    sweep(Setting { bench, files: input, residency: Residency::Warm, repeats })
}

/// The same with files that are not.
pub(super) fn build_study_cold<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    sweep(Setting { bench, files: input, residency: Residency::Cold, repeats: 1 })
}

fn sweep(setting: Setting<'_>) -> Result<Case<'_>> {
    let mut contestants = vec![ingest::fresh(setting)];
    contestants.extend(THREADS.map(|threads| files::manager(setting, threads)));
    contestants.push(control::memory(setting.bench));
    let goals = vec![Goal::speed(ingest::FRESH, 0.95, &THREADS.map(files::manager_name))];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// Shows where study B's "large files get slower" comes from: sizes differ, the bytes do not.
pub(super) fn build_lines<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let setting = Setting { bench, files: input, residency: Residency::Warm, repeats: 1 };
    let contestants = vec![
        files::one_by_one(setting, files::WHOLE),
        files::one_by_one(setting, files::LINE_BY_LINE),
        ingest::fresh(setting),
        control::memory(bench),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals: Vec::new() })
}

/// Calls of a program that reads a tree from the page cache.
const CALLS_WARM: &str = "swath::ingest, warm";
/// And from the device.
const CALLS_COLD: &str = "swath::ingest, cold";
const CALLS_RING: &str = "swath::ingest, cold, opened by the ring";
const CALLS_STD: &str = "std::fs::read, warm";

/// Counts system calls.
pub(super) fn build_calls<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let (mut contestants, mut absent) = (Vec::new(), Vec::new());
    for (name, reader, residency) in [
        (CALLS_WARM, FilesReader::Ingest, Residency::Warm),
        (CALLS_COLD, FilesReader::Ingest, Residency::Cold),
        (CALLS_RING, FilesReader::IngestByRing, Residency::Cold),
        (CALLS_STD, FilesReader::Std, Residency::Warm),
    ] {
        match calls::counted(bench, input, name, reader, residency) {
            Ok(contestant) => contestants.push(contestant),
            Err(reason) => absent.push(reason),
        }
    }
    contestants.push(control::memory(bench));
    let goals =
        vec![Goal::calls_per_file(CALLS_WARM, 3.0), Goal::calls_per_file(CALLS_RING, 0.1)];
    Ok(Case { contestants, absent, goals })
}
