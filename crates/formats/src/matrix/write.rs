//! Writes matrices as text: all workers format lines, which are written in order.

mod dense;
mod listing;
mod readable;

use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use swath::append::{OrderedOptions, OrderedReport};
use swath::{Output, OutputOptions};

pub use dense::Dense;
pub(super) use listing::Listing;

use crate::error::{Error, FormatReason, Result};
use crate::matrix::id::Id;
use crate::matrix::kinds::{Field, Layout, Symmetry};
use crate::matrix::options::{Base, MatrixFormat};
use crate::matrix::shape::CommentShape;
use crate::matrix::sparse::{AnyCoo, AnyCsc, AnyCsr, Coo, Csc, Csr};
use crate::matrix::value::Values;
use crate::number::format::{push_f64_shortest, push_i64, push_u64};
use crate::setters::setters;
use crate::share::{share, workers};

/// Number of entries that a worker formats at a time.
const CHUNK: u64 = 1 << 15;
/// Bytes for a chunk of short lines.
const CHUNK_SIZE: u64 = 1 << 20;

/// How to write a matrix. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use swath_formats::matrix::{self, AnyCoo, Base, MatrixWriteOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("from.el"), folder.path().join("to.el"));
/// std::fs::write(&from, "0 1\n1 0\n")?;
/// let AnyCoo::U32(graph) = matrix::read(&from)? else { unreachable!("ids fit 32 bits") };
/// MatrixWriteOptions::new().with_base(Base::One).write(&to, &graph)?;
/// assert!(std::fs::read_to_string(&to)?.ends_with("1 2\n2 1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MatrixWriteOptions {
    format: MatrixFormat,
    base: Base,
    comment: String,
    output: OutputOptions,
}

impl MatrixWriteOptions {
    /// Defaults: the format by the output's extension, all cores, durable once written.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The format. Default: Matrix Market for `.mtx` and `.mm`, otherwise edges.
        with_format(format: MatrixFormat);

        /// The number of the first row and column. Default: 1 in Matrix Market, 0 in edge lists.
        with_base(base: Base);
    }

    /// Lines to write as comments before the entries. Default: none.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = comment.into();
        self
    }

    setters! {
        /// How to write the output. Its workers format the text, 0 for one per core; the text does
        /// not depend on their number.
        with_output(output: OutputOptions);
    }

    /// Like [`write()`](super::write()), with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`](super::write()).
    pub fn write<M: Matrix>(
        &self,
        output: impl Into<Output>,
        matrix: &M,
    ) -> Result<OrderedReport> {
        matrix.write_to(output.into(), self)
    }
}

/// The methods of `Listing` that all matrices in memory share.
macro_rules! described {
    () => {
        fn size(&self) -> (u64, u64) {
            (self.row_count, self.column_count)
        }

        fn symmetry(&self) -> Symmetry {
            self.symmetry
        }

        fn entry_count(&self) -> u64 {
            Self::entry_count(self) as u64
        }

        fn values(&self) -> &Values {
            &self.values
        }
    };
}

fn indices(range: &Range<u64>) -> Range<usize> {
    range.start.index()..range.end.index()
}

/// Number of ids that a worker compares at a time.
const IDS: usize = 1 << 18;

/// Whether an id is in a list.
fn has<I: Id>(ids: &[I], wanted: u64, threads: usize) -> bool {
    let Some(wanted) = I::from_u64(wanted) else { return false };
    let is_found = AtomicBool::new(false);
    // Relaxed: only the final answer is read.
    let look = |part: &[I]| {
        if !is_found.load(Ordering::Relaxed) && part.contains(&wanted) {
            is_found.store(true, Ordering::Relaxed);
        }
    };
    share(ids.chunks(IDS), threads, look);
    is_found.into_inner()
}

/// Whether a row or column has an entry.
fn has_any(offsets: &[u64], id: u64) -> bool {
    let at = usize::try_from(id).unwrap_or(usize::MAX);
    offsets.get(at..).is_some_and(|rest| matches!(rest, [start, end, ..] if start < end))
}

impl<I: Id> Listing for Coo<I> {
    described!();

    fn uses(&self, id: u64, threads: usize) -> bool {
        has(&self.rows, id, threads) || has(&self.columns, id, threads)
    }

    #[inline(always)]
    fn list(&self, range: Range<u64>, mut each: impl FnMut(u64, u64)) {
        let range = indices(&range);
        for (row, column) in self.rows[range.clone()].iter().zip(&self.columns[range]) {
            each(row.to_u64(), column.to_u64());
        }
    }
}

/// Calls `each` with the outer and the inner id of every entry in `range`.
#[inline(always)]
fn list_compressed<I: Id>(
    offsets: &[u64],
    inner: &[I],
    range: Range<u64>,
    mut each: impl FnMut(u64, u64),
) {
    // The last of those that begin here or earlier.
    let mut outer = offsets.partition_point(|&offset| offset <= range.start).saturating_sub(1);
    for (at, inner) in range.clone().zip(&inner[indices(&range)]) {
        while offsets[outer + 1] <= at {
            outer += 1;
        }
        each(outer as u64, inner.to_u64());
    }
}

impl<I: Id> Listing for Csr<I> {
    described!();

    fn uses(&self, id: u64, threads: usize) -> bool {
        has_any(&self.offsets, id) || has(&self.columns, id, threads)
    }

    #[inline(always)]
    fn list(&self, range: Range<u64>, each: impl FnMut(u64, u64)) {
        list_compressed(&self.offsets, &self.columns, range, each);
    }
}

impl<I: Id> Listing for Csc<I> {
    described!();

    fn uses(&self, id: u64, threads: usize) -> bool {
        has_any(&self.offsets, id) || has(&self.rows, id, threads)
    }

    #[inline(always)]
    fn list(&self, range: Range<u64>, mut each: impl FnMut(u64, u64)) {
        let swapped = |column, row| each(row, column);
        list_compressed(&self.offsets, &self.rows, range, swapped);
    }
}

mod sealed {
    use swath::Output;
    use swath::append::OrderedReport;

    use super::MatrixWriteOptions;
    use crate::error::Result;

    pub trait Write {
        fn write_to(
            &self,
            output: Output,
            options: &MatrixWriteOptions,
        ) -> Result<OrderedReport>;
    }
}

/// A matrix that can be written: coordinates, compressed rows or compressed columns, with ids of 32
/// or 64 bits.
pub trait Matrix: sealed::Write {}

macro_rules! matrices {
    ($($matrix:ident, $any:ident);*) => {$(
        impl<I: Id> Matrix for $matrix<I> {}
        impl<I: Id> sealed::Write for $matrix<I> {
            fn write_to(&self, output: Output, options: &MatrixWriteOptions) -> Result<OrderedReport> {
                write(self, output, options)
            }
        }

        impl Matrix for $any {}
        impl sealed::Write for $any {
            fn write_to(&self, output: Output, options: &MatrixWriteOptions) -> Result<OrderedReport> {
                match self {
                    Self::U32(matrix) => write(matrix, output, options),
                    Self::U64(matrix) => write(matrix, output, options),
                }
            }
        }
    )*};
}

matrices!(Coo, AnyCoo; Csr, AnyCsr; Csc, AnyCsc);

/// A piece of the output.
enum OutputPiece {
    Head(Vec<u8>),
    Lines(Range<u64>),
}

/// Writes any listing of entries.
pub(super) fn write(
    matrix: &impl Listing,
    output: Output,
    options: &MatrixWriteOptions,
) -> Result<OrderedReport> {
    let path = output.name().to_owned();
    let path = &*path;
    let is_market = match options.format {
        MatrixFormat::MatrixMarket => true,
        MatrixFormat::Edges => false,
        MatrixFormat::Auto => path.extension().is_some_and(|extension| {
            ["mtx", "mm"].iter().any(|name| extension.eq_ignore_ascii_case(name))
        }),
    };
    let base = match options.base {
        Base::Auto => u64::from(is_market),
        Base::Zero => 0,
        Base::One => 1,
    };
    if is_market && base == 0 {
        let detail = "Matrix Market numbers rows from 1";
        return Err(Error::writing(path, FormatReason::Invalid, detail));
    }
    let head = if is_market {
        market_head(matrix, path, &options.comment)?
    } else {
        edges_head(matrix, path, options, base)?
    };
    let count = matrix.entry_count();
    let chunks = (0..count).step_by(usize::try_from(CHUNK).unwrap_or(usize::MAX));
    let pieces = std::iter::once(OutputPiece::Head(head))
        .chain(chunks.map(|start| OutputPiece::Lines(start..(start + CHUNK).min(count))));
    let writing = OrderedOptions::from(options.output.clone()).with_chunk_size(CHUNK_SIZE);
    let file = output.open(writing)?;
    file.map_ordered(pieces, options.output.workers(), |piece, ticket| {
        match piece {
            OutputPiece::Head(head) => ticket.buffer().extend_from_slice(&head),
            OutputPiece::Lines(range) => {
                readable::check_images(matrix, path, range.clone())?;
                if !push_lines(ticket.buffer(), matrix, range.clone(), base) {
                    return Err(readable::outside(matrix, path, range));
                }
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(file.commit()?)
}

fn market_head(matrix: &impl Listing, path: &Path, comment: &str) -> Result<Vec<u8>> {
    let (rows, columns) = matrix.size();
    if matrix.symmetry() != Symmetry::General && rows != columns {
        let detail = format!(
            "a symmetric matrix must be square: this one has {rows} rows and {columns} columns"
        );
        return Err(Error::writing(path, FormatReason::Invalid, detail));
    }
    let field = match matrix.values() {
        Values::None => "pattern",
        Values::I64(_) => "integer",
        Values::U64(_) => "unsigned-integer",
        Values::F32(_) | Values::F64(_) => "real",
        Values::Complex(_) => "complex",
    };
    let symmetry = matrix.symmetry().word();
    let is_dense = matrix.layout() == Layout::Array;
    let count = matrix.entry_count();
    if is_dense && rows.checked_mul(columns) != Some(count) {
        let detail =
            format!("{count} values for a matrix of {rows} rows and {columns} columns");
        let error = Error::writing(path, FormatReason::Invalid, detail);
        return Err(error.hint("give one value for each place"));
    }
    let layout = if is_dense { "array" } else { "coordinate" };
    let mut head = format!("%%MatrixMarket matrix {layout} {field} {symmetry}\n").into_bytes();
    push_comment(&mut head, comment, "%");
    match is_dense {
        true => push_text(&mut head, format_args!("{rows} {columns}\n")),
        false => push_text(&mut head, format_args!("{rows} {columns} {count}\n")),
    }
    Ok(head)
}

fn edges_head(
    matrix: &impl Listing,
    path: &Path,
    options: &MatrixWriteOptions,
    first: u64,
) -> Result<Vec<u8>> {
    let comment = &options.comment;
    let refused = |detail| Err(Error::writing(path, FormatReason::Invalid, detail));
    if matrix.symmetry() != Symmetry::General {
        return refused("a list of edges cannot represent one half of a symmetric matrix");
    }
    if matrix.layout() == Layout::Array {
        return refused("a list of edges cannot represent a dense matrix");
    }
    if let Values::Complex(_) = matrix.values() {
        return refused("a list of edges cannot have complex weights");
    }
    let mut head = Vec::new();
    let shape = shape_of(matrix, first);
    if !is_told_by_edges(matrix, shape, workers(options.output.workers()))
        || CommentShape::is_like(comment)
    {
        push_comment(&mut head, &shape.comment(), "#");
    }
    push_comment(&mut head, comment, "#");
    Ok(head)
}

fn shape_of(matrix: &impl Listing, first: u64) -> CommentShape {
    let (rows, columns) = matrix.size();
    let field = match matrix.values() {
        Values::None => Field::Pattern,
        Values::I64(_) => Field::Integer,
        Values::U64(_) => Field::Unsigned,
        Values::F32(_) | Values::F64(_) | Values::Complex(_) => Field::Real,
    };
    CommentShape { rows, columns, field, first }
}

/// Whether the edges alone are read back as the same matrix.
fn is_told_by_edges(matrix: &impl Listing, shape: CommentShape, threads: usize) -> bool {
    let CommentShape { rows, columns, field, first } = shape;
    let is_plain =
        rows == columns && matches!(field, Field::Pattern | Field::Real) && first == 0;
    // Ids that are too large are found when they are written.
    is_plain && matrix.entry_count() > 0 && matrix.uses(rows.wrapping_sub(1), threads)
}

fn push_comment(head: &mut Vec<u8>, comment: &str, mark: &str) {
    for line in comment.lines() {
        push_text(head, format_args!("{mark} {line}\n"));
    }
}

fn push_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// Appends the lines of some entries; returns whether all entries are within the matrix.
fn push_lines(out: &mut Vec<u8>, matrix: &impl Listing, range: Range<u64>, base: u64) -> bool {
    let at = indices(&range);
    match matrix.values() {
        Values::None => push_each(out, matrix, range, base, |_, _| {}),
        Values::I64(values) => {
            let push = |out: &mut Vec<u8>, &value: &i64| push_i64(out, value);
            push_valued(out, matrix, range, base, &values[at], push)
        }
        Values::U64(values) => {
            let push = |out: &mut Vec<u8>, &value: &u64| push_u64(out, value);
            push_valued(out, matrix, range, base, &values[at], push)
        }
        Values::F32(values) => {
            let push = |out: &mut Vec<u8>, &value: &f32| push_f32(out, value);
            push_valued(out, matrix, range, base, &values[at], push)
        }
        Values::F64(values) => {
            let push = |out: &mut Vec<u8>, &value: &f64| push_f64_shortest(out, value);
            push_valued(out, matrix, range, base, &values[at], push)
        }
        Values::Complex(values) => {
            let push = |out: &mut Vec<u8>, &[real, imaginary]: &[f64; 2]| {
                push_f64_shortest(out, real);
                out.push(b' ');
                push_f64_shortest(out, imaginary);
            };
            push_valued(out, matrix, range, base, &values[at], push)
        }
    }
}

fn push_valued<V>(
    out: &mut Vec<u8>,
    matrix: &impl Listing,
    range: Range<u64>,
    base: u64,
    values: &[V],
    push: impl Fn(&mut Vec<u8>, &V),
) -> bool {
    push_each(out, matrix, range, base, |out, index| {
        if matrix.layout() != Layout::Array {
            out.push(b' ');
        }
        push(out, &values[index]);
    })
}

/// Appends lines; `push` adds the part of each after its ids. Returns whether all entries are
/// within the matrix.
#[inline(always)]
fn push_each(
    out: &mut Vec<u8>,
    matrix: &impl Listing,
    range: Range<u64>,
    base: u64,
    push: impl Fn(&mut Vec<u8>, usize),
) -> bool {
    let (rows, columns) = matrix.size();
    let (mut index, mut is_inside) = (0, true);
    matrix.list(range, |row, column| {
        is_inside &= row < rows && column < columns;
        if matrix.layout() != Layout::Array {
            // An id within the matrix does not wrap: there are more rows than its number.
            push_u64(out, row.wrapping_add(base));
            out.push(b' ');
            push_u64(out, column.wrapping_add(base));
        }
        push(out, index);
        out.push(b'\n');
        index += 1;
    });
    is_inside
}

/// Appends the shortest text that parses back to this single.
fn push_f32(out: &mut Vec<u8>, value: f32) {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) && size.is_finite() {
        push_text(out, format_args!("{value:e}"));
    } else {
        push_text(out, format_args!("{value:?}"));
    }
}
