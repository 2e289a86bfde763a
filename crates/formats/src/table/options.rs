//! The options of a typed table: how its text is written, and how to read it.

pub(in crate::table) mod choices;
pub(in crate::table) mod column_key;
pub(in crate::table) mod settings;
pub(in crate::table) mod words;

pub use self::choices::{
    Delimiter, Dictionary, Encoding, EncodingErrors, HeaderLine, LongDelimiter, Missing,
    OtherEncoding, Ragged,
};
pub use self::column_key::ColumnKey;
pub use self::settings::Setting;

use swath::{Extent, ReadOptions};

pub(in crate::table) use self::choices::{CommentRule, HeaderLines, WordMeaning};
use super::types::ColumnType;
use crate::setters::setters;
use crate::table::text::fixed::FixedColumn;
use crate::table::write::BatchForm;

/// How to read a table of any types as record batches. Every setter returns the options; none can
/// fail. Contradicting options are an error of the verb.
///
/// ```
/// use swath_formats::table::{BatchOptions, ColumnType};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name;born;zip\nAnn;1980-02-29;01234\nBob;;99999\n")?;
/// let options = BatchOptions::new().with_delimiter(b';').with_columns(["born", "zip"]);
/// let table = options.with_types([("zip", ColumnType::U32)]).read_batches(&path)?;
/// let types: Vec<_> = table.report().columns.iter().map(|column| column.kind).collect();
/// assert_eq!(types, [ColumnType::Date, ColumnType::U32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchOptions {
    pub(in crate::table) form: BatchForm,
    pub(in crate::table) widths: Option<Vec<usize>>,
    pub(in crate::table) positions: Option<Vec<FixedColumn>>,
    pub(in crate::table) delimiter: Option<Delimiter>,
    pub(in crate::table) header: HeaderLines,
    pub(in crate::table) comment: CommentRule,
    pub(in crate::table) quote: Option<u8>,
    pub(in crate::table) escape: Option<u8>,
    pub(in crate::table) columns: Option<Vec<ColumnKey>>,
    pub(in crate::table) types: Vec<(ColumnKey, ColumnType)>,
    pub(in crate::table) all_types: Option<ColumnType>,
    pub(in crate::table) formats: Vec<(ColumnKey, String)>,
    pub(in crate::table) rename: Vec<(ColumnKey, String)>,
    pub(in crate::table) skip_rows: u64,
    pub(in crate::table) skip_footer: usize,
    pub(in crate::table) rows: Option<u64>,
    pub(in crate::table) nulls: Option<Vec<Vec<u8>>>,
    pub(in crate::table) trues: Option<Vec<Vec<u8>>>,
    pub(in crate::table) falses: Option<Vec<Vec<u8>>>,
    pub(in crate::table) words_of: Vec<(ColumnKey, WordMeaning, Vec<Vec<u8>>)>,
    pub(in crate::table) decimal: u8,
    pub(in crate::table) thousands: Option<u8>,
    pub(in crate::table) encoding: Encoding,
    pub(in crate::table) encoding_errors: EncodingErrors,
    pub(in crate::table) ragged: Ragged,
    pub(in crate::table) fields: Option<usize>,
    pub(in crate::table) dictionary: Dictionary,
    pub(in crate::table) file_column: Option<String>,
    pub(in crate::table) missing: Missing,
    /// Whether the columns become an array.
    pub(in crate::table) is_array: bool,
    pub(in crate::table) json_nan: bool,
    pub(in crate::table) json_nested: bool,
    pub(in crate::table) union_by_name: bool,
    pub(in crate::table) read: ReadOptions,
    pub(in crate::table) starting_in: Option<Extent>,
    pub(in crate::table) block_size: u64,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self::new()
    }
}

fn words<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Vec<Vec<u8>> {
    words.into_iter().map(|word| word.as_ref().to_vec()).collect()
}

fn keyed<K: Into<ColumnKey>, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(ColumnKey, V)> {
    pairs.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

impl BatchOptions {
    /// Defaults: the delimiter that fits the first lines best, `"`, no escape, comments in tables
    /// of numbers, an automatic header, all columns and rows, types from the values.
    pub fn new() -> Self {
        Self {
            form: BatchForm::Csv,
            widths: None,
            positions: None,
            delimiter: None,
            header: HeaderLines::Auto,
            comment: CommentRule::Auto,
            quote: Some(b'"'),
            escape: None,
            columns: None,
            types: Vec::new(),
            all_types: None,
            formats: Vec::new(),
            rename: Vec::new(),
            skip_rows: 0,
            skip_footer: 0,
            rows: None,
            nulls: None,
            trues: None,
            falses: None,
            words_of: Vec::new(),
            decimal: b'.',
            thousands: None,
            encoding: Encoding::Auto,
            encoding_errors: EncodingErrors::Refuse,
            ragged: Ragged::Refuse,
            fields: None,
            dictionary: Dictionary::Told,
            file_column: None,
            missing: Missing::Natural,
            is_array: false,
            json_nan: false,
            json_nested: false,
            union_by_name: false,
            read: ReadOptions::new(),
            starting_in: None,
            block_size: 0,
        }
    }

    setters! {
        /// How the table is written: [`BatchForm::Csv`], which stands for all texts with fields,
        /// [`BatchForm::Tsv`], [`BatchForm::JsonLines`] or [`BatchForm::Fixed`]. Default:
        /// [`BatchForm::Csv`].
        ///
        /// In JSON Lines, the columns are the keys of all objects, and delimiter, header, quote,
        /// escape, comment, decimal point, thousands and [`Ragged::Pad`] are errors if they are set.
        ///
        /// In text of fixed width, [`with_widths`](Self::with_widths) or
        /// [`with_positions`](Self::with_positions) gives the columns. Otherwise they are found: a
        /// column is a run of positions at which not all of the first records are blank. These are
        /// the header and up to 1,000 more records that begin within 1 MiB after it. Text between
        /// columns further on is an error. Positions count characters. Blanks around a field are
        /// not part of it; an empty field, or one past the end of its line, is a missing value.
        /// Quotes are ordinary characters; delimiter, quote and escape are errors if they are set.
        with_form(form: BatchForm);
    }

    /// The widths of the columns of [`BatchForm::Fixed`] in characters, from the start of each line
    /// and without gaps. Text after the last one is an error; with [`Ragged::SetAside`], the record is
    /// left out. Default: columns are found.
    #[must_use]
    pub fn with_widths(mut self, widths: impl IntoIterator<Item = usize>) -> Self {
        self.widths = Some(widths.into_iter().collect());
        self
    }

    /// The positions of the columns of [`BatchForm::Fixed`], in order. They may have gaps, but not
    /// overlap, and the last one may go up to the end of each line. All other text is not read.
    /// Default: columns are found.
    ///
    /// ```
    /// use swath_formats::table::{BatchForm, BatchOptions, FixedColumn};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("people.txt");
    /// std::fs::write(&path, "Ann   1980 x\nZo\u{eb}   1985\n")?;
    /// let options = BatchOptions::new().with_form(BatchForm::Fixed);
    /// let table = options.with_positions([0..5, 6..10]).read_batches(&path)?;
    /// assert_eq!((table.rows(), table.report().columns.len()), (2, 2));
    /// assert_eq!(table.report().fixed[1], FixedColumn { start: 6, end: Some(10) });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_positions<C: Into<FixedColumn>>(
        mut self,
        positions: impl IntoIterator<Item = C>,
    ) -> Self {
        self.positions = Some(positions.into_iter().map(Into::into).collect());
        self
    }

    /// The delimiter of fields: a byte, or [`Delimiter::Blanks`]. Default: of tab, `,`, `;` and `|`
    /// the one with the most consistent number of fields in the first lines; of equals, the one
    /// with more columns, then the one with more columns that are not text.
    #[must_use]
    pub fn with_delimiter(mut self, delimiter: impl Into<Delimiter>) -> Self {
        self.delimiter = Some(delimiter.into());
        self
    }

    setters! {
        /// Whether the first line names the columns. Default: [`HeaderLine::Auto`]: it does, unless
        /// one of its fields is a number, date, time or boolean like those below it, and none is a
        /// text above such a column. Whole numbers that count up, such as years, are names beside a
        /// text or an empty field that the column does not have below.
        /// [`TableReport::header_reason`](crate::table::TableReport::header_reason) gives the
        /// reason.
        with_header(header: HeaderLine);
    }

    /// The first `lines` lines name the columns: the parts of a name, one from each line, are
    /// joined with `_`, and empty parts are left out.
    #[must_use]
    pub fn with_header_lines(mut self, lines: usize) -> Self {
        self.header = HeaderLines::Lines(lines);
        self
    }

    /// The byte that begins a line to skip, if any. Default: `#` if all fields of the first lines,
    /// apart from the names, are numbers; otherwise none.
    #[must_use]
    pub fn with_comment(mut self, comment: Option<u8>) -> Self {
        self.comment = CommentRule::Given(comment);
        self
    }

    setters! {
        /// The byte that may enclose fields; between quotes, a doubled one stands for itself, and
        /// delimiters and newlines are text. Default: `"`.
        with_quote(quote: Option<u8>);

        /// The byte after which any byte is text, inside quotes and outside. Default: none.
        with_escape(escape: Option<u8>);
    }

    /// Reads only these columns, in this order, each given by its name in the header, before any
    /// renaming, or by its index from 0. Other columns are neither parsed nor checked. Default:
    /// all.
    #[must_use]
    pub fn with_columns<K: Into<ColumnKey>>(
        mut self,
        columns: impl IntoIterator<Item = K>,
    ) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// The types of some columns; a value of another type is an error. Default: the type that holds
    /// all values of the column in the file.
    #[must_use]
    pub fn with_types<K: Into<ColumnKey>>(
        mut self,
        types: impl IntoIterator<Item = (K, ColumnType)>,
    ) -> Self {
        self.types = keyed(types);
        self
    }

    /// The type of every column that neither [`with_types`](Self::with_types) nor
    /// [`with_formats`](Self::with_formats) names. With [`ColumnType::Text`], each field is read as
    /// it stands, and a stream needs no first pass over the file. Default: types are inferred.
    ///
    /// ```
    /// use swath_formats::table::{BatchOptions, ColumnType};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("people.csv");
    /// std::fs::write(&path, "name,age\nAnn,007\nBob,8\n")?;
    /// let options = BatchOptions::new().with_all_types(ColumnType::Text);
    /// let table = options.with_types([("age", ColumnType::U8)]).read_batches(&path)?;
    /// let types: Vec<_> = table.report().columns.iter().map(|column| column.kind).collect();
    /// assert_eq!(types, [ColumnType::Text, ColumnType::U8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_all_types(mut self, kind: ColumnType) -> Self {
        self.all_types = Some(kind);
        self
    }

    /// How dates and timestamps of some columns are written, in the notation of strftime. The type
    /// of such a column is the one in [`with_types`](Self::with_types); otherwise it is a date if
    /// the format has no time, and a timestamp in microseconds if it has.
    ///
    /// `epoch_s`, `epoch_ms`, `epoch_us` and `epoch_ns` are numbers of seconds, milliseconds,
    /// microseconds and nanoseconds since the start of 1970 in UTC, with as many decimals as make
    /// whole nanoseconds. The type is then a timestamp in UTC, or one without a zone if that is
    /// given.
    #[must_use]
    pub fn with_formats<K: Into<ColumnKey>, F: Into<String>>(
        mut self,
        formats: impl IntoIterator<Item = (K, F)>,
    ) -> Self {
        self.formats = keyed(formats.into_iter().map(|(key, format)| (key, format.into())));
        self
    }

    /// New names for some columns.
    #[must_use]
    pub fn with_rename<K: Into<ColumnKey>, N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = (K, N)>,
    ) -> Self {
        self.rename = keyed(names.into_iter().map(|(key, name)| (key, name.into())));
        self
    }

    setters! {
        /// Lines of the file to skip before anything else, empty ones and comments included.
        /// Default: 0.
        with_skip_rows(skip_rows: u64);

        /// The number of last records of each file that are not part of the table, such as totals
        /// and notes: up to 1,000,000. They may have any number of fields. As for other records,
        /// empty lines and comments do not count, and quotes must be closed. The names of the
        /// columns and the first record count for the delimiter and the header in any case.
        /// Default: 0.
        with_skip_footer(skip_footer: usize);

        /// Reads at most this many rows; what follows them is not checked. Default: all.
        with_rows(rows: u64);
    }

    /// Fields that mean a missing value. Default: the empty field, `NA`, `N/A`, `null`, `NULL`. In
    /// text of fixed width, the empty field is always one; in JSON Lines, `null` without quotes
    /// always is, and by default nothing else.
    #[must_use]
    pub fn with_null_values<W: AsRef<[u8]>>(
        mut self,
        nulls: impl IntoIterator<Item = W>,
    ) -> Self {
        self.nulls = Some(words(nulls));
        self
    }

    /// Fields that mean true. Default: `true`, `True`, `TRUE`. In JSON Lines, `true` without quotes
    /// always does, and by default nothing else.
    #[must_use]
    pub fn with_true_values<W: AsRef<[u8]>>(
        mut self,
        trues: impl IntoIterator<Item = W>,
    ) -> Self {
        self.trues = Some(words(trues));
        self
    }

    /// Fields that mean false. Default: `false`, `False`, `FALSE`. In JSON Lines, `false` without
    /// quotes always does, and by default nothing else.
    #[must_use]
    pub fn with_false_values<W: AsRef<[u8]>>(
        mut self,
        falses: impl IntoIterator<Item = W>,
    ) -> Self {
        self.falses = Some(words(falses));
        self
    }

    /// The fields of one column that mean a missing value, instead of those of
    /// [`with_null_values`](Self::with_null_values), which the other columns keep. In text of fixed
    /// width, the empty field is one too. May be called for several columns; for one column, the
    /// last call counts. It does not affect whether the first line names the columns.
    ///
    /// ```
    /// use swath_formats::table::BatchOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("codes.csv");
    /// std::fs::write(&path, "country,score\nNA,-\nUS,7\n")?;
    /// let options = BatchOptions::new().with_null_values_of("score", ["-"]);
    /// let table = options.with_null_values_of("country", [""]).read_batches(&path)?;
    /// let missing: Vec<u64> = table.report().columns.iter().map(|column| column.nulls).collect();
    /// assert_eq!(missing, [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_null_values_of<W: AsRef<[u8]>>(
        mut self,
        column: impl Into<ColumnKey>,
        nulls: impl IntoIterator<Item = W>,
    ) -> Self {
        self.set_words_of(&column.into(), WordMeaning::Missing, Some(words(nulls)));
        self
    }

    /// The fields of one column that mean true, as with
    /// [`with_null_values_of`](Self::with_null_values_of).
    #[must_use]
    pub fn with_true_values_of<W: AsRef<[u8]>>(
        mut self,
        column: impl Into<ColumnKey>,
        trues: impl IntoIterator<Item = W>,
    ) -> Self {
        self.set_words_of(&column.into(), WordMeaning::True, Some(words(trues)));
        self
    }

    /// The fields of one column that mean false, as with
    /// [`with_null_values_of`](Self::with_null_values_of).
    #[must_use]
    pub fn with_false_values_of<W: AsRef<[u8]>>(
        mut self,
        column: impl Into<ColumnKey>,
        falses: impl IntoIterator<Item = W>,
    ) -> Self {
        self.set_words_of(&column.into(), WordMeaning::False, Some(words(falses)));
        self
    }

    setters! {
        /// The decimal point. Default: `.`.
        with_decimal(decimal: u8);

        /// The byte between groups of three digits before the decimal point. Default: none.
        with_thousands(thousands: Option<u8>);

        /// How bytes become characters. Default: [`Encoding::Auto`].
        with_encoding(encoding: Encoding);

        /// How to treat bytes outside the encoding. A text in which some are replaced is held in
        /// memory as a whole. Default: [`EncodingErrors::Refuse`].
        with_encoding_errors(encoding_errors: EncodingErrors);

        /// How to treat records with more or fewer fields than there are columns; in JSON Lines, lines
        /// that are not objects. Default: [`Ragged::Refuse`].
        with_ragged(ragged: Ragged);

        /// The number of fields of a record, and so of columns. A header may have fewer names: the
        /// other columns are `column_3` and so on, by their number. If it has more, and for all
        /// other records, [`with_ragged`](Self::with_ragged) decides. Default: that of the first
        /// record.
        with_fields(fields: usize);

        /// The text columns that become dictionaries. Default: those whose type is given.
        with_dictionary(dictionary: Dictionary);
    }

    /// Adds a last column with this name: a dictionary with the name of each row's file. Default:
    /// none.
    #[must_use]
    pub fn with_file_column(mut self, name: impl Into<String>) -> Self {
        self.file_column = Some(name.into());
        self
    }

    setters! {
        /// The value in an array for a missing value; batches mark it instead. Default:
        /// [`Missing::Natural`].
        with_missing(missing: Missing);

        /// Whether `NaN`, `Infinity` and `-Infinity`, which JSON does not have, are numbers in JSON Lines.
        /// Default: they are errors.
        with_json_nan(json_nan: bool);

        /// Whether objects and arrays in JSON Lines become structs and lists, whose types hold all
        /// values of the column on every level. Then a duplicate key in one of them is an error.
        /// Default: they are text, the JSON as written.
        with_json_nested(json_nested: bool);

        /// Whether files may have different columns: columns with the same name are one, in the
        /// order of first appearance, and a column that a file lacks is missing there. A file of
        /// one column does not decide the delimiter of the others. A file without names is an
        /// error. Other options name columns among those of all files. JSON Lines always works this
        /// way. Default: all files have the columns of the first one.
        with_union_by_name(union_by_name: bool);

        /// How files are read: workers, page cache, progress, cancellation. Parts of a file are
        /// selected with [`with_starting_in`](Self::with_starting_in).
        with_read(read: ReadOptions);

        /// Reads only the rows that begin in this extent of each text; the last one is read to its
        /// end. If extents together cover a text, each row begins in exactly one of them. The
        /// header is always read, and quotes are counted from the start. Default: all rows.
        with_starting_in(starting_in: Extent);

        /// Bytes of text that become one batch; the rows and their types do not depend on it.
        /// Default 0: 1 MiB.
        with_block_size(block_size: u64);
    }
}
