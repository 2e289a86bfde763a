//! Text as tables of any types, and the types that its columns have.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::{ReadOptions, Source};
use swath_formats::table::{
    BatchOptions, ColumnKey, ColumnType, Delimiter, Dictionary, Encoding, HeaderLine, Ragged,
};

use super::read::{Key, Separator};
use super::types::{WORDS, word as name};
use super::Table;
use crate::how::{How, StartingIn, Watch, part};
use crate::input::Input;
use crate::words::word;
use crate::work::Takes;

/// The lines that name the columns: how many, or "auto".
#[derive(FromPyObject)]
enum Header {
    Lines(usize),
    Word(String),
}

const AUTO: &[(&str, HeaderLine)] = &[("auto", HeaderLine::Auto)];
const RAGGED: &[(&str, Ragged)] =
    &[("error", Ragged::Refuse), ("pad", Ragged::Pad), ("set_aside", Ragged::SetAside)];

/// How the text of a table is written, and what to read of it: the dict that `swath._dialect` makes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Said {
    columns: Option<Vec<Key>>,
    dtypes: Vec<(Key, String)>,
    formats: Vec<(Key, String)>,
    rename: Vec<(Key, String)>,
    delimiter: Option<Separator>,
    header: Header,
    comment: Option<u8>,
    quote: Option<u8>,
    escape: Option<u8>,
    skip_rows: u64,
    rows: Option<u64>,
    null_values: Option<Vec<String>>,
    true_values: Option<Vec<String>>,
    false_values: Option<Vec<String>>,
    decimal: u8,
    thousands: Option<u8>,
    encoding: String,
    ragged: String,
    dictionary: bool,
    file_column: Option<String>,
    offset: u64,
    length: Option<u64>,
    starting_in: Option<StartingIn>,
    block_size: u64,
}

impl Said {
    /// The options of the library; `read` says how the bytes are read.
    pub(super) fn options(self, read: ReadOptions) -> PyResult<BatchOptions> {
        let options = BatchOptions::new()
            .with_comment(self.comment)
            .with_quote(self.quote)
            .with_escape(self.escape)
            .with_skip_rows(self.skip_rows)
            .with_decimal(self.decimal)
            .with_thousands(self.thousands)
            .with_encoding(word("encoding", &self.encoding, Encoding::WORDS)?)
            .with_ragged(word("ragged", &self.ragged, RAGGED)?)
            .with_dictionary(if self.dictionary { Dictionary::All } else { Dictionary::Told })
            .with_block_size(self.block_size)
            .with_read(part(read, self.offset, self.length));
        let options = match self.header {
            Header::Lines(lines) => options.with_header_lines(lines),
            Header::Word(text) => options.with_header(word("header", &text, AUTO)?),
        };
        let options = match self.delimiter {
            None => options,
            Some(Separator::Byte(byte)) => options.with_delimiter(byte),
            Some(Separator::Word(text)) => {
                let blanks = word("delimiter", &text, &[("blanks", Delimiter::Blanks)])?;
                options.with_delimiter(blanks)
            }
        };
        let kinds = self.dtypes.into_iter();
        let kinds = kinds.map(|(key, kind)| Ok((key.into_inner(), word("dtypes", &kind, WORDS)?)));
        let kinds = kinds.collect::<PyResult<Vec<(ColumnKey, ColumnType)>>>()?;
        let options = options
            .with_types(kinds)
            .with_formats(self.formats.into_iter().map(|(key, it)| (key.into_inner(), it)))
            .with_rename(self.rename.into_iter().map(|(key, it)| (key.into_inner(), it)));
        let words = [self.null_values, self.true_values, self.false_values];
        let options = with_words(options, words);
        let options = match self.columns {
            Some(keys) => options.with_columns(keys.into_iter().map(Key::into_inner)),
            None => options,
        };
        let options = self.rows.into_iter().fold(options, BatchOptions::with_rows);
        let options = self.file_column.into_iter().fold(options, BatchOptions::with_file_column);
        Ok(match self.starting_in {
            Some(StartingIn(extent)) => options.with_starting_in(extent),
            None => options,
        })
    }
}

/// Sets the lists of words that are given: of missing values, true and false.
fn with_words(options: BatchOptions, words: [Option<Vec<String>>; 3]) -> BatchOptions {
    let [nulls, trues, falses] = words;
    let options = nulls.into_iter().fold(options, BatchOptions::with_null_values);
    let options = trues.into_iter().fold(options, BatchOptions::with_true_values);
    falses.into_iter().fold(options, BatchOptions::with_false_values)
}

/// Everything that reading takes, in the library's words.
pub(super) struct Reading {
    pub(super) sources: Vec<Source>,
    pub(super) options: BatchOptions,
    pub(super) watch: Watch,
}

impl Reading {
    pub(super) fn new(
        py: Python<'_>,
        sources: Vec<Input>,
        how: &Bound<'_, PyTuple>,
        said: Said,
    ) -> PyResult<Self> {
        let how = How::of(how)?;
        let (read, watch) = how.options(py, sources.first().and_then(Input::path))?;
        let sources = sources.into_iter().map(|source| source.source(how.verify.as_ref()));
        let sources = sources.collect::<PyResult<_>>()?;
        Ok(Self { sources, options: said.options(read)?, watch })
    }
}

/// Reads a table of any types. `swath.read_csv` makes the arguments.
#[pyfunction]
pub(crate) fn read_batches(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: Said,
) -> PyResult<Table> {
    let Reading { sources, options, watch } = Reading::new(py, sources, how, said)?;
    let read = watch.run(py, Takes::Time, move || options.read_batches_of(sources))?;
    Ok(Table::of_text(read))
}

/// The names of the types that columns would get, in their order. `swath.csv_dtypes` makes the
/// arguments.
#[pyfunction]
pub(crate) fn read_types(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: Said,
) -> PyResult<Vec<&'static str>> {
    let Reading { sources, options, watch } = Reading::new(py, sources, how, said)?;
    watch.run(py, Takes::Time, move || {
        let stream = options.stream_batches_of(sources)?;
        let columns = stream.report().columns.iter();
        Ok::<_, swath_formats::Error>(columns.map(|column| name(column.kind)).collect())
    })
}
