//! Text with numbers in it: parsed, written, and compared by count and sum.

use crate::bench::Bench;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::rc::Rc;
use swath::ReadOptions;
use swath_formats::table::{BatchOptions, HeaderLine};
use swath_study::cache;
use swath_study::fields::graph::GraphContent;
use swath_study::measure::{Entrant, Entrants, Input, Meter, Outcome};
use swath_study::peers::{Absent, PythonWay};
use swath_study::results::State;

/// A file of text, and the values that a plain loop finds in it.
pub(crate) struct Text {
    pub(crate) input: Rc<Input>,
    pub(crate) found: GraphContent,
    /// Bytes of memory that its values take, a few times over.
    pub(crate) room: usize,
}

impl Text {
    /// An entrant that finds as many values; it may give no sum.
    pub(crate) fn entrant(
        &self,
        name: &str,
        run: impl Fn(&Path, &mut Meter) -> Result<GraphContent> + 'static,
    ) -> Entrant {
        let (there, room) = (self.found.values, self.room);
        let work = move |input: &Input, meter: &mut Meter| {
            let GraphContent { values, sum } = run(&input.path, meter)?;
            ensure!(values == there, "{values} values, where there are {there}");
            Ok(Outcome { checksum: sum, ..input.expected() })
        };
        let entrant = self.input.entrant(name, State::Warm, work).giving(self.found.sum);
        entrant.with_before(move || cache::touch_memory(room).context("cannot touch memory"))
    }

    /// The usual tools. Those that write are not judged by a sum.
    pub(crate) fn python(&self, bench: &Bench, parse: PythonWay) -> Result<Entrant, Absent> {
        let python = bench.python(parse.name)?;
        let is_writer = ["_write", "_prices"].iter().any(|end| parse.word.ends_with(end));
        if let Err(error) = python.borrow_mut().ask(parse, &bench.stage.output("nothing")) {
            // The file does not exist; a library that is missing is reported first.
            let reason = format!("{error:#}");
            if reason.contains("ModuleNotFound") {
                return Err(Absent::new(parse.name, reason));
            }
        }
        let entrant = self.entrant(parse.name, move |path, meter| {
            let parsed = python.borrow_mut().ask(parse, path)?.told(meter);
            Ok(GraphContent { values: parsed.bytes, sum: parsed.checksum })
        });
        Ok(if is_writer { entrant.giving(0) } else { entrant })
    }

    /// Adds those of `peers` that are installed, and why the others are absent.
    pub(crate) fn beside(
        &self,
        bench: &Bench,
        mut entrants: Entrants,
        peers: &[PythonWay],
    ) -> Entrants {
        peers.iter().for_each(|&peer| entrants.add(self.python(bench, peer)));
        entrants
    }
}

/// Reads a table: values, and their sum.
pub(crate) fn table(path: &Path, workers: usize, meter: &mut Meter) -> Result<GraphContent> {
    let options = BatchOptions::new()
        .with_header(HeaderLine::Absent)
        .with_read(ReadOptions::new().with_workers(workers));
    let values = meter.measure(|| options.read_array::<f64>(path))??.values;
    Ok(GraphContent { values: values.len() as u64, sum: rounded(values.iter().sum()) })
}

/// As a whole number, for comparing sums that were added up in other orders.
#[expect(clippy::cast_possible_truncation, reason = "compared, not computed with")]
pub(crate) fn rounded(sum: f64) -> u64 {
    (sum.round() as i64).cast_unsigned()
}
