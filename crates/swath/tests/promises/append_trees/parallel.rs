//! Runs a program on the real implementation.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use rayon::iter::IntoParallelRefIterator;
use rayon::{ThreadPool, ThreadPoolBuilder};
use swath::append::{AppendTo, Writer};

use crate::append_trees::program::{Spawned, Step, Stop, bytes_of};

/// Pools of 1 to 8 threads, and one more to be entered from them.
pub(crate) struct Pools {
    pub(crate) sizes: Vec<ThreadPool>,
    other: ThreadPool,
}

impl Pools {
    pub(crate) fn new() -> Self {
        let pool = |threads| {
            ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
        };
        Self { sizes: (1..=8).map(pool).collect(), other: pool(2) }
    }
}

/// How a strand ends if it fails.
#[derive(Debug)]
pub(crate) enum Broken {
    Planned,
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<swath::Error> for Broken {
    fn from(error: swath::Error) -> Self {
        Self::Io(error.into())
    }
}

/// A planned panic.
struct Planned;

/// Runs the program as its outermost strand would.
pub(crate) fn run(steps: &[Step], w: &mut Writer<'_>, pools: &Pools) -> Result<(), Stop> {
    match catch_unwind(AssertUnwindSafe(|| strand(steps, w, pools))) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Broken::Planned)) => Err(Stop::Failed),
        Ok(Err(Broken::Io(error))) => {
            panic!("nothing but the planned failures fails: {error:?}")
        }
        Err(panic) if panic.is::<Planned>() => Err(Stop::Panicked),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn strand(steps: &[Step], w: &mut Writer<'_>, pools: &Pools) -> Result<(), Broken> {
    steps.iter().try_for_each(|step| one(step, w, pools))
}

fn one(step: &Step, w: &mut Writer<'_>, pools: &Pools) -> Result<(), Broken> {
    match step {
        Step::Write { id, len } => w.write_all(&bytes_of(*id, *len))?,
        Step::Yield => {
            rayon::yield_now();
            std::thread::yield_now();
        }
        Step::Join(a, b) => {
            w.join(|w| strand(a, w, pools), |w| strand(b, w, pools))?;
        }
        Step::Scope(spawned) => w.scope(|s| {
            spawned.iter().try_for_each(|it| match it {
                Spawned::Task(steps) => {
                    s.spawn(|w| strand(steps, w, pools));
                    Ok(())
                }
                Spawned::Here(step) => one(step, s, pools),
            })
        })?,
        Step::Loop(items) => items.par_iter().append_to(w, |item, w| strand(item, w, pools))?,
        Step::OtherPool(steps) => pools.other.install(|| strand(steps, w, pools))?,
        Step::Catch(steps) => {
            let _ = run(steps, w, pools);
        }
        Step::Fail => return Err(Broken::Planned),
        Step::Panic => panic_any(Planned),
    }
    Ok(())
}
