//! Copies a warm file, compared with cp(1): into the page cache, and to the device.

use crate::bench::{Bench, Size};
use crate::child;
use crate::contestants::write::into_folder;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use swath::OutputOptions;
use swath::copy::{CopyOptions, Reflink};
use swath::sink::Durability;
use swath_study::measure::{Entrant, Entrants, Goal, Input};
use swath_study::peers::Absent;
use swath_study::results::State;

const CP: &str = "cp";
const CP_SYNC: &str = "cp && sync";
const SWATH: &str = "swath::copy, not synced";
const SWATH_SYNC: &str = "swath::copy";

/// The required share of the speed of cp(1).
const SHARE: f64 = 1.0;

/// Compares copies that do not share blocks with the original.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let input = bench.bytes(size, State::Warm)?.input;
    let swath = |name, durability| {
        let output = OutputOptions::new().with_durability(durability);
        let options = CopyOptions::new().with_output(output).with_reflink(Reflink::Never);
        entrant(bench, &input, name, move |from, to| Ok(options.copy(from, to).map(drop)?))
    };
    let here = [swath(SWATH, Durability::None), swath(SWATH_SYNC, Durability::Full)];
    let goals = [Goal::speed(SWATH, SHARE, &[CP]), Goal::speed(SWATH_SYNC, SHARE, &[CP_SYNC])];
    let mut entrants = Entrants::new(here, goals);
    for (name, line) in [
        (CP, r#"exec cp --reflink=never "$0" "$1""#),
        (CP_SYNC, r#"cp --reflink=never "$0" "$1" && exec sync "$1""#),
    ] {
        let by_shell = move |from: &Path, to: &Path| {
            let status = Command::new("sh").args(["-c", line]).arg(from).arg(to).status();
            ensure!(status.context("no shell")?.success(), "{line} failed");
            Ok(())
        };
        let there = child::find("cp").map_err(|reason| Absent::new(name, reason));
        entrants.add(there.map(|()| entrant(bench, &input, name, by_shell)));
    }
    Ok(entrants)
}

fn entrant(
    bench: &Bench,
    input: &Rc<Input>,
    name: &str,
    copy: impl Fn(&Path, &Path) -> Result<()> + 'static,
) -> Entrant {
    let (from, warm) = (Rc::clone(input), Rc::clone(input));
    let copied = move |folder: &Path| copy(&from.path, &folder.join("copy"));
    into_folder(bench, name, input.expected(), input.len(), copied)
        .with_before(move || warm.bring(State::Warm))
}
