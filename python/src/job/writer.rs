//! One attempt of a part.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use swath::job;

use super::done::Done;
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::own::Own;
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
    attempt: String,
    state: Own<Mutex<State>>,
}

enum State {
    Open(Box<job::SegmentWriter>),
    Finished(job::Done),
    /// It failed, or was given up.
    Over,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn over() -> Failure {
    Failure::Python(PyRuntimeError::new_err(
        "the attempt has ended; try: begin another one with part.writer()",
    ))
}

impl SegmentWriter {
    pub(super) fn new(writer: job::SegmentWriter) -> Self {
        let attempt = writer.attempt().to_owned();
        Self { attempt, state: Own::new(Mutex::new(State::Open(Box::new(writer)))) }
    }
}

#[pymethods]
impl SegmentWriter {
    /// The attempt: 16 hexadecimal digits that no other attempt has.
    #[getter]
    fn attempt(&self) -> &str {
        &self.attempt
    }

    /// The receipt; ``None`` until it is finished.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<Option<Done>> {
        let state = self.state.get()?;
        detached(py, || match &*lock(state) {
            State::Finished(done) => Ok::<_, Failure>(Some(Done(done.clone()))),
            _ => Ok(None),
        })
    }

    /// Appends bytes to the part's output; returns how many.
    ///
    /// >>> plan = swath.job.plan([], "out.txt")
    /// >>> with plan.part(0).writer() as out:
    /// ...     out.write(memoryview(b"one"))
    /// 3
    /// >>> plan.abort()
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        let state = self.state.get()?;
        detached(py, || {
            let State::Open(writer) = &mut *lock(state) else { return Err(over()) };
            writer.write_all(data.bytes()).map_err(Failure::of_io)?;
            Ok(data.bytes().len())
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
        let state = self.state.get()?;
        detached(py, || {
            let mut state = lock(state);
            match std::mem::replace(&mut *state, State::Over) {
                State::Over => return Err(over()),
                State::Open(writer) => *state = State::Finished(writer.finish()?),
                done @ State::Finished(_) => *state = done,
            }
            match &*state {
                State::Finished(done) => Ok(Done(done.clone())),
                _ => Err(over()),
            }
        })
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if !kind.is_none() && self.state.is_foreign() {
            // It goes on in the parent.
            return Ok(());
        }
        if kind.is_none() {
            return self.finish(py).map(drop);
        }
        let state = self.state.get()?;
        py.detach(|| {
            let mut state = lock(state);
            if matches!(*state, State::Open(_)) {
                *state = State::Over;
            }
        });
        Ok(())
    }
}
