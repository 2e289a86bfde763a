//! Text as arrays of numbers; columns of numbers too, for programs that know that there are only those.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::{Array, Source};
use swath_formats::table::{
    ColumnKey, ColumnKind, Delimiter, HeaderLine, Missing, TableOptions, Value,
};

use super::Table;
use crate::how::{How, StartingIn, Watch, part};
use crate::input::Input;
use crate::memory::{Buffer, Item, Stable};
use crate::words::word;
use crate::work::Takes;

const HEADERS: &[(&str, HeaderLine)] = &[
    ("auto", HeaderLine::Auto),
    ("present", HeaderLine::Present),
    ("absent", HeaderLine::Absent),
];

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

/// How the text of a table is written, and what to read of it, in Python's words.
struct Said<'a> {
    columns: Option<Vec<Key>>,
    delimiter: Option<Separator>,
    header: &'a str,
    comment: Option<u8>,
    quote: Option<u8>,
    missing_words: Option<Vec<String>>,
    starting_in: Option<StartingIn>,
}

impl Said<'_> {
    fn options(self) -> PyResult<TableOptions> {
        let mut options = TableOptions::new()
            .with_header(word("header", self.header, HEADERS)?)
            .with_comment(self.comment)
            .with_quote(self.quote);
        match self.delimiter {
            None => {}
            Some(Separator::Byte(byte)) => options = options.with_delimiter(byte),
            Some(Separator::Word(text)) => {
                let blanks = word("delimiter", &text, &[("blanks", Delimiter::Blanks)])?;
                options = options.with_delimiter(blanks);
            }
        }
        if let Some(columns) = self.columns {
            options = options.with_columns(columns.into_iter().map(Key::into_inner));
        }
        if let Some(words) = self.missing_words {
            options = options.with_missing_words(words);
        }
        if let Some(StartingIn(extent)) = self.starting_in {
            options = options.with_starting_in(extent);
        }
        Ok(options)
    }
}

/// Types of columns by the names of numpy.
const KINDS: &[(&str, ColumnKind)] =
    &[("int64", ColumnKind::I64), ("float64", ColumnKind::F64)];

fn kinds(dtypes: Vec<(Key, String)>) -> PyResult<Vec<(ColumnKey, ColumnKind)>> {
    let kind =
        |(key, name): (Key, String)| Ok((key.into_inner(), word("dtypes", &name, KINDS)?));
    dtypes.into_iter().map(kind).collect()
}

/// Reads numbers: as an array and its names, or, without `dtype`, as columns. `swath.read_csv` makes
/// arrays of it.
#[pyfunction]
#[pyo3(signature = (source, dtype, how, *, columns=None, delimiter=None, header="auto",
    comment=Some(b'#'), quote=Some(b'"'), missing=None, missing_words=None, offset=0, length=None,
    starting_in=None, dtypes=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read_table<'py>(
    py: Python<'py>,
    source: Input,
    dtype: Option<&str>,
    how: &Bound<'py, PyTuple>,
    columns: Option<Vec<Key>>,
    delimiter: Option<Separator>,
    header: &str,
    comment: Option<u8>,
    quote: Option<u8>,
    missing: Option<f64>,
    missing_words: Option<Vec<String>>,
    offset: u64,
    length: Option<u64>,
    starting_in: Option<StartingIn>,
    dtypes: Option<Vec<(Key, String)>>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How::of(how)?;
    let (read, watch) = how.options(py, source.path())?;
    let (takes, source) = (source.takes_to_parse(), source.source(how.verify.as_ref())?);
    let said = Said { columns, delimiter, header, comment, quote, missing_words, starting_in };
    let mut options = said
        .options()?
        .with_missing(missing.map_or(Missing::Natural, Missing::Value))
        .with_read(part(read, offset, length));
    if let Some(dtypes) = dtypes {
        options = options.with_kinds(kinds(dtypes)?);
    }
    let Some(dtype) = dtype else {
        let columns = watch.run(py, takes, move || options.read_columns(source))?;
        return Ok(Bound::new(py, Table::of_columns(&columns)?)?.into_any());
    };
    macro_rules! read_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => array::<$kind>(py, &watch, takes, options, source),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be read"))),
            }
        };
    }
    read_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

fn array<'py, T: Value + Item>(
    py: Python<'py>,
    watch: &Watch,
    takes: Takes,
    options: TableOptions,
    source: Source,
) -> PyResult<Bound<'py, PyAny>>
where
    Array<T>: Stable<T>,
{
    let table = watch.run(py, takes, move || options.read::<T>(source))?;
    let values = Buffer::of_values(table.values, Some(&[table.rows, table.columns]))?;
    (Bound::new(py, values)?, table.names).into_bound_py_any(py)
}
