//! Matrices as tables of their entries, and back.
//!
//! ```text
//! row,column,value        a matrix as a table: from 0, in the order of the matrix
//! 0,1,0.5
//! ```
//!
//! Entries alone do not give the size of the matrix. An `.arrow` file has it in its metadata; for text, a
//! note says what is lost.

use super::format::Format;
use super::matrix::{made_ones, npz_options};
use super::numbers::{columns, exact, leave};
use super::size::{NAMES, SIZE, Size, above, copied, is_listed, lost_size, numbers, size_in};
use super::table::keeps_metadata;
use super::{Converted, Job, matrix_options};
use crate::failure::Refused;
use crate::report::ReportName;
use anyhow::{Result, bail, ensure};
use std::time::Instant;
use swath::Array;
use swath_formats::matrix::{AnyCoo, AnyCsr, Complex, Coo, Id, Symmetry, Values};
use swath_formats::table::{Column, Columns, Values as Cells};

const VALUE: &str = "value";
const PARTS: [&str; 2] = ["real", "imaginary"];

/// A row for each entry.
pub(super) fn of_matrix(job: &Job<'_>, from: Format, to: Format) -> Result<Converted> {
    if to == Format::Npy {
        let what = "cannot convert a sparse matrix to .npy: it holds dense arrays";
        let hint = "choose .npz, .csv or .arrow, or pass --from csv if the input is a table";
        bail!(Refused::new(what, hint));
    }
    let (table, size) = match from {
        Format::Npz => of_rows(npz_options(job).read(&job.input)?)?,
        _ => {
            let (options, bar) = matrix_options(job, from);
            let matrix = options.read(&job.input)?;
            drop(bar);
            let (rows, columns) = matrix.size();
            let size = Size::of_matrix(rows, columns, matrix.entry_count());
            check_whole(job, &matrix)?;
            (
                match matrix {
                    AnyCoo::U32(it) => table(&it.rows, &it.columns, it.values)?,
                    AnyCoo::U64(it) => table(&it.rows, &it.columns, it.values)?,
                },
                size,
            )
        }
    };
    let read = Instant::now();
    let mut done = Converted::new(size, read);
    let told = SIZE.map(String::from).into_iter().zip([size.rows, size.columns]);
    let told = told.map(|(name, count)| (name, count.to_string())).collect();
    done.bytes = leave(job, to, &table, told)?;
    if !keeps_metadata(to) {
        done.notes.extend(lost_size(job, &table, size.rows, size.columns)?);
    }
    Ok(done)
}

/// Refuses half of a symmetric matrix, which would be read as all of it.
fn check_whole(job: &Job<'_>, matrix: &AnyCoo) -> Result<()> {
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

fn of_rows(matrix: AnyCsr) -> Result<(Columns, Size)> {
    let (rows, columns) = matrix.size();
    let size = Size::of_matrix(rows, columns, matrix.entry_count());
    let table = match matrix {
        AnyCsr::U32(it) => table(&spread(&it.offsets)?, &it.columns, it.values)?,
        AnyCsr::U64(it) => table(&spread(&it.offsets)?, &it.columns, it.values)?,
    };
    Ok((table, size))
}

/// The row of each entry.
fn spread(offsets: &[u64]) -> Result<Array<u64>> {
    let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    let mut rows = Array::<u64>::zeroed(offsets.last().map_or(0, |&end| index(end)))?;
    for (row, pair) in (0..).zip(offsets.windows(2)) {
        rows[index(pair[0])..index(pair[1])].fill(row);
    }
    Ok(rows)
}

fn table<R: Id, C: Id>(rows: &[R], columns: &[C], values: Values) -> Result<Columns> {
    let mut names: Vec<String> = NAMES.map(String::from).into();
    let mut all = vec![ids(rows)?, ids(columns)?];
    match values {
        Values::None => {}
        Values::I64(values) => all.push(Column::of_i64(values)),
        Values::U64(values) => all.push(Column::of_u64(values)),
        Values::F64(values) => all.push(Column::of_f64(values)),
        Values::F32(values) => {
            let wide = doubles(values.iter().map(|&it| f64::from(it)), values.len())?;
            all.push(Column::of_singles(wide));
        }
        Values::Complex(values) => {
            all.push(Column::of_f64(doubles(values.iter().map(|it| it[0]), values.len())?));
            all.push(Column::of_f64(doubles(values.iter().map(|it| it[1]), values.len())?));
            names.extend(PARTS.map(String::from));
        }
        other => bail!("cannot convert values of this kind: {other:?}"),
    }
    if all.len() == 3 {
        names.push(VALUE.to_owned());
    }
    Columns::new(Some(names), all).ok_or_else(|| unreachable!("columns of one length"))
}

fn ids<I: Id>(ids: &[I]) -> Result<Column> {
    let mut values = Array::<i64>::zeroed(ids.len())?;
    for (value, id) in values.iter_mut().zip(ids) {
        *value = i64::try_from(id.to_u64()).map_err(|_| {
            let what = format!("cannot make a table: {} needs more than 63 bits", id.to_u64());
            Refused::new(what, "choose .mtx")
        })?;
    }
    Ok(Column::of_i64(values))
}

fn doubles(from: impl Iterator<Item = f64>, len: usize) -> Result<Array<f64>> {
    let mut values = Array::<f64>::zeroed(len)?;
    for (value, double) in values.iter_mut().zip(from) {
        *value = double;
    }
    Ok(values)
}

/// Converts a table of entries to the matrix that it lists; of any other table, takes what is not zero.
pub(super) fn of_table(job: &Job<'_>, from: Format, to: Format) -> Result<Converted> {
    let (table, metadata) = columns(job, from)?;
    if let Some(missing) = table.columns.iter().position(|column| column.nulls() > 0) {
        let what = format!(
            "cannot make a matrix of {}: values of column {} are missing",
            job.input.name().shown(),
            missing + 1
        );
        bail!(Refused::new(what, "fill the missing values first"));
    }
    let is_listed = is_listed(&table);
    let told = size_in(&metadata).filter(|_| is_listed);
    let matrix = if is_listed { listed(job, &table)? } else { not_zero(job, &table)? };
    drop(table);
    let matrix = sized(job, matrix, told)?;
    let read = Instant::now();
    let size = Size::of_matrix(matrix.row_count, matrix.column_count, matrix.entry_count());
    let mut done = Converted::new(size, read);
    match to {
        Format::Npz => {
            check_rows(job, &matrix)?;
            let rows = AnyCsr::U64(matrix.to_rows()?);
            done.bytes = npz_options(job).write(&job.file, &rows)?;
            done.notes.extend(made_ones(job, &rows));
        }
        _ => {
            let options = job.words.matrix_write_options(to);
            done.bytes = options.write(job.text()?, &matrix)?.bytes;
        }
    }
    Ok(done)
}

/// Refuses rows out of proportion to the entries, because each row takes eight bytes.
fn check_rows(job: &Job<'_>, matrix: &Coo<u64>) -> Result<()> {
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
fn sized(job: &Job<'_>, matrix: Coo<u64>, told: Option<(u64, u64)>) -> Result<Coo<u64>> {
    let Some((row_count, column_count)) = job.words.matrix.shape.or(told) else {
        return Ok(matrix);
    };
    let needed = [above(&matrix.rows), above(&matrix.columns)];
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

fn listed(job: &Job<'_>, table: &Columns) -> Result<Coo<u64>> {
    let (rows, columns) = (numbers(job, table, 0)?, numbers(job, table, 1)?);
    let names = table.names.as_deref().unwrap_or_default();
    let values = match (names.get(2..).unwrap_or_default(), table.columns.get(2..)) {
        ([], _) => Values::None,
        ([name], Some([column])) if name == VALUE => match column.values() {
            Cells::I64(values) => Values::I64(copied(values)?),
            Cells::U64(values) => Values::U64(copied(values)?),
            Cells::F64(values) => Values::F64(copied(values)?),
            other => bail!("cannot convert values of this kind: {other:?}"),
        },
        ([real, imaginary], Some([first, second])) if [real, imaginary] == PARTS => {
            complex(first, second)?
        }
        _ => {
            let what = "cannot make a matrix: columns after `row` and `column` are not `value`";
            bail!(Refused::new(what, "name the columns row, column and value"));
        }
    };
    let (row_count, column_count) = (above(&rows), above(&columns));
    Ok(Coo { row_count, column_count, symmetry: Symmetry::General, rows, columns, values })
}

fn complex(first: &Column, second: &Column) -> Result<Values> {
    let (Cells::F64(real), Cells::F64(imaginary)) = (first.values(), second.values()) else {
        let what = "cannot make a matrix: its complex values are not doubles";
        bail!(Refused::new(what, "write every value with a decimal point"));
    };
    let mut values = Array::<Complex>::zeroed(real.len())?;
    for (value, parts) in values.iter_mut().zip(real.iter().zip(imaginary)) {
        *value = [*parts.0, *parts.1];
    }
    Ok(Values::Complex(values))
}

/// Returns what is not zero in a table: integers if all columns have one kind of them, else doubles.
fn not_zero(job: &Job<'_>, table: &Columns) -> Result<Coo<u64>> {
    let all: Vec<Cells<'_>> = table.columns.iter().map(Column::values).collect();
    let signed: Option<Vec<_>> = all.iter().copied().map(signed).collect();
    let unsigned: Option<Vec<_>> = all.iter().copied().map(unsigned).collect();
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    let values = match (signed, unsigned) {
        (Some(all), _) => Values::I64(picked(table.rows, &all, cell, &mut rows, &mut columns)?),
        (_, Some(all)) => Values::U64(picked(table.rows, &all, cell, &mut rows, &mut columns)?),
        _ => {
            let double = |cells: &Cells<'_>, row: usize| match cells {
                Cells::F64(values) => Ok(values[row]),
                Cells::I64(values) => exact(job, values[row].into()),
                Cells::U64(values) => exact(job, values[row].into()),
                _ => Ok(0.0),
            };
            Values::F64(picked(table.rows, &all, double, &mut rows, &mut columns)?)
        }
    };
    Ok(Coo {
        row_count: table.rows as u64,
        column_count: table.columns.len() as u64,
        symmetry: Symmetry::General,
        rows: copied(&rows)?,
        columns: copied(&columns)?,
        values,
    })
}

/// Returns a cell as it is; other kinds of columns may refuse theirs.
fn cell<T: Copy>(column: &&[T], row: usize) -> Result<T> {
    Ok(column[row])
}

const fn signed(cells: Cells<'_>) -> Option<&[i64]> {
    if let Cells::I64(values) = cells { Some(values) } else { None }
}

const fn unsigned(cells: Cells<'_>) -> Option<&[u64]> {
    if let Cells::U64(values) = cells { Some(values) } else { None }
}

/// Returns the values that are not zero, row after row, and notes their places.
fn picked<C, T: bytemuck::Pod + PartialEq>(
    row_count: usize,
    all: &[C],
    of: impl Fn(&C, usize) -> Result<T>,
    rows: &mut Vec<u64>,
    columns: &mut Vec<u64>,
) -> Result<Array<T>> {
    let mut values = Vec::new();
    for row in 0..row_count {
        for (at, column) in (0..).zip(all) {
            let value = of(column, row)?;
            if value != T::zeroed() {
                rows.push(row as u64);
                columns.push(at);
                values.push(value);
            }
        }
    }
    copied(&values)
}
