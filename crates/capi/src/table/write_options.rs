//! How a table is written.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use swath_formats::compressed::Format;
use swath_formats::table::{self, BatchForm, BatchWriteOptions};

use crate::guard::quietly;
use crate::number::numbers;
use crate::pointer::{self, value};
use crate::setter::{Holds, change, made, put, set};
use crate::status::Status;

/// The form of a table in its file.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableForm {
    /// By the end of the name: .csv; .tsv; .jsonl or .ndjson; .arrow, .feather or .ipc; .arrows. The
    /// end of a compressed stream after it does not count. A file that is read is CSV if its name
    /// ends in another way.
    #[default]
    ByName = 0,
    /// Fields separated by commas, or by another delimiter.
    Csv = 1,
    /// The same, separated by tabs.
    Tsv = 2,
    /// One JSON object per line.
    JsonLines = 3,
    /// Arrow's file format.
    Arrow = 4,
    /// Arrow's stream format.
    ArrowStream = 5,
    /// Text whose columns are at fixed positions of each line. It is read, but not written.
    Fixed = 6,
}
numbers!(
    TableForm,
    "swath_table_form",
    [ByName, Csv, Tsv, JsonLines, Arrow, ArrowStream, Fixed]
);

impl TableForm {
    pub(super) fn known(self) -> Option<BatchForm> {
        match self {
            Self::ByName => None,
            Self::Csv => Some(BatchForm::Csv),
            Self::Tsv => Some(BatchForm::Tsv),
            Self::JsonLines => Some(BatchForm::JsonLines),
            Self::Arrow => Some(BatchForm::Arrow),
            Self::ArrowStream => Some(BatchForm::ArrowStream),
            Self::Fixed => Some(BatchForm::Fixed),
        }
    }
}

/// Which fields are quoted. A missing value never is.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Texts that would otherwise be read as something else.
    Minimal = 0,
    /// All.
    All = 1,
    /// None. A text that needs quotes is an error.
    Never = 2,
}
numbers!(Quoting, "swath_quoting", [Minimal, All, Never] -> table::Quoting);

/// What ends a line.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// "\n".
    Newline = 0,
    /// "\r\n", as RFC 4180 has it.
    ReturnNewline = 1,
}
numbers!(LineEnd, "swath_line_end", [Newline, ReturnNewline] -> table::LineEnd);

/// Whether the first line has the names of the columns.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderLine {
    /// It has.
    Present = 0,
    /// It has not.
    Absent = 1,
}
numbers!(HeaderLine, "swath_header_line", [Present, Absent] -> table::HeaderLine);

/// Whether an output is compressed, and how.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// If its name ends as that of a compressed stream does: .zst, .gz, .bgz, .bz2 and so on.
    ByName = 0,
    /// No.
    Plain = 1,
    /// zstd: frames with checksums, and a seek table.
    Zstd = 2,
    /// gzip: members with an index.
    Gzip = 3,
    /// Blocked gzip, as used for genomes.
    Bgzf = 4,
    /// bzip2.
    Bzip2 = 5,
}
numbers!(Packing, "swath_packing", [ByName, Plain, Zstd, Gzip, Bgzf, Bzip2]);

impl From<Packing> for table::Packing {
    fn from(packing: Packing) -> Self {
        match packing {
            Packing::ByName => Self::ByName,
            Packing::Plain => Self::Plain,
            Packing::Zstd => Self::Format(Format::Zstd),
            Packing::Gzip => Self::Format(Format::Gzip),
            Packing::Bgzf => Self::Format(Format::Bgzf),
            Packing::Bzip2 => Self::Format(Format::Bzip2),
        }
    }
}

/// How a table is written in its file. One thread at a time may set options, and no thread while a
/// call writes with them. NULL means defaults: form and compression by the name, a header, commas,
/// quotes where necessary.
#[derive(Debug, Default)]
pub struct TableWriteOptions {
    options: BatchWriteOptions,
    form: TableForm,
    delimiter: u8,
    level: Option<i32>,
}

impl Holds for TableWriteOptions {
    type Held = BatchWriteOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

impl TableWriteOptions {
    /// The settings of C for the library; the defaults for NULL.
    pub(super) fn of(options: Option<&Self>) -> BatchWriteOptions {
        let Some(set) = options else { return BatchWriteOptions::new() };
        let delimiter = (set.delimiter != 0).then_some(set.delimiter);
        let mut options = set.options.clone();
        options = set.form.known().into_iter().fold(options, BatchWriteOptions::with_form);
        options = set.level.into_iter().fold(options, BatchWriteOptions::with_level);
        delimiter.into_iter().fold(options, BatchWriteOptions::with_delimiter)
    }
}

/// Makes options with the defaults. Free them with `swath_table_write_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_new(
    options: Option<&mut MaybeUninit<Option<Box<TableWriteOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_free(options: Option<Box<TableWriteOptions>>) {
    quietly(|| drop(options));
}

/// Sets the form. Default: SWATH_TABLE_FORM_BY_NAME.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_form(
    options: Option<&mut TableWriteOptions>,
    form: MaybeUninit<TableForm>,
) -> Status {
    change(options, |options| {
        options.form = value(form)?;
        Ok(())
    })
}

/// Sets the byte that separates fields of CSV. Default 0: `,`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_delimiter(
    options: Option<&mut TableWriteOptions>,
    delimiter: u8,
) -> Status {
    put(options, |options| options.delimiter = delimiter)
}

/// Sets which fields are quoted. Default: SWATH_QUOTING_MINIMAL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_quoting(
    options: Option<&mut TableWriteOptions>,
    quoting: MaybeUninit<Quoting>,
) -> Status {
    set(options, |options| Ok(options.with_quoting(value(quoting)?.into())))
}

/// Sets the word for a missing value. Default: an empty field; `NA` in a table of one column, since
/// readers skip empty lines. The word is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_write_options_set_null_word(
    options: Option<&mut TableWriteOptions>,
    word: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let word = unsafe { pointer::utf8(word, "word") };
    set(options, |options| Ok(options.with_null_word(word?)))
}

/// Sets what ends a line. Default: SWATH_LINE_END_NEWLINE.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_line_end(
    options: Option<&mut TableWriteOptions>,
    line_end: MaybeUninit<LineEnd>,
) -> Status {
    set(options, |options| Ok(options.with_line_end(value(line_end)?.into())))
}

/// Sets whether the first line has the names of the columns. Default: SWATH_HEADER_LINE_PRESENT.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_header(
    options: Option<&mut TableWriteOptions>,
    header: MaybeUninit<HeaderLine>,
) -> Status {
    set(options, |options| Ok(options.with_header(value(header)?.into())))
}

/// Sets whether the output is compressed, and how. Default: SWATH_PACKING_BY_NAME.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_packing(
    options: Option<&mut TableWriteOptions>,
    packing: MaybeUninit<Packing>,
) -> Status {
    set(options, |options| Ok(options.with_packing(value(packing)?.into())))
}

/// Sets the level of compression. Which levels there are depends on the format; another one is an
/// error of the call that writes. Default: the format's own.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_level(
    options: Option<&mut TableWriteOptions>,
    level: i32,
) -> Status {
    put(options, |options| options.level = Some(level))
}

/// Sets the bytes of text that a worker formats at a time, or of values in one batch of an Arrow file.
/// Default 0: chosen by form.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_set_block_size(
    options: Option<&mut TableWriteOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_block_size(bytes)))
}
