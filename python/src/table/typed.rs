//! Reads text as tables of any types, as arrays of numbers, or only for the types of its columns.

use pyo3::IntoPyObjectExt;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use swath::{Array, ReadOptions, Source};
use swath_formats::table::{
    BatchOptions, ColumnKey, ColumnReport, Encoding, Missing, Setting, Value,
};

use super::types::{WORDS, word as name};
use super::{Table, report};
use crate::how::{How, StartingIn, Watch, noted, part};
use crate::input::Input;
use crate::memory::{Buffer, NumberKind, Stable};
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

/// Types of columns: one for all, or one for each named column.
#[derive(FromPyObject)]
enum Kinds {
    All(String),
    Of(Vec<(Key, String)>),
}

/// The form of a table's text, and the part to read: the dict that `swath._options` builds.
struct Said<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Said<'_, 'py> {
    /// Returns one of its values, if present; an error in it names it alone.
    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(found) = self.0.get_item(name)?.filter(|it| !it.is_none()) else {
            return Ok(None);
        };
        match found.extract() {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(noted(error.into(), self.0.py(), name)),
        }
    }

    /// Returns the options of the library; `read`: options for reading the bytes.
    fn options(&self, read: ReadOptions) -> PyResult<BatchOptions> {
        let read = part(read, self.get("offset")?.unwrap_or(0), self.get("length")?);
        let kind = |text: &str| word("dtypes", text, WORDS);
        let options = BatchOptions::new().with_read(read);
        let mut options = match self.get("dtypes")? {
            None => options,
            Some(Kinds::All(text)) => options.with_all_types(kind(&text)?),
            Some(Kinds::Of(pairs)) => {
                let pairs = pairs.into_iter();
                let pairs = pairs.map(|(key, text)| Ok((key.into_inner(), kind(&text)?)));
                options.with_types(pairs.collect::<PyResult<Vec<_>>>()?)
            }
        };
        for Setting { word, .. } in BatchOptions::settings() {
            let value = self.0.get_item(word)?.filter(|value| !value.is_none());
            if let Some(value) = value.filter(|_| !matches!(word, "columns" | "starting_in")) {
                put(&mut options, word, &value)
                    .map_err(|error| noted(error, self.0.py(), word))?
            }
        }
        if let Some(keys) = self.get::<Vec<Key>>("columns")? {
            options = options.with_columns(keys.into_iter().map(Key::into_inner));
        }
        if let Some(missing) = self.get("missing")? {
            options = options.with_missing(Missing::Value(missing));
        }
        let extents = self.get::<StartingIn>("starting_in")?.into_iter();
        Ok(extents
            .fold(options, |options, StartingIn(extent)| options.with_starting_in(extent)))
    }
}

/// Sets an option to one text, to several, or to one for each column.
fn put(options: &mut BatchOptions, word: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut set = |column: Option<ColumnKey>, value: &Bound<'_, PyAny>| {
        let texts = texts(value)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let set = options.set_texts(column.as_ref(), word, Some(&texts));
        set.map_err(PyValueError::new_err)
    };
    match value.extract::<Vec<(Key, Bound<'_, PyAny>)>>() {
        Ok(columns) if !columns.is_empty() => {
            columns.into_iter().try_for_each(|(key, value)| set(Some(key.into_inner()), &value))
        }
        _ => set(None, value),
    }
}

/// Returns the texts of an option; a number counts as text.
pub(super) fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(text) = value.extract() {
        return Ok(vec![text]);
    }
    value.extract().or_else(|_| Ok(vec![value.extract::<u64>()?.to_string()]))
}

/// The library's word for an encoding; None if it has no such encoding.
#[pyfunction]
pub(crate) fn encoding_word(label: &str) -> Option<String> {
    label.parse::<Encoding>().ok().map(|found| found.to_string())
}

/// The words of the options of tables, and what each does.
#[pyfunction]
pub(crate) fn table_settings() -> Vec<(&'static str, &'static str)> {
    BatchOptions::settings().into_iter().map(|it| (it.word, it.sentence)).collect()
}

/// The arguments of reading, in the library's types.
pub(super) struct TableReading {
    pub(super) sources: Vec<Source>,
    pub(super) options: BatchOptions,
    pub(super) watch: Watch,
    pub(super) takes: Takes,
}

impl TableReading {
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
    let TableReading { sources, options, watch, takes } =
        TableReading::new(py, sources, how, said)?;
    let read = watch.run(py, takes, move || options.read_batches_of(sources))?;
    Ok(Table::of_text(read))
}

/// Reads numbers of one type: their buffer, and the report if some of them are other ones than in the text.
/// `swath.read_csv` makes the arguments.
#[pyfunction]
pub(crate) fn read_array<'py>(
    py: Python<'py>,
    sources: Vec<Input>,
    dtype: &str,
    how: &Bound<'py, PyTuple>,
    said: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let reading = TableReading::new(py, sources, how, said)?;
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

fn array<T: Value + NumberKind>(
    py: Python<'_>,
    reading: TableReading,
) -> PyResult<Bound<'_, PyAny>>
where
    Array<T>: Stable<T>,
{
    let TableReading { sources, options, watch, takes } = reading;
    let table = watch.run(py, takes, move || options.read_array_of::<T, _>(sources))?;
    let values = Buffer::of_values(table.values, Some(&[table.rows, table.columns]))?;
    let is_changed = |it: &ColumnReport| it.rounded.count + it.padded.count > 0;
    let report =
        table.report.columns.iter().any(is_changed).then(|| report::text(&table.report));
    let report = report.map(|text| report::parsed(py, &text)).transpose()?;
    (Bound::new(py, values)?, report).into_bound_py_any(py)
}

/// The names of the types that columns would get, in their order. `swath.csv_dtypes` makes the
/// arguments.
#[pyfunction]
pub(crate) fn read_types(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let TableReading { sources, options, watch, takes } =
        TableReading::new(py, sources, how, said)?;
    watch.run(py, takes, move || {
        let stream = options.stream_batches_of(sources)?;
        let columns = stream.report().columns.iter();
        Ok::<_, swath_formats::Error>(columns.map(|column| name(column.kind)).collect())
    })
}
