//! The report of `swath info` about tables: each column, and the first rows. The table is read once,
//! in bounded memory.

use anyhow::Result;
use serde::{Serialize, Serializer};
use swath::ReadOptions;
use swath_formats::table::{
    BatchForm, Bound, ColumnRange, ColumnReport, ColumnType, Scalar, TableSummary,
};
use unicode_width::UnicodeWidthStr;

use super::Known;
use crate::args::TableArgs;
use crate::command::convert::format::Format;
use crate::command::tabular::{
    Json, ListedItems, ShownRows, cell, columns, delimiter_word, facts_json, is_numeric,
    is_text, lost_texts, positions_word, usual_form,
};
use crate::grid::{self, Align, Column, MISSING};
use crate::progress::Bar;
use crate::report::object;

/// Maximum number of columns printed for people.
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
    Ok(Known { table: Some(ColumnListing(summary)), ..known })
}

/// A table, column by column: there may be millions.
pub(super) struct ColumnListing(TableSummary);

/// A column, as JSON.
#[derive(Serialize)]
struct Field<'l> {
    name: &'l str,
    #[serde(serialize_with = "as_word")]
    r#type: ColumnType,
    /// Whether a flag says the type.
    told: bool,
    missing: u64,
    least: Json,
    /// Whether `least` is only the beginning of a text.
    #[serde(skip_serializing_if = "is_not")]
    least_is_cut: bool,
    greatest: Json,
    #[serde(skip_serializing_if = "is_not")]
    greatest_is_cut: bool,
    /// The line whose value decided the type.
    deciding_line: Option<u64>,
}

impl Serialize for ColumnListing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = &self.0.report;
        let names = self.fields().map(|column| column.name);
        let names = (report.header_lines > 0).then(|| object! { names: ListedItems(names) });
        let rows = self.rows();
        object! {
            rows: report.rows,
            columns: self.0.schema.fields().len(),
            #[serde(flatten)]
            facts: facts_json(report, &[]),
            #[serde(flatten)]
            names,
            fields: ListedItems(self.fields()),
            first_rows: rows.json(),
        }
        .serialize(serializer)
    }
}

fn is_not(what: &bool) -> bool {
    !what
}

fn as_word<S: Serializer>(kind: &ColumnType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

fn field<'l>(column: &'l ColumnReport, range: &ColumnRange) -> Field<'l> {
    let bound = |bound: &Option<Bound>| Json(bound.as_ref().map(|it| it.value.clone()));
    let is_cut = |bound: &Option<Bound>| bound.as_ref().is_some_and(|it| it.is_cut);
    Field {
        name: &column.name,
        r#type: column.kind,
        told: column.is_told,
        missing: column.nulls,
        least: bound(&range.least),
        least_is_cut: is_cut(&range.least),
        greatest: bound(&range.greatest),
        greatest_is_cut: is_cut(&range.greatest),
        deciding_line: column.deciding.map(|it| it.line),
    }
}

impl ColumnListing {
    fn fields(&self) -> impl Iterator<Item = Field<'_>> + Clone {
        let known = &self.0.report.columns;
        let more = self.0.schema.fields().iter().skip(known.len());
        known
            .iter()
            .zip(&self.0.ranges)
            .map(|(it, range)| field(it, range))
            .chain(more.map(|it| self.of_file(it.name())))
    }

    /// Returns the column of file names, which the report leaves out.
    fn of_file<'l>(&self, name: &'l str) -> Field<'l> {
        let at = self.0.report.columns.len();
        let rows = self.0.first.iter().find(|batch| batch.num_rows() > 0);
        let file = rows.and_then(|batch| Scalar::of(batch.column(at), 0));
        Field {
            name,
            r#type: ColumnType::Dictionary,
            told: false,
            missing: 0,
            least: Json(file.clone()),
            least_is_cut: false,
            greatest: Json(file),
            greatest_is_cut: false,
            deciding_line: None,
        }
    }

    fn rows(&self) -> ShownRows<'_> {
        ShownRows { columns: columns(&self.0.report, &self.0.first), batches: &self.0.first }
    }

    /// Returns the whole listing in lines that fit the width.
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
            self.0.schema.fields().len(),
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

    /// Returns a line for each column.
    fn listed(&self, width: usize) -> String {
        let some: Vec<Field<'_>> = self.fields().take(MOST).collect();
        let bound = |Json(bound): &Json, is_cut: bool| {
            cell(bound.as_ref(), width) + if is_cut { "…" } else { "" }
        };
        let line = |it: &Field<'_>| match (it.told, it.deciding_line) {
            (true, _) => "given".to_owned(),
            (false, Some(line)) => line.to_string(),
            (false, None) => MISSING.to_owned(),
        };
        let cells = |of: &dyn Fn(&Field<'_>) -> String| some.iter().map(of).collect::<Vec<_>>();
        let names = cells(&|it| grid::shown(it.name, width));
        let kinds = cells(&|it| it.r#type.to_string());
        let missing = cells(&|it| it.missing.to_string());
        let least = cells(&|it| bound(&it.least, it.least_is_cut));
        let greatest = cells(&|it| bound(&it.greatest, it.greatest_is_cut));
        let lines = cells(&line);
        let are_numbers = some.iter().all(|it| is_numeric(it.r#type));
        let values = if are_numbers { Align::Right } else { Align::Left };
        let others = some.iter().zip(least.iter().zip(&greatest));
        let others = others.filter(|(it, _)| !is_text(it.r#type));
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
        let left = self.0.schema.fields().len().saturating_sub(MOST);
        if left > 0 {
            let more = format!("… {left} more: pass --columns for some, or --json for all");
            text.push_str(&format!("  {}\n", grid::cut(&more, width)));
        }
        text
    }
}
