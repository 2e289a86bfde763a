//! The limits of this machine: memory and the device, with as little around them as possible.

use std::cell::RefCell;
use std::fs::File;
use std::rc::Rc;

use anyhow::Result;
use swath_study::limits::{self, Schedule};
use swath_study::measure::{Meter, SharedPages};
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, TargetMemory};
use super::stage::Stage;

/// Reads in flight of a first look at the device.
const DEPTH: usize = 8;

/// Measures one limit with the input and memory of its length; returns whether the bytes are right.
type LimitWay = fn(&Stage, &SharedPages, &mut Meter) -> Result<bool>;

const WAYS: [(&str, State, LimitWay); 5] = [
    ("memory sum", State::None, sum),
    ("copy into existing pages", State::None, copy),
    ("touch new pages", State::None, populate),
    ("pread into existing pages", State::Warm, read),
    ("O_DIRECT read", State::Cold, direct),
];

/// The capability of these rows.
pub(super) const LIMITS: &str = "limits";

impl Limit {
    /// The row that measures it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MemorySum => "memory sum",
            Self::Copy => "copy into existing pages",
            Self::DirectRead => "O_DIRECT read",
            Self::Computing => "none",
        }
    }

    /// The word for it in the table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::MemorySum => "sum",
            Self::Copy => "copy",
            Self::DirectRead => "direct",
            Self::Computing => "",
        }
    }
}

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let pages = limits::touched_pages(stage.bytes.len(), stage.workers)?;
    let pages: SharedPages = Rc::new(RefCell::new(pages));
    let is_refused = direct(stage, &pages, &mut Meter::default()).is_err();
    let row = |(way, state, run): (&'static str, State, LimitWay)| {
        let pages = Rc::clone(&pages);
        let (memory, limit) = (TargetMemory::None, Limit::Computing);
        let about = About { state, memory, limit, ..About::warm(LIMITS, "", way) };
        DemoRow::new(stage, about, move |stage, meter| run(stage, &pages, meter))
    };
    let possible =
        |way: &(&str, State, LimitWay)| way.0 != Limit::DirectRead.name() || !is_refused;
    Ok(WAYS.into_iter().filter(possible).map(row).collect())
}

fn sum(stage: &Stage, _: &SharedPages, meter: &mut Meter) -> Result<bool> {
    Ok(meter.measure(|| limits::memory_sum(&stage.bytes, stage.workers))? == stage.made.sum)
}

fn copy(stage: &Stage, pages: &SharedPages, meter: &mut Meter) -> Result<bool> {
    into(stage, pages, |target| {
        meter.measure(|| limits::copy(&stage.bytes, target, stage.workers))
    })
}

fn populate(stage: &Stage, _: &SharedPages, meter: &mut Meter) -> Result<bool> {
    let pages = meter.measure(|| limits::touched_pages(stage.bytes.len(), stage.workers))??;
    Ok(pages[..stage.bytes.len()].iter().step_by(4096).all(|&byte| byte == 0))
}

fn read(stage: &Stage, pages: &SharedPages, meter: &mut Meter) -> Result<bool> {
    into(stage, pages, |target| {
        let read = || {
            limits::pread(&File::open(&stage.path)?, target, stage.workers, Schedule::Dynamic)
        };
        Ok(meter.measure(read)??)
    })
}

fn direct(stage: &Stage, pages: &SharedPages, meter: &mut Meter) -> Result<bool> {
    into(stage, pages, |target| {
        Ok(meter.measure(|| limits::direct(&File::open(&stage.path)?, target, DEPTH))??)
    })
}

/// Lets `work` fill memory with the input; returns whether it did.
fn into(
    stage: &Stage,
    pages: &SharedPages,
    work: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<bool> {
    let mut pages = pages.borrow_mut();
    let target = &mut pages[..stage.bytes.len()];
    limits::fill(target, 0, stage.workers);
    work(target)?;
    Ok(*target == stage.bytes[..])
}
