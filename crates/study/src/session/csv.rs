//! The runs of one experiment as comma-separated values.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use crate::results::Measured;

/// One line a run, with a head; a metric that was not counted is empty.
pub(super) fn write(path: &Path, measured: &Measured) -> Result<()> {
    swath::write(path, text(measured))?;
    Ok(())
}

fn text(measured: &Measured) -> String {
    let names: BTreeSet<&String> =
        measured.runs.iter().flat_map(|run| run.metrics.keys()).collect();
    let mut text = String::from("folder,series,x,state,round,order,seconds,bytes");
    for name in &names {
        text.push(',');
        text += name;
    }
    text.push('\n');
    for run in &measured.runs {
        let (state, series) = (run.state.word(), quoted(&run.series));
        // A String takes everything.
        let _ = write!(
            text,
            "{},{series},{},{state},{},{},{},{}",
            run.folder, run.x, run.round, run.order, run.seconds, run.bytes
        );
        for name in &names {
            text.push(',');
            if let Some(value) = run.metrics.get(*name) {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    text
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
