//! Sources of the caller's that take their time: what is found out against the best fixed setting.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::waits::{self, Answering};
use anyhow::Result;
use swath::ReadOptions;

const FOUND_OUT: &str = "swath, nothing told";
/// What it must reach of the best fixed setting.
const SHARE: f64 = 0.9;

const WORKERS: [usize; 4] = [2, 16, 64, 256];
const CHUNKS_MIB: [usize; 3] = [1, 4, 16];

pub(super) fn build(bench: &Bench, answering: Answering) -> Result<Case<'_>> {
    let len = if bench.quick { 4 << 20 } else { 1 << 30 };
    let mut contestants =
        vec![waits::read(bench, FOUND_OUT, answering, len, ReadOptions::new())];
    let mut fixed = Vec::new();
    for workers in WORKERS {
        for mib in CHUNKS_MIB {
            // What takes more than some seconds is no rival.
            if workers < 16 && !answering.is_worth_few() {
                continue;
            }
            let name = format!("{workers} workers × {mib} MiB");
            let options =
                ReadOptions::new().with_workers(workers).with_chunk_size((mib as u64) << 20);
            contestants.push(waits::read(bench, &name, answering, len, options));
            fixed.push(name);
        }
    }
    contestants.push(control::memory(bench));
    let goals = vec![Goal::speed(FOUND_OUT, SHARE, &fixed)];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
