//! The shared part of commands that show tables: rows for people and for programs, and the report of a table.

use std::path::{Path, PathBuf};

use anyhow::Result;
use arrow_array::RecordBatch;
use serde::{Serialize, Serializer};
use swath_formats::FileFormat;
use swath_formats::compressed;
use swath_formats::table::{
    BatchForm, Changes, ColumnReport, ColumnType, Delimiter, FixedColumn, RecordLine, Renamed,
    Scalar, TableReport,
};

use super::convert::format::Format;
use crate::args::TableArgs;
use crate::failure::Refused;
use crate::grid::{self, Align, Column, MISSING};
use crate::report::{PathJson, ReportName, object};

/// First bytes read to recognise a file.
pub(super) const HEAD: usize = 64 << 10;

/// Batches, or slices of them, that are shown together.
pub(super) struct ShownRows<'r> {
    /// The name and the type of each column.
    pub(super) columns: Vec<(&'r str, String)>,
    pub(super) batches: &'r [RecordBatch],
}

impl ShownRows<'_> {
    /// Returns each row as a list of values.
    pub(super) fn json(&self) -> impl Serialize + '_ {
        let rows = self
            .batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| BatchRow { batch, row }));
        ListedItems(rows)
    }

    /// Returns the rows in columns that fit the width, each line indented.
    pub(super) fn text(&self, width: usize, indent: usize) -> String {
        let width = width.saturating_sub(indent).max(1);
        let shown = self.columns.len().min(grid::most_columns(width));
        let columns: Vec<Column> = (0..shown).map(|at| self.column(at, width)).collect();
        let (mut lines, shown) = grid::lines(&columns, width);
        let left = self.columns.len() - shown;
        if left > 0 {
            let names = self.columns[shown..].iter().take(grid::most_columns(width));
            let names: Vec<&str> = names.map(|&(name, _)| name).collect();
            lines.push(grid::more(&names, left, width));
        }
        let indent = " ".repeat(indent);
        lines.into_iter().map(|line| format!("{indent}{line}\n")).collect()
    }

    fn column(&self, at: usize, width: usize) -> Column {
        let (name, kind) = &self.columns[at];
        let rows = self.batches.iter().flat_map(|batch| {
            (0..batch.num_rows()).map(move |row| Scalar::of(batch.column(at), row))
        });
        let values: Vec<Option<Scalar>> = rows.collect();
        let is_text = values
            .iter()
            .any(|value| matches!(value, Some(Scalar::Text(_) | Scalar::Other(_))));
        let is_number = |value: &Option<Scalar>| match value {
            None => true,
            Some(value) => is_number(value),
        };
        let align = match values.iter().all(is_number) && !values.is_empty() {
            true => Align::Right,
            false => Align::Left,
        };
        let cells = values.iter().map(|value| cell(value.as_ref(), width)).collect();
        let head = vec![grid::shown(name, width), kind.clone()];
        Column { head, cells, align, uncut: if is_text { grid::TEXT } else { grid::OTHER } }
    }
}

/// Returns a value for people; a time has no trailing zeros.
pub(super) fn cell(value: Option<&Scalar>, width: usize) -> String {
    match value {
        None => MISSING.to_owned(),
        Some(time @ Scalar::Timestamp { is_zoned, .. }) => {
            let text = time.to_string();
            let bare = text.strip_suffix('Z').unwrap_or(&text);
            let bare = match bare.contains('.') {
                true => bare.trim_end_matches('0').trim_end_matches('.'),
                false => bare,
            };
            if *is_zoned { format!("{bare}Z") } else { bare.to_owned() }
        }
        Some(value) => grid::shown(&value.to_string(), width),
    }
}

fn is_number(value: &Scalar) -> bool {
    matches!(value, Scalar::I64(_) | Scalar::U64(_) | Scalar::F32(_) | Scalar::F64(_))
}

/// A row of a batch, as JSON.
struct BatchRow<'r> {
    batch: &'r RecordBatch,
    row: usize,
}

impl Serialize for BatchRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.batch.columns().iter();
        serializer.collect_seq(columns.map(|column| Json(Scalar::of(column, self.row))))
    }
}

/// Items that can be serialised again and again.
pub(super) struct ListedItems<I>(pub(super) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for ListedItems<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// A value as JSON. A number that JSON cannot express is a text.
pub(super) struct Json(pub(super) Option<Scalar>);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_unit(),
            Some(Scalar::Bool(value)) => serializer.serialize_bool(*value),
            Some(Scalar::I64(value)) => serializer.serialize_i64(*value),
            Some(Scalar::U64(value)) => serializer.serialize_u64(*value),
            Some(Scalar::F32(value)) if value.is_finite() => serializer.serialize_f32(*value),
            Some(Scalar::F64(value)) if value.is_finite() => serializer.serialize_f64(*value),
            Some(other) => serializer.collect_str(other),
        }
    }
}

/// Returns the names and types of the columns of a table; `batches` are some of its batches.
pub(super) fn columns<'r>(
    report: &'r TableReport,
    batches: &'r [RecordBatch],
) -> Vec<(&'r str, String)> {
    let columns = report.columns.iter().map(|it| (it.name.as_str(), it.kind.to_string()));
    // The report leaves out the column of the file names.
    let fields = batches.iter().take(1).flat_map(|batch| batch.schema_ref().fields().iter());
    let more = fields.skip(report.columns.len());
    let more = more.map(|it| (it.name().as_str(), ColumnType::word_of(it.data_type())));
    columns.chain(more).collect()
}

/// Returns the word for a delimiter, in the form for the flag.
pub(super) fn delimiter_word(delimiter: Option<Delimiter>) -> Option<String> {
    delimiter.map(|delimiter| delimiter.to_string().replace('\t', "\\t"))
}

/// Returns the positions of columns of fixed width, in the form for the flag.
pub(super) fn positions_word(columns: &[FixedColumn]) -> String {
    let word = |column: &FixedColumn| match column.end {
        Some(end) => format!("{}..{end}", column.start),
        None => format!("{}..", column.start),
    };
    columns.iter().map(word).collect::<Vec<_>>().join(",")
}

/// Returns the form of a table in its file, and the changes made while reading it. There may be several `files`.
pub(super) fn facts_json(report: &TableReport, files: &[PathBuf]) -> impl Serialize + use<> {
    let renamed = |it: &Renamed| {
        object! { index: it.index, from: it.from.clone(), to: it.to.clone() }
    };
    let changes = |of| changes_json(report, files, of);
    object! {
        delimiter: delimiter_word(report.delimiter),
        positions: (!report.fixed.is_empty()).then(|| positions_word(&report.fixed)),
        header_lines: report.header_lines,
        header_reason: report.header_reason.to_string(),
        comment: report.comment.map(|byte| char::from(byte).to_string()),
        comments: report.comments,
        encoding: report.encoding.to_string(),
        // Decimals that are rounded, numbers that lost zeros or a sign because their type is given, and
        // objects and arrays among other values.
        rounded: changes(|it| it.rounded),
        padded: changes(|it| it.padded),
        as_text: changes(|it| it.as_text),
        // Names that the header lacks or repeats.
        renamed: report.renamed.iter().map(renamed).collect::<Vec<_>>(),
        // Lines with more or fewer fields, or text outside the columns.
        set_aside: object! {
            count: report.set_aside.count,
            lines: report.set_aside.lines.iter().map(|&it| line_json(it, files)).collect::<Vec<_>>(),
        },
        // Lines whose further fields were dropped.
        dropped: report.dropped,
        // Byte sequences that became U+FFFD.
        replaced: report.replaced,
    }
}

/// Returns the columns with values that differ from their text.
fn changes_json(
    report: &TableReport,
    files: &[PathBuf],
    of: fn(&ColumnReport) -> Changes,
) -> impl Serialize + use<> {
    let shown = report.columns.iter().filter_map(|column| {
        let Changes { count, first, .. } = of(column);
        let first = line_json(first?, files);
        Some(
            object! { name: column.name.clone(), count: count, #[serde(flatten)] first: first },
        )
    });
    shown.collect::<Vec<_>>()
}

/// Returns a line, with its file if there are several.
fn line_json(at: RecordLine, files: &[PathBuf]) -> impl Serialize + use<> {
    let file = files.get(at.source).filter(|_| files.len() > 1);
    object! { line: at.line, #[serde(flatten)] path: file.map(PathJson::from) }
}

/// Returns notes on text that is not in the table unchanged: omitted lines, dropped fields, replaced bytes and changed
/// names. There may be several `files`.
pub(super) fn lost_texts(report: &TableReport, files: &[PathBuf]) -> Vec<String> {
    const LISTED: usize = 5;
    let counted =
        |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let what = match (report.fixed.is_empty(), report.delimiter) {
        (false, _) => "with text outside of the columns",
        (true, Some(_)) => "with more or fewer fields",
        // If each line is one field, none is left out.
        (true, None) => "without an object",
    };
    let (aside, dropped, replaced) = (&report.set_aside, report.dropped, report.replaced);
    let list = |shown: Vec<String>, count: u64| {
        let more = if count > shown.len() as u64 { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let mut texts = Vec::new();
    if dropped > 0 {
        let what = what.replace("more or fewer", "more");
        texts.push(format!("{} {what}, which were dropped", counted(dropped, "line")));
    }
    if aside.count > 0 {
        let lines = aside.lines.iter().take(LISTED).map(|&at| line_word(at, files)).collect();
        let lines = list(lines, aside.count);
        texts.push(format!("{} {what} left out: {lines}", counted(aside.count, "line")));
    }
    if replaced > 0 {
        let are = if replaced == 1 { "is" } else { "are" };
        let what = format!("that {are} not {} became U+FFFD", report.encoding);
        texts.push(format!("{} {what}", counted(replaced, "byte sequence")));
    }
    let names = report.renamed.iter().take(LISTED);
    let names = names.map(|Renamed { from, to, .. }| {
        format!("`{}` for `{}`", to.escape_debug(), from.escape_debug())
    });
    let (names, count) = (names.collect::<Vec<_>>(), report.renamed.len() as u64);
    if count > 0 {
        texts.push(format!(
            "{} from the header became others: {}",
            counted(count, "name"),
            list(names, count)
        ));
    }
    texts
}

/// A line, with its file if there are several.
pub(super) fn line_word(
    RecordLine { source, line, .. }: RecordLine,
    files: &[PathBuf],
) -> String {
    match files.get(source).filter(|_| files.len() > 1) {
        Some(file) => format!("{line} of {}", file.shown()),
        None => line.to_string(),
    }
}

/// Returns the form of a table: fixed if flags give the positions of columns, otherwise by the end of its name, and if
/// that is unknown, by its first bytes.
pub(super) fn usual_form(path: &Path, head: &[u8], args: &TableArgs) -> BatchForm {
    if args.is_fixed() {
        return BatchForm::Fixed;
    }
    match Format::of_input(path, None).and_then(Format::form) {
        Some(form @ (BatchForm::Tsv | BatchForm::JsonLines)) => form,
        None if head.starts_with(b"{\"") => BatchForm::JsonLines,
        _ => BatchForm::Csv,
    }
}

/// Refuses bytes that are not text, unless an encoding, or a treatment of bytes outside it, was given. A NUL alone may
/// be part of a text.
pub(super) fn refuse_binary(head: &[u8], name: &Path, args: &TableArgs) -> Result<()> {
    /// First bytes to check: a binary file mostly has a NUL, and bytes that are not UTF-8, near its start.
    const LOOKED: usize = 4096;
    let is_marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let is_chosen = |word: Option<&str>, usual: &str| word.is_some_and(|it| it != usual);
    let is_given = is_chosen(args.encoding.as_deref(), "auto")
        || is_chosen(args.encoding_errors.as_deref(), "error");
    let is_packed = compressed::Format::detect(head).is_some();
    let first = &head[..head.len().min(LOOKED)];
    // The last character may be cut.
    let is_text = match std::str::from_utf8(first) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    if is_marked || is_given || is_packed || is_text || !first.contains(&0) {
        return Ok(());
    }
    let what = format!("cannot read {} as a table", name.shown());
    Err(match FileFormat::detect(head) {
        Some(kind) => Refused::new(format!("{what}: it is {}", kind.name), kind.hint),
        None => {
            let hint = "run `swath info` to see what it is, or pass --encoding";
            Refused::new(format!("{what}: it is not text"), hint)
        }
    }
    .into())
}

/// Whether a type is numeric.
pub(super) fn is_numeric(kind: ColumnType) -> bool {
    use ColumnType::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(kind, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F32 | F64)
}

/// Whether a type is text.
pub(super) fn is_text(kind: ColumnType) -> bool {
    matches!(kind, ColumnType::Text | ColumnType::Dictionary)
}
