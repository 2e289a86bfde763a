//! Reads a file that is in the page cache.

use crate::bench::{Bench, Size};
use crate::contestants::file::{PLAIN_READ, STD, pread_name};
use anyhow::Result;
use swath::ReadOptions;
use swath_study::fields::file::FileMemory;
use swath_study::limits::Schedule::{Dynamic, Static};
use swath_study::measure::{Entrants, Goal};
use swath_study::peers::PythonWay;
use swath_study::results::State;

const POOLED: &str = "swath, buffer from a pool";
const INTO: &str = "swath, read_into";
const FRESH: &str = "swath, fresh buffer";

/// Compares reused and fresh buffers with the limit, with one thread, and with peers.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?;
    let workers = bench.workers;
    let pread = |workers, how| warm.pread(&pread_name(workers, how), workers, how);
    let mut here = vec![pread(1, Static), pread(workers, Dynamic)];
    if workers > 1 {
        here.push(pread(workers, Static));
    }
    here.extend([
        warm.read(POOLED, FileMemory::Reused, ReadOptions::new()),
        warm.read_into(INTO, ReadOptions::new()),
        warm.read(FRESH, FileMemory::Fresh, ReadOptions::new()),
        // The default pool may keep a buffer of 64 MiB.
        warm.read(PLAIN_READ, FileMemory::Default, ReadOptions::new()),
        warm.std_read(STD),
    ]);
    let mut entrants = Entrants::new(here, goals(workers));
    for load in [PythonWay::FROM_FILE, PythonWay::OPEN_READ, PythonWay::READ_INTO] {
        entrants.add(bench.python(load.name).map(|python| warm.python(python, load)));
    }
    Ok(entrants)
}

fn goals(workers: usize) -> Vec<Goal> {
    let all = [Dynamic, Static].map(|schedule| pread_name(workers, schedule));
    let peer = |factor, load: PythonWay| Goal::speed(FRESH, factor, &[load.name]);
    vec![
        Goal::speed(POOLED, 0.95, &all),
        Goal::speed(INTO, 0.95, &all),
        Goal::speed(POOLED, 1.5, &[pread_name(1, Static)]),
        Goal::speed(FRESH, 0.70, &all),
        peer(1.5, PythonWay::FROM_FILE),
        peer(5.0, PythonWay::OPEN_READ),
        Goal::speed(FRESH, 1.5, &[STD]),
        Goal::speed(PLAIN_READ, 1.5, &[STD]),
    ]
}
