//! The tables of a record: goals first, then every case.

use crate::case::{CONTROL, Measure, Outcome, Reached};
use anyhow::Result;
use std::fmt::Write;
use swath_study::harness::Record;
use swath_study::stats::{Summary, median, paired_ratio};

/// Returns what follows the title of the record's summary.md.
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
    let (record, goals) = match outcome {
        Outcome::Ran { record, goals, .. } => (record, goals),
        Outcome::Failed(_) => {
            writeln!(text, "| {id} | all | – | **failed** |")?;
            return Ok(());
        }
    };
    let noisy = if record.noise(CONTROL).is_some() { " (noisy machine)" } else { "" };
    for (goal, reached) in goals {
        match reached {
            Reached::Open => writeln!(text, "| {id} | {goal} | – | open |")?,
            Reached::Measured { interval, rival, verdict } => {
                let several = matches!(
                    &goal.measure,
                    Measure::SpeedAgainst(rivals) | Measure::TimeAgainst(rivals) if rivals.len() > 1
                );
                let rival = rival.as_deref().filter(|_| several);
                let against = rival.map(|rival| format!(" (against {rival})"));
                let against = against.unwrap_or_default();
                writeln!(text, "| {id} | {goal} | {interval}{against} | {verdict}{noisy} |")?;
            }
        }
    }
    Ok(())
}

fn case(text: &mut String, outcome: &Outcome, seed: u64) -> Result<()> {
    let (reference, record, absent) = match outcome {
        Outcome::Ran { reference, record, absent, .. } => (reference, record, absent),
        Outcome::Failed(error) => {
            writeln!(text, "Failed: {error}")?;
            return Ok(());
        }
    };
    writeln!(
        text,
        "| Contestant | Median s | Quartiles s | GB/s | CPU s | Peak MiB | Left MB | Calls a file | Speed × {reference} |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for name in by_speed(record) {
        contestant(text, record, name, reference, seed)?;
    }
    match record.noise(CONTROL) {
        Some(spread) => {
            let percent = spread * 100.0;
            writeln!(
                text,
                "\n**Noisy machine**: the control's quartiles are {percent:.0} % apart."
            )?;
        }
        None => writeln!(text, "\nThe control was calm.")?,
    }
    for absent in absent {
        writeln!(text, "\n{absent}")?;
    }
    Ok(())
}

/// Returns everybody's name, the fastest first, the control last.
fn by_speed(record: &Record) -> Vec<&str> {
    let mut names: Vec<&str> = record.rows.iter().map(|row| &*row.contestant).collect();
    names.sort_unstable();
    names.dedup();
    let key = |name: &str| median(&record.seconds(name)).unwrap_or(f64::INFINITY);
    names.sort_by(|left, right| {
        let last = (*left == CONTROL).cmp(&(*right == CONTROL));
        last.then_with(|| key(left).total_cmp(&key(right)))
    });
    names
}

fn contestant(
    text: &mut String,
    record: &Record,
    name: &str,
    reference: &str,
    seed: u64,
) -> Result<()> {
    let seconds = record.seconds(name);
    let Some(times) = Summary::of(&seconds) else { return Ok(()) };
    let bytes = record.rows.iter().find(|row| row.contestant == name).map(|row| row.work.bytes);
    let rate = bytes.unwrap_or(0) as f64 / times.median / 1e9;
    let cpu = median(&record.cpu_seconds(name)).map(|cpu| format!("{cpu:.4}"));
    let peak = median(&record.peak_bytes(name));
    let peak = peak.map(|bytes| format!("{:.1}", bytes / 1024.0 / 1024.0));
    let left = median(&record.left_bytes(name)).map(|bytes| format!("{:.2}", bytes / 1e6));
    let calls = median(&record.calls_per_file(name)).map(|calls| format!("{calls:.2}"));
    let ratio = match name {
        CONTROL => None,
        _ if name == reference => None,
        _ => paired_ratio(&record.seconds(reference), &seconds, seed),
    };
    writeln!(
        text,
        "| {name} | {:.5} | {:.5} … {:.5} | {rate:.2} | {} | {} | {} | {} | {} |",
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
