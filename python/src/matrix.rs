//! Matrices and graphs: files ↔ arrays of coordinates or compressed rows and columns.
//!
//! Python builds scipy matrices or tuples from the arrays.

use bytemuck::Pod;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::Array;
use swath_formats::matrix::{
    AnyCoo, AnyCsc, AnyCsr, Base, Coo, Csc, Csr, Dense, Duplicates, EntryOrder, Id,
    MatrixFormat, MatrixOptions, MatrixWriteOptions, Strictness, SymmetricHalf, Symmetry,
    ValueKind, Values,
};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::{How, StartingIn, part};
use crate::input::Input;
use crate::memory::{Buffer, NumberKind, Stable};
use crate::output::PythonOutput;
use crate::words::word;
use crate::work::Takes;

/// Kinds of values, by their names in numpy.
const VALUES: &[(&str, ValueKind)] = &[
    ("auto", ValueKind::Auto),
    ("none", ValueKind::None),
    ("int64", ValueKind::I64),
    ("uint64", ValueKind::U64),
    ("float32", ValueKind::F32),
    ("float64", ValueKind::F64),
    ("complex128", ValueKind::Complex),
];
/// Rows, columns, the half that is left out, two arrays of indices or offsets, and the values.
type Parts = (u64, u64, &'static str, Buffer, Buffer, Option<Buffer>);

/// Reads a file as arrays: `swath.read_mtx` and `swath.read_edges` make matrices of them.
#[pyfunction]
#[pyo3(signature = (source, form, how, *, format="auto", values="auto", base="auto", vertices=None,
    expand=true, strict=false, sort=false, sum_duplicates=false, offset=0, length=None, starting_in=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read_matrix(
    py: Python<'_>,
    source: Input,
    form: &str,
    how: &Bound<'_, PyTuple>,
    format: &str,
    values: &str,
    base: &str,
    vertices: Option<u64>,
    expand: bool,
    strict: bool,
    sort: bool,
    sum_duplicates: bool,
    offset: u64,
    length: Option<u64>,
    starting_in: Option<StartingIn>,
) -> PyResult<Parts> {
    let how = How::of(how)?;
    let (read, watch) = how.options(py, source.path())?;
    let mut options = MatrixOptions::new()
        .with_read(part(read, offset, length))
        .with_format(word("format", format, MatrixFormat::WORDS)?)
        .with_values(word("values", values, VALUES)?)
        .with_base(word("base", base, Base::WORDS)?)
        .with_symmetric_half(if expand {
            SymmetricHalf::Expanded
        } else {
            SymmetricHalf::Stored
        })
        .with_strictness(if strict { Strictness::Strict } else { Strictness::Permissive })
        .with_order(if sort { EntryOrder::Sorted } else { EntryOrder::File })
        .with_duplicates(if sum_duplicates { Duplicates::Summed } else { Duplicates::Kept });
    if let Some(vertices) = vertices {
        options = options.with_vertices(vertices);
    }
    if let Some(StartingIn(extent)) = starting_in {
        options = options.with_starting_in(extent);
    }
    let form =
        word("form", form, &[("coo", Form::Coo), ("csr", Form::Csr), ("csc", Form::Csc)])?;
    let (takes, source) = (source.takes_to_parse(), source.source(how.verify.as_ref())?);
    watch.run(py, takes, move || -> Result<Parts, Failure> {
        let parts = match form {
            Form::Coo => match options.read(source)? {
                AnyCoo::U32(it) => parts_of_coo(it),
                AnyCoo::U64(it) => parts_of_coo(it),
            },
            Form::Csr => match options.read_rows(source)? {
                AnyCsr::U32(it) => parts_of_csr(it),
                AnyCsr::U64(it) => parts_of_csr(it),
            },
            Form::Csc => match options.read_columns(source)? {
                AnyCsc::U32(it) => parts_of_csc(it),
                AnyCsc::U64(it) => parts_of_csc(it),
            },
        };
        Ok(parts?)
    })
}

#[derive(Clone, Copy)]
enum Form {
    Coo,
    Csr,
    Csc,
}

fn parts_of_coo<I: Id + NumberKind>(it: Coo<I>) -> PyResult<Parts> {
    let (rows, columns) = (whole(it.rows)?, whole(it.columns)?);
    Ok((it.row_count, it.column_count, it.symmetry.word(), rows, columns, values(it.values)?))
}

fn parts_of_csr<I: Id + NumberKind>(it: Csr<I>) -> PyResult<Parts> {
    let (offsets, columns) = (whole(it.offsets)?, whole(it.columns)?);
    Ok((
        it.row_count,
        it.column_count,
        it.symmetry.word(),
        offsets,
        columns,
        values(it.values)?,
    ))
}

fn parts_of_csc<I: Id + NumberKind>(it: Csc<I>) -> PyResult<Parts> {
    let (offsets, rows) = (whole(it.offsets)?, whole(it.rows)?);
    Ok((it.row_count, it.column_count, it.symmetry.word(), offsets, rows, values(it.values)?))
}

fn whole<T: NumberKind + Pod>(array: Array<T>) -> PyResult<Buffer>
where
    Array<T>: Stable<T>,
{
    Buffer::of_values(array, None)
}

/// Returns values as a buffer; complex ones are pairs of doubles.
fn values(values: Values) -> PyResult<Option<Buffer>> {
    Ok(Some(match values {
        Values::I64(values) => whole(values)?,
        Values::U64(values) => whole(values)?,
        Values::F32(values) => whole(values)?,
        Values::F64(values) => whole(values)?,
        Values::Complex(values) => {
            let pairs = [values.len(), 2];
            Buffer::of_values(Pairs(values), Some(&pairs))?
        }
        _ => return Ok(None),
    }))
}

/// Complex numbers as adjacent real and imaginary parts.
struct Pairs(Array<[f64; 2]>);

impl Stable<f64> for Pairs {
    fn items(&mut self) -> &mut [f64] {
        self.0.as_flattened_mut()
    }
}

/// Writes coordinates, or all values by columns: `swath.write_mtx` makes them of matrices.
#[pyfunction]
#[pyo3(signature = (output, row_count, column_count, places, values, *, symmetry="general", format="auto",
    comment=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn write_matrix(
    py: Python<'_>,
    output: &PythonOutput,
    row_count: u64,
    column_count: u64,
    places: Option<(Borrowed, Borrowed)>,
    values: Option<(String, Borrowed)>,
    symmetry: &str,
    format: &str,
    comment: Option<String>,
) -> PyResult<u64> {
    let symmetry = word("symmetry", symmetry, Symmetry::WORDS)?;
    let format = word("format", format, MatrixFormat::WORDS)?;
    let (options, watch) = output.watched(py)?;
    let path = &output.path;
    let mut options = MatrixWriteOptions::new().with_format(format).with_output(options);
    if let Some(comment) = comment {
        options = options.with_comment(comment);
    }
    watch.run(py, Takes::Time, || -> Result<u64, Failure> {
        let values = match &values {
            None => Values::None,
            Some((kind, values)) => match kind.as_str() {
                "int64" => Values::I64(values.copied()?),
                "uint64" => Values::U64(values.copied()?),
                "float32" => Values::F32(values.copied()?),
                "float64" => Values::F64(values.copied()?),
                "complex128" => Values::Complex(values.copied()?),
                _ => return Err(wrong(format!("values of {kind} cannot be written"))),
            },
        };
        let Some((rows, columns)) = places else {
            return Ok(options.write(path, &Dense { row_count, column_count, values })?.bytes);
        };
        let (rows, columns) = (rows.copied::<u64>()?, columns.copied::<u64>()?);
        is_inside(&rows, row_count)?;
        is_inside(&columns, column_count)?;
        let count = if let Values::None = values { rows.len() } else { values.count() };
        if (columns.len(), count) != (rows.len(), rows.len()) {
            let lens =
                format!("{} rows, {} columns, {count} values", rows.len(), columns.len());
            return Err(wrong(format!("{lens}: the lengths must be equal")));
        }
        let coo = Coo { row_count, column_count, symmetry, rows, columns, values };
        Ok(options.write(path, &coo)?.bytes)
    })
}

fn wrong(text: String) -> Failure {
    Failure::Python(PyValueError::new_err(text))
}

fn is_inside(ids: &[u64], count: u64) -> Result<(), Failure> {
    match ids.iter().position(|&id| id >= count) {
        Some(entry) => {
            Err(wrong(format!("entry {entry}: index {} of {count}", ids[entry].cast_signed())))
        }
        None => Ok(()),
    }
}
