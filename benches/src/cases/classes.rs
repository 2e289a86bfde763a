//! Reading by priority: study A's 1.3 GB in 100,000 chunks and 1,000 classes, by 16 threads.
//!
//! The class that is needed first lies in the middle of the file, so that reading in the order of
//! the file brings it when half of it is there.

use crate::bench::{Bench, Input, Size};
use crate::case::{Case, Goal};
use crate::contestants::classes::{Cut, Field, Spread, Until};
use crate::contestants::control;
use ::swath::BufferPool;
use anyhow::Result;

/// As in the study.
const THREADS: usize = 16;
const CHUNKS: usize = 100_000;
const CLASSES: u32 = 1000;

const READ: &str = "swath, without classes";
const READ_AUTO: &str = "swath, without classes, own choice of threads";
const WHOLE: &str = "classes";
const WHOLE_AUTO: &str = "classes, own choice of threads";
const STRICT: &str = "classes, strict";
const FAR: &str = "classes, each all over the file";
const FIRST: &str = "classes: until the first";
const FILE_ORDER: &str = "order of the file: until that class";
const BARRIER: &str = "barrier, 16 threads";
const BARRIER_ALONE: &str = "barrier, 1 thread";

/// Time that classes may cost.
const COST: f64 = 1.05;

/// Compares reads by class with reads without, and with study A's barriers.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let (chunks, classes) = if bench.quick { (1000, 50) } else { (CHUNKS, CLASSES) };
    let cut = Cut { chunks, classes };
    // The pool keeps whole huge pages.
    let pool = BufferPool::new(input.len() + (4 << 20));
    let field = Field { bench, input, cut, workers: THREADS, pool: pool.clone() };
    let auto = Field { bench, input, cut, workers: 0, pool };
    let pages = bench.pages_for(input)?;
    let contestants = vec![
        field.plain(READ),
        auto.plain(READ_AUTO),
        field.classes(WHOLE, 0, Spread::Near, Until::Whole),
        auto.classes(WHOLE_AUTO, 0, Spread::Near, Until::Whole),
        field.classes(STRICT, 1, Spread::Near, Until::Whole),
        field.classes(FAR, 0, Spread::Far, Until::Whole),
        field.classes(FIRST, 0, Spread::Near, Until::First),
        field.classes(FILE_ORDER, 0, Spread::Near, Until::FirstInFileOrder),
        field.barrier(BARRIER, &pages, THREADS)?,
        field.barrier(BARRIER_ALONE, &pages, 1)?,
        control::memory(bench),
    ];
    let goals = vec![
        Goal::time(WHOLE, COST, &[READ]),
        Goal::time(WHOLE_AUTO, COST, &[READ_AUTO]),
        Goal::speed(WHOLE, 2.0, &[BARRIER, BARRIER_ALONE]),
        Goal::speed(FIRST, 10.0, &[FILE_ORDER]),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
