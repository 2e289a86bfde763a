//! Findings for programs.

use serde::Serialize;
use swath_study::fields::file::FileMemory;
use swath_study::results::State;

use super::Findings;
use super::brief::Beside;
use super::compared::Verdict;
use super::limit::LIMITS;
use super::row::{DemoRow, Line};
use crate::report::object;

/// Where the file was before a run.
fn file(state: State) -> &'static str {
    match state {
        State::Warm | State::Cold => state.word(),
        State::None => "new",
    }
}

/// Returns every figure, with its unit in the key.
pub(crate) fn json(findings: &Findings) -> impl Serialize {
    object! {
        size_bytes: findings.size,
        rounds: findings.rounds(),
        cpu: &findings.facts.cpu,
        cores: findings.facts.cores,
        kernel: &findings.facts.kernel,
        memory_bytes: findings.facts.memory_bytes,
        file_system: &findings.facts.file_system,
        lines: Line::ALL.into_iter().filter_map(|it| line(findings, it)).collect::<Vec<_>>(),
        // `null`: only the five lines were measured.
        limits: findings.all.then(|| limits(findings)),
        rows: findings.rows.iter().map(|it| row(findings, it)).collect::<Vec<_>>(),
        notes: &findings.notes,
        verified: findings.is_right(),
    }
}

/// One of the five lines; `None` if it could not be measured.
fn line(findings: &Findings, line: Line) -> Option<impl Serialize> {
    let Beside { today, swath, compared } = findings.beside(line)?;
    let [_, word, way] = line.texts();
    Some(object! {
        line: word,
        today: way,
        today_bytes_per_s: today.bytes_per_s(findings.size),
        swath_bytes_per_s: swath.bytes_per_s(findings.size),
        speed_ratio: compared.ratio.estimate,
        speed_ratio_lower: compared.ratio.lower,
        speed_ratio_upper: compared.ratio.upper,
        verdict: compared.verdict.word(),
        verified: today.is_right && swath.is_right,
    })
}

fn limits(findings: &Findings) -> impl Serialize + use<> {
    let speed = |way: &str| {
        let is_it = |row: &&DemoRow| row.about.capability == LIMITS && row.about.way == way;
        Some(findings.rows.iter().find(is_it)?.bytes_per_s(findings.size))
    };
    object! {
        memory_sum_bytes_per_s: speed("memory sum"),
        copy_bytes_per_s: speed("copy into existing pages"),
        populate_bytes_per_s: speed("touch new pages"),
        warm_read_bytes_per_s: speed("pread into existing pages"),
        // `null` where O_DIRECT is refused.
        direct_read_bytes_per_s: speed("O_DIRECT read"),
    }
}

fn row(findings: &Findings, row: &DemoRow) -> impl Serialize + use<> {
    let compared = findings.ratio_to_peer(row);
    let decided = |verdict| verdict != Verdict::AboutTheSame && verdict != Verdict::Undecided;
    object! {
        capability: row.about.capability,
        engine: row.about.engine,
        way: row.about.way,
        file: file(row.about.state),
        memory: match row.about.memory {
            Some(FileMemory::Fresh) => "fresh",
            Some(FileMemory::Reused) => "reused",
            Some(FileMemory::Default) => "default",
            None => "none",
        },
        rounds: row.rounds(),
        median_elapsed_s: row.median(),
        least_elapsed_s: row.range().0,
        most_elapsed_s: row.range().1,
        bytes_per_s: row.bytes_per_s(findings.size),
        limit: row.about.limit.name(),
        ratio_to_limit: findings.ratio_to_limit(row),
        // `null`: the row has no peer, or is one.
        ratio_to_std: compared.map(|it| it.ratio.estimate),
        ratio_to_std_lower: compared.map(|it| it.ratio.lower),
        ratio_to_std_upper: compared.map(|it| it.ratio.upper),
        verdict: compared.map(|it| it.verdict.word()),
        ratio_is_decided: compared.is_some_and(|it| decided(it.verdict)),
        verified: row.is_right,
    }
}
