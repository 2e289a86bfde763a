//! Facts about a table that the new format cannot express.

use std::path::PathBuf;

use swath_formats::table::{Changes, ColumnReport, TableReport};

use super::Conversion;
use crate::command::tabular::{is_text, line_word, lost_texts};

/// Adds notes on text that was lost, and on columns that became text after the first records.
pub(super) fn add_notes(job: &Conversion<'_>, report: &TableReport, notes: &mut Vec<String>) {
    /// Lines that show what a table is.
    const FIRST: u64 = 1000;
    let mut texts = lost_texts(report, &job.files);
    if report.comments > 0 && job.words.table.comment.is_none() {
        let count = report.comments;
        let lines = if count == 1 { "line is a comment" } else { "lines are comments" };
        let reason = "since the others are numbers; --comment none reads them";
        texts.push(format!("{count} {lines}, {reason}"));
    }
    let changed = report.columns.iter().flat_map(|column| changed(column, &job.files));
    add_some(job, changed, &mut texts);
    let late = report.columns.iter().filter(|it| !it.is_told && is_text(it.kind));
    let late = late.filter_map(|it| Some((it, it.deciding?)).filter(|it| it.1.line > FIRST));
    let late = late.map(|(column, at)| {
        let (column, kind) = (column.name.escape_debug(), column.kind);
        let line = line_word(at, &job.files);
        format!(
            "column `{column}` is of type {kind} because of line {line}; --dtypes says another"
        )
    });
    add_some(job, late, &mut texts);
    let name = &job.words.from;
    notes.extend(texts.into_iter().map(|text| format!("{name}: {text}")));
}

/// Adds texts about columns; for people, only a few.
fn add_some(job: &Conversion<'_>, more: impl Iterator<Item = String>, texts: &mut Vec<String>) {
    const MOST: usize = 5;
    let mut more: Vec<String> = more.collect();
    if more.len() > MOST && !job.words.output.json {
        let rest = more.split_off(MOST).len();
        more.push(format!("{rest} more such notes; --json has all of them"));
    }
    texts.extend(more);
}

/// Returns notes on values of a column that differ from their text.
fn changed(column: &ColumnReport, files: &[PathBuf]) -> Vec<String> {
    let note = |Changes { count, first, .. }: Changes, one: &str, more: &str, hint: &str| {
        let line = line_word(first?, files);
        let (name, what) = (column.name.escape_debug(), if count == 1 { one } else { more });
        let from = if count == 1 { "in" } else { "from" };
        Some(format!("column `{name}`: {count} {what}, {from} line {line}; {hint}"))
    };
    let notes = [
        note(
            column.rounded,
            "decimal was rounded in its last digits",
            "decimals were rounded in their last digits",
            "--dtypes text keeps them",
        ),
        note(
            column.padded,
            "number lost zeros or a sign before it",
            "numbers lost zeros or a sign before them",
            "without a type, it is text",
        ),
        note(
            column.as_text,
            "object or array became text",
            "objects or arrays became text",
            "others in its place are of other types",
        ),
    ];
    notes.into_iter().flatten().collect()
}
