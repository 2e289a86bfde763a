//! Reading a file that is in the page cache.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::swath::{self, Named, PLAIN_READ};
use crate::contestants::timing::Setting;
use crate::contestants::{control, limit, peer};
use ::swath::ReadOptions;
use anyhow::Result;
use swath_study::limits::Schedule;
use swath_study::peers::PythonLoad;

const POOLED: &str = "swath, buffer from a pool";
const INTO: &str = "swath, read_into";
const FRESH: &str = "swath, fresh buffer";

/// Compares reused and fresh buffers with the limit, with one thread, and with peers.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Warm };
    let pages = bench.pages_for(input)?;
    let workers = bench.workers;
    let options = ReadOptions::new;
    let mut contestants = vec![
        limit::pread(setting, &pages, 1, Schedule::Static)?,
        limit::pread(setting, &pages, workers, Schedule::Dynamic)?,
    ];
    if workers > 1 {
        contestants.push(limit::pread(setting, &pages, workers, Schedule::Static)?);
    }
    contestants.extend([
        swath::pooled(setting, Named::new(POOLED, options())),
        swath::into_pages(setting, &pages, input.repeats, Named::new(INTO, options())),
        swath::fresh(setting, Named::new(FRESH, options())),
        // The pool that it shares by default may keep a buffer of 64 MiB.
        swath::plain_read(setting),
        peer::std_read(setting),
        control::memory(bench),
    ]);
    let mut absent = Vec::new();
    for load in [PythonLoad::FromFile, PythonLoad::OpenRead, PythonLoad::ReadInto] {
        match peer::python(setting, load) {
            Ok(contestant) => contestants.push(contestant),
            Err(reason) => absent.push(reason),
        }
    }
    Ok(Case { contestants, absent, goals: goals(workers) })
}

fn goals(workers: usize) -> Vec<Goal> {
    let one = limit::pread_name(1, Schedule::Static);
    let all = [Schedule::Dynamic, Schedule::Static]
        .map(|schedule| limit::pread_name(workers, schedule));
    let peer = |factor, load: PythonLoad| Goal::speed(FRESH, factor, &[load.name()]);
    vec![
        Goal::speed(POOLED, 0.95, &all),
        Goal::speed(INTO, 0.95, &all),
        Goal::speed(POOLED, 1.5, &[one]),
        Goal::speed(FRESH, 0.70, &all),
        peer(1.5, PythonLoad::FromFile),
        peer(5.0, PythonLoad::OpenRead),
        Goal::speed(FRESH, 1.5, &[peer::STD]),
        Goal::speed(PLAIN_READ, 1.5, &[peer::STD]),
    ]
}
