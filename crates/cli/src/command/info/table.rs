//! What `swath info` reports about tables: each column, and the first rows. The table is read once, in
//! bounded memory.

use anyhow::Result;
use serde::{Serialize, Serializer};
use swath::ReadOptions;
use swath_formats::table::{BatchForm, Bound, ColumnRange, ColumnReport, TableSummary};
use unicode_width::UnicodeWidthStr;

use super::Known;
use crate::args::TableArgs;
use crate::command::convert::format::Format;
use crate::command::tabular::{
    Json, Listed, Rows, cell, columns, delimiter_word, facts_json, is_numeric, is_text,
    lost_texts, positions_word, usual_form,
};
use crate::grid::{self, Align, Column, MISSING};
use crate::progress::Bar;
use crate::report::object;

/// Columns that are printed for people.
const MOST: usize = 200;

pub(super) fn of(file: &swath::Input, format: Format, args: &TableArgs) -> Result<Known> {
    let form = match format {
        Format::Jsonl => BatchForm::JsonLines,
        Format::Tsv => BatchForm::Tsv,
        Format::Fixed => BatchForm::Fixed,
        _ => usual_form(file.name(), b"", args),
    };
    let (read, bar) = Bar::attach(ReadOptions::new(), true);
    let summary = args.batch_options(form, read).summary(file)?;
    drop(bar);
    let known = Known::new(match format {
        Format::Jsonl => "JSON Lines",
        Format::Tsv => "TSV",
        Format::Fixed => "text of fixed width",
        _ => "CSV",
    });
    Ok(Known { table: Some(Listing(summary)), ..known })
}

/// A table, column by column: there may be millions.
pub(super) struct Listing(TableSummary);

/// A column, as JSON.
#[derive(Serialize)]
struct Field<'l> {
    name: &'l str,
    r#type: String,
    /// Whether a flag says the type.
    told: bool,
    missing: u64,
    least: Json,
    /// Whether it is only the beginning of a text.
    #[serde(skip_serializing_if = "is_not")]
    least_is_cut: bool,
    greatest: Json,
    #[serde(skip_serializing_if = "is_not")]
    greatest_is_cut: bool,
    /// The line whose value made the type what it is.
    deciding_line: Option<u64>,
}

impl Serialize for Listing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = &self.0.report;
        let names = report.columns.iter().map(|column| column.name.as_str());
        let names = (report.header_lines > 0).then(|| object! { names: Listed(names) });
        let rows = self.rows();
        object! {
            rows: report.rows,
            columns: rows.columns.len(),
            #[serde(flatten)]
            facts: facts_json(report),
            #[serde(flatten)]
            names,
            fields: Listed(self.columns().map(|(column, range)| field(column, range))),
            first_rows: rows.json(),
        }
        .serialize(serializer)
    }
}

fn is_not(what: &bool) -> bool {
    !what
}

fn field<'l>(column: &'l ColumnReport, range: &ColumnRange) -> Field<'l> {
    let bound = |bound: &Option<Bound>| Json(bound.as_ref().map(|it| it.value.clone()));
    let is_cut = |bound: &Option<Bound>| bound.as_ref().is_some_and(|it| it.is_cut);
    Field {
        name: &column.name,
        r#type: column.kind.to_string(),
        told: column.is_told,
        missing: column.nulls,
        least: bound(&range.least),
        least_is_cut: is_cut(&range.least),
        greatest: bound(&range.greatest),
        greatest_is_cut: is_cut(&range.greatest),
        deciding_line: column.deciding.map(|it| it.line),
    }
}

impl Listing {
    fn columns(&self) -> impl Iterator<Item = (&ColumnReport, &ColumnRange)> + Clone {
        self.0.report.columns.iter().zip(&self.0.ranges)
    }

    fn rows(&self) -> Rows<'_> {
        Rows { columns: columns(&self.0.report, &self.0.first), batches: &self.0.first }
    }

    /// Returns all of it in lines that fit the width.
    pub(super) fn text(&self, width: usize) -> String {
        let report = &self.0.report;
        let delimiter = delimiter_word(report.delimiter).unwrap_or_else(|| "none".to_owned());
        let header = match report.header_lines {
            0 => "none".to_owned(),
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let place = match &report.fixed[..] {
            [] => format!("delimiter: {delimiter}"),
            columns => format!("positions: {}", positions_word(columns)),
        };
        let mut text = format!(
            "  rows: {}\n  columns: {}\n  {place}\n  header: {header}\n  encoding: {}\n",
            report.rows,
            report.columns.len(),
            report.encoding,
        );
        for lost in lost_texts(report, &[]) {
            text.push_str(&format!("  {lost}\n"));
        }
        text.push('\n');
        text.push_str(&self.listed(width.saturating_sub(2).max(1)));
        if report.rows > 0 {
            text.push('\n');
            text.push_str(&self.rows().text(width, 2));
        }
        text
    }

    /// A line for each column.
    fn listed(&self, width: usize) -> String {
        let some = || self.columns().take(MOST);
        let bound = |bound: &Option<Bound>| {
            let more = bound.as_ref().is_some_and(|bound| bound.is_cut);
            cell(bound.as_ref().map(|it| &it.value), width) + if more { "…" } else { "" }
        };
        let name = |it: &ColumnReport| grid::shown(&it.name, width);
        let line = |it: &ColumnReport| match (it.is_told, it.deciding) {
            (true, _) => "given".to_owned(),
            (false, Some(at)) => at.line.to_string(),
            (false, None) => MISSING.to_owned(),
        };
        let names = some().map(|(it, _)| name(it)).collect();
        let kinds = some().map(|(it, _)| it.kind.to_string()).collect();
        let missing = some().map(|(it, _)| it.nulls.to_string()).collect();
        let least: Vec<_> = some().map(|(_, range)| bound(&range.least)).collect();
        let greatest: Vec<_> = some().map(|(_, range)| bound(&range.greatest)).collect();
        let lines = some().map(|(it, _)| line(it)).collect();
        let are_numbers = some().all(|(it, _)| is_numeric(it.kind));
        let values = if are_numbers { Align::Right } else { Align::Left };
        let others = some().zip(least.iter().zip(&greatest));
        let others = others.filter(|((it, _), _)| !is_text(it.kind));
        let uncut = others.map(|(_, (least, greatest))| least.width().max(greatest.width()));
        let uncut = uncut.max().unwrap_or(0).clamp(grid::TEXT, grid::OTHER);
        let column = |head: &str, cells, align, uncut| Column {
            head: vec![head.to_owned()],
            cells,
            align,
            uncut,
        };
        let columns = [
            column("column", names, Align::Left, grid::TEXT),
            column("type", kinds, Align::Left, grid::OTHER),
            column("missing", missing, Align::Right, grid::OTHER),
            column("least", least, values, uncut),
            column("greatest", greatest, values, uncut),
            column("line", lines, Align::Right, grid::OTHER),
        ];
        let (lines, shown) = grid::lines(&columns, width);
        let mut text: String = lines.into_iter().map(|line| format!("  {line}\n")).collect();
        if shown < columns.len() {
            let heads: Vec<&str> =
                columns[shown..].iter().flat_map(|it| &it.head).map(String::as_str).collect();
            text.push_str(&format!("  {}\n", grid::more(&heads, heads.len(), width)));
        }
        let left = self.0.report.columns.len().saturating_sub(MOST);
        if left > 0 {
            let more = format!("… {left} more: pass --columns for some, or --json for all");
            text.push_str(&format!("  {}\n", grid::cut(&more, width)));
        }
        text
    }
}
