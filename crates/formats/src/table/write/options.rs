//! The options for writing batches, with their defaults.

use std::path::Path;
use std::time::Duration;

use swath::{Fallback, OutputOptions};

use crate::compressed::Format;
use crate::setters::setters;
use crate::table::options::choices::HeaderLine;
use crate::table::value::Decimals;

/// The form of a table of typed columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchForm {
    /// Fields separated by commas, or by another delimiter; a header.
    Csv,
    /// Fields separated by tabs.
    Tsv,
    /// One JSON object per line.
    JsonLines,
    /// Text with columns at fixed positions of each line. Read, but not written.
    Fixed,
    /// Arrow's file format.
    Arrow,
    /// Arrow's stream format.
    ArrowStream,
}

impl BatchForm {
    /// All forms, with their names.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("jsonl", Self::JsonLines),
        ("fixed", Self::Fixed),
        ("arrow", Self::Arrow),
        ("arrows", Self::ArrowStream),
    ];

    /// Returns the form for the extension of a name, in any case: `.csv`; `.tsv`; `.jsonl` or
    /// `.ndjson`; `.arrow`, `.feather` or `.ipc`; `.arrows`. Ignores an extension of compression
    /// after it.
    ///
    /// ```
    /// use swath_formats::table::BatchForm;
    ///
    /// assert_eq!(BatchForm::of_name("a.csv.zst".as_ref()), Some(BatchForm::Csv));
    /// assert_eq!(BatchForm::of_name("a.zst".as_ref()), None);
    /// ```
    pub fn of_name(name: &Path) -> Option<Self> {
        let inner = Format::of_name(name).map(|_| name.with_extension(""));
        let end = inner.as_deref().unwrap_or(name).extension()?.to_str()?.to_ascii_lowercase();
        match &end[..] {
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// Whether it is text with fields.
    pub(super) fn is_separated(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }
}

/// The fields that are quoted. A missing value never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quoting {
    /// Texts that would otherwise be read as something else: with a delimiter, a quote, a line
    /// end or another control character in them, empty ones, and words for missing values.
    #[default]
    Minimal,
    /// All.
    All,
    /// None. A text that needs quotes is an error.
    Never,
}

impl Quoting {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("minimal", Self::Minimal), ("all", Self::All), ("none", Self::Never)];
}

/// The end of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LineEnd {
    /// `\n`.
    #[default]
    Newline,
    /// `\r\n`, as RFC 4180 has it.
    ReturnNewline,
}

impl LineEnd {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("lf", Self::Newline), ("crlf", Self::ReturnNewline)];
}

/// Whether an output is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// If its name ends as that of a compressed stream does ([`Format::of_name`]).
    #[default]
    ByName,
    /// No.
    Plain,
    /// In this format.
    Format(Format),
}

impl From<Format> for Packing {
    fn from(format: Format) -> Self {
        Self::Format(format)
    }
}

/// How to write batches. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use arrow_array::record_batch;
/// use swath_formats::table::{BatchWriteOptions, Quoting};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("towns.csv");
/// let batch = record_batch!(("town", Utf8, ["Bonn", "Rome"]), ("n", Int64, [3, 4]))?;
/// let options = BatchWriteOptions::new().with_delimiter(b';').with_quoting(Quoting::All);
/// options.write_batches(&path, &batch.schema(), [&batch])?;
/// let text = std::fs::read_to_string(&path)?;
/// assert_eq!(text, "\"town\";\"n\"\n\"Bonn\";\"3\"\n\"Rome\";\"4\"\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BatchWriteOptions {
    pub(super) form: Option<BatchForm>,
    pub(super) packing: Packing,
    pub(super) level: Option<i32>,
    pub(super) delimiter: Option<u8>,
    pub(super) quoting: Option<Quoting>,
    pub(super) line_end: Option<LineEnd>,
    pub(super) null_word: Option<String>,
    pub(super) header: Option<HeaderLine>,
    pub(super) decimals: Option<Decimals>,
    pub(super) names: Option<Vec<String>>,
    pub(super) block_size: u64,
    pub(super) output: OutputOptions,
}

impl BatchWriteOptions {
    /// Defaults: form and compression by the name of the output, a header, commas (tabs in a
    /// `.tsv`), quotes where necessary, `\n`, empty fields for missing values, the shortest
    /// floating-point numbers, one worker per core.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The form. Default: by the output's name ([`BatchForm::of_name`]).
        with_form(form: BatchForm);

        /// Whether the output is compressed. Default: [`Packing::ByName`].
        with_packing(packing: Packing);

        /// The level of compression, one of [`Format::levels`]. Default: the format's own.
        with_level(level: i32);

        /// The byte that separates fields. Default: `,`, in a `.tsv` the tab.
        with_delimiter(delimiter: u8);

        /// The fields that are quoted. Default: [`Quoting::Minimal`].
        with_quoting(quoting: Quoting);

        /// The end of a line. Default: [`LineEnd::Newline`].
        with_line_end(line_end: LineEnd);

        /// Whether the first line has the names of the columns. Default: it has.
        with_header(header: HeaderLine);

        /// How floating-point numbers are written. Default: [`Decimals::Shortest`].
        with_decimals(decimals: Decimals);

        /// Bytes of text that a worker formats at a time, or of values per batch of an Arrow file;
        /// roughly, as whole rows are taken. It is also the size of compressed frames, unless the
        /// format allows only smaller ones. Default: 0, for half a MiB of text, 2 MiB of text
        /// that becomes zstd, and 64 MiB of values.
        with_block_size(block_size: u64);

        /// How to write the output. Its workers format and compress, 0 for one per core; the
        /// output is the same for any number.
        with_output(output: OutputOptions);
    }

    /// The word for a missing value. Default: none, so that the field is empty. A table of one
    /// column has `NA` instead of an empty field, since readers skip empty lines.
    #[must_use]
    pub fn with_null_word(mut self, null_word: impl Into<String>) -> Self {
        self.null_word = Some(null_word.into());
        self
    }

    /// The names of the columns. Default: those of the schema.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }
}

/// The report of batches that were written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchesWritten {
    /// The form of the table.
    pub form: BatchForm,
    /// The format of the compressed stream, if it is one.
    pub format: Option<Format>,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of the table.
    pub bytes_in: u64,
    /// Bytes of the output: fewer if it is compressed.
    pub bytes_out: u64,
    /// NaN and infinite numbers that were written as `null`, since JSON has none.
    pub not_finite: u64,
    /// Number of threads that formatted and compressed.
    pub workers: usize,
    /// Time from the call to the end of the commit.
    pub elapsed: Duration,
    /// Requests that could not be granted, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}
