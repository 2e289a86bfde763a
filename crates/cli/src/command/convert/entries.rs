//! Matrices as tables of their entries, and back.
//!
//! ```text
//! row,column,value        a matrix as a table: from 0, in the order of the matrix
//! 0,1,0.5
//! ```
//!
//! How large the matrix is, entries alone cannot say. An `.arrow` file says it in its metadata; where
//! text does not, a note does.

use super::args::Convert;
use super::format::Format;
use super::matrix::{made_ones, npz_options};
use super::size::{NAMES, SIZE, Size, above, copied, is_listed, lost_size, numbers, size_in};
use super::table::{arrow_options, columns, exact, leave};
use super::{Converted, matrix_options};
use crate::failure::Refused;
use anyhow::{Result, bail, ensure};
use std::time::Instant;
use swath::Array;
use swath_formats::matrix::{AnyCoo, AnyCsr, Complex, Coo, Id, Symmetry, Values};
use swath_formats::table::{Column, Columns, Values as Cells};

const VALUE: &str = "value";
const PARTS: [&str; 2] = ["real", "imaginary"];

/// A row for each entry.
pub(super) fn of_matrix(args: &Convert, from: Format, to: Format) -> Result<Converted> {
    if to == Format::Npy {
        let what = "cannot convert a sparse matrix to .npy: it holds dense arrays";
        bail!(Refused::new(what, "the name of an .npz, .csv or .arrow file"));
    }
    let (table, size) = match from {
        Format::Npz => of_rows(npz_options(args).read(&args.input)?)?,
        _ => {
            let (options, bar) = matrix_options(args, from);
            let matrix = options.read(&args.input)?;
            drop(bar);
            let (rows, columns) = matrix.size();
            let size = Size::of_matrix(rows, columns, matrix.entry_count());
            check_whole(args, &matrix)?;
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
    match to {
        Format::Arrow => {
            let told = SIZE.map(String::from).into_iter().zip([size.rows, size.columns]);
            let told = told.map(|(name, count)| (name, count.to_string())).collect();
            arrow_options(args).with_metadata(told).write(&args.to, &table)?;
        }
        _ => {
            leave(args, to, &table)?;
            done.notes.extend(lost_size(args, &table, size.rows, size.columns)?);
        }
    }
    Ok(done)
}

/// Half of a matrix would be read as all of it.
fn check_whole(args: &Convert, matrix: &AnyCoo) -> Result<()> {
    let symmetry = match matrix {
        AnyCoo::U32(matrix) => matrix.symmetry,
        AnyCoo::U64(matrix) => matrix.symmetry,
    };
    let what = format!(
        "cannot convert {}: a table cannot say that half of a symmetric matrix is left out",
        args.input.display()
    );
    ensure!(symmetry == Symmetry::General, Refused::new(what, "without --symmetric keep"));
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
            all.push(doubles(values.iter().map(|&it| f64::from(it)), values.len())?)
        }
        Values::Complex(values) => {
            all.push(doubles(values.iter().map(|it| it[0]), values.len())?);
            all.push(doubles(values.iter().map(|it| it[1]), values.len())?);
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
            Refused::new(what, "an .mtx file")
        })?;
    }
    Ok(Column::of_i64(values))
}

fn doubles(from: impl Iterator<Item = f64>, len: usize) -> Result<Column> {
    let mut values = Array::<f64>::zeroed(len)?;
    for (value, double) in values.iter_mut().zip(from) {
        *value = double;
    }
    Ok(Column::of_f64(values))
}

/// A table of entries as what it stands for; of any other one, what is not zero.
pub(super) fn of_table(args: &Convert, from: Format, to: Format) -> Result<Converted> {
    let (table, metadata) = columns(args, from)?;
    if let Some(missing) = table.columns.iter().position(|column| column.nulls() > 0) {
        let what = format!(
            "cannot make a matrix of {}: values of column {} are missing",
            args.input.display(),
            missing + 1
        );
        bail!(Refused::new(what, "a table without gaps"));
    }
    let is_listed = is_listed(&table);
    let told = size_in(&metadata).filter(|_| is_listed);
    let matrix = if is_listed { listed(args, &table)? } else { not_zero(args, &table)? };
    drop(table);
    let matrix = sized(args, matrix, told)?;
    let read = Instant::now();
    let size = Size::of_matrix(matrix.row_count, matrix.column_count, matrix.entry_count());
    let mut done = Converted::new(size, read);
    match to {
        Format::Npz => {
            check_rows(args, &matrix)?;
            let rows = AnyCsr::U64(matrix.to_rows()?);
            npz_options(args).write(&args.to, &rows)?;
            done.notes.extend(made_ones(args, &rows));
        }
        _ => drop(args.matrix_write_options(to).write(&args.to, &matrix)?),
    }
    Ok(done)
}

/// Refuses rows out of proportion to the entries: each takes eight bytes, whoever said so.
fn check_rows(args: &Convert, matrix: &Coo<u64>) -> Result<()> {
    const FEW: u64 = 8 << 20;
    let rows = matrix.row_count;
    let is_odd = rows > FEW && rows / 256 > matrix.entry_count() as u64;
    let what = format!(
        "cannot convert {}: {rows} rows for {} entries are out of proportion in .npz",
        args.input.display(),
        matrix.entry_count()
    );
    ensure!(!is_odd, Refused::new(what, "an .mtx file, which has entries only"));
    Ok(())
}

/// The matrix as large as the words say, or else the file.
fn sized(args: &Convert, matrix: Coo<u64>, told: Option<(u64, u64)>) -> Result<Coo<u64>> {
    let Some((row_count, column_count)) = args.matrix.shape.or(told) else { return Ok(matrix) };
    let needed = [above(&matrix.rows), above(&matrix.columns)];
    let counts = [row_count, column_count];
    for ((what, needed), count) in NAMES.iter().zip(needed).zip(counts) {
        if needed > count {
            let refused = format!(
                "cannot make a matrix of {}: {what} {} is out of range: there are {count}",
                args.input.display(),
                needed - 1
            );
            bail!(Refused::new(refused, "--shape with room for every entry"));
        }
    }
    Ok(Coo { row_count, column_count, ..matrix })
}

fn listed(args: &Convert, table: &Columns) -> Result<Coo<u64>> {
    let (rows, columns) = (numbers(args, table, 0)?, numbers(args, table, 1)?);
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
            bail!(Refused::new(what, "a table with the columns row, column and value"));
        }
    };
    let (row_count, column_count) = (above(&rows), above(&columns));
    Ok(Coo { row_count, column_count, symmetry: Symmetry::General, rows, columns, values })
}

fn complex(first: &Column, second: &Column) -> Result<Values> {
    let (Cells::F64(real), Cells::F64(imaginary)) = (first.values(), second.values()) else {
        let what = "cannot make a matrix: its complex values are no doubles";
        bail!(Refused::new(what, "decimal points in every value"));
    };
    let mut values = Array::<Complex>::zeroed(real.len())?;
    for (value, parts) in values.iter_mut().zip(real.iter().zip(imaginary)) {
        *value = [*parts.0, *parts.1];
    }
    Ok(Values::Complex(values))
}

/// What is not zero of a table: integers where all columns are of one kind of them, else doubles.
fn not_zero(args: &Convert, table: &Columns) -> Result<Coo<u64>> {
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
                Cells::I64(values) => exact(args, values[row].into()),
                Cells::U64(values) => exact(args, values[row].into()),
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

/// Never refused, as cells of other columns may be.
fn cell<T: Copy>(column: &&[T], row: usize) -> Result<T> {
    Ok(column[row])
}

const fn signed(cells: Cells<'_>) -> Option<&[i64]> {
    if let Cells::I64(values) = cells { Some(values) } else { None }
}

const fn unsigned(cells: Cells<'_>) -> Option<&[u64]> {
    if let Cells::U64(values) = cells { Some(values) } else { None }
}

/// The values that are not zero, row after row; notes where they are.
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
