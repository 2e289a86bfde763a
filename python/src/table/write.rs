//! Tables as text and as Arrow files: numbers in the way that they have for themselves, all else as batches.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::OutputOptions;
use swath_formats::compressed::Format;
use swath_formats::table::{
    BatchForm, BatchWriteOptions, Columns, Decimals, HeaderLine, LineEnd, Quoting,
    TableWriteOptions, Value,
};

use super::Table;
use super::given::{Given, is_numeric, refused};
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::Watch;
use crate::input::path;
use crate::output::Leave;
use crate::words::word;
use crate::work::Takes;

/// Whether the name of a file is that of a compressed one.
#[pyfunction]
pub(crate) fn is_packed(#[pyo3(from_py_with = path)] path: PathBuf) -> bool {
    Format::of_name(&path).is_some()
}

/// Writes a table: `swath.write_csv` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (path, dtype, values, columns, leave, *, names=None, delimiter=b',', digits=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn write_table(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    dtype: &str,
    values: Borrowed,
    columns: usize,
    leave: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
) -> PyResult<u64> {
    let (output, watch) = Leave::watched(leave)?;
    let writer = writer(names, delimiter, digits, output);
    macro_rules! write_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => written::<$kind>(py, &writer, &watch, path, columns, &values),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be written"))),
            }
        };
    }
    write_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

/// The library's options.
fn writer(
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
    output: OutputOptions,
) -> TableWriteOptions {
    let writer = TableWriteOptions::new()
        .with_delimiter(delimiter)
        .with_output(output)
        .with_decimals(digits.map_or(Decimals::Shortest, Decimals::Fixed));
    match names {
        Some(names) => writer.with_names(names),
        None => writer,
    }
}

fn written<T: Value>(
    py: Python<'_>,
    writer: &TableWriteOptions,
    watch: &Watch,
    path: PathBuf,
    columns: usize,
    values: &Borrowed,
) -> PyResult<u64> {
    watch.run(py, Takes::Time, || -> Result<u64, Failure> {
        Ok(writer.write(path, columns, &values.numbers::<T>()?)?)
    })
}

/// Writes columns of numbers, side by side: `swath.write_csv` makes the arguments.
#[pyfunction]
#[pyo3(signature = (path, tables, leave, *, names=None, delimiter=b',', digits=None))]
pub(crate) fn write_columns(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    tables: Vec<Bound<'_, Table>>,
    leave: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
) -> PyResult<u64> {
    let gather = |table: &Bound<'_, Table>| {
        let Table { schema, batches, .. } = table.get();
        py.detach(|| Columns::from_record_batches(schema, batches)).map_err(refused)
    };
    let tables = tables.iter().map(gather).collect::<PyResult<Vec<_>>>()?;
    let rows = tables.iter().map(|table| table.rows).collect::<Vec<_>>();
    let columns = tables.into_iter().flat_map(|table| table.columns).collect();
    let columns = Columns::new(None, columns).ok_or_else(|| uneven(&rows))?;
    let (output, watch) = Leave::watched(leave)?;
    let writer = writer(names, delimiter, digits, output);
    watch.run(py, Takes::Time, || writer.write_columns(path, &columns))
}

fn uneven(rows: &[usize]) -> PyErr {
    PyValueError::new_err(format!("columns of different lengths: {rows:?} rows"))
}

/// What is to be written: columns side by side, or a stream.
#[derive(FromPyObject)]
pub(crate) enum Data<'py> {
    Given(Bound<'py, Given>),
    Tables(Vec<Bound<'py, Table>>),
}

/// Batches of one schema.
struct Taken {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
}

impl Data<'_> {
    fn taken(self, py: Python<'_>) -> PyResult<Taken> {
        match self {
            Self::Given(given) => {
                let given = given.get();
                let batches = Box::new(given.batches()?);
                Ok(Taken { schema: Arc::clone(given.schema()), batches })
            }
            Self::Tables(tables) => {
                let tables: Vec<&Table> = tables.iter().map(Bound::get).collect();
                let (schema, batches) = match &tables[..] {
                    [one] => (Arc::clone(&one.schema), one.batches.clone()),
                    many => beside(py, many)?,
                };
                Ok(Taken { schema, batches: Box::new(batches.into_iter().map(Ok)) })
            }
        }
    }
}

/// The columns of several tables side by side.
fn beside(py: Python<'_>, tables: &[&Table]) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let rows: Vec<usize> = tables.iter().map(|table| table.rows).collect();
    if rows.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(uneven(&rows));
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for table in tables {
        fields.extend(table.schema.fields().iter().cloned());
        columns.extend(table.one_batch(py)?.columns().iter().cloned());
    }
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(rows.first().copied());
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options);
    Ok((schema, vec![batch.map_err(super::arrow_error)?]))
}

/// Whether all columns of some tables are of numbers.
#[pyfunction]
pub(crate) fn are_numeric(tables: Vec<Bound<'_, Table>>) -> bool {
    tables.iter().all(|table| is_numeric(&table.get().schema))
}

/// Writes a table of any types: `swath.write_csv`, `write_jsonl` and `write_arrow` make the arguments.
#[pyfunction]
#[pyo3(signature = (path, form, data, leave, *, names=None, delimiter=None, digits=None, quoting=None,
    null=None, line_end=None, header=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn write_tables(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    form: &str,
    data: Data<'_>,
    leave: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    delimiter: Option<u8>,
    digits: Option<usize>,
    quoting: Option<&str>,
    null: Option<String>,
    line_end: Option<&str>,
    header: Option<bool>,
) -> PyResult<u64> {
    let form = word("form", form, BatchForm::WORDS)?;
    let form = match (form, BatchForm::of_name(&path)) {
        (BatchForm::Arrow, Some(BatchForm::ArrowStream)) => BatchForm::ArrowStream,
        _ => form,
    };
    let (output, watch) = Leave::watched(leave)?;
    let quoting = quoting.map(|it| word("quoting", it, Quoting::WORDS)).transpose()?;
    let line_end = line_end.map(|it| word("line_end", it, LineEnd::WORDS)).transpose()?;
    let header = header.map(|has| if has { HeaderLine::Present } else { HeaderLine::Absent });
    let mut options = BatchWriteOptions::new().with_form(form).with_output(output);
    options = delimiter.into_iter().fold(options, BatchWriteOptions::with_delimiter);
    options = quoting.into_iter().fold(options, BatchWriteOptions::with_quoting);
    options = line_end.into_iter().fold(options, BatchWriteOptions::with_line_end);
    options = header.into_iter().fold(options, BatchWriteOptions::with_header);
    options = null.into_iter().fold(options, BatchWriteOptions::with_null_word);
    options = names.into_iter().fold(options, BatchWriteOptions::with_names);
    let digits = digits.map(Decimals::Fixed).into_iter();
    options = digits.fold(options, BatchWriteOptions::with_decimals);
    let Taken { schema, batches } = data.taken(py)?;
    let written =
        watch.run(py, Takes::Time, move || options.write_batches(path, &schema, batches))?;
    Ok(written.bytes_out)
}
