//! The study as tables for papers: `summary.md`.
//!
//! The parts that papers quote are between `<!-- part: NAME -->` and `<!-- /part -->`, so that the
//! repository can compare a paper with its record, and insert the parts of a new record.
//!
//! ```
//! use swath_study::{results::Results, summary};
//!
//! let text = summary::render(&Results::default());
//! assert!(text.contains("<!-- part: counts -->\n0 claims"));
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::page::{date, grid, place_name, size};
use crate::results::{
    Claimed, Counts, Finding, Key, Limit, Measured, QUICK, Results, Run, Selected, State,
    heading_of,
};
use swath_profile::stats::{Interval, median};

/// Renders the summary. With several folders, tables have a column for them.
pub fn render(results: &Results) -> String {
    let mut text = String::from("# Findings\n\n");
    text += &made_by(results);
    text += &part("counts", &format!("{}\n", Counts::of(results)));
    let letters: BTreeSet<&str> =
        results.experiments.iter().map(|one| one.study.as_str()).collect();
    for letter in letters {
        let quick = if results.method.is_quick() { " (quick run)" } else { "" };
        text += &format!("\n## {}{quick}\n\n", heading_of(letter));
        text += &part(&format!("study {letter}"), &findings(results, letter));
        if letter == SCALE {
            let of_scale = results.experiments.iter().filter(|one| one.study == SCALE);
            of_scale.for_each(|one| grids(&mut text, one));
        }
    }
    text += "\n## How large, and how long it took\n\n| Experiment | Minutes | Size |\n| --- | --- | --- |\n";
    for one in &results.experiments {
        let minutes =
            one.wall_seconds.map_or_else(dash, |seconds| format!("{:.1}", seconds / 60.0));
        row(&mut text, &[&one.id, &minutes, &one.scale]);
    }
    text += "\n## Limits\n\n| Limit | Where | Value | Unit |\n| --- | --- | --- | --- |\n";
    for Limit { name, folder, value, unit } in &results.limits {
        let place = folder.and_then(|folder| results.folders.get(folder));
        let place = place.map_or("machine", |folder| &folder.path);
        row(&mut text, &[name, place, &interval(value), unit]);
    }
    text += "\n## Medians\n\n| Experiment | Series | Place | Files | Median ms | GB/s |\n| --- | --- | --- | --- | --- | --- |\n";
    for one in &results.experiments {
        medians(&mut text, one);
    }
    text
}

/// Describes the program, the machine and the date of a run.
fn made_by(results: &Results) -> String {
    let mut text = format!(
        "Swath {}, {}, {}.\n\n",
        results.version,
        date(results.started),
        results.method.words()
    );
    if results.method.is_quick() {
        text += &format!("**{QUICK}**\n\n");
    }
    for (what, value) in results.machine.iter().filter(|(_, value)| !value.is_empty()) {
        text += &format!("- {what}: {value}\n");
    }
    text + "\n"
}

/// The study whose charts papers quote, besides findings.
const SCALE: &str = "S";

/// Renders the charts of an experiment as tables, each its own part.
fn grids(text: &mut String, one: &Measured) {
    for chart in &one.charts {
        let Some(grid) = grid(chart, &one.runs) else { continue };
        let mut inside = String::new();
        let head = std::iter::once(grid.corner.as_str());
        let head: Vec<&str> = head.chain(grid.places.iter().map(String::as_str)).collect();
        row(&mut inside, &head);
        row(&mut inside, &vec!["---"; head.len()]);
        for (series, cells) in &grid.rows {
            let cells = cells.iter().map(String::as_str);
            row(
                &mut inside,
                &std::iter::once(series.as_str()).chain(cells).collect::<Vec<_>>(),
            );
        }
        let name = format!("{}: {}", one.id, chart.title);
        *text += &format!("\n### {name}\n\n{}", part(&name, &inside));
    }
}

fn part(name: &str, inside: &str) -> String {
    format!("<!-- part: {name} -->\n{inside}<!-- /part -->\n")
}

fn findings(results: &Results, letter: &str) -> String {
    let mut text = String::from(
        "| Claim | Rule | Files | Here | Noise | Why | Of the limit |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for one in results.experiments.iter().filter(|one| one.study == letter) {
        for claim in &one.claims {
            let mut is_first = true;
            for finding in &claim.verdicts {
                finding_row(&mut text, one, claim, finding, is_first);
                is_first = false;
            }
            if claim.verdicts.is_empty() {
                let claimed = words(claim);
                let why = one.not_judged();
                row(&mut text, &[&claimed, &claim.rule, "–", "not judged", "–", &why, "–"]);
            }
        }
    }
    text
}

fn finding_row(
    text: &mut String,
    one: &Measured,
    claim: &Claimed,
    finding: &Finding,
    is_first: bool,
) {
    let (claimed, rule) = match is_first {
        true => (words(claim), claim.rule.as_str()),
        false => (format!("{}: the same", claim.id), ""),
    };
    let limit = finding.of_limit.as_ref().map_or_else(dash, interval);
    let here = finding.verdict.word();
    let noise = one.noise_words();
    let state = finding.state.files();
    row(text, &[&claimed, rule, state, here, &noise, &finding.because, &limit]);
}

/// Returns the name of a claim in rows.
fn words(claim: &Claimed) -> String {
    format!("{}: {}", claim.id, claim.source)
}

fn medians(text: &mut String, one: &Measured) {
    let mut places: Vec<(usize, &str, f64, State)> = one
        .runs
        .iter()
        .map(|run| (run.folder, run.series.as_str(), run.x, run.state))
        .collect();
    places.sort_by(|left, right| {
        (left.0, left.1, left.3)
            .cmp(&(right.0, right.1, right.3))
            .then(left.2.total_cmp(&right.2))
    });
    places.dedup();
    for (folder, series, x, state) in places {
        let key = Key { series, x, state };
        let runs = Selected::new(&one.runs, folder, 1);
        let Some(seconds) = median(&runs.seconds(key)) else { continue };
        let is_this = |run: &&Run| run.series == series && (run.x, run.state) == (x, state);
        let bytes = one.runs.iter().find(is_this).map_or(0, |run| run.bytes);
        let (ms, rate) = (format!("{:.3}", seconds * 1e3), bytes as f64 / seconds / 1e9);
        let rate = if rate.is_finite() { format!("{rate:.2}") } else { dash() };
        row(text, &[&one.id, series, &place(one, x), state.files(), &ms, &rate]);
    }
}

fn place(one: &Measured, x: f64) -> String {
    let named = one.charts.iter().find(|chart| !chart.x_names.is_empty());
    let is_bytes = one.charts.first().is_some_and(|chart| chart.x.contains("bytes"));
    match named {
        Some(chart) => place_name(chart, x),
        None if is_bytes => size(x),
        None => x.to_string(),
    }
}

fn interval(value: &Interval) -> String {
    let Interval { estimate, lower, upper } = value;
    format!("{estimate:.2} [{lower:.2}, {upper:.2}]")
}

fn dash() -> String {
    "–".to_owned()
}

fn row(text: &mut String, cells: &[&str]) {
    for cell in cells {
        let cell = cell.replace('|', "\\|").replace(['\n', '\r'], " ");
        // Writing to a String does not fail.
        let _ = write!(text, "| {} ", cell.trim());
    }
    text.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Holds, Source};

    fn study() -> Results {
        let finding = |state, verdict| Finding {
            state,
            verdict,
            because: "1 | 2 × [1, 3] as fast".into(),
            of_limit: Some(Interval { estimate: 5.0, lower: 4.0, upper: 6.0 }),
        };
        let claims = vec![
            Claimed {
                id: "a-x".into(),
                source: Source::quoted("more is more", "§2"),
                rule: "At least 1.".into(),
                verdicts: vec![
                    finding(State::Warm, Holds::Yes),
                    finding(State::Cold, Holds::No),
                ],
            },
            Claimed { source: Source::quoted("Nothing.", "§1"), ..Claimed::default() },
        ];
        let run =
            |x, bytes| Run { series: "pool".into(), x, seconds: 0.5, bytes, ..Run::default() };
        let one = Measured {
            id: "a-x".into(),
            study: "A".into(),
            claims,
            noise: Some(0.36),
            runs: vec![run(2.0, 10), run(3.0, 1_000_000_000)],
            ..Measured::default()
        };
        Results { experiments: vec![one], ..Results::default() }
    }

    #[test]
    fn each_verdict_has_its_files_its_noise_and_its_reason() {
        let text = render(&study());
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("noisy")).collect();
        assert_eq!(
            rows,
            [
                "| a-x: “more is more” (§2) | At least 1. | warm | holds | noisy: 36 % | 1 \\| 2 × [1, 3] \
                 as fast | 5.00 [4.00, 6.00] |",
                "| a-x: the same |  | cold | does not hold | noisy: 36 % | 1 \\| 2 × [1, 3] as fast | \
                 5.00 [4.00, 6.00] |",
            ]
        );
        assert!(text.contains("| not judged | – | no run was finished | – |"), "{text}");
        assert!(text.contains("| a-x | pool | 2 | warm | 500.000 | 0.00 |"), "{text}");
        assert!(text.contains("| a-x | pool | 3 | warm | 500.000 | 2.00 |"), "{text}");
        assert!(text.contains("<!-- part: study A -->\n| Claim |"));
        assert_eq!(text.matches("<!-- part: ").count(), text.matches("<!-- /part -->").count());
    }
}
