//! The report of reading text, as JSON: it pickles, and each caller gets a dict of its own.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Value, json};
use swath_formats::table::{Changes, ColumnReport, RecordLine, Renamed, TableReport};

use super::types;
use crate::park;

/// Returns the report as text.
pub(super) fn text(report: &TableReport) -> Arc<str> {
    let aside = &report.set_aside;
    let made = json!({
        "delimiter": report.delimiter.map(|it| it.to_string()),
        "positions": positions(report),
        "header": report.header_lines,
        "header_reason": report.header_reason.to_string(),
        "comment": report.comment.map(|byte| char::from(byte).to_string()),
        "comments": report.comments,
        "encoding": report.encoding.to_string(),
        "rows": report.rows,
        "columns": report.columns.iter().map(column).collect::<Vec<_>>(),
        "renamed": report.renamed.iter().map(renamed).collect::<Vec<_>>(),
        "set_aside": {
            "count": aside.count,
            "lines": aside.lines.iter().map(line).collect::<Vec<_>>(),
        },
        "dropped": report.dropped,
        "replaced": report.replaced,
    });
    made.to_string().into()
}

/// Returns the positions of columns of fixed width; null in other forms.
fn positions(report: &TableReport) -> Option<Vec<(usize, Option<usize>)>> {
    let columns = report.fixed.iter().map(|column| (column.start, column.end));
    (!report.fixed.is_empty()).then(|| columns.collect())
}

fn column(column: &ColumnReport) -> Value {
    let decided = column.deciding;
    json!({
        "name": column.name,
        "index": column.index,
        "type": types::word(column.kind),
        "told": column.is_told,
        "nulls": column.nulls,
        "line": decided.map(|it| it.line),
        "file": decided.map(|it| it.source),
        "rounded": changes(column.rounded),
        "padded": changes(column.padded),
        "as_text": changes(column.as_text),
    })
}

fn changes(found: Changes) -> Value {
    let first = found.first;
    json!({
        "count": found.count,
        "line": first.map(|it| it.line),
        "file": first.map(|it| it.source),
    })
}

fn line(at: &RecordLine) -> Value {
    json!({"file": at.source, "line": at.line})
}

fn renamed(renamed: &Renamed) -> Value {
    json!({"index": renamed.index, "from": renamed.from, "to": renamed.to})
}

/// Returns the report as a dict.
pub(super) fn parsed<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    park::module(py, "json")?.getattr("loads")?.call1((text,))
}
