//! The options for reading a matrix, with their defaults.

use swath::{Extent, ReadOptions};

use crate::setters::setters;

/// The format of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixFormat {
    /// Matrix Market if the name ends in `.mtx` or `.mm` or the file begins with a banner;
    /// otherwise edges.
    #[default]
    Auto,
    /// Matrix Market: banner, sizes, then one line per entry.
    MatrixMarket,
    /// One line per edge: two ids, possibly a weight. Lines that begin with `#` or `%` are
    /// comments.
    Edges,
}

impl MatrixFormat {
    /// All formats, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("mtx", Self::MatrixMarket), ("edges", Self::Edges)];
}

/// The deviations from the format that are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// Accepts a banner with one `%`, in any case, after blank lines; comments between entries;
    /// entries of a symmetric matrix above its diagonal.
    #[default]
    Permissive,
    /// Accepts only what the format defines. It allows blank lines.
    Strict,
}

/// The number of the first row and column in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base {
    /// 1 in Matrix Market, 0 in edge lists, unless a comment written by Swath says 1.
    #[default]
    Auto,
    /// 0.
    Zero,
    /// 1.
    One,
}

impl Base {
    /// All bases, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("0", Self::Zero), ("1", Self::One)];
}

/// The type of row and column ids in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ids {
    /// `u32` if all ids fit, otherwise `u64`.
    #[default]
    Auto,
    /// `u32`; a matrix with more rows or columns is an error.
    U32,
    /// `u64`.
    U64,
}

/// The type of values in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// By the header: none, `i64`, `u64`, `f64` or complex. Integers become `u64` if one of them
    /// does not fit `i64`. Weights of edges become `f64`, unless a comment written by Swath says
    /// that they are integers.
    #[default]
    Auto,
    /// No values: they are checked and dropped.
    None,
    /// `i64`. A real matrix must have its values written as integers.
    I64,
    /// `u64`. As for `i64`, and the values must not be negative.
    U64,
    /// `f32`, correctly rounded.
    F32,
    /// `f64`, correctly rounded, also for integers beyond 2^53.
    F64,
    /// Two `f64`: the real and the imaginary part.
    Complex,
}

impl ValueKind {
    /// All types, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("none", Self::None),
        ("i64", Self::I64),
        ("u64", Self::U64),
        ("f32", Self::F32),
        ("f64", Self::F64),
        ("complex", Self::Complex),
    ];
}

/// How to treat the half of a symmetric matrix that is not in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymmetricHalf {
    /// Adds it: after each entry off the diagonal follows its mirror image, negated or conjugated
    /// if the header requires it.
    #[default]
    Expanded,
    /// Leaves it out: the result has the stored entries, and [`symmetry`](super::Coo::symmetry)
    /// tells which are missing.
    Stored,
}

impl SymmetricHalf {
    /// Both choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("expand", Self::Expanded), ("keep", Self::Stored)];
}

/// The order of the entries within a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EntryOrder {
    /// The order of the file. A mirror image follows its entry.
    #[default]
    File,
    /// By column, or by row in compressed columns; equal ones in the order of the file. Coordinates
    /// are sorted by row, then by column.
    Sorted,
}

/// How to treat entries with the same row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// Keeps all of them.
    #[default]
    Kept,
    /// Adds up their values in the order of the file; entries without values become one. The result
    /// is [sorted](EntryOrder::Sorted).
    Summed,
}

impl Duplicates {
    /// Both choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("keep", Self::Kept), ("sum", Self::Summed)];
}

/// How to read a matrix. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use swath_formats::matrix::{AnyCsr, Base, EntryOrder, MatrixOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.el");
/// std::fs::write(&path, "1 3\n1 2\n")?;
/// let options = MatrixOptions::new().with_base(Base::One).with_order(EntryOrder::Sorted);
/// let AnyCsr::U32(graph) = options.read_rows(&path)? else { unreachable!("ids fit 32 bits") };
/// assert_eq!(graph.row(0), [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MatrixOptions {
    pub(super) read: ReadOptions,
    pub(super) starting_in: Option<Extent>,
    pub(super) block_size: u64,
    pub(super) format: MatrixFormat,
    pub(super) strictness: Strictness,
    pub(super) base: Base,
    pub(super) ids: Ids,
    pub(super) values: ValueKind,
    pub(super) symmetric_half: SymmetricHalf,
    pub(super) shape: Option<(u64, u64)>,
    pub(super) order: EntryOrder,
    pub(super) duplicates: Duplicates,
}

impl MatrixOptions {
    /// Defaults: all entries in the order of the file, on all cores.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the file: workers, page cache, cancellation, timeline; the result does not
        /// depend on these. Progress reports the last pass over the file. If an offset or a length
        /// is set, those bytes are the text: they are read into memory first, and bytes in errors
        /// and in [`with_starting_in`](Self::with_starting_in) count from there.
        with_read(read: ReadOptions);

        /// Reads only the entries that begin in this extent of the text; the last one is read to
        /// its end. If extents together cover a file, each entry begins in exactly one of them. The
        /// header is always read; its number of entries is that of the whole file. An error for a
        /// dense matrix, whose values do not show their position. Default: all entries.
        with_starting_in(starting_in: Extent);

        /// Bytes that a worker parses at a time; the result does not depend on it. Default: 0, for
        /// 512 KiB.
        with_block_size(block_size: u64);

        /// The format of the text. Default: [`MatrixFormat::Auto`].
        with_format(format: MatrixFormat);

        /// The deviations from the format that are accepted. Default: [`Strictness::Permissive`].
        with_strictness(strictness: Strictness);

        /// The number of the first row and column in the file. Default: [`Base::Auto`].
        with_base(base: Base);

        /// The type of row and column ids. Default: [`Ids::Auto`].
        with_ids(ids: Ids);

        /// The type of values. Default: [`ValueKind::Auto`]. A matrix without values gets ones.
        with_values(values: ValueKind);

        /// How to treat the other half of a symmetric matrix. Default: [`SymmetricHalf::Expanded`].
        with_symmetric_half(symmetric_half: SymmetricHalf);
    }

    /// Number of vertices of a list of edges; an id beyond is an error. Default: the number in a
    /// comment written by Swath, otherwise as many as the largest id requires.
    #[must_use]
    pub fn with_vertices(self, vertices: u64) -> Self {
        self.with_shape(vertices, vertices)
    }

    /// Number of rows and columns of a list of edges, if the two differ. Default: as for
    /// [`with_vertices`](Self::with_vertices).
    #[must_use]
    pub fn with_shape(mut self, rows: u64, columns: u64) -> Self {
        self.shape = Some((rows, columns));
        self
    }

    setters! {
        /// The order of the entries of a row. Default: [`EntryOrder::File`].
        with_order(order: EntryOrder);

        /// How to treat equal entries. Default: [`Duplicates::Kept`].
        with_duplicates(duplicates: Duplicates);
    }
}
