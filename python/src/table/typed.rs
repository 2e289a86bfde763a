//! Text as tables of any types and as arrays of numbers, and the types that its columns have.

use pyo3::IntoPyObjectExt;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use swath::{Array, ReadOptions, Source};
use swath_formats::table::{
    BatchForm, BatchOptions, ColumnKey, Delimiter, Dictionary, Encoding, FixedColumn,
    HeaderLine, Missing, Ragged, Value,
};

use super::Table;
use super::types::{WORDS, word as name};
use crate::how::{How, StartingIn, Watch, noted, part};
use crate::input::Input;
use crate::memory::{Buffer, Item, Stable};
use crate::words::word;
use crate::work::Takes;

/// A column by its name or by its index.
#[derive(FromPyObject)]
pub(crate) enum Key {
    Index(usize),
    Name(String),
}

impl Key {
    pub(super) fn into_inner(self) -> ColumnKey {
        match self {
            Self::Index(index) => ColumnKey::Index(index),
            Self::Name(name) => ColumnKey::Name(name),
        }
    }
}

/// What stands between fields: a byte, or "blanks".
#[derive(FromPyObject)]
pub(crate) enum Separator {
    Byte(u8),
    Word(String),
}

/// The lines that name the columns: how many, or "auto".
#[derive(FromPyObject)]
enum Header {
    Lines(usize),
    Word(String),
}

/// Fields with a meaning: in all columns, or in each of these.
#[derive(FromPyObject)]
enum Words {
    All(Vec<String>),
    Of(Vec<(Key, Vec<String>)>),
}

impl Words {
    fn give(
        self,
        options: BatchOptions,
        all: fn(BatchOptions, Vec<String>) -> BatchOptions,
        of: fn(BatchOptions, ColumnKey, Vec<String>) -> BatchOptions,
    ) -> BatchOptions {
        let each = |options, (key, words): (Key, _)| of(options, key.into_inner(), words);
        match self {
            Self::All(words) => all(options, words),
            Self::Of(columns) => columns.into_iter().fold(options, each),
        }
    }
}

const AUTO: &[(&str, HeaderLine)] = &[("auto", HeaderLine::Auto)];
const RAGGED: &[(&str, Ragged)] =
    &[("error", Ragged::Refuse), ("pad", Ragged::Pad), ("set_aside", Ragged::SetAside)];

/// How the text of a table is written, and what to read of it: the dict that `swath._dialect` makes.
struct Said<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Said<'_, 'py> {
    /// One of its values; an error in it reads as if it had come alone.
    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        let found = self.0.get_item(name)?.ok_or_else(|| missing(name))?;
        match found.extract() {
            Ok(value) => Ok(value),
            Err(error) => Err(noted(error.into(), self.0.py(), name)),
        }
    }

    /// Columns, each with a text.
    fn keyed(&self, name: &str) -> PyResult<Vec<(ColumnKey, String)>> {
        let pairs: Vec<(Key, String)> = self.get(name)?;
        Ok(pairs.into_iter().map(|(key, text)| (key.into_inner(), text)).collect())
    }

    /// The options of the library; `read` says how the bytes are read.
    fn options(&self, read: ReadOptions) -> PyResult<BatchOptions> {
        let read = part(read, self.get("offset")?, self.get("length")?);
        let options = BatchOptions::new()
            .with_form(word("form", &self.get::<String>("form")?, BatchForm::WORDS)?)
            .with_skip_rows(self.get("skip_rows")?)
            .with_decimal(self.get("decimal")?)
            .with_thousands(self.get("thousands")?)
            .with_block_size(self.get("block_size")?)
            .with_read(read);
        self.choice(self.places(self.dialect(self.words(options)?)?)?)
    }

    /// Delimiters and lines.
    fn dialect(&self, options: BatchOptions) -> PyResult<BatchOptions> {
        let options = options
            .with_quote(self.get("quote")?)
            .with_escape(self.get("escape")?)
            .with_encoding(word("encoding", &self.get::<String>("encoding")?, Encoding::WORDS)?)
            .with_ragged(word("ragged", &self.get::<String>("ragged")?, RAGGED)?);
        // "auto" is the default.
        let options = match self.get("comment")? {
            None => options.with_comment(None),
            Some(Separator::Byte(byte)) => options.with_comment(Some(byte)),
            Some(Separator::Word(_)) => options,
        };
        let options = match self.get("header")? {
            Header::Lines(lines) => options.with_header_lines(lines),
            Header::Word(text) => options.with_header(word("header", &text, AUTO)?),
        };
        Ok(match self.get("delimiter")? {
            None => options,
            Some(Separator::Byte(byte)) => options.with_delimiter(byte),
            Some(Separator::Word(text)) => {
                let blanks = [("blanks", Delimiter::Blanks)];
                options.with_delimiter(word("delimiter", &text, &blanks)?)
            }
        })
    }

    /// Where columns of fixed width are.
    fn places(&self, options: BatchOptions) -> PyResult<BatchOptions> {
        let widths = self.get::<Option<Vec<usize>>>("widths")?.into_iter();
        let options = widths.fold(options, BatchOptions::with_widths);
        let pairs = self.get::<Option<Vec<(usize, Option<usize>)>>>("positions")?.into_iter();
        let column = |(start, end)| FixedColumn { start, end };
        Ok(pairs.fold(options, |options, pairs| {
            options.with_positions(pairs.into_iter().map(column))
        }))
    }

    /// Fields with a meaning.
    fn words(&self, options: BatchOptions) -> PyResult<BatchOptions> {
        use BatchOptions as Of;
        let words = |name: &str| self.get::<Option<Words>>(name).map(Option::into_iter);
        let options = words("null_values")?.fold(options, |options, words| {
            words.give(options, Of::with_null_values, Of::with_null_values_of)
        });
        let options = words("true_values")?.fold(options, |options, words| {
            words.give(options, Of::with_true_values, Of::with_true_values_of)
        });
        Ok(words("false_values")?.fold(options, |options, words| {
            words.give(options, Of::with_false_values, Of::with_false_values_of)
        }))
    }

    /// Columns and rows.
    fn choice(&self, options: BatchOptions) -> PyResult<BatchOptions> {
        let kinds = self.keyed("dtypes")?.into_iter();
        let kinds = kinds.map(|(key, kind)| Ok((key, word("dtypes", &kind, WORDS)?)));
        let texts = match self.get("dictionary")? {
            true => Dictionary::All,
            false => Dictionary::Told,
        };
        let mut options = options
            .with_types(kinds.collect::<PyResult<Vec<_>>>()?)
            .with_formats(self.keyed("formats")?)
            .with_rename(self.keyed("rename")?)
            .with_dictionary(texts);
        if let Some(keys) = self.get::<Option<Vec<Key>>>("columns")? {
            options = options.with_columns(keys.into_iter().map(Key::into_inner));
        }
        if let Some(rows) = self.get("rows")? {
            options = options.with_rows(rows);
        }
        if let Some(name) = self.get::<Option<String>>("file_column")? {
            options = options.with_file_column(name);
        }
        if let Some(StartingIn(extent)) = self.get("starting_in")? {
            options = options.with_starting_in(extent);
        }
        if let Some(missing) = self.get("missing")? {
            options = options.with_missing(Missing::Value(missing));
        }
        Ok(options)
    }
}

fn missing(name: &str) -> PyErr {
    PyKeyError::new_err(name.to_owned())
}

/// Everything that reading takes, in the library's words.
pub(super) struct Reading {
    pub(super) sources: Vec<Source>,
    pub(super) options: BatchOptions,
    pub(super) watch: Watch,
    pub(super) takes: Takes,
}

impl Reading {
    pub(super) fn new(
        py: Python<'_>,
        sources: Vec<Input>,
        how: &Bound<'_, PyTuple>,
        said: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let how = How::of(how)?;
        let (read, watch) = how.options(py, sources.first().and_then(Input::path))?;
        let takes = match &sources[..] {
            [one] => one.takes_to_parse(),
            _ => Takes::Time,
        };
        let sources = sources.into_iter().map(|source| source.source(how.verify.as_ref()));
        let sources = sources.collect::<PyResult<_>>()?;
        Ok(Self { sources, options: Said(said).options(read)?, watch, takes })
    }
}

/// Reads a table of any types. `swath.read_csv` makes the arguments.
#[pyfunction]
pub(crate) fn read_batches(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: &Bound<'_, PyDict>,
) -> PyResult<Table> {
    let Reading { sources, options, watch, takes } = Reading::new(py, sources, how, said)?;
    let read = watch.run(py, takes, move || options.read_batches_of(sources))?;
    Ok(Table::of_text(read))
}

/// Reads numbers of one type: their buffer, and the names of the columns. `swath.read_csv` makes the
/// arguments.
#[pyfunction]
pub(crate) fn read_array<'py>(
    py: Python<'py>,
    sources: Vec<Input>,
    dtype: &str,
    how: &Bound<'py, PyTuple>,
    said: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let reading = Reading::new(py, sources, how, said)?;
    macro_rules! read_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => array::<$kind>(py, reading),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be read"))),
            }
        };
    }
    read_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

fn array<T: Value + Item>(py: Python<'_>, reading: Reading) -> PyResult<Bound<'_, PyAny>>
where
    Array<T>: Stable<T>,
{
    let Reading { sources, options, watch, takes } = reading;
    let table = watch.run(py, takes, move || options.read_array_of::<T, _>(sources))?;
    let values = Buffer::of_values(table.values, Some(&[table.rows, table.columns]))?;
    (Bound::new(py, values)?, table.names).into_bound_py_any(py)
}

/// The names of the types that columns would get, in their order. `swath.csv_dtypes` makes the
/// arguments.
#[pyfunction]
pub(crate) fn read_types(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: &Bound<'_, PyDict>,
) -> PyResult<Vec<&'static str>> {
    let Reading { sources, options, watch, takes } = Reading::new(py, sources, how, said)?;
    watch.run(py, takes, move || {
        let stream = options.stream_batches_of(sources)?;
        let columns = stream.report().columns.iter();
        Ok::<_, swath_formats::Error>(columns.map(|column| name(column.kind)).collect())
    })
}
