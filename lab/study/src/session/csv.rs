//! The runs of one experiment as comma-separated values. The head of the column `x` names the quantity, as
//! in `x (threads)`; the column `place` has the names of places, if they have any.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use crate::page;
use crate::results::Measured;

/// Writes a head, then one line for each run; metrics that were not counted are empty.
pub(super) fn write(path: &Path, measured: &Measured) -> Result<()> {
    swath::write(path, text(measured))?;
    Ok(())
}

fn text(measured: &Measured) -> String {
    let names: BTreeSet<&String> =
        measured.runs.iter().flat_map(|run| run.metrics.keys()).collect();
    let x = measured.charts.first().map_or("", |chart| chart.x.as_str());
    let named = measured.charts.iter().find(|chart| !chart.x_names.is_empty());
    let place = named.map_or("", |_| "place,");
    let head = quoted(&format!("x ({x})"));
    let mut text = format!("folder,series,{head},{place}state,round,order,seconds,bytes");
    for name in &names {
        text.push(',');
        text += name;
    }
    text.push('\n');
    for run in &measured.runs {
        let (state, series) = (run.state.word(), quoted(&run.series));
        let place = named.map_or_else(String::new, |chart| {
            format!("{},", quoted(&page::place_name(chart, run.x)))
        });
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "{},{series},{},{place}{state},{},{},{},{}",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Chart, Measure, Run};

    fn measured(x: &str, names: &[&str]) -> Measured {
        let chart = Chart {
            title: "time".into(),
            x: x.into(),
            x_log: false,
            x_names: names.iter().map(|&name| name.to_owned()).collect(),
            y: Measure::Seconds,
            y_log: false,
        };
        let run = Run { series: "a, b".into(), x: 1.0, seconds: 0.5, ..Run::default() };
        Measured { charts: vec![chart], runs: vec![run], ..Measured::default() }
    }

    #[test]
    fn the_head_says_what_x_is_and_places_have_their_names() {
        let lines = |measured: &Measured| -> Vec<String> {
            text(measured).lines().map(str::to_owned).collect()
        };
        let plain = lines(&measured("threads", &[]));
        assert_eq!(plain[0], "folder,series,x (threads),state,round,order,seconds,bytes");
        assert_eq!(plain[1], "0,\"a, b\",1,warm,0,0,0.5,0");
        let named = lines(&measured("way", &["first", "second"]));
        assert_eq!(named[0], "folder,series,x (way),place,state,round,order,seconds,bytes");
        assert_eq!(named[1], "0,\"a, b\",1,second,warm,0,0,0.5,0");
        let odd = lines(&measured("memory, % of the file", &[]));
        assert!(odd[0].contains("\"x (memory, % of the file)\""), "{odd:?}");
    }
}
