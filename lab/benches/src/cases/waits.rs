//! Reads slow custom sources: the library's measured choice compared with the best fixed setting.

use crate::bench::Bench;
use crate::contestants::waits::{self, Answering};
use anyhow::Result;
use swath::ReadOptions;
use swath_study::measure::{Entrants, Goal};

const FOUND_OUT: &str = "swath, nothing told";
/// The required share of the speed of the best fixed setting.
const SHARE: f64 = 0.9;

const WORKERS: [usize; 4] = [2, 16, 64, 256];
const CHUNKS_MIB: [usize; 3] = [1, 4, 16];

pub(super) fn build(bench: &Bench, answering: Answering) -> Result<Entrants> {
    let len = bench.pick(1 << 30, 4 << 20);
    let mut here = vec![waits::read(bench, FOUND_OUT, answering, len, ReadOptions::new())];
    // Settings that take many seconds are no rivals.
    let few = |workers: &usize| *workers >= 16 || answering.is_worth_few();
    let mut fixed = Vec::new();
    for workers in WORKERS.into_iter().filter(few) {
        for mib in CHUNKS_MIB {
            let name = format!("{workers} workers × {mib} MiB");
            let options =
                ReadOptions::new().with_workers(workers).with_chunk_size((mib as u64) << 20);
            here.push(waits::read(bench, &name, answering, len, options));
            fixed.push(name);
        }
    }
    Ok(Entrants::new(here, [Goal::speed(FOUND_OUT, SHARE, &fixed)]))
}
