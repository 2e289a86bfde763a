//! Selects the code that builds the requested result: coordinates, rows or columns, for any type of
//! values.

use swath::Array;

use crate::matrix::compress::{self, By, GroupedEntries};
use crate::matrix::coo;
use crate::matrix::id::Id;
use crate::matrix::job::{Failure, MatrixJob};
use crate::matrix::options::{Duplicates, EntryOrder, ValueKind};
use crate::matrix::sparse::{Coo, Csc, Csr};
use crate::matrix::value::{Complex, Value};
use crate::share::share;

/// Calls a function with the requested type of values.
macro_rules! with_values {
    ($job:expr, $function:ident::<$id:ty>) => {
        match $job.values {
            ValueKind::None | ValueKind::Auto => $function::<$id, ()>($job),
            ValueKind::I64 => $function::<$id, i64>($job),
            ValueKind::U64 => $function::<$id, u64>($job),
            ValueKind::F32 => $function::<$id, f32>($job),
            ValueKind::F64 => $function::<$id, f64>($job),
            ValueKind::Complex => $function::<$id, Complex>($job),
        }
    };
}

pub(super) fn coordinates<I: Id>(job: &MatrixJob<'_>) -> Result<Coo<I>, Failure> {
    let options = job.options;
    if options.order == EntryOrder::File && options.duplicates == Duplicates::Kept {
        use coo::read;
        with_values!(job, read::<I>)
    } else {
        with_values!(job, sorted::<I>)
    }
}

pub(super) fn rows<I: Id>(job: &MatrixJob<'_>) -> Result<Csr<I>, Failure> {
    with_values!(job, rows_with::<I>)
}

pub(super) fn columns<I: Id>(job: &MatrixJob<'_>) -> Result<Csc<I>, Failure> {
    with_values!(job, columns_with::<I>)
}

fn rows_with<I: Id, V: Value>(job: &MatrixJob<'_>) -> Result<Csr<I>, Failure> {
    let GroupedEntries { size, offsets, others, values } =
        compress::read::<I, V>(job, By::Row)?;
    Ok(Csr {
        row_count: size.0,
        column_count: size.1,
        symmetry: job.symmetry(),
        offsets,
        columns: others,
        values: V::wrap(values),
    })
}

fn columns_with<I: Id, V: Value>(job: &MatrixJob<'_>) -> Result<Csc<I>, Failure> {
    let GroupedEntries { size, offsets, others, values } =
        compress::read::<I, V>(job, By::Column)?;
    Ok(Csc {
        row_count: size.0,
        column_count: size.1,
        symmetry: job.symmetry(),
        offsets,
        rows: others,
        values: V::wrap(values),
    })
}

/// Up to this many rows, starting a thread or counting the cores would take longer than the work.
const ALONE: usize = 4096;

/// Builds sorted coordinates from compressed rows.
fn sorted<I: Id, V: Value>(job: &MatrixJob<'_>) -> Result<Coo<I>, Failure> {
    let GroupedEntries { size, offsets, others, values } =
        compress::read::<I, V>(job, By::Row)?;
    let mut rows = Array::<I>::zeroed(others.len())?;
    // Workers take equal shares of the rows, and write the row ids of their entries.
    let count = offsets.len() - 1;
    let workers = if count < ALONE { 1 } else { job.workers() };
    let step = count.div_ceil(64 * workers).max(1);
    let starts: Vec<usize> = (0..count).step_by(step).collect();
    let end = |start: usize| (start + step).min(count);
    let lens = starts.iter().map(|&start| (offsets[end(start)] - offsets[start]).index());
    let parts = starts.iter().copied().zip(rows.parts_mut(lens));
    share(parts, workers, |(start, mut rest)| {
        for row in start..end(start) {
            let len = (offsets[row + 1] - offsets[row]).index();
            let (here, after) = rest.split_at_mut(len);
            here.fill(I::from_u64(row as u64).unwrap_or(I::zeroed()));
            rest = after;
        }
    });
    let (row_count, column_count) = size;
    let (symmetry, values) = (job.symmetry(), V::wrap(values));
    Ok(Coo { row_count, column_count, symmetry, rows, columns: others, values })
}
