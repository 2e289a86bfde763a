//! Many files in one block of memory, as a Python sequence.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use swath::ingest::Ingested;

use crate::error::{exception, file_name};
use crate::memory::Buffer;

/// Many files in one block of memory: a sequence of read-only memoryviews, in input order.
///
/// A view keeps the whole memory alive; ``bytes(files[0])`` is a copy.
///
/// >>> files = swath.ingest("images")
/// >>> len(files), bytes(files[0][:1])
/// (3, b'a')
#[pyclass(frozen, sequence, module = "swath", name = "Files")]
pub(crate) struct Files(pub(super) Arc<Ingested>);

#[pymethods]
impl Files {
    /// The path of each file, as given or found.
    #[getter]
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.0.iter().map(|entry| file_name(py, entry.path.as_os_str())).collect()
    }

    /// The exceptions of files that could not be read, by index. Empty unless ``errors="collect"``.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let errors = PyDict::new(py);
        for (index, entry) in self.0.iter().enumerate() {
            if let Some(error) = entry.error {
                errors.set_item(index, exception(py, error))?;
            }
        }
        Ok(errors)
    }

    /// The offset of each file in `arena`, as a Buffer of 64-bit numbers.
    #[getter]
    fn offsets(&self) -> PyResult<Buffer> {
        Buffer::of_values(self.0.iter().map(|entry| entry.offset).collect::<Vec<u64>>(), None)
    }

    /// The length of each file in bytes, as a Buffer of 64-bit numbers.
    #[getter]
    fn lengths(&self) -> PyResult<Buffer> {
        Buffer::of_values(self.0.iter().map(|entry| entry.len).collect::<Vec<u64>>(), None)
    }

    /// The memory of all files. Gaps between files have no defined contents.
    #[getter]
    fn arena(&self) -> PyResult<Buffer> {
        Buffer::shared(&self.0, |files| files.bytes())
    }

    /// The length of all files together, in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.report().bytes
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let len = isize::try_from(self.0.len()).unwrap_or(isize::MAX);
            let wanted = slice.indices(len)?;
            let at = |step: usize| wanted.start + wanted.step * step.cast_signed();
            let views = (0..wanted.slicelength).map(|step| self.view(py, at(step)));
            return views.collect::<PyResult<Vec<_>>>()?.into_pyobject(py);
        }
        self.view(py, index.extract()?)
    }

    /// Returns the index of the first file with these bytes, from ``start`` up to ``stop``.
    ///
    /// >>> files = swath.ingest("images")
    /// >>> files.index(files[1])
    /// 1
    #[pyo3(signature = (value, start=0, stop=None))]
    fn index(
        slf: &Bound<'_, Self>,
        value: &Bound<'_, PyAny>,
        start: isize,
        stop: Option<isize>,
    ) -> PyResult<usize> {
        let indices = PySlice::new(slf.py(), start, stop.unwrap_or(isize::MAX), 1)
            .indices(isize::try_from(slf.get().0.len()).unwrap_or(isize::MAX))?;
        for index in indices.start..indices.stop {
            if slf.get().view(slf.py(), index)?.eq(value)? {
                return Ok(index.unsigned_abs());
            }
        }
        Err(PyValueError::new_err("no file has these bytes"))
    }

    /// Returns how many files have these bytes.
    ///
    /// >>> swath.ingest("images").count(b"")
    /// 0
    fn count(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let same = |view: PyResult<Bound<'_, PyAny>>| view?.eq(value);
        let same = slf.as_any().try_iter()?.map(same).collect::<PyResult<Vec<bool>>>()?;
        Ok(same.into_iter().filter(|&same| same).count())
    }

    fn __repr__(&self) -> String {
        format!("<swath.Files: {} files, {} bytes>", self.0.len(), self.0.report().bytes)
    }
}

impl Files {
    fn view<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let len = self.0.len();
        let place = if index < 0 { index.checked_add_unsigned(len) } else { Some(index) };
        let place = place.and_then(|place| usize::try_from(place).ok()).filter(|&at| at < len);
        let Some(place) = place else {
            return Err(PyIndexError::new_err(format!("file {index} of {len}")));
        };
        let bytes =
            Buffer::shared(&self.0, |files| files.get(place).map_or(&[], |it| it.bytes))?;
        bytes.into_view(py)
    }
}
