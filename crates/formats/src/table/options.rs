//! How a table is written in its file, and what to make of it.

use swath::{Extent, ReadOptions};

use super::columns::ColumnKind;
use super::select::ColumnKey;
use crate::setters::setters;

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderLine {
    /// As the first lines show: it does if one of its fields is a text, or none is a value as those below.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It does not: it is data.
    Absent,
}

impl HeaderLine {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("yes", Self::Present), ("no", Self::Absent)];
}

/// What separates the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delimiter {
    /// This byte, at every occurrence: two in a row have a missing value between them.
    Byte(u8),
    /// Runs of spaces and tabs; those around a line are ignored.
    Blanks,
}

impl From<u8> for Delimiter {
    fn from(byte: u8) -> Self {
        Self::Byte(byte)
    }
}

/// What replaces a missing value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// The type's own missing value: NaN in an array of floats, a null in a column. Integer arrays
    /// have no such value, so it is an error there.
    #[default]
    Natural,
    /// A missing value is an error.
    Refused,
    /// This value, which must fit the type.
    Value(f64),
}

/// How to read a table. Every setter returns the options; none can fail.
///
/// ```
/// use swath_formats::table::{Delimiter, Missing, TableOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "1;2\n3;\n")?;
/// let options = TableOptions::new().with_delimiter(Delimiter::Byte(b';'));
/// let table = options.with_missing(Missing::Value(0.0)).read::<i64>(&path)?;
/// assert_eq!(table.values[..], [1, 2, 3, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableOptions {
    pub(super) delimiter: Option<Delimiter>,
    pub(super) header: HeaderLine,
    pub(super) comment: Option<u8>,
    pub(super) quote: Option<u8>,
    pub(super) columns: Option<Vec<ColumnKey>>,
    pub(super) kinds: Vec<(ColumnKey, ColumnKind)>,
    pub(super) missing: Missing,
    pub(super) missing_words: Vec<Vec<u8>>,
    pub(super) read: ReadOptions,
    pub(super) starting_in: Option<Extent>,
    pub(super) block_size: Option<u64>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TableOptions {
    /// Defaults: the delimiter of the first line, `"`, `#`, an automatic header.
    pub fn new() -> Self {
        let words = ["", "NA", "N/A", "null"];
        Self {
            delimiter: None,
            header: HeaderLine::Auto,
            comment: Some(b'#'),
            quote: Some(b'"'),
            columns: None,
            kinds: Vec::new(),
            missing: Missing::Natural,
            missing_words: words.map(|word| word.as_bytes().to_vec()).to_vec(),
            read: ReadOptions::new(),
            starting_in: None,
            block_size: None,
        }
    }

    /// What separates fields: a byte, or [`Delimiter::Blanks`]. Default: the first of tab, `,`, `;`
    /// and `|` that occurs in the first line, otherwise blanks, if it has a space.
    #[must_use]
    pub fn with_delimiter(mut self, delimiter: impl Into<Delimiter>) -> Self {
        self.delimiter = Some(delimiter.into());
        self
    }

    setters! {
        /// Whether the first line names the columns. Default: [`HeaderLine::Auto`].
        with_header(header: HeaderLine);

        /// The byte that begins a line to skip. Default: `#`.
        with_comment(comment: Option<u8>);

        /// The byte that may enclose fields; in the header, a doubled one stands for itself.
        /// Default: `"`.
        with_quote(quote: Option<u8>);
    }

    /// Reads only these columns, in this order, each given by its name in the header or by its
    /// index from 0. The others may contain any text, including delimiters inside quotes. Default:
    /// all.
    ///
    /// ```
    /// use swath_formats::table::TableOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "id,name,score\n1,\"Smith, J.\",2.5\n2,José,3\n")?;
    /// let options = TableOptions::new().with_columns(["score", "id"]);
    /// let table = options.read::<f64>(&path)?;
    /// assert_eq!(table.values[..], [2.5, 1.0, 3.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_columns<K: Into<ColumnKey>>(
        mut self,
        columns: impl IntoIterator<Item = K>,
    ) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// The types of some columns, each given by its name in the header or by its index from 0, for
    /// [`read_columns`](Self::read_columns). Types of columns that are not read are ignored.
    /// [`schema`](Self::schema) returns those of a file. Default: the fields of a column decide,
    /// which may differ from part to part of a table.
    ///
    /// ```
    /// use swath_formats::table::{ColumnKind, TableOptions, Values};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y\n1,2\n3,4\n")?;
    /// let table = TableOptions::new().with_kinds([("y", ColumnKind::F64)]).read_columns(&path)?;
    /// assert_eq!(table.columns[0].values(), Values::I64(&[1, 3]));
    /// assert_eq!(table.columns[1].values(), Values::F64(&[2.0, 4.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_kinds<K: Into<ColumnKey>>(
        mut self,
        kinds: impl IntoIterator<Item = (K, ColumnKind)>,
    ) -> Self {
        self.kinds = kinds.into_iter().map(|(key, kind)| (key.into(), kind)).collect();
        self
    }

    setters! {
        /// What replaces a missing value. Default: [`Missing::Natural`].
        with_missing(missing: Missing);
    }

    /// Fields that mean a missing value. Default: the empty field, `NA`, `N/A` and `null`.
    #[must_use]
    pub fn with_missing_words<W: AsRef<[u8]>>(
        mut self,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        self.missing_words = words.into_iter().map(|word| word.as_ref().to_vec()).collect();
        self
    }

    setters! {
        /// How to read the file: workers, page cache, progress, cancellation. It is read twice, so
        /// progress starts again after counting. If an offset or a length is set, those bytes are
        /// the text: they are read into memory first, and bytes in errors and in
        /// [`with_starting_in`](Self::with_starting_in) count from there.
        with_read(read: ReadOptions);

        /// Reads only the rows that begin in this extent of the text; the last one is read to its
        /// end. If extents together cover a file, each row begins in exactly one of them. The first
        /// line and its names are read anyway. Default: all rows.
        with_starting_in(starting_in: Extent);

        /// Bytes that a worker takes at a time; the result does not depend on it. Default: 512 KiB.
        with_block_size(block_size: u64);
    }
}
