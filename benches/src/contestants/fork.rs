//! Programs that fork and write: study E's Fibonacci tree, left in every way there is.

use crate::bench::Bench;
use anyhow::{Context, Result};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use swath::append::Writer;
use swath_study::cache;
use swath_study::forks::{BUFFER, Leave};
use swath_study::harness::{Contestant, Expected, Work, timed};

pub(crate) const SERIAL: &str = "serial writer";
pub(crate) const SERIAL_UNBUFFERED: &str = "serial writer, a call a write";
pub(crate) const OWN_FILES: &str = "each thread its own file, a call a write";
pub(crate) const OWN_FILES_BUFFERED: &str = "each thread its own file, buffered";
pub(crate) const SEGMENTS: &str = "swath segments";
pub(crate) const SEGMENTS_BARE: &str = "swath segments, no checksums";
pub(crate) const PLAIN: &str = "swath plain";

/// Each call writes study E's 10 KB.
const CALL: usize = 10 << 10;

/// One tree, the threads that run it, and where it is left.
pub(crate) struct Trees {
    trees: swath_study::forks::Trees,
    folder: PathBuf,
}

impl Trees {
    pub(crate) fn new(bench: &Bench, threads: usize) -> Result<Rc<Self>> {
        let n = if bench.quick { 8 } else { 23 };
        let trees = swath_study::forks::Trees::new(n, CALL, threads)?;
        Ok(Rc::new(Self { trees, folder: bench.output("tree") }))
    }

    /// Everybody, the serial writer first.
    pub(crate) fn contestants(self: &Rc<Self>) -> Vec<Contestant<'static>> {
        let all = [
            (SERIAL, Leave::Serial { buffer: BUFFER }),
            (SERIAL_UNBUFFERED, Leave::Serial { buffer: 0 }),
            (OWN_FILES, Leave::OwnFiles { buffer: 0 }),
            (OWN_FILES_BUFFERED, Leave::OwnFiles { buffer: BUFFER }),
            (SEGMENTS, Leave::Segments { checksums: true }),
            (SEGMENTS_BARE, Leave::Segments { checksums: false }),
            (PLAIN, Leave::Plain),
        ];
        all.into_iter().map(|(name, how)| self.contestant(name, how)).collect()
    }

    fn contestant(self: &Rc<Self>, name: &'static str, how: Leave) -> Contestant<'static> {
        let (trees, before) = (Rc::clone(self), Rc::clone(self));
        let run = move || {
            let (left, timing) = timed(|| trees.trees.leave(&trees.folder, how))?;
            left?;
            let (bytes, sum) = trees.trees.check(&trees.folder)?;
            fs::remove_dir_all(&trees.folder)?;
            Ok(Work::new(bytes, sum).with_timing(timing))
        };
        let (bytes, checksum) = self.trees.expected();
        Contestant::new(name, Expected { bytes, checksum }, run).with_before(move || {
            let room = usize::try_from(2 * before.trees.expected().0).unwrap_or(usize::MAX);
            let _ = fs::remove_dir_all(&before.folder);
            fs::create_dir_all(&before.folder)?;
            rustix::fs::sync();
            cache::touch_memory(room).context("cannot touch memory")
        })
    }
}

/// The tree of calls without anything to write, and with 16 bytes each.
pub(crate) fn joins(n: u32) -> u64 {
    if n < 2 {
        return std::hint::black_box(1);
    }
    let (a, b) = rayon::join(|| joins(n - 1), || joins(n - 2));
    a + b + 1
}

/// The same, each call writing 16 bytes first.
pub(crate) fn joins_and_writes(n: u32, w: &mut Writer<'_>) -> io::Result<u64> {
    w.write_all(&[7; 16])?;
    if n < 2 {
        return Ok(std::hint::black_box(1));
    }
    let (a, b) = w.join(|w| joins_and_writes(n - 1, w), |w| joins_and_writes(n - 2, w))?;
    Ok(a + b + 1)
}
