//! Writes tables, and arrays in memory, as text and Arrow files.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use swath_formats::table::{BatchForm, BatchWriteOptions, Value};

use super::Table;
use super::given::Given;
use super::typed::texts;
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::Watch;
use crate::output::PythonOutput;
use crate::words::word;
use crate::work::Takes;

/// Returns the options of the library for those of Python, and the watch.
fn options(
    form: BatchForm,
    output: &PythonOutput,
    said: &Bound<'_, PyDict>,
) -> PyResult<(BatchWriteOptions, Watch)> {
    let (options, watch) = output.watched(said.py())?;
    let mut options = BatchWriteOptions::new().with_form(form).with_output(options);
    for (word, value) in said.iter().filter(|(_, value)| !value.is_none()) {
        let texts = texts(&value)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let set = options.set_texts(None, word.extract()?, Some(&texts));
        set.map_err(PyValueError::new_err)?;
    }
    Ok((options, watch))
}

/// Writes an array of numbers: `swath.write_csv` makes the arguments.
#[pyfunction]
#[pyo3(signature = (output, dtype, values, columns, *, said))]
pub(crate) fn write_array(
    py: Python<'_>,
    output: &PythonOutput,
    dtype: &str,
    values: Borrowed,
    columns: usize,
    said: &Bound<'_, PyDict>,
) -> PyResult<u64> {
    let (options, watch) = options(BatchForm::Csv, output, said)?;
    macro_rules! write_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => written::<$kind>(py, &options, &watch, &output.path, columns, &values),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be written"))),
            }
        };
    }
    write_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

fn written<T: Value>(
    py: Python<'_>,
    options: &BatchWriteOptions,
    watch: &Watch,
    path: &Path,
    columns: usize,
    values: &Borrowed,
) -> PyResult<u64> {
    watch.run(py, Takes::Time, || -> Result<u64, Failure> {
        Ok(options.write_array(path, columns, &values.numbers::<T>()?)?.bytes_out)
    })
}

fn uneven(rows: &[usize]) -> PyErr {
    PyValueError::new_err(format!("columns of different lengths: {rows:?} rows"))
}

/// The data to write: columns side by side, or a stream.
#[derive(FromPyObject)]
pub(crate) enum Data<'py> {
    Given(Bound<'py, Given>),
    Tables(Vec<Bound<'py, Table>>),
}

/// Batches of one schema.
struct SchemaBatches {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
}

impl Data<'_> {
    /// Whether there are no columns.
    fn is_empty(&self) -> bool {
        match self {
            Self::Given(given) => given.get().schema().fields().is_empty(),
            Self::Tables(tables) => {
                tables.iter().all(|table| table.get().schema.fields().is_empty())
            }
        }
    }

    fn taken(self, py: Python<'_>) -> PyResult<SchemaBatches> {
        match self {
            Self::Given(given) => {
                let given = given.get();
                let batches = Box::new(given.batches()?);
                Ok(SchemaBatches { schema: Arc::clone(given.schema()), batches })
            }
            Self::Tables(tables) => {
                let tables: Vec<&Table> = tables.iter().map(Bound::get).collect();
                let (schema, batches) = match &tables[..] {
                    [one] => (Arc::clone(&one.schema), one.batches.clone()),
                    many => beside(py, many)?,
                };
                Ok(SchemaBatches { schema, batches: Box::new(batches.into_iter().map(Ok)) })
            }
        }
    }
}

/// Joins the columns of several tables side by side.
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

/// Writes a table of any types, and returns its bytes and how many numbers became null:
/// `swath.write_csv`, `write_jsonl` and `write_arrow` make the arguments.
#[pyfunction]
pub(crate) fn write_tables(
    py: Python<'_>,
    output: &PythonOutput,
    form: &str,
    data: Data<'_>,
    said: &Bound<'_, PyDict>,
) -> PyResult<(u64, u64)> {
    let form = word("form", form, BatchForm::WORDS)?;
    let form = match (form, BatchForm::of_name(&output.path)) {
        (BatchForm::Arrow, Some(BatchForm::ArrowStream)) => BatchForm::ArrowStream,
        _ => form,
    };
    let (options, watch) = options(form, output, said)?;
    if data.is_empty() {
        let text = "a table without columns cannot be written; try: pass a column";
        return Err(PyValueError::new_err(text));
    }
    let SchemaBatches { schema, batches } = data.taken(py)?;
    let written = watch
        .run(py, Takes::Time, move || options.write_batches(&output.path, &schema, batches))?;
    Ok((written.bytes_out, written.not_finite))
}
