//! Matrices as tables of their entries, and back.
//!
//! ```text
//! row,column,value        a matrix as a table: from 0, in the order of the matrix
//! 0,1,0.5
//! ```
//!
//! Entries alone do not show the size of the matrix. An `.arrow` file has it in its metadata; for text, a
//! note reports the loss.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use swath::Array;
use swath_formats::matrix::{AnyCoo, AnyCsr, Complex, Coo, Id, Symmetry, Values};
use swath_formats::table::{HeaderLine, Value};

use super::batches::write;
use super::format::Format;
use super::listing::{EntryListing, MatrixSize, keeps_metadata};
use super::matrix::{made_ones, npz_options};
use super::numbers::{Cells, cells, numbers};
use super::size::{NAMES, PARTS, SIZE, Size, above, entry_columns, size_in};
use super::{Conversion, Converted, matrix_options};
use crate::failure::Refused;
use crate::report::ReportName;

const VALUE: &str = "value";

/// Number of entries in one batch.
const BATCH: usize = 256 << 10;

/// Converts a matrix to a table with a row for each entry.
pub(super) fn of_matrix(job: &Conversion<'_>, from: Format, to: Format) -> Result<Converted> {
    if to == Format::Npy {
        let what = "cannot convert a sparse matrix to .npy: it holds dense arrays";
        let hint = "choose .npz, .csv or .arrow, or pass --from csv if the input is a table";
        bail!(Refused::new(what, hint));
    }
    if from == Format::Npz {
        let matrix = npz_options(job).read(&job.input)?;
        let (rows, columns) = matrix.size();
        let size = Size::of_matrix(rows, columns, matrix.entry_count());
        return match matrix {
            AnyCsr::U32(it) => {
                listed(job, to, size, &spread(&it.offsets)?, &it.columns, &it.values)
            }
            AnyCsr::U64(it) => {
                listed(job, to, size, &spread(&it.offsets)?, &it.columns, &it.values)
            }
        };
    }
    let (options, bar) = matrix_options(job, from);
    let matrix = options.read(&job.input)?;
    drop(bar);
    let (rows, columns) = matrix.size();
    let size = Size::of_matrix(rows, columns, matrix.entry_count());
    check_whole(job, &matrix)?;
    match matrix {
        AnyCoo::U32(it) => listed(job, to, size, &it.rows, &it.columns, &it.values),
        AnyCoo::U64(it) => listed(job, to, size, &it.rows, &it.columns, &it.values),
    }
}

/// Refuses half of a symmetric matrix, which readers would take for the whole.
fn check_whole(job: &Conversion<'_>, matrix: &AnyCoo) -> Result<()> {
    let symmetry = match matrix {
        AnyCoo::U32(matrix) => matrix.symmetry,
        AnyCoo::U64(matrix) => matrix.symmetry,
    };
    let what = format!(
        "cannot convert {}: a table cannot mark half of a symmetric matrix as left out",
        job.input.name().shown()
    );
    ensure!(symmetry == Symmetry::General, Refused::new(what, "leave out --symmetric keep"));
    Ok(())
}

/// Returns the row of each entry.
fn spread(offsets: &[u64]) -> Result<Array<u64>> {
    let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    let mut rows = Array::<u64>::zeroed(offsets.last().map_or(0, |&end| index(end)))?;
    for (row, pair) in (0..).zip(offsets.windows(2)) {
        rows[index(pair[0])..index(pair[1])].fill(row);
    }
    Ok(rows)
}

/// Writes a table of entries.
fn listed<R: Id, C: Id>(
    job: &Conversion<'_>,
    to: Format,
    size: Size,
    rows: &[R],
    columns: &[C],
    values: &Values,
) -> Result<Converted> {
    let read = Instant::now();
    let left = MatrixSize {
        rows: above(rows.iter().map(|id| id.to_u64())),
        columns: above(columns.iter().map(|id| id.to_u64())),
    };
    let most = left.rows.max(left.columns).saturating_sub(1);
    if i64::try_from(most).is_err() {
        let what = format!("cannot make a table: {most} needs more than 63 bits");
        bail!(Refused::new(what, "choose .mtx"));
    }
    let names: &[&str] = match values {
        Values::None => &[],
        Values::Complex(_) => &PARTS,
        _ => &[VALUE],
    };
    let batch = |range: Range<usize>| -> std::result::Result<Vec<ArrayRef>, ArrowError> {
        let mut all = vec![ids(&rows[range.clone()]), ids(&columns[range.clone()])];
        all.extend(of_values(values, range)?);
        Ok(all)
    };
    let fields = NAMES.iter().chain(names).zip(batch(0..0)?);
    let fields =
        fields.map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
    let counts = SIZE.map(String::from).into_iter().zip([size.rows, size.columns]);
    let metadata: HashMap<_, _> =
        counts.map(|(name, count)| (name, count.to_string())).collect();
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata));
    let ranges = (0..rows.len()).step_by(BATCH);
    let batches = ranges.map(|first| {
        let range = first..rows.len().min(first + BATCH);
        RecordBatch::try_new(Arc::clone(&schema), batch(range)?)
    });
    let mut done = Converted::new(size, read);
    done.add_written(&write(job, to, HeaderLine::Present, &schema, batches)?);
    if !keeps_metadata(to) {
        let size = MatrixSize { rows: size.rows, columns: size.columns };
        done.notes.extend(EntryListing { size, left }.note(job));
    }
    Ok(done)
}

/// Returns the values of some entries, in one or two columns.
fn of_values(
    values: &Values,
    range: Range<usize>,
) -> std::result::Result<Vec<ArrayRef>, ArrowError> {
    let part = |at: usize, of: &[Complex]| -> ArrayRef {
        Arc::new(of.iter().map(|it| it[at]).collect::<Float64Array>())
    };
    Ok(match values {
        Values::None => Vec::new(),
        Values::I64(values) => vec![i64::column(values[range].to_vec())],
        Values::U64(values) => vec![u64::column(values[range].to_vec())],
        Values::F64(values) => vec![f64::column(values[range].to_vec())],
        Values::F32(values) => vec![f32::column(values[range].to_vec())],
        Values::Complex(values) => {
            vec![part(0, &values[range.clone()]), part(1, &values[range])]
        }
        other => {
            let detail = format!("cannot convert values of this kind: {other:?}");
            return Err(ArrowError::NotYetImplemented(detail));
        }
    })
}

/// Returns identifiers of up to 63 bits as a column.
fn ids<I: Id>(ids: &[I]) -> ArrayRef {
    let id = |id: &I| id.to_u64().cast_signed();
    Arc::new(ids.iter().map(id).collect::<Int64Array>())
}

/// Converts a table of entries to its matrix; any other table to the matrix of its nonzero values.
pub(super) fn of_table(job: &Conversion<'_>, from: Format, to: Format) -> Result<Converted> {
    let (table, notes) = numbers(job, from)?;
    if let Some(missing) = table.columns().iter().position(|column| column.null_count() > 0) {
        let what = format!(
            "cannot make a matrix of {}: values of column {} are missing",
            job.input.name().shown(),
            missing + 1
        );
        bail!(Refused::new(what, "fill the missing values first"));
    }
    let schema = table.schema();
    let listed = entry_columns(&schema);
    let told = size_in(|name| schema.metadata.get(name)).filter(|_| listed.is_some());
    let matrix = match listed {
        Some(columns) => entries(job, &table.project(&columns)?)?,
        None => not_zero(job, &table)?,
    };
    drop(table);
    let matrix = sized(job, matrix, told)?;
    let read = Instant::now();
    let size = Size::of_matrix(matrix.row_count, matrix.column_count, matrix.entry_count());
    let mut done = Converted { notes, ..Converted::new(size, read) };
    match to {
        Format::Npz => {
            check_rows(job, &matrix)?;
            let rows = AnyCsr::U64(matrix.to_rows()?);
            done.bytes = npz_options(job).write(&job.file, &rows)?;
            done.notes.extend(made_ones(job, &rows));
        }
        _ => {
            let options = job.words.matrix_write_options(to).with_output(job.output());
            done.bytes = options.write(job.text()?, &matrix)?.bytes;
        }
    }
    Ok(done)
}

/// Refuses rows out of proportion to the entries, because each row takes eight bytes.
fn check_rows(job: &Conversion<'_>, matrix: &Coo<u64>) -> Result<()> {
    const FEW: u64 = 8 << 20;
    let rows = matrix.row_count;
    let is_odd = rows > FEW && rows / 256 > matrix.entry_count() as u64;
    let what = format!(
        "cannot convert {}: {rows} rows for {} entries are out of proportion in .npz",
        job.input.name().shown(),
        matrix.entry_count()
    );
    ensure!(!is_odd, Refused::new(what, "choose .mtx, which stores entries only"));
    Ok(())
}

/// Returns the matrix with the size that the flags give, or else the file.
fn sized(job: &Conversion<'_>, matrix: Coo<u64>, told: Option<(u64, u64)>) -> Result<Coo<u64>> {
    let Some((row_count, column_count)) = job.words.matrix.shape.or(told) else {
        return Ok(matrix);
    };
    let needed = [&matrix.rows, &matrix.columns].map(|ids| above(ids.iter().copied()));
    let counts = [row_count, column_count];
    for ((what, needed), count) in NAMES.iter().zip(needed).zip(counts) {
        if needed > count {
            let refused = format!(
                "cannot make a matrix of {}: {what} {} is out of range: there are {count}",
                job.input.name().shown(),
                needed - 1
            );
            bail!(Refused::new(refused, "pass a --shape that has room for every entry"));
        }
    }
    Ok(Coo { row_count, column_count, ..matrix })
}

fn entries(job: &Conversion<'_>, table: &RecordBatch) -> Result<Coo<u64>> {
    let (rows, columns) = (places(job, table, 0)?, places(job, table, 1)?);
    let schema = table.schema();
    let names: Vec<&str> =
        schema.fields().iter().skip(2).map(|it| it.name().as_str()).collect();
    let cells: Vec<Option<Cells<'_>>> = table.columns().iter().skip(2).map(cells).collect();
    let values = match (&names[..], &cells[..]) {
        ([], _) => Values::None,
        ([name], [Some(cells)]) if *name == VALUE => match cells {
            Cells::I64(values) => Values::I64(copied(values)?),
            Cells::U64(values) => Values::U64(copied(values)?),
            Cells::F64(values) => Values::F64(copied(values)?),
            Cells::F32(values) => Values::F32(copied(values)?),
        },
        ([real, imaginary], [Some(first), Some(second)]) if [*real, *imaginary] == PARTS => {
            complex(*first, *second)?
        }
        _ => {
            let what =
                "cannot make a matrix: beside `row` and `column` there is not `value` alone";
            bail!(Refused::new(what, "name the columns row, column and value"));
        }
    };
    let (row_count, column_count) =
        (above(rows.iter().copied()), above(columns.iter().copied()));
    Ok(Coo { row_count, column_count, symmetry: Symmetry::General, rows, columns, values })
}

/// Returns the rows or columns of entries.
fn places(job: &Conversion<'_>, table: &RecordBatch, at: usize) -> Result<Array<u64>> {
    let refused = |found: &str| {
        let what = format!(
            "cannot make a matrix of {}: `{}` has {found}",
            job.input.name().shown(),
            NAMES[at]
        );
        Refused::new(what, "write whole numbers, counted from 0")
    };
    let mut ids = Array::<u64>::zeroed(table.num_rows())?;
    let values = match cells(table.column(at)) {
        Some(Cells::I64(values)) => values,
        Some(Cells::U64(values)) => {
            if let Some(row) = values.iter().position(|&value| value == u64::MAX) {
                bail!(refused(&format!("{} in row {} of the data", u64::MAX, row + 1)));
            }
            return copied(values);
        }
        // Without rows, any type is accepted.
        _ if ids.is_empty() => return Ok(ids),
        _ => bail!(refused("numbers that are not whole")),
    };
    for ((row, id), &value) in (1..).zip(ids.iter_mut()).zip(values) {
        let refused = |_| refused(&format!("{value} in row {row} of the data"));
        *id = u64::try_from(value).map_err(refused)?;
    }
    Ok(ids)
}

/// Copies values into memory of their own.
fn copied<T: bytemuck::Pod>(values: &[T]) -> Result<Array<T>> {
    let mut copy = Array::<T>::zeroed(values.len())?;
    copy.copy_from_slice(values);
    Ok(copy)
}

fn complex(first: Cells<'_>, second: Cells<'_>) -> Result<Values> {
    let (Cells::F64(real), Cells::F64(imaginary)) = (first, second) else {
        let what = "cannot make a matrix: its complex values are not doubles";
        bail!(Refused::new(what, "write every value with a decimal point"));
    };
    let mut values = Array::<Complex>::zeroed(real.len())?;
    for (value, parts) in values.iter_mut().zip(real.iter().zip(imaginary)) {
        *value = [*parts.0, *parts.1];
    }
    Ok(Values::Complex(values))
}

/// Returns the nonzero values of a table: numbers of one kind if all columns have it, else doubles.
fn not_zero(job: &Conversion<'_>, table: &RecordBatch) -> Result<Coo<u64>> {
    let all: Vec<Cells<'_>> = table.columns().iter().filter_map(cells).collect();
    let rows = table.num_rows();
    macro_rules! of_one_kind {
        ($kind:ident) => {{
            let mut columns = Vec::new();
            for cells in &all {
                if let Cells::$kind(values) = *cells {
                    columns.push(values);
                }
            }
            (columns.len() == all.len()).then(|| {
                picked(rows, all.len(), |row, at| Ok(columns[at][row]))
                    .map(|(places, values)| (places, Values::$kind(values)))
            })
        }};
    }
    let found = of_one_kind!(I64).or_else(|| of_one_kind!(U64)).or_else(|| of_one_kind!(F32));
    let (places, values) = match found {
        Some(found) => found?,
        None => {
            let (places, values) = picked(rows, all.len(), |row, at| all[at].double(job, row))?;
            (places, Values::F64(values))
        }
    };
    let ids = |of: fn(&(u64, u64)) -> u64| copied(&places.iter().map(of).collect::<Vec<u64>>());
    Ok(Coo {
        row_count: rows as u64,
        column_count: all.len() as u64,
        symmetry: Symmetry::General,
        rows: ids(|place| place.0)?,
        columns: ids(|place| place.1)?,
        values,
    })
}

/// Values, and their rows and columns.
type Picked<T> = (Vec<(u64, u64)>, Array<T>);

/// Returns the nonzero values, row after row.
fn picked<T: bytemuck::Pod + PartialEq>(
    rows: usize,
    columns: usize,
    cell: impl Fn(usize, usize) -> Result<T>,
) -> Result<Picked<T>> {
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for at in 0..columns {
            let value = cell(row, at)?;
            if value != T::zeroed() {
                places.push((row as u64, at as u64));
                values.push(value);
            }
        }
    }
    Ok((places, copied(&values)?))
}
