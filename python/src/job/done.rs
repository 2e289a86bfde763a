//! The receipts from the workers of a job, and the pickles of all data that processes exchange.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use swath::job;

/// The receipt of a finished attempt: which part, which attempt, and its bytes. A small value: it pickles,
/// compares and hashes.
///
/// >>> plan = swath.job.plan([], "out.txt")
/// >>> with plan.part(0).writer() as out:
/// ...     _ = out.write(b"all")
/// >>> out.done.part, out.done.length
/// (0, 3)
/// >>> plan.abort()
#[pyclass(frozen, eq, hash, module = "swath.job", name = "Done")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Done(pub(crate) job::Done);

/// Returns the text of plain data.
pub(super) fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts")
}

pub(super) fn of_text<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        PyValueError::new_err(format!("not {what}: {error}; try: pass the text of `to_json`"))
    })
}

/// The function that restores a pickle, `from_json` of the class, and its text.
pub(super) type Reduced<'py> = (Bound<'py, PyAny>, (String,));

pub(super) fn reduced<'py, T: PyTypeInfo>(
    py: Python<'py>,
    value: &impl Serialize,
) -> PyResult<Reduced<'py>> {
    Ok((py.get_type::<T>().getattr("from_json")?, (to_text(value),)))
}

#[pymethods]
impl Done {
    #[new]
    #[pyo3(signature = (part, attempt, length, crc32c))]
    fn new(part: u64, attempt: String, length: u64, crc32c: u32) -> Self {
        Self(job::Done { part, attempt, len: length, crc32c })
    }

    /// The part.
    #[getter]
    fn part(&self) -> u64 {
        self.0.part
    }

    /// The attempt: 16 hexadecimal digits that no other attempt has.
    #[getter]
    fn attempt(&self) -> &str {
        &self.0.attempt
    }

    /// Bytes that it wrote.
    #[getter]
    fn length(&self) -> u64 {
        self.0.len
    }

    /// The CRC-32C of the bytes.
    #[getter]
    fn crc32c(&self) -> u32 {
        self.0.crc32c
    }

    /// Returns the receipt as one line of text.
    ///
    /// >>> done = swath.job.Done(0, "00000000deadbeef", 3, 7)
    /// >>> done.to_json()
    /// '{"part":0,"attempt":"00000000deadbeef","len":3,"crc32c":7}'
    fn to_json(&self) -> String {
        to_text(&self.0)
    }

    /// Reads the text that ``to_json`` gives.
    ///
    /// >>> done = swath.job.Done(0, "00000000deadbeef", 3, 7)
    /// >>> swath.job.Done.from_json(done.to_json()) == done
    /// True
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        of_text("a receipt", text).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let job::Done { part, attempt, len, crc32c } = &self.0;
        format!("Done(part={part}, attempt='{attempt}', length={len}, crc32c={crc32c:#x})")
    }
}
