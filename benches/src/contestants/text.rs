//! Text with numbers in it: parsed, written, and compared by count and sum.

use crate::args::Consumer;
use crate::bench::{Bench, Input, Residency};
use crate::memory_child;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use swath_study::cache;
use swath_study::harness::{Contestant, Expected, Timing, Work};
use swath_study::peers::{Absent, PythonParse};

/// A file of text, and what a plain loop finds in it.
pub(crate) struct Text {
    pub(crate) input: Input,
    /// How many values there are.
    pub(crate) values: u64,
    /// What they add up to.
    pub(crate) sum: u64,
    /// Bytes of memory that its values take, a few times over.
    pub(crate) room: usize,
}

/// What was parsed, in so much time.
pub(crate) struct Parsed {
    pub(crate) timing: Timing,
    pub(crate) values: u64,
    pub(crate) sum: u64,
}

impl Text {
    fn expected(&self) -> Expected {
        Expected { bytes: self.input.made.bytes, checksum: self.sum }
    }

    /// Anybody: `run` times itself, and `sum` is what is to be found in what it leaves.
    pub(crate) fn contestant<'b>(
        &'b self,
        bench: &'b Bench,
        name: &str,
        sum: u64,
        run: impl Fn(&Path) -> Result<Parsed> + 'b,
    ) -> Contestant<'b> {
        let run = move || {
            let parsed = run(&self.input.path)?;
            let (found, there) = (parsed.values, self.values);
            ensure!(found == there, "{found} values, where there are {there}");
            Ok(Work::new(self.input.made.bytes, parsed.sum).with_timing(parsed.timing))
        };
        let expected = Expected { checksum: sum, ..self.expected() };
        Contestant::new(name, expected, run).with_before(move || {
            bench.bring(&self.input, Residency::Warm)?;
            cache::touch_memory(self.room).context("cannot touch memory")
        })
    }

    /// Swath: `run` times itself, and says how many values it found and what they add up to.
    pub(crate) fn swath<'b>(
        &'b self,
        bench: &'b Bench,
        name: &str,
        run: impl Fn(&Path) -> Result<Parsed> + 'b,
    ) -> Contestant<'b> {
        self.contestant(bench, name, self.sum, run)
    }

    /// Swath, in a process of its own, for its peak of memory.
    pub(crate) fn peak<'b>(
        &'b self,
        bench: &'b Bench,
        name: &str,
        what: Consumer,
    ) -> Contestant<'b> {
        let run = move || memory_child::start(what, &self.input.path, bench.workers);
        Contestant::new(name, self.expected(), run)
            .with_before(move || bench.bring(&self.input, Residency::Warm))
    }

    /// What people use today. Those who write are not judged by a sum.
    pub(crate) fn python<'b>(
        &'b self,
        bench: &'b Bench,
        parse: PythonParse,
    ) -> Result<Contestant<'b>, Absent> {
        let absent = |reason: &Absent| Absent::new(parse.name, reason.reason.clone());
        let python = bench.python.as_ref().map_err(absent)?;
        let is_writer = ["_write", "_prices"].iter().any(|end| parse.word.ends_with(end));
        let small = bench.folder().join("nothing");
        if let Err(error) = python.borrow_mut().parse(parse, &small) {
            // The file is not there; a library that is not there is told first.
            let reason = format!("{error:#}");
            if reason.contains("ModuleNotFound") {
                return Err(Absent::new(parse.name, reason));
            }
        }
        let sum = if is_writer { 0 } else { self.sum };
        Ok(self.contestant(bench, parse.name, sum, move |path| {
            let parsed = python.borrow_mut().parse(parse, path)?;
            let (values, sum) = (parsed.bytes, parsed.checksum);
            Ok(Parsed { timing: parsed.timing, values, sum })
        }))
    }
}
