//! The status of a job, and the reports of commits and sweeps.

use std::time::UNIX_EPOCH;

use pyo3::prelude::*;
use swath::job;
use swath::machine::counted;

use crate::error::file_name;

/// The status of a job, from its folder.
///
/// >>> plan = swath.job.plan("words.txt", "out.txt", parts=3)
/// >>> status = swath.job.status(plan.folder)
/// >>> status.state, status.done, status.parts
/// ('running', 0, 3)
/// >>> plan.abort()
#[pyclass(frozen, get_all, module = "swath.job", name = "Status")]
pub(crate) struct Status {
    /// The number that no other job has.
    id: String,
    /// Where the output goes.
    target: Py<PyAny>,
    /// The form of the output: "file" or "segments".
    form: &'static str,
    /// "running", "complete", "committing" or "committed".
    state: &'static str,
    /// Parts of the job.
    parts: u64,
    /// Parts that have a finished attempt.
    done: u64,
    /// Finished attempts.
    attempts: u64,
    /// Bytes of the output; before the commit, those of one attempt of each part that is done.
    bytes: u64,
    /// Parts that are missing, as ranges of their indices: (first, the one after the last).
    missing: Vec<(u64, u64)>,
    /// When the folder last changed, in seconds since 1970; ``None`` if that is not known.
    changed: Option<f64>,
}

impl Status {
    pub(super) fn new(py: Python<'_>, status: job::Status) -> PyResult<Self> {
        let seconds = |at: std::time::SystemTime| {
            at.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
        };
        Ok(Self {
            target: file_name(py, status.target.as_os_str())?.unbind(),
            id: status.id,
            form: status.form.word(),
            state: status.state.word(),
            parts: status.parts,
            done: status.done,
            attempts: status.attempts,
            bytes: status.bytes,
            missing: status.missing.iter().map(|it| (it.offset(), it.end())).collect(),
            changed: status.changed.map(seconds),
        })
    }
}

#[pymethods]
impl Status {
    fn __repr__(&self) -> String {
        let Self { id, state, done, .. } = self;
        let (parts, bytes) = (counted(self.parts, "part"), counted(self.bytes, "byte"));
        format!("<Status of job {id}: {state}, {done} of {parts}, {bytes}>")
    }
}

/// The report of a job's commit.
///
/// >>> plan = swath.job.plan([], "out.txt")
/// >>> with plan.part(0).writer() as out:
/// ...     _ = out.write(b"all")
/// >>> plan.commit([out.done]).parts
/// 1
/// >>> plan.remove()
#[pyclass(frozen, get_all, module = "swath.job", name = "Committed")]
pub(crate) struct Committed {
    /// Bytes of the output.
    bytes: u64,
    /// The CRC-32C of the bytes.
    crc32c: u32,
    /// Parts it consists of.
    parts: u64,
    /// Bytes that were moved to their places by sharing blocks.
    cloned: u64,
    /// Bytes that were copied to their places.
    copied: u64,
}

impl Committed {
    pub(super) fn new(committed: &job::CommittedJob) -> Self {
        let job::CommittedJob { bytes, crc32c, parts, cloned, copied, .. } = *committed;
        Self { bytes, crc32c, parts, cloned, copied }
    }
}

#[pymethods]
impl Committed {
    #[new]
    #[pyo3(signature = (bytes, crc32c, parts, cloned, copied))]
    fn made(bytes: u64, crc32c: u32, parts: u64, cloned: u64, copied: u64) -> Self {
        Self { bytes, crc32c, parts, cloned, copied }
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (u64, u32, u64, u64, u64)) {
        let Self { bytes, crc32c, parts, cloned, copied } = *self;
        (py.get_type::<Self>().into_any(), (bytes, crc32c, parts, cloned, copied))
    }

    fn __repr__(&self) -> String {
        let Self { bytes, crc32c, parts, cloned, copied } = self;
        format!(
            "Committed(bytes={bytes}, crc32c={crc32c:#x}, parts={parts}, cloned={cloned}, \
             copied={copied})"
        )
    }
}

/// A job's folder that ``swath.job.sweep`` removed.
///
/// >>> plan = swath.job.plan("words.txt", "out.txt")
/// >>> [swept] = swath.job.sweep(".", 0)
/// >>> swept.was_committed
/// False
#[pyclass(frozen, get_all, module = "swath.job", name = "Swept")]
pub(crate) struct Swept {
    /// The folder.
    folder: Py<PyAny>,
    /// Whether the job's output had been committed; it stays.
    was_committed: bool,
}

impl Swept {
    pub(super) fn new(py: Python<'_>, swept: &job::Swept) -> PyResult<Self> {
        let folder = file_name(py, swept.folder.as_os_str())?.unbind();
        Ok(Self { folder, was_committed: swept.was_committed })
    }
}

#[pymethods]
impl Swept {
    fn __repr__(&self) -> String {
        let Self { folder, was_committed } = self;
        format!("Swept(folder={folder}, was_committed={was_committed})")
    }
}
