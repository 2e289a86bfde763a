//! What Python calls a file: a path, a descriptor, an open file, or copies of one file.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySequence, PyString, PyTuple};
use swath::Source;
use swath::mirror::{Mirrored, Verify};

use crate::error::of_kernel;
use crate::work::{Takes, detached};

/// Where bytes come from.
pub(crate) enum Input {
    Path(PathBuf),
    /// A descriptor of our own, of a file that somebody else has opened.
    Open(File),
    /// Copies of one file.
    Copies(Vec<PathBuf>),
}

/// So much is read before anybody can press a key.
const SHORT: u64 = 1 << 20;

impl<'py> FromPyObject<'_, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Ok(Self::Path(path(&object)?));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return copies(&object);
        }
        if let Ok(number) = object.extract::<RawFd>() {
            return opened(object.py(), number);
        }
        if let Ok(fileno) = object.getattr("fileno") {
            return opened(object.py(), fileno.call0()?.extract()?);
        }
        match path(&object) {
            Ok(path) => Ok(Self::Path(path)),
            Err(_) if object.cast::<PySequence>().is_ok() => copies(&object),
            Err(error) => Err(error),
        }
    }
}

fn copies(object: &Bound<'_, PyAny>) -> PyResult<Input> {
    let copies = object.try_iter()?.map(|copy| path(&copy?)).collect::<PyResult<_>>()?;
    Ok(Input::Copies(copies))
}

/// A path, as `os.fspath` has it.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(PathBuf::from(OsString::from_vec(bytes.as_bytes().to_vec())));
    }
    if let Ok(path) = object.extract::<PathBuf>() {
        return Ok(path);
    }
    // A path-like object whose path is bytes.
    let plain = object.py().import("os")?.call_method1("fspath", (object,))?;
    match plain.cast::<PyBytes>() {
        Ok(bytes) => Ok(PathBuf::from(OsString::from_vec(bytes.as_bytes().to_vec()))),
        Err(_) => plain.extract(),
    }
}

/// What copies are compared with: each other, or a manifest.
fn verify_by(how: &Bound<'_, PyAny>) -> PyResult<Verify> {
    if how.extract::<&str>().is_ok_and(|word| word == "vote") {
        return Ok(Verify::Vote);
    }
    let path = path(how)?;
    let sums = detached(how.py(), || swath::manifest::load(path))?;
    Ok(Verify::Manifest(Arc::new(sums)))
}

fn opened(py: Python<'_>, number: RawFd) -> PyResult<Input> {
    if number < 0 {
        return Err(PyValueError::new_err("a descriptor is not negative"));
    }
    // SAFETY: it is not negative, and only asked for a duplicate now; if it is closed, that is an
    // error.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    match borrowed.try_clone_to_owned() {
        Ok(owned) => Ok(Input::Open(File::from(owned))),
        Err(error) => Err(of_kernel(py, &format!("<descriptor {number}>"), &error)),
    }
}

impl Input {
    /// The path whose file system decides how it is read.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Open(_) => None,
            Self::Copies(copies) => copies.first().map(PathBuf::as_path),
        }
    }

    /// How long it takes to read `wanted` bytes of it, or all.
    pub(crate) fn takes(&self, wanted: Option<u64>) -> Takes {
        let facts = match self {
            Self::Path(path) => std::fs::metadata(path),
            Self::Open(file) => file.metadata(),
            Self::Copies(_) => return Takes::Time,
        };
        let is_short = |len: u64| wanted.unwrap_or(len).min(len) <= SHORT;
        match facts {
            // What is empty may be a file of the kernel's, of any length.
            Ok(facts) if facts.is_file() && facts.len() > 0 && is_short(facts.len()) => {
                Takes::NoTime
            }
            // An error is told at once.
            Err(_) => Takes::NoTime,
            Ok(_) => Takes::Time,
        }
    }

    /// What the library reads; `verify` is of copies.
    pub(crate) fn source(self, verify: Option<&Bound<'_, PyAny>>) -> PyResult<Source> {
        match (self, verify) {
            (Self::Copies(copies), _) if copies.is_empty() => {
                Err(PyValueError::new_err("cannot read no copy: name one at least"))
            }
            (Self::Copies(copies), None) => Ok(Mirrored::new(copies).into()),
            (Self::Copies(copies), Some(how)) => {
                Ok(Mirrored::new(copies).with_verify(verify_by(how)?).into())
            }
            (_, Some(_)) => {
                Err(PyTypeError::new_err("verify= is for a list of copies of one file"))
            }
            (Self::Path(path), None) => Ok(path.into()),
            (Self::Open(file), None) => Ok(Source::file(Arc::new(file), "<open file>")),
        }
    }
}
