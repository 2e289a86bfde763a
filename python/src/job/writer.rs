//! One attempt of a part.

use std::io::Write;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::job;

use super::done::Done;
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::finishing::Finishing;
use crate::work::detached;

/// One attempt to do a part: takes the bytes of its output, in order, and gives a receipt. Made by
/// ``Part.writer``.
///
/// As a context manager it is finished at the end of the block. After an exception, or if its process dies,
/// nothing of it counts.
///
/// >>> plan = swath.job.plan([], "out.txt")
/// >>> with plan.part(0).writer() as out:
/// ...     _ = out.write(b"all of it")
/// >>> plan.commit([out.done]).bytes
/// 9
/// >>> plan.remove()
#[pyclass(frozen, module = "swath.job", name = "SegmentWriter")]
pub(crate) struct SegmentWriter {
    /// The attempt: 16 hexadecimal digits that no other attempt has.
    #[pyo3(get)]
    attempt: String,
    writer: Finishing<Box<job::SegmentWriter>, job::Done>,
}

type Finished = Result<job::Done, (Option<Box<job::SegmentWriter>>, Failure)>;

fn finished(writer: Box<job::SegmentWriter>) -> Finished {
    writer.finish().map_err(|error| (None, error.into()))
}

impl SegmentWriter {
    pub(super) fn new(writer: job::SegmentWriter) -> Self {
        let attempt = writer.attempt().to_owned();
        let over = "the attempt has ended; try: begin another one with part.writer()";
        Self { attempt, writer: Finishing::new(Box::new(writer), over) }
    }
}

#[pymethods]
impl SegmentWriter {
    /// The receipt; ``None`` until it is finished.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<Option<Done>> {
        Ok(detached(py, || self.writer.receipt())?.map(Done))
    }

    /// Appends bytes to the part's output; returns how many.
    ///
    /// >>> plan = swath.job.plan([], "out.txt")
    /// >>> with plan.part(0).writer() as out:
    /// ...     out.write(memoryview(b"one"))
    /// 3
    /// >>> plan.abort()
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        detached(py, || {
            self.writer.with(|writer| {
                writer.write_all(data.bytes()).map_err(Failure::of_io)?;
                Ok(data.bytes().len())
            })
        })
    }

    /// Ends the attempt and returns its receipt, again if it has ended before. What it wrote is then complete
    /// in the folder of the job.
    ///
    /// >>> plan = swath.job.plan([], "out.txt")
    /// >>> out = plan.part(0).writer()
    /// >>> out.finish().length
    /// 0
    /// >>> plan.abort()
    fn finish(&self, py: Python<'_>) -> PyResult<Done> {
        detached(py, || self.writer.end(finished)).map(Done)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, *_error))]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = kind.py();
        let has_failed = !kind.is_none();
        detached(py, || self.writer.leave(has_failed, finished))
    }
}
