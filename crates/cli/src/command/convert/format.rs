//! The formats of files of numbers, by their words and by the ends of names.

use std::fmt;
use std::path::Path;

use swath_formats::table::BatchForm;

/// The format of a file of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Matrix Market.
    Mtx,
    /// A line for each edge.
    Edges,
    /// Compressed rows, as SciPy saves them.
    Npz,
    /// A table with commas.
    Csv,
    /// A table with tabs.
    Tsv,
    /// A dense array, as NumPy saves it.
    Npy,
    /// Columns, as Arrow saves them.
    Arrow,
    /// Columns, as Arrow saves them to be read from front to back.
    Arrows,
    /// A JSON object on each line.
    Jsonl,
    /// A table whose columns are at fixed positions of each line.
    Fixed,
}

/// All formats, by their words.
pub(crate) const FORMATS: &[(&str, Format)] = &[
    ("mtx", Format::Mtx),
    ("edges", Format::Edges),
    ("npz", Format::Npz),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("npy", Format::Npy),
    ("arrow", Format::Arrow),
    ("arrows", Format::Arrows),
    ("jsonl", Format::Jsonl),
    ("fixed", Format::Fixed),
];

/// The formats that can be written.
pub(crate) const WRITTEN: &[(&str, Format)] = FORMATS.split_at(FORMATS.len() - 1).0;

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
}

/// Whether a name ends in `.txt`, which many formats use.
pub(in crate::command) fn is_plain(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"))
}

impl Format {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        FORMATS.iter().find(|&&(_, format)| format == self).map_or("", |&(word, _)| word)
    }

    /// Whether it holds entries by row and column.
    pub fn is_matrix(self) -> bool {
        matches!(self, Self::Mtx | Self::Edges | Self::Npz)
    }

    /// Whether people can read it.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Self::Mtx | Self::Edges | Self::Csv | Self::Tsv | Self::Jsonl | Self::Fixed
        )
    }

    /// Whether it is a table as text.
    pub fn is_table_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Jsonl | Self::Fixed)
    }

    /// Whether it is a table as text with fields.
    pub fn is_separated(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Returns the form of record batches, if it is one.
    pub fn form(self) -> Option<BatchForm> {
        match self {
            Self::Csv => Some(BatchForm::Csv),
            Self::Tsv => Some(BatchForm::Tsv),
            Self::Jsonl => Some(BatchForm::JsonLines),
            Self::Fixed => Some(BatchForm::Fixed),
            Self::Arrow => Some(BatchForm::Arrow),
            Self::Arrows => Some(BatchForm::ArrowStream),
            Self::Mtx | Self::Edges | Self::Npz | Self::Npy => None,
        }
    }

    /// Returns the format of an input, which may be compressed text, by the end of its name. A `.txt` is a
    /// table, as for `swath head`, if `beside`, the output, is one.
    pub fn of_input(path: &Path, beside: Option<Self>) -> Option<Self> {
        let is_packed = swath_formats::compressed::Format::of_name(path).is_some();
        let path = if is_packed { &path.with_extension("") } else { path };
        let is_table = is_plain(path) && beside.is_some_and(|it| !it.is_matrix());
        let format = if is_table { Some(Self::Csv) } else { Self::of(path, beside) };
        format.filter(|format| !is_packed || format.is_text())
    }

    /// Returns the format of an output, which may be a compressed table, by the end of its name.
    pub fn of_output(path: &Path, beside: Option<Self>) -> Option<Self> {
        if swath_formats::compressed::Format::of_name(path).is_none() {
            return Self::of(path, beside);
        }
        let inner = Self::of(&path.with_extension(""), beside);
        inner.filter(|format| format.form().is_some())
    }

    /// Returns the format by the end of a name; a `.tsv` has edges if `beside`, the other file, is a matrix.
    pub fn of(path: &Path, beside: Option<Self>) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "mtx" | "mm" => Self::Mtx,
            "el" | "wel" | "edges" | "txt" => Self::Edges,
            "tsv" if beside.is_some_and(Self::is_matrix) => Self::Edges,
            "tsv" => Self::Tsv,
            "csv" => Self::Csv,
            "npz" => Self::Npz,
            "npy" => Self::Npy,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "arrows" => Self::Arrows,
            "jsonl" | "ndjson" => Self::Jsonl,
            _ => return None,
        })
    }
}
