//! Tables in pickles: columns as buffers.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath_formats::table::{Column, ColumnKind, Columns};

use super::Table;
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::words::word;
use crate::work::detached;

/// Types of columns by the formats of their buffers.
const FORMATS: &[(&str, ColumnKind)] =
    &[("q", ColumnKind::I64), ("Q", ColumnKind::U64), ("d", ColumnKind::F64)];

/// The function that restores a table, and its arguments.
pub(super) fn reduced<'py>(
    table: &Bound<'py, Table>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let (py, this) = (table.py(), table.get());
    let column = |index: usize| {
        let kind = this.column(index)?.kind();
        let format = FORMATS.iter().find(|(_, known)| *known == kind).map(|(name, _)| *name);
        Ok((format, this.values(index)?, this.validity(index)?))
    };
    let columns = (0..this.num_columns()).map(column).collect::<PyResult<Vec<_>>>()?;
    let restore = py.import("swath._swath")?.getattr("restore_table")?;
    let said = (this.0.names.clone(), columns).into_bound_py_any(py)?;
    Ok((restore, said.cast_into::<PyTuple>()?))
}

/// A pickled column: the format of its values, these, and the bits of those that are there.
type Pickled = (String, Borrowed, Option<Borrowed>);

/// Restores a pickled table; its columns are copies.
#[pyfunction]
#[pyo3(signature = (names, columns))]
pub(crate) fn restore_table(
    py: Python<'_>,
    names: Option<Vec<String>>,
    columns: Vec<Pickled>,
) -> PyResult<Table> {
    detached(py, || -> Result<Table, Failure> {
        let columns = columns.iter().map(restored).collect::<Result<Vec<_>, _>>()?;
        let table = Columns::new(names, columns);
        table.map(Table).ok_or_else(|| wrong("columns of different lengths, or other names"))
    })
}

fn restored((format, values, validity): &Pickled) -> Result<Column, Failure> {
    let column = match word("format", format, FORMATS).map_err(Failure::Python)? {
        ColumnKind::I64 => Column::of_i64(values.copied()?),
        ColumnKind::U64 => Column::of_u64(values.copied()?),
        ColumnKind::F64 => Column::of_f64(values.copied()?),
        _ => return Err(wrong("a column of an unknown type")),
    };
    let Some(bits) = validity else { return Ok(column) };
    let bits = bits.copied::<u8>()?;
    if bits.len() < (column.bytes().len() / 8).div_ceil(8) {
        return Err(wrong("too few bits for the values of a column"));
    }
    Ok(column.without(|row| bits[row / 8] >> (row % 8) & 1 == 0)?)
}

fn wrong(detail: &str) -> Failure {
    Failure::Python(PyValueError::new_err(format!("the pickled table has {detail}")))
}
