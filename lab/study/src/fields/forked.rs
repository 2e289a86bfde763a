//! The output of threads that fork: a tree of calls, written in all ways.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result};

use crate::cache;
use crate::forks::{Leave, Trees};
use crate::measure::{Entrant, Meter, Outcome, Stage, memory_for};

/// Bytes that each call writes, as in study E.
const CALL: usize = 10 << 10;

/// A tree, the threads that run it, and the folder of its output.
pub struct Forked {
    trees: Trees,
    folder: PathBuf,
}

impl Forked {
    /// Makes the calls of `fib(n)`, with this many threads.
    ///
    /// # Errors
    ///
    /// If there is too little memory, or the threads cannot be started.
    pub fn new(stage: &Stage, n: u32, threads: usize) -> Result<Rc<Self>> {
        let trees = Trees::new(n, CALL, threads)?;
        // The output stays in memory, and twice as much is touched before.
        memory_for(3 * trees.expected().0)?;
        Ok(Rc::new(Self { trees, folder: stage.output("tree") }))
    }

    /// Returns an entrant that writes the tree in the way `how`.
    pub fn entrant(self: &Rc<Self>, series: &str, how: Leave) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let (bytes, checksum) = self.trees.expected();
        Entrant::new(series, Outcome { bytes, checksum }, move |meter| here.leave(how, meter))
            .with_before(move || before.prepare())
    }

    fn prepare(&self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder)?;
        // The output of the previous run must not be written back during this one.
        rustix::fs::sync();
        let room = usize::try_from(self.trees.expected().0).unwrap_or(usize::MAX);
        cache::touch_memory(room.saturating_mul(2)).context("cannot touch memory")
    }

    fn leave(&self, how: Leave, meter: &mut Meter) -> Result<Outcome> {
        let left = meter.measure(|| self.trees.leave(&self.folder, how))??;
        if let Some(left) = &left {
            meter.note("forks", left.forks as f64);
            meter.note("steals", left.steals as f64);
            meter.note("extents", left.extents as f64);
            meter.note("parallelism", self.trees.fib.parallelism());
            self.trees.check_pieces(&self.folder, left)?;
        }
        let (bytes, checksum) = match how {
            Leave::Nowhere => self.trees.expected(),
            _ => self.trees.check(&self.folder)?,
        };
        fs::remove_dir_all(&self.folder)?;
        Ok(Outcome { bytes, checksum })
    }
}
