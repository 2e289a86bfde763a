//! Reading by priority: study A's 1.3 GB in 100,000 chunks and 1,000 classes, by 16 threads.
//!
//! The first class lies in the middle of the file, so that a read in file order reaches it after half
//! of the file.

use crate::bench::{Bench, Size};
use anyhow::Result;
use swath_study::fields::classes::{Cut, Field, How, Spread, Until};
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State::Warm;

/// As in the study.
const STUDY: Cut = Cut { chunks: 100_000, classes: 1000, threads: 16 };

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

/// Compares reads by class with plain reads and with study A's barriers.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let cut = bench.pick(STUDY, Cut { chunks: 1000, classes: 50, ..STUDY });
    let auto = Cut { threads: 0, ..cut };
    let field = Field::new(&bench.stage, &bench.bytes(size)?)?;
    let until = |until| How { until, ..How::WHOLE };
    let here = [
        field.plain(READ, Warm, cut.threads),
        field.plain(READ_AUTO, Warm, 0),
        field.window(WHOLE, Warm, cut, How::WHOLE),
        field.window(WHOLE_AUTO, Warm, auto, How::WHOLE),
        field.window(STRICT, Warm, cut, How { window: 1, ..How::WHOLE }),
        field.window(FAR, Warm, cut, How { spread: Spread::Far, ..How::WHOLE }),
        field.window(FIRST, Warm, cut, until(Until::First)),
        field.window(FILE_ORDER, Warm, cut, until(Until::FirstInFileOrder)),
        field.barrier(BARRIER, Warm, cut),
        field.barrier(BARRIER_ALONE, Warm, Cut { threads: 1, ..cut }),
    ];
    let goals = [
        Goal::time(WHOLE, COST, &[READ]),
        Goal::time(WHOLE_AUTO, COST, &[READ_AUTO]),
        Goal::speed(WHOLE, 2.0, &[BARRIER, BARRIER_ALONE]),
        Goal::speed(FIRST, 10.0, &[FILE_ORDER]),
    ];
    Ok(Entrants::new(here, goals))
}
