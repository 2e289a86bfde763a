//! What travels to the workers of a job: parts.

use std::path::Path;

use pyo3::prelude::*;
use swath::job;

use super::done::{Reduced, of_text, reduced, to_text};
use super::writer::SegmentWriter;
use crate::error::file_name;
use crate::work::detached;

/// What one process needs to know to do a part: which bytes to read, and where to write. Small, whatever the
/// size of the job; it pickles.
///
/// >>> [part] = swath.job.divide("words.txt")
/// >>> [(piece.offset, piece.length) for piece in part.pieces]
/// [(0, 24)]
#[pyclass(frozen, eq, module = "swath.job", name = "Part")]
#[derive(PartialEq)]
pub(crate) struct Part(pub(crate) job::Part);

/// An extent of an input.
///
/// ``starting_in=piece.extent`` gives a reader the records of the part: those that begin in it.
///
/// >>> [part] = swath.job.divide("words.txt")
/// >>> part.pieces[0].extent
/// (0, 24)
#[pyclass(frozen, eq, module = "swath.job", name = "Piece")]
#[derive(PartialEq)]
pub(crate) struct Piece(job::PartPiece);

#[pymethods]
impl Part {
    /// Its place in the order of the output, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.0.index()
    }

    /// The bytes that it reads, in order; empty for a job without inputs.
    #[getter]
    fn pieces(&self) -> Vec<Piece> {
        self.0.pieces().iter().cloned().map(Piece).collect()
    }

    /// The folder of the job; empty for a part of ``swath.job.divide``.
    #[getter]
    fn folder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        file_name(py, self.0.folder().as_os_str())
    }

    /// Begins an attempt, also while another attempt of the same part is running: each writes a file of its
    /// own.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt")
    /// >>> with plan.part(0).writer() as out:
    /// ...     out.write(b"one")
    /// 3
    /// >>> plan.abort()
    fn writer(&self, py: Python<'_>) -> PyResult<SegmentWriter> {
        detached(py, || self.0.writer()).map(SegmentWriter::new)
    }

    /// Raises ``swath.ChangedError``, with part, path and bytes, if an input of this part has changed since
    /// it was divided. Beginning and finishing an attempt do this too.
    ///
    /// >>> [part] = swath.job.divide("words.txt")
    /// >>> part.check_inputs()
    fn check_inputs(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.check_inputs())
    }

    /// Returns the part as one line of text.
    ///
    /// >>> [part] = swath.job.divide("words.txt")
    /// >>> swath.job.Part.from_json(part.to_json()) == part
    /// True
    fn to_json(&self) -> String {
        to_text(&self.0)
    }

    /// Reads the text that ``to_json`` gives.
    ///
    /// >>> [part] = swath.job.divide("words.txt")
    /// >>> swath.job.Part.from_json(part.to_json()).index
    /// 0
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        of_text("a part", text).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let pieces: Vec<String> = self.0.pieces().iter().map(shown).collect();
        format!("<Part {}: {}>", self.0.index(), pieces.join(", "))
    }
}

fn shown(piece: &job::PartPiece) -> String {
    let extent = piece.extent();
    format!("{} at bytes {}..{}", piece.path.display(), extent.offset(), extent.end())
}

#[pymethods]
impl Piece {
    /// The input, as an absolute path.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        file_name(py, Path::as_os_str(&self.0.path))
    }

    /// The first byte.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The number of bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.0.len
    }

    /// ``(offset, length)``, for ``starting_in=``.
    #[getter]
    fn extent(&self) -> (u64, u64) {
        (self.0.offset, self.0.len)
    }

    /// Returns the piece as one line of text.
    ///
    /// >>> [piece] = swath.job.divide("words.txt")[0].pieces
    /// >>> swath.job.Piece.from_json(piece.to_json()) == piece
    /// True
    fn to_json(&self) -> String {
        to_text(&self.0)
    }

    /// Reads the text that ``to_json`` gives.
    ///
    /// >>> [piece] = swath.job.divide("words.txt")[0].pieces
    /// >>> swath.job.Piece.from_json(piece.to_json()).length
    /// 24
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        of_text("a piece of a part", text).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<Piece {}>", shown(&self.0))
    }
}
