//! How a table is written in its text.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;

use swath::Extent;
use swath_formats::table::{
    self, BatchForm, BatchOptions, ColumnKey, ColumnType, Delimiter, FixedColumn, HeaderLine,
};

use crate::failure::{Failure, Result};
use crate::guard::quietly;
use crate::number::numbers;
use crate::options::SWATH_TO_END;
use crate::pointer::{self, value};
use crate::setter::{Holds, change, made, put, set};
use crate::status::Status;
use crate::table::write_options::TableForm;

/// How the bytes of a text become characters.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As a byte order mark at the start says; UTF-8 without one.
    Auto = 0,
    /// UTF-8.
    Utf8 = 1,
    /// Latin-1, that is windows-1252: every byte is a character.
    Latin1 = 2,
    /// UTF-16, the low byte of each unit first.
    Utf16Le = 3,
    /// UTF-16, the high byte of each unit first.
    Utf16Be = 4,
}
numbers!(Encoding, "swath_encoding", [Auto, Utf8, Latin1, Utf16Le, Utf16Be] -> table::Encoding);

/// What happens to a record with more or fewer fields than the table has columns; in text of fixed width,
/// to one with text outside of the columns.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// It is an error.
    Refuse = 0,
    /// Fields that it lacks are missing values; further fields, or other text, are an error.
    Pad = 1,
    /// It is left out, and the report has its line.
    SetAside = 2,
}
numbers!(Ragged, "swath_ragged", [Refuse, Pad, SetAside] -> table::Ragged);

/// Which columns of text become dictionaries, which hold each different text once.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dictionary {
    /// Those whose type is set to "dictionary".
    Told = 0,
    /// All.
    All = 1,
}
numbers!(Dictionary, "swath_dictionary", [Told, All] -> table::Dictionary);

/// How a table is written in its text, and what to read of it. Bytes that mean something are ASCII.
/// One thread at a time may set options, and no thread while a call begins to read with them: it
/// uses what is set then. NULL means defaults: what fits the text.
#[derive(Debug, Default)]
pub struct TableOptions {
    options: BatchOptions,
    form: TableForm,
    pub(super) widths: Vec<usize>,
    pub(super) positions: Vec<FixedColumn>,
    delimiter: Option<Delimiter>,
    rows: Option<u64>,
    file_column: Option<String>,
    starting_in: Option<Extent>,
    pub(super) columns: Vec<ColumnKey>,
    pub(super) types: Vec<(ColumnKey, ColumnType)>,
    pub(super) formats: Vec<(ColumnKey, String)>,
    pub(super) names: Vec<(ColumnKey, String)>,
}

impl Holds for TableOptions {
    type Held = BatchOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

impl TableOptions {
    /// The settings of C for the library; the defaults for NULL. Names of the files may say the form.
    pub(super) fn of(options: Option<&Self>, paths: &[&Path]) -> Result<BatchOptions> {
        let form = form(options.map_or(TableForm::ByName, |set| set.form), paths)?;
        let Some(set) = options else { return Ok(BatchOptions::new().with_form(form)) };
        Ok(set.settings().with_form(form))
    }

    fn settings(&self) -> BatchOptions {
        let set = self;
        let mut options = set
            .options
            .clone()
            .with_types(set.types.clone())
            .with_formats(set.formats.clone())
            .with_rename(set.names.clone());
        options = set.delimiter.into_iter().fold(options, BatchOptions::with_delimiter);
        options = set.rows.into_iter().fold(options, BatchOptions::with_rows);
        options = set.starting_in.into_iter().fold(options, BatchOptions::with_starting_in);
        options = set.file_column.iter().fold(options, BatchOptions::with_file_column);
        if !set.widths.is_empty() {
            options = options.with_widths(set.widths.iter().copied());
        }
        if !set.positions.is_empty() {
            options = options.with_positions(set.positions.iter().copied());
        }
        match &set.columns[..] {
            [] => options,
            columns => options.with_columns(columns.to_vec()),
        }
    }
}

/// The form of files.
fn form(told: TableForm, paths: &[&Path]) -> Result<BatchForm> {
    let named = |path: &&Path| BatchForm::of_name(path).unwrap_or(BatchForm::Csv);
    let first = match told.known() {
        Some(told) => return Ok(told),
        None => paths.first().map_or(BatchForm::Csv, named),
    };
    match paths.iter().find(|&&path| named(&path) != first) {
        None => Ok(first),
        Some(other) => {
            let text = format!(
                "{} is of another form than {}; try: set the form of all with \
                 swath_table_options_set_form",
                other.display(),
                paths[0].display()
            );
            Err(Failure::invalid(text).at_path(other))
        }
    }
}

/// A byte that means something; none for 0.
fn mark(byte: u8) -> Option<u8> {
    (byte != 0).then_some(byte)
}

/// Makes options with the defaults. Free them with `swath_table_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_new(
    options: Option<&mut MaybeUninit<Option<Box<TableOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_free(options: Option<Box<TableOptions>>) {
    quietly(|| drop(options));
}

/// Sets the form of the files: CSV, TSV, JSON Lines or text of fixed width. In JSON Lines, each line is an object, and its
/// keys are the columns; delimiter, blanks, header, quote, escape, comment, decimal point, thousands and
/// ragged records have no meaning there, and are an error of the call that reads if they are set.
/// In text of fixed width, columns are where `swath_table_options_add_width` or
/// `swath_table_options_add_position` says. Without them, a column is a run of positions at which not
/// all of the first thousand lines are blank, and text between columns further on is an error.
/// Default: SWATH_TABLE_FORM_BY_NAME, which must be the same for all files.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_form(
    options: Option<&mut TableOptions>,
    form: MaybeUninit<TableForm>,
) -> Status {
    change(options, |options| {
        options.form = value(form)?;
        Ok(())
    })
}

/// Sets the byte that separates fields. Default 0: of tab, `,`, `;` and `|` the one with the most
/// consistent number of fields in the first lines.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_delimiter(
    options: Option<&mut TableOptions>,
    delimiter: u8,
) -> Status {
    put(options, |options| options.delimiter = mark(delimiter).map(Delimiter::Byte))
}

/// Separates fields by runs of spaces and tabs; those around a line are ignored. It takes the place
/// of the delimiter.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_blanks(options: Option<&mut TableOptions>) -> Status {
    put(options, |options| options.delimiter = Some(Delimiter::Blanks))
}

/// Sets how many lines name the columns: 0 for no names, 1 for the first line. Of several lines, the
/// parts of a name are joined with `_`. Default: as `swath_table_options_set_header_auto`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_header_lines(
    options: Option<&mut TableOptions>,
    lines: usize,
) -> Status {
    set(options, |options| Ok(options.with_header_lines(lines)))
}

/// Lets the text decide whether the first line names the columns: it does if none of its fields is a
/// value other than text, or if the column below one of its texts has another type than text. If all
/// columns are of text, it does if its fields are distinct.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_header_auto(
    options: Option<&mut TableOptions>,
) -> Status {
    set(options, |options| Ok(options.with_header(HeaderLine::Auto)))
}

/// Sets how many lines to skip before anything else, empty ones and comments included. Default 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_skip_rows(
    options: Option<&mut TableOptions>,
    lines: u64,
) -> Status {
    set(options, |options| Ok(options.with_skip_rows(lines)))
}

/// Sets how many rows to read at most; what follows them is not checked. Default SWATH_TO_END: all.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_rows(
    options: Option<&mut TableOptions>,
    rows: u64,
) -> Status {
    put(options, |options| options.rows = (rows != SWATH_TO_END).then_some(rows))
}

/// Sets the byte that may enclose fields: between two of them, a doubled one stands for itself, and
/// delimiters and newlines are text. 0: none. Default `"`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_quote(
    options: Option<&mut TableOptions>,
    quote: u8,
) -> Status {
    set(options, |options| Ok(options.with_quote(mark(quote))))
}

/// Sets the byte after which any byte is text, inside quotes and outside. Default 0: none.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_escape(
    options: Option<&mut TableOptions>,
    escape: u8,
) -> Status {
    set(options, |options| Ok(options.with_escape(mark(escape))))
}

/// Sets the byte that begins a line to skip; 0 for none. Default: `#`, if all fields of the first lines but
/// the names are numbers, and none otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_comment(
    options: Option<&mut TableOptions>,
    comment: u8,
) -> Status {
    set(options, |options| Ok(options.with_comment(mark(comment))))
}

/// Sets the decimal point. Default `.`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_decimal(
    options: Option<&mut TableOptions>,
    decimal: u8,
) -> Status {
    set(options, |options| Ok(options.with_decimal(decimal)))
}

/// Sets the byte between groups of three digits before the decimal point. Default 0: none.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_thousands(
    options: Option<&mut TableOptions>,
    thousands: u8,
) -> Status {
    set(options, |options| Ok(options.with_thousands(mark(thousands))))
}

/// Sets the `count` fields that mean a missing value. Default: the empty field, `NA`, `N/A`, `null`,
/// `NULL`. The words are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_null_values(
    options: Option<&mut TableOptions>,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let words = unsafe { pointer::texts(words, count, "words") };
    set(options, |options| Ok(options.with_null_values(words?)))
}

/// Sets the `count` fields that mean true. Default: `true`, `True`, `TRUE`. The words are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_true_values(
    options: Option<&mut TableOptions>,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let words = unsafe { pointer::texts(words, count, "words") };
    set(options, |options| Ok(options.with_true_values(words?)))
}

/// Sets the `count` fields that mean false. Default: `false`, `False`, `FALSE`. The words are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_false_values(
    options: Option<&mut TableOptions>,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let words = unsafe { pointer::texts(words, count, "words") };
    set(options, |options| Ok(options.with_false_values(words?)))
}

/// Sets how bytes become characters. Default: SWATH_ENCODING_AUTO.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_encoding(
    options: Option<&mut TableOptions>,
    encoding: MaybeUninit<Encoding>,
) -> Status {
    set(options, |options| Ok(options.with_encoding(value(encoding)?.into())))
}

/// Sets what happens to records with more or fewer fields than there are columns. Default:
/// SWATH_RAGGED_REFUSE.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_ragged(
    options: Option<&mut TableOptions>,
    ragged: MaybeUninit<Ragged>,
) -> Status {
    set(options, |options| Ok(options.with_ragged(value(ragged)?.into())))
}

/// Sets which columns of text become dictionaries. Default: SWATH_DICTIONARY_TOLD.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_dictionary(
    options: Option<&mut TableOptions>,
    dictionary: MaybeUninit<Dictionary>,
) -> Status {
    set(options, |options| Ok(options.with_dictionary(value(dictionary)?.into())))
}

/// Adds a last column called `name`, a dictionary, with the path of each row's file. Default NULL: no
/// such column. The name is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_file_column(
    options: Option<&mut TableOptions>,
    name: *const c_char,
) -> Status {
    change(options, |options| {
        options.file_column = match name.is_null() {
            true => None,
            // SAFETY: the contract of the header.
            false => Some(unsafe { pointer::utf8(name, "name") }?.to_owned()),
        };
        Ok(())
    })
}

/// Takes only the rows that begin in the `len` bytes from `offset` of each text; the last one is read
/// to its end. If extents cover a text without overlap, each row begins in exactly one of them. The
/// header is read anyway, and quotes are counted from the start. SWATH_TO_END stands for all bytes
/// after the offset. Default: all rows.
///
/// SWATH_STATUS_INVALID_ARGUMENT if offset and length exceed 2^64.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_starting_in(
    options: Option<&mut TableOptions>,
    offset: u64,
    len: u64,
) -> Status {
    change(options, |options| {
        options.starting_in = extent(offset, len)?;
        Ok(())
    })
}

fn extent(offset: u64, len: u64) -> Result<Option<Extent>> {
    match (offset, len) {
        (0, SWATH_TO_END) => Ok(None),
        (_, SWATH_TO_END) => Ok(Some(Extent::between(offset, u64::MAX))),
        _ => match Extent::new(offset, len) {
            None => Err(Failure::invalid("offset and length exceed 2^64")),
            extent => Ok(extent),
        },
    }
}

/// Sets the bytes of text that become one batch. Rows and types do not depend on it. Default 0: 1 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_set_block_size(
    options: Option<&mut TableOptions>,
    bytes: u64,
) -> Status {
    set(options, |options| Ok(options.with_block_size(bytes)))
}
