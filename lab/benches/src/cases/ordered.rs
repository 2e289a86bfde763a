//! Writes many chunks to one file in order, compared with a file for each thread; fsync included.

use crate::args::Consumer;
use crate::bench::{Bench, Size};
use crate::cases::memory::peak;
use crate::contestants::write::{Chunks, Writer};
use anyhow::Result;
use std::rc::Rc;
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State;

/// The required speed, as a multiple of that with a file for each thread.
const SHARE: f64 = 1.1;

/// The most chunks in memory for each worker.
const CHUNKS_A_WORKER: usize = 2;

/// MiB of the process itself: stacks, and memory touched for the first time.
const PROCESS_MIB: f64 = 1.0;

/// Compares one file in ordered mode, through and past the page cache, with the alternatives.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let chunks = Rc::new(Chunks::of(bench.bytes(size, State::None)?.input.made.bytes));
    let expected = chunks.expected();
    let rival = [Writer::OwnFiles.name()];
    let goals = [Writer::OrderedDirect, Writer::Ordered]
        .map(|writer| Goal::speed(writer.name(), SHARE, &rival));
    let here = Writer::ALL.map(|writer| writer.entrant(bench, &chunks, expected));
    Ok(Entrants::new(here, goals))
}

/// Measures the peak memory of ordered mode, in its own process.
pub(super) fn build_memory(bench: &Bench, size: Size) -> Result<Entrants> {
    let input = bench.bytes(size, State::Warm)?.input;
    let expected = Chunks::of(input.made.bytes).expected();
    let ways = [
        (Writer::Ordered, Consumer::WriteOrdered),
        (Writer::OrderedDirect, Consumer::WriteOrderedDirect),
    ];
    // A chunk is a few bytes longer than a MiB, which `PROCESS_MIB` covers.
    let most = (bench.workers * CHUNKS_A_WORKER) as f64 + PROCESS_MIB;
    let goals = ways.map(|(writer, _)| Goal::peak_mib(writer.name(), most));
    let here =
        ways.map(|(writer, what)| peak(bench, &input, writer.name(), what).expecting(expected));
    Ok(Entrants::new(here, goals))
}
