//! The searches of `bytes`, for memory that is not a `bytes`.

use memchr::memmem;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bytes::Held;

/// The pattern of a search: bytes, or one byte by its number.
pub(crate) enum Needle {
    Bytes(Held),
    Byte([u8; 1]),
}

impl<'py> FromPyObject<'_, 'py> for Needle {
    type Error = PyErr;

    fn extract(object: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i64>() {
            Ok(byte) => match u8::try_from(byte) {
                Ok(byte) => Ok(Self::Byte([byte])),
                Err(_) => Err(PyValueError::new_err("byte must be in range(0, 256)")),
            },
            Err(_) => Ok(Self::Bytes(Held::of(&object, "what is looked for")?)),
        }
    }
}

impl Needle {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(held) => held.bytes(),
            Self::Byte(byte) => byte,
        }
    }
}

/// A position in Python's form; one beyond any memory means its end.
#[derive(Clone, Copy)]
pub(crate) struct At(isize);

impl<'py> FromPyObject<'_, 'py> for At {
    type Error = PyErr;

    fn extract(object: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Self(if object.lt(0)? { isize::MIN } else { isize::MAX }))
            }
            place => place.map(Self),
        }
    }
}

/// `start` and `end` of a search in Python's form: from the end if negative.
pub(crate) struct Between(pub(crate) Option<At>, pub(crate) Option<At>);

impl Between {
    /// Returns the selected part of `bytes`, and its start; `None` if it starts after its end.
    fn part<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], usize)> {
        let place = |At(at): At| match usize::try_from(at) {
            Ok(at) => at,
            Err(_) => bytes.len().saturating_sub(at.unsigned_abs()),
        };
        let start = self.0.map_or(0, place);
        let end = self.1.map_or(bytes.len(), place).min(bytes.len());
        Some((bytes.get(start..end)?, start))
    }
}

/// Returns the first position of `needle`.
pub(crate) fn find(bytes: &[u8], needle: &Needle, between: &Between) -> Option<usize> {
    let (part, start) = between.part(bytes)?;
    memmem::find(part, needle.bytes()).map(|at| start + at)
}

/// Returns the last position of `needle`.
pub(crate) fn find_last(bytes: &[u8], needle: &Needle, between: &Between) -> Option<usize> {
    let (part, start) = between.part(bytes)?;
    memmem::rfind(part, needle.bytes()).map(|at| start + at)
}

/// Returns how often `needle` occurs, without overlaps.
pub(crate) fn count(bytes: &[u8], needle: &Needle, between: &Between) -> usize {
    match between.part(bytes) {
        Some((part, _)) => memmem::find_iter(part, needle.bytes()).count(),
        None => 0,
    }
}

/// Whether the given bytes, or one of a tuple, are at the edge of `bytes` that `is_edge` checks.
pub(crate) fn is_edge(
    bytes: &[u8],
    edges: &Bound<'_, PyAny>,
    between: &Between,
    is_edge: fn(&[u8], &[u8]) -> bool,
) -> PyResult<bool> {
    let one = |edge: &Bound<'_, PyAny>| -> PyResult<bool> {
        let edge = Held::of(edge, "what is looked for")?;
        Ok(between.part(bytes).is_some_and(|(part, _)| is_edge(part, edge.bytes())))
    };
    match edges.cast::<PyTuple>() {
        Ok(edges) => {
            for edge in edges {
                if one(&edge)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Err(_) => one(edges),
    }
}
