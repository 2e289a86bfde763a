//! The formats of files of numbers, by their words and by the ends of names.

use std::fmt;
use std::path::Path;

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
}

pub(crate) const FORMATS: &[(&str, Format)] = &[
    ("mtx", Format::Mtx),
    ("edges", Format::Edges),
    ("npz", Format::Npz),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("npy", Format::Npy),
    ("arrow", Format::Arrow),
];

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
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
        matches!(self, Self::Mtx | Self::Edges | Self::Csv | Self::Tsv)
    }

    /// Returns the format by the end of a name, for a file that is read, which may be compressed text.
    pub fn of_input(path: &Path, beside: Option<Self>) -> Option<Self> {
        if swath_formats::compressed::Format::of_name(path).is_none() {
            return Self::of(path, beside);
        }
        Self::of(&path.with_extension(""), beside).filter(|format| format.is_text())
    }

    /// Returns the format by the end of a name; a `.tsv` holds edges if the other end is a matrix.
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
            _ => return None,
        })
    }
}
