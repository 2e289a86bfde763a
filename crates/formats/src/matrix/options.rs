//! How to read a matrix: every choice a caller can make, each with its default.

use swath::{Extent, ReadOptions};

use crate::setters::setters;

/// What kind of text it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixFormat {
    /// Matrix Market if it is named `.mtx` or `.mm`, or begins with such a banner; else edges.
    #[default]
    Auto,
    /// Matrix Market: banner, sizes, then a line for each entry.
    MatrixMarket,
    /// A line for each edge: two ids, perhaps a weight. Lines that begin with `#` or `%` are
    /// comments.
    Edges,
}

impl MatrixFormat {
    /// All of them, with the words that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("mtx", Self::MatrixMarket), ("edges", Self::Edges)];
}

/// What is let pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// A banner with one `%`, in any case, behind blank lines; comments between entries; entries
    /// of a symmetric matrix above its diagonal.
    #[default]
    Permissive,
    /// What the format says and nothing else. Blank lines it allows.
    Strict,
}

/// The number that the first row and column have in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base {
    /// 1 in Matrix Market, 0 in edge lists, unless a comment of Swath's own says 1.
    #[default]
    Auto,
    /// 0.
    Zero,
    /// 1.
    One,
}

impl Base {
    /// All of them, with the words that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("0", Self::Zero), ("1", Self::One)];
}

/// The type of rows and columns in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ids {
    /// `u32` if all fit, else `u64`.
    #[default]
    Auto,
    /// `u32`; a matrix with more rows or columns is refused.
    U32,
    /// `u64`.
    U64,
}

/// The type of values in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// As the header says: none, `i64`, `u64`, `f64` or complex. Integers are `u64` too where one of them
    /// is beyond `i64`. Weights of edges, if there are any, are `f64`, unless a comment of Swath's own
    /// says that they are integers.
    #[default]
    Auto,
    /// None: they are checked and left out.
    None,
    /// `i64`. Those of a real matrix have to be written as integers.
    I64,
    /// `u64`, likewise, and none of them negative.
    U64,
    /// `f32`, correctly rounded.
    F32,
    /// `f64`, correctly rounded, integers beyond 2^53 too.
    F64,
    /// Two `f64`: the real and the imaginary part.
    Complex,
}

impl ValueKind {
    /// All of them, with the words that users write.
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

/// What is done about the half of a symmetric matrix that is not in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymmetricHalf {
    /// It is added: behind each entry that is not on the diagonal comes its mirror image, negated
    /// or conjugated where the header says so.
    #[default]
    Expanded,
    /// Nothing: the entries are those that are stored, and
    /// [`symmetry`](super::Coo::symmetry) tells what is missing.
    Stored,
}

impl SymmetricHalf {
    /// All of them, with the words that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("expand", Self::Expanded), ("keep", Self::Stored)];
}

/// The order of the entries of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EntryOrder {
    /// That of the file. A mirror image comes behind its entry.
    #[default]
    File,
    /// By column, in compressed columns by row; equal ones in the order of the file. Coordinates are
    /// sorted by row, then by column.
    Sorted,
}

/// What is done about entries with the same row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// Nothing.
    #[default]
    Kept,
    /// Their values are added up, in the order of the file; entries without values become one. The
    /// result is [sorted](EntryOrder::Sorted).
    Summed,
}

impl Duplicates {
    /// All of them, with the words that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("keep", Self::Kept), ("sum", Self::Summed)];
}

/// How to read a matrix. Every setter returns the options, none can fail; 0 means "choose for me".
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
    /// Everything that the file has, in its order, all cores.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the file is read, all of it: workers, page cache, cancellation, timeline. Results do not
        /// depend on it. Progress is that of the last time the file is read.
        with_read(read: ReadOptions);

        /// Only the entries that begin in this extent of the text, the last one to its end, wherever that is: of
        /// extents that together are all of a file, each begins in one. Default: all.
        /// The header is read all the same, and its number of entries is that of the whole. A dense matrix, whose
        /// values say nothing of their places, is an error.
        with_starting_in(starting_in: Extent);

        /// Bytes that a worker parses at one time; the result does not depend on it. Default 0: 512 KiB.
        with_block_size(block_size: u64);

        /// What kind of text it is. Default: [`MatrixFormat::Auto`].
        with_format(format: MatrixFormat);

        /// What is let pass. Default: [`Strictness::Permissive`].
        with_strictness(strictness: Strictness);

        /// The number of the first row and column in the file. Default: [`Base::Auto`].
        with_base(base: Base);

        /// The type of rows and columns. Default: [`Ids::Auto`].
        with_ids(ids: Ids);

        /// The type of values. Default: [`ValueKind::Auto`]. A matrix without values has ones.
        with_values(values: ValueKind);

        /// What is done about the other half of a symmetric matrix. Default: [`SymmetricHalf::Expanded`].
        with_symmetric_half(symmetric_half: SymmetricHalf);
    }

    /// How many vertices a list of edges is about; an id beyond is an error. Default: what a comment
    /// of Swath's own says, else as many as the greatest id asks for.
    #[must_use]
    pub fn with_vertices(self, vertices: u64) -> Self {
        self.with_shape(vertices, vertices)
    }

    /// How many rows and columns a list of edges is about, where the two differ. Default: as for
    /// [`with_vertices`](Self::with_vertices).
    #[must_use]
    pub fn with_shape(mut self, rows: u64, columns: u64) -> Self {
        self.shape = Some((rows, columns));
        self
    }

    setters! {
        /// The order of the entries of a row. Default: [`EntryOrder::File`].
        with_order(order: EntryOrder);

        /// What is done about equal entries. Default: [`Duplicates::Kept`].
        with_duplicates(duplicates: Duplicates);
    }
}
