//! The report of a table for C.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use swath::machine::{Mutex, MutexGuard};
use swath_formats::table::{self, Changes, ColumnReport, FixedColumn, Renamed, SetAside};

use crate::guard::quietly;
use crate::options::SWATH_TO_END;
use crate::report::c_string;

/// The report of a table: its types, its records, and how they were changed. Any number of threads
/// may use it at once, also while another reads the stream, and it may outlive the stream. Its texts
/// and structures are valid until it is freed.
#[derive(Debug)]
pub struct TableReport {
    delimiter: Option<CString>,
    encoding: CString,
    header_lines: usize,
    header_reason: CString,
    columns: Vec<TableColumn>,
    renamed: Vec<TableRenamed>,
    counts: Arc<Counts>,
    /// The strings that the structures point to.
    _names: Vec<CString>,
}

// SAFETY: the pointers in it lead to its own strings, which never change.
unsafe impl Send for TableReport {}
// SAFETY: as above.
unsafe impl Sync for TableReport {}

/// A column. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct TableColumn {
    /// Name in the batches.
    pub name: *const c_char,
    /// Its index in the file, from 0.
    pub index: usize,
    /// Type, as the option `types` takes it.
    pub r#type: *const c_char,
    /// Whether the options set the type.
    pub is_told: bool,
    /// The line, from 1, at which the first record begins whose value determined the type. 0 if the
    /// options set the type, or there is no value.
    pub line: u64,
    /// The index of the file with that line, in the order of the paths.
    pub file: usize,
    /// In text of fixed width, the first character of the column in each line, from 0.
    pub start: u64,
    /// The character after the column's last one; SWATH_TO_END for the end of the line. 0 in other
    /// forms.
    pub end: u64,
}

/// A column whose name in the header is empty, or that of an earlier column. Fields may be added at
/// the end.
#[repr(C)]
#[derive(Debug)]
pub struct TableRenamed {
    /// Its index in the file, from 0.
    pub index: usize,
    /// The name in the header.
    pub from: *const c_char,
    /// The name that replaces it.
    pub to: *const c_char,
}

/// The counts that grow while a stream is read.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    rows: u64,
    comments: u64,
    dropped: u64,
    replaced: u64,
    /// The missing values of each column.
    nulls: Vec<u64>,
    /// Rounded, padded, and as text.
    changes: Vec<[Changes; 3]>,
    aside: SetAside,
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock()
    }

    /// Sets the counts to those of the library.
    pub(super) fn set(&self, report: &table::TableReport) {
        let mut counted = self.lock();
        counted.rows = report.rows;
        counted.comments = report.comments;
        counted.dropped = report.dropped;
        counted.replaced = report.replaced;
        counted.nulls.clear();
        counted.nulls.extend(report.columns.iter().map(|column| column.nulls));
        let changes = |it: &ColumnReport| [it.rounded, it.padded, it.as_text];
        counted.changes = report.columns.iter().map(changes).collect();
        if counted.aside.count != report.set_aside.count {
            counted.aside.clone_from(&report.set_aside);
        }
    }
}

/// Texts that structures point to.
#[derive(Default)]
struct Names(Vec<CString>);

impl Names {
    fn keep(&mut self, text: &str) -> *const c_char {
        let text = c_string(text.as_bytes());
        let first = text.as_ptr();
        self.0.push(text);
        first
    }

    fn column(&mut self, column: &ColumnReport, fixed: &[FixedColumn]) -> TableColumn {
        let (start, end) = fixed.get(column.index).map_or((0, 0), places);
        TableColumn {
            name: self.keep(&column.name),
            index: column.index,
            r#type: self.keep(&column.kind.to_string()),
            is_told: column.is_told,
            line: column.deciding.map_or(0, |at| at.line),
            file: column.deciding.map_or(0, |at| at.source),
            start,
            end,
        }
    }

    fn renamed(&mut self, renamed: &Renamed) -> TableRenamed {
        let Renamed { index, from, to, .. } = renamed;
        TableRenamed { index: *index, from: self.keep(from), to: self.keep(to) }
    }
}

impl TableReport {
    /// Returns the report, and the counts of a stream.
    pub(super) fn new(report: &table::TableReport) -> (Self, Arc<Counts>) {
        let counts = Arc::new(Counts::default());
        counts.set(report);
        let mut names = Names::default();
        let column = |column| names.column(column, &report.fixed);
        let columns = report.columns.iter().map(column).collect();
        let renamed = report.renamed.iter().map(|renamed| names.renamed(renamed)).collect();
        let made = Self {
            delimiter: report.delimiter.map(|it| c_string(it.to_string().as_bytes())),
            encoding: c_string(report.encoding.to_string().as_bytes()),
            header_lines: report.header_lines,
            header_reason: c_string(report.header_reason.to_string().as_bytes()),
            columns,
            renamed,
            counts: Arc::clone(&counts),
            _names: names.0,
        };
        (made, counts)
    }
}

fn places(column: &FixedColumn) -> (u64, u64) {
    (column.start as u64, column.end.map_or(SWATH_TO_END, |end| end as u64))
}

/// Returns the number of rows in all batches; of a stream, in those that have been read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_rows(report: Option<&TableReport>) -> u64 {
    report.map_or(0, |it| it.counts.lock().rows)
}

/// Returns the delimiter of fields: its bytes as a text, or "blanks". NULL for a table of one
/// column for which no delimiter was set.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_delimiter(report: Option<&TableReport>) -> *const c_char {
    let delimiter = report.and_then(|it| it.delimiter.as_ref());
    delimiter.map_or(ptr::null(), |text| text.as_ptr())
}

/// Returns the encoding of the first file: "utf-8", "latin-1", "utf-16le" or "utf-16be". NULL for NULL
/// only.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_encoding(report: Option<&TableReport>) -> *const c_char {
    report.map_or(ptr::null(), |it| it.encoding.as_ptr())
}

/// Returns how many lines name the columns.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_header_lines(report: Option<&TableReport>) -> usize {
    report.map_or(0, |it| it.header_lines)
}

/// Returns why these lines name the columns, or no line does, as a sentence. NULL for NULL only.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_header_reason(
    report: Option<&TableReport>,
) -> *const c_char {
    report.map_or(ptr::null(), |it| it.header_reason.as_ptr())
}

/// Returns the number of lines skipped as comments; of a stream, those before the end of the
/// batches that have been read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_comments(report: Option<&TableReport>) -> u64 {
    report.map_or(0, |it| it.counts.lock().comments)
}

/// Returns the number of records that lost further fields or other text, as `ragged` says; of a
/// stream, in the batches that were handed out.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_dropped(report: Option<&TableReport>) -> u64 {
    report.map_or(0, |it| it.counts.lock().dropped)
}

/// Returns the number of sequences of bytes that became U+FFFD, as `encoding_errors` says.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_replaced(report: Option<&TableReport>) -> u64 {
    report.map_or(0, |it| it.counts.lock().replaced)
}

/// Returns the number of columns that are read, without that of the files' names.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_column_count(report: Option<&TableReport>) -> usize {
    report.map_or(0, |it| it.columns.len())
}

/// Returns a column, in the order of the batches; NULL if `index` is not below the count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_column(
    report: Option<&TableReport>,
    index: usize,
) -> *const TableColumn {
    let column = report.and_then(|it| it.columns.get(index));
    column.map_or(ptr::null(), ptr::from_ref)
}

/// Returns the number of missing values in a column; of a stream, those that have been read. 0 if
/// `index` is not below the count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_nulls(report: Option<&TableReport>, index: usize) -> u64 {
    report.map_or(0, |it| it.counts.lock().nulls.get(index).copied().unwrap_or(0))
}

/// Returns the number of decimals in a column that change as doubles or singles: printed with as
/// many significant digits, zeros at either end apart, they have other ones. Of a stream, those
/// that have been read. If there are some, sets `line` to the line in which the record of the first
/// one begins, from 1, and `file` to the index of its file; either may be NULL. 0 if `index` is not
/// below the count of columns.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_rounded(
    report: Option<&TableReport>,
    index: usize,
    file: Option<&mut MaybeUninit<usize>>,
    line: Option<&mut MaybeUninit<u64>>,
) -> u64 {
    counted(report, [index, 0], file, line)
}

/// Returns the number of numbers in a column whose type the options set that lost zeros before
/// their whole part (`007`) or, being whole, a plus or the minus of a zero (`-0`); `file` and
/// `line` are as above.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_padded(
    report: Option<&TableReport>,
    index: usize,
    file: Option<&mut MaybeUninit<usize>>,
    line: Option<&mut MaybeUninit<u64>>,
) -> u64 {
    counted(report, [index, 1], file, line)
}

/// Returns the number of objects and arrays in a column of JSON Lines that are texts because of
/// other values of the column, or of the field in it; `file` and `line` are as above.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_as_text(
    report: Option<&TableReport>,
    index: usize,
    file: Option<&mut MaybeUninit<usize>>,
    line: Option<&mut MaybeUninit<u64>>,
) -> u64 {
    counted(report, [index, 2], file, line)
}

/// Returns the counts of one kind of change in a column.
fn counted(
    report: Option<&TableReport>,
    [index, which]: [usize; 2],
    file: Option<&mut MaybeUninit<usize>>,
    line: Option<&mut MaybeUninit<u64>>,
) -> u64 {
    let found = report.and_then(|it| it.counts.lock().changes.get(index).map(|it| it[which]));
    let found = found.unwrap_or_default();
    if let Some(first) = found.first {
        file.map(|it| it.write(first.source));
        line.map(|it| it.write(first.line));
    }
    found.count
}

/// Returns the number of columns whose name differs from that in the header, because that is empty
/// or taken.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_renamed_count(report: Option<&TableReport>) -> usize {
    report.map_or(0, |it| it.renamed.len())
}

/// Returns such a column; NULL if `index` is not below the count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_renamed(
    report: Option<&TableReport>,
    index: usize,
) -> *const TableRenamed {
    let renamed = report.and_then(|it| it.renamed.get(index));
    renamed.map_or(ptr::null(), ptr::from_ref)
}

/// Returns the number of records left out (`ragged`: `set-aside`); of a stream, of those that have
/// been read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_set_aside_count(report: Option<&TableReport>) -> u64 {
    report.map_or(0, |it| it.counts.lock().aside.count)
}

/// Sets `line` to the line in which a left-out record begins, from 1, and `file` to the index of
/// its file; either may be NULL. The first 1,000 are listed: for a higher `index`, or one that is
/// not below the count, it returns false and both stay unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_set_aside(
    report: Option<&TableReport>,
    index: usize,
    file: Option<&mut MaybeUninit<usize>>,
    line: Option<&mut MaybeUninit<u64>>,
) -> bool {
    let at = report.and_then(|it| it.counts.lock().aside.lines.get(index).copied());
    let Some(at) = at else { return false };
    file.map(|it| it.write(at.source));
    line.map(|it| it.write(at.line));
    true
}

/// Frees a report; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_report_free(report: Option<Box<TableReport>>) {
    quietly(|| drop(report));
}
