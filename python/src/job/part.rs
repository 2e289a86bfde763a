//! The parts that are sent to the workers of a job.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use swath::job;

use super::division::Divided;
use super::done::{Reduced, of_text, reduced, to_text};
use super::writer::SegmentWriter;
use crate::error::{Failure, file_name};
use crate::input::OpenInput;
use crate::work::detached;

/// The data that one process needs to do a part: which bytes to read, and where to write. Small, whatever
/// the size of the job; it pickles.
///
/// >>> [part] = swath.job.divide("words.txt")
/// >>> [(piece.offset, piece.length) for piece in part.pieces]
/// [(0, 24)]
#[pyclass(frozen, eq, module = "swath.job", name = "Part")]
#[derive(PartialEq)]
pub(crate) struct JobPart(pub(crate) job::Part);

/// An extent of an input.
///
/// In a part of "records", ``starting_in=piece.extent`` gives a reader what the part has: the records that begin
/// in it. Whole inputs can be read so too. In other parts ``offset=piece.offset, length=piece.length`` does.
///
/// >>> [part] = swath.job.divide("words.txt")
/// >>> part.pieces[0].extent
/// (0, 24)
#[pyclass(frozen, eq, module = "swath.job", name = "Piece")]
#[derive(PartialEq)]
pub(crate) struct Piece(job::PartPiece);

#[pymethods]
impl JobPart {
    /// Its place in the order of the output, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.0.index()
    }

    /// Where the inputs were divided, and so what of its pieces the part has: a word of ``swath.job.plan``, or
    /// the bytes of a record.
    ///
    /// >>> [part] = swath.job.divide("words.txt", division="lines")
    /// >>> part.division
    /// 'lines'
    #[getter]
    fn division(&self) -> Divided {
        Divided(self.0.division())
    }

    /// The extents that were divided among the parts, in order; empty for a job without inputs. A part of
    /// "records" has the records that begin in them; every other part has exactly their bytes.
    #[getter]
    fn pieces(&self) -> Vec<Piece> {
        self.0.pieces().iter().cloned().map(Piece).collect()
    }

    /// Returns the pieces of a part that has exactly their bytes. All parts, one after the other, are the bytes
    /// of all inputs. In a part of "lines", a line that goes on in the next input is the end of one piece and the
    /// beginning of the next.
    ///
    /// Raises ``swath.InvalidError`` for a part of "records", unless the job has no inputs: only a reader that
    /// knows the records finds where they end.
    ///
    /// >>> first, second = swath.job.divide("words.txt", parts=2, division="lines")
    /// >>> [(piece.offset, piece.length) for piece in first.contents() + second.contents()]
    /// [(0, 14), (14, 10)]
    fn contents(&self, py: Python<'_>) -> PyResult<Vec<Piece>> {
        let pieces = self.0.contents();
        let pieces = pieces.map_err(|error| Failure::from(error).into_exception(py))?;
        Ok(pieces.iter().cloned().map(Piece).collect())
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

    /// Opens the input, for functions that read. Its name may lead to another file later: what is read from the
    /// input that is returned is of the file that was checked.
    ///
    /// Raises ``swath.ChangedError`` if it is not what it was when the job was planned.
    ///
    /// >>> [piece] = swath.job.divide("words.txt")[0].pieces
    /// >>> swath.read(piece.open(), offset=piece.offset, length=piece.length).nbytes
    /// 24
    fn open(&self, py: Python<'_>) -> PyResult<OpenInput> {
        detached(py, || self.0.open()).map(OpenInput)
    }

    /// ``(offset, length)``, for ``starting_in=``.
    ///
    /// Raises ``ValueError`` in a part of "lines", of "bytes", or of records of a width: it has exactly its bytes,
    /// and records that begin in them may be others.
    #[getter]
    fn extent(&self) -> PyResult<(u64, u64)> {
        if self.0.is_exact() {
            let what = shown(&self.0);
            return Err(PyValueError::new_err(format!(
                "{what}: the part has exactly these bytes, so they are not for starting_in=; try: pass \
                 offset=piece.offset and length=piece.length, or use swath.job.attempt"
            )));
        }
        Ok((self.0.offset, self.0.len))
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
