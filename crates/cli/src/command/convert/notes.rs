//! What the new format does not say of a table that was read.

use swath_formats::table::{Changes, ColumnReport, TableReport};

use super::Job;
use crate::command::tabular::{is_text, set_aside_text};
use crate::report::ReportName;

/// Says what was left out, and which columns became text after the first records.
pub(super) fn add_notes(job: &Job<'_>, report: &TableReport, notes: &mut Vec<String>) {
    /// More would not be read.
    const MOST: usize = 5;
    /// Lines that show what a table is.
    const FIRST: u64 = 1000;
    let name = job.input.name().shown();
    notes.extend(set_aside_text(report).map(|text| format!("{name}: {text}")));
    if report.comments > 0 && job.words.table.comment.is_none() {
        let count = report.comments;
        let lines = if count == 1 { "line is a comment" } else { "lines are comments" };
        notes.push(format!(
            "{name}: {count} {lines}, since the others are numbers; --comment none reads them"
        ));
    }
    let changed = report.columns.iter().flat_map(changed).take(MOST);
    notes.extend(changed.map(|text| format!("{name}: {text}")));
    let late = report.columns.iter().filter(|it| !it.is_told && is_text(it.kind));
    let late = late.filter_map(|it| Some((it, it.deciding?.line)).filter(|it| it.1 > FIRST));
    notes.extend(late.take(MOST).map(|(column, line)| {
        let (column, kind) = (column.name.escape_debug(), column.kind);
        format!(
            "{name}: column `{column}` is of type {kind} because of line {line}; --dtypes says another"
        )
    }));
}

/// Says what is not in the values of a column but in its text.
fn changed(column: &ColumnReport) -> Vec<String> {
    let note = |Changes { count, first, .. }: Changes, one: &str, more: &str, hint: &str| {
        let line = first?.line;
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
            "number lost zeros or a plus before it",
            "numbers lost zeros or a plus before them",
            "without a type, it is text",
        ),
    ];
    notes.into_iter().flatten().collect()
}
