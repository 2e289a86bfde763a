//! The tables of a record: goals first, then every case.

use super::Outcome;
use crate::case::Ran;
use crate::load::ForeignLoad;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write;
use swath_profile::stats::{Summary, median, noisy_spread, paired_ratio};
use swath_study::measure::{CONTROL, Reached};
use swath_study::results::Selected;

/// Returns the text after the title of the record's summary.md.
pub(super) fn text(outcomes: &[(String, Outcome)], seed: u64) -> Result<String> {
    let mut text = "| Case | Goal | Reached [95 % interval] | Verdict |\n\
                    | --- | --- | --- | --- |\n"
        .to_owned();
    for (id, outcome) in outcomes {
        goals(&mut text, id, outcome)?;
    }
    for (id, outcome) in outcomes {
        write!(text, "\n## {id}\n\n")?;
        case(&mut text, outcome, seed)?;
    }
    Ok(text)
}

fn goals(text: &mut String, id: &str, outcome: &Outcome) -> Result<()> {
    let ran = match outcome {
        Ok(ran) => ran,
        Err(_) => {
            writeln!(text, "| {id} | all | – | **failed** |")?;
            return Ok(());
        }
    };
    let noisy = if noise(ran).is_some() { " (noisy machine)" } else { "" };
    for (goal, reached) in &ran.goals {
        match reached {
            Reached::Open => writeln!(text, "| {id} | {goal} | – | open |")?,
            Reached::Measured { interval, rival, verdict } => {
                let rival = rival.as_deref().filter(|_| goal.has_choice());
                let against = rival.map(|rival| format!(" (against {rival})"));
                let against = against.unwrap_or_default();
                writeln!(text, "| {id} | {goal} | {interval}{against} | {verdict}{noisy} |")?;
            }
        }
    }
    Ok(())
}

fn case(text: &mut String, outcome: &Outcome, seed: u64) -> Result<()> {
    let ran = match outcome {
        Ok(ran) => ran,
        Err(error) => {
            writeln!(text, "Failed: {error}")?;
            return Ok(());
        }
    };
    let Ran { reference, absent, .. } = ran;
    writeln!(
        text,
        "| Contestant | Median s | Quartiles s | GB/s | CPU s | Peak MiB | Left MB | Calls a file | Speed × {reference} |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for name in by_speed(ran) {
        contestant(text, ran, name, seed)?;
    }
    match noise(ran) {
        _ if !ran.runs.iter().any(|run| run.series == CONTROL) => {}
        Some(spread) => {
            let percent = spread * 100.0;
            writeln!(
                text,
                "\n**Noisy machine**: the control's quartiles are {percent:.0} % apart."
            )?;
        }
        None => writeln!(text, "\nThe control was calm.")?,
    }
    if let Some(ForeignLoad { busy, stolen }) = ran.load {
        writeln!(
            text,
            "\nBeside it: {busy:.2} cores of other programs, {stolen:.2} of the host."
        )?;
    }
    for absent in absent {
        writeln!(text, "\n{absent}")?;
    }
    Ok(())
}

/// The spread of the control's times, if it is too wide.
fn noise(ran: &Ran) -> Option<f64> {
    noisy_spread(&seconds(&ran.selected(), CONTROL))
}

fn seconds(runs: &Selected<'_>, name: &str) -> Vec<f64> {
    runs.seconds(runs.key_of(name))
}

/// Returns the names of all entrants, the fastest first, the control last.
fn by_speed(ran: &Ran) -> Vec<&str> {
    let names: BTreeSet<&str> = ran.runs.iter().map(|run| &*run.series).collect();
    let runs = ran.selected();
    let key = |name: &str| median(&seconds(&runs, name)).unwrap_or(f64::INFINITY);
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by(|left, right| {
        let last = (*left == CONTROL).cmp(&(*right == CONTROL));
        last.then_with(|| key(left).total_cmp(&key(right)))
    });
    names
}

fn contestant(text: &mut String, ran: &Ran, name: &str, seed: u64) -> Result<()> {
    let runs = ran.selected();
    let own = seconds(&runs, name);
    let Some(times) = Summary::of(&own) else { return Ok(()) };
    let bytes = ran.runs.iter().find(|run| run.series == name).map(|run| run.bytes);
    let rate = bytes.filter(|&bytes| bytes > 0).map(|bytes| bytes as f64 / times.median / 1e9);
    let rate = rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.2}"));
    // Microseconds need more digits.
    let digits = if times.median < 1e-3 { 8 } else { 5 };
    let metric = |metric: &str| median(&runs.metric(runs.key_of(name), metric));
    let cpu = metric("cpu_seconds").map(|cpu| format!("{cpu:.4}"));
    let peak = metric("peak_bytes").map(|bytes| format!("{:.1}", bytes / 1024.0 / 1024.0));
    let left = metric("left_bytes").map(|bytes| format!("{:.2}", bytes / 1e6));
    let calls = metric("calls_per_file").map(|calls| format!("{calls:.2}"));
    let is_compared = name != CONTROL && name != ran.reference;
    let ratio = paired_ratio(&seconds(&runs, &ran.reference), &own, seed);
    let ratio = ratio.filter(|_| is_compared);
    writeln!(
        text,
        "| {name} | {:.digits$} | {:.digits$} … {:.digits$} | {rate} | {} | {} | {} | {} | {} |",
        times.median,
        times.lower_quartile,
        times.upper_quartile,
        cpu.as_deref().unwrap_or("–"),
        peak.as_deref().unwrap_or("–"),
        left.as_deref().unwrap_or("–"),
        calls.as_deref().unwrap_or("–"),
        ratio.map_or_else(|| "–".to_owned(), |ratio| ratio.to_string()),
    )?;
    Ok(())
}
