//! Where the inputs of a job are divided: a word, or the bytes of a record.

use std::num::NonZeroU64;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use swath::job::Division;

use crate::words::word;

/// The words for where inputs may be divided. Multiples of a width are a number.
const DIVISIONS: &[(&str, Division)] = &[
    ("records", Division::Records),
    ("lines", Division::Lines),
    ("bytes", Division::Bytes),
    ("inputs", Division::Inputs),
    ("groups", Division::Groups),
];

/// Where inputs may be divided: one of [`DIVISIONS`], or a width.
pub(crate) struct Divided(pub(crate) Division);

impl<'py> IntoPyObject<'py> for Divided {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Division::Width(width) = self.0 {
            return width.get().into_bound_py_any(py);
        }
        let found = DIVISIONS.iter().find(|(_, division)| *division == self.0);
        found.map_or("", |(word, _)| word).into_bound_py_any(py)
    }
}

impl<'py> FromPyObject<'_, 'py> for Divided {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.extract::<&str>() {
            return word("division", text, DIVISIONS).map(Self);
        }
        let width = object.extract::<u64>().ok().and_then(NonZeroU64::new);
        width.map(|width| Self(Division::Width(width))).ok_or_else(|| {
            PyValueError::new_err(format!(
                "division={}: neither \"records\", \"lines\", \"bytes\", \"inputs\", \"groups\" nor \
                 a number of bytes from 1; try: pass the length of one record",
                *object
            ))
        })
    }
}
