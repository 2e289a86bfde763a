//! Many chunks in one file, in their order, against a file for each thread: fsync included.

use crate::args::Consumer;
use crate::bench::{Bench, Input, Size};
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::write::{Chunks, Writer};
use crate::memory_child;
use anyhow::Result;
use std::rc::Rc;
use swath_study::harness::Contestant;

/// How much faster one file is to be than a file for each thread.
const SHARE: f64 = 1.1;

/// Chunks that may exist for each worker.
const CHUNKS_A_WORKER: usize = 2;

/// MiB that the process takes besides: stacks, and what it touches for the first time.
const PROCESS_MIB: f64 = 1.0;

/// Compares one file in ordered mode, through and past the page cache, with the alternatives.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let chunks = Rc::new(Chunks::of(input.made.bytes));
    let expected = chunks.expected();
    let mut contestants: Vec<_> =
        Writer::ALL.iter().map(|writer| writer.contestant(bench, &chunks, expected)).collect();
    contestants.push(control::memory(bench));
    let rival = [Writer::OwnFiles.name()];
    let goals = vec![
        Goal::speed(Writer::OrderedDirect.name(), SHARE, &rival),
        Goal::speed(Writer::Ordered.name(), SHARE, &rival),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// How much memory it takes, in a process of its own.
pub(super) fn build_memory<'b>(
    bench: &'b Bench,
    input: &'b Input,
    _: Size,
) -> Result<Case<'b>> {
    let expected = Chunks::of(input.made.bytes).expected();
    let ways = [
        (Writer::Ordered, Consumer::WriteOrdered),
        (Writer::OrderedDirect, Consumer::WriteOrderedDirect),
    ];
    let contestant = |(writer, what): (Writer, Consumer)| {
        let run = move || memory_child::start(what, &input.path, bench.workers);
        Contestant::new(writer.name(), expected, run)
    };
    let mut contestants: Vec<_> = ways.into_iter().map(contestant).collect();
    contestants.push(control::memory(bench));
    // A chunk is a little longer than a MiB; that is lost in what the process takes.
    let most = (bench.workers * CHUNKS_A_WORKER) as f64 + PROCESS_MIB;
    let goals = ways.iter().map(|(writer, _)| Goal::peak_mib(writer.name(), most)).collect();
    Ok(Case { contestants, absent: Vec::new(), goals })
}
