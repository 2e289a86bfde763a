//! Parsers and writers of text: Swath and the usual tools.

use crate::bench::Bench;
use std::path::Path;
use swath_study::fields::text::{TextContent, TextField, TextWay};
use swath_study::measure::{Entrant, Entrants, Goal, Meter};
use swath_study::peers::{Absent, PythonWay};
use swath_study::results::State;

/// Returns Swath's entrant, with all workers.
pub(crate) fn ours(bench: &Bench, text: &TextField, name: &str, way: TextWay) -> Entrant {
    let workers = bench.workers;
    let run = move |path: &Path, meter: &mut Meter| way(path, workers, meter);
    text.entrant(name, State::Warm, run)
}

/// Returns Swath's entrant and the installed `peers`; the other peers are absent with a reason.
pub(crate) fn beside(
    bench: &Bench,
    text: &TextField,
    name: &str,
    way: TextWay,
    peers: &[PythonWay],
    goals: impl Into<Vec<Goal>>,
) -> Entrants {
    let mut entrants = Entrants::new([ours(bench, text, name, way)], goals);
    peers.iter().for_each(|&peer| entrants.add(python(bench, text, peer)));
    entrants
}

/// Returns an entrant that runs a usual tool. Tools that write have no sum to check.
fn python(bench: &Bench, text: &TextField, way: PythonWay) -> Result<Entrant, Absent> {
    let python = bench.python(way.name)?;
    if let Err(error) = python.borrow_mut().ask(way, &bench.stage.output("nothing")) {
        // The file does not exist, but a missing library is reported first.
        let reason = format!("{error:#}");
        if reason.contains("ModuleNotFound") {
            return Err(Absent::new(way.name, reason));
        }
    }
    let entrant = text.entrant(way.name, State::Warm, move |path, meter| {
        let parsed = python.borrow_mut().ask(way, path)?.told(meter);
        Ok(TextContent { values: parsed.bytes, sum: parsed.checksum })
    });
    Ok(if way.word.ends_with("_write") { entrant.giving(0) } else { entrant })
}
