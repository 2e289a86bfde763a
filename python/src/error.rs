//! Converts errors of the library to exceptions: `OSError`s with errno, filename and the bytes in the
//! text.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use rustix::io::Errno;
use swath::Extent;
use swath_arrow::ArrowFault;
use swath_formats::table::{BatchOptions, Setting};

use crate::park;

/// A failure of a function of the library.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(swath::Error),
    /// An error of a format.
    Format(swath_formats::Error),
    /// An error of Python: a callback's, or `KeyboardInterrupt`.
    Python(PyErr),
    /// The interpreter has ended in the meantime.
    Ended,
}

impl From<swath::Error> for Failure {
    fn from(error: swath::Error) -> Self {
        Self::Library(error)
    }
}

impl From<swath_formats::Error> for Failure {
    fn from(error: swath_formats::Error) -> Self {
        match ArrowFault::of(&error) {
            Some(fault) => {
                let path = error.path().display();
                Self::Python(PyValueError::new_err(format!("cannot write {path}: {fault}")))
            }
            None => Self::Format(error),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Failure {
    /// Unwraps the library's error from one of the standard library's traits.
    pub(crate) fn of_io(error: std::io::Error) -> Self {
        match error.downcast::<swath::Error>() {
            Ok(error) => Self::Library(error),
            Err(error) => Self::Python(error.into()),
        }
    }

    /// Describes the failure in words, even without the interpreter's lock.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Library(error) => in_words(error, error.what_to_try()).0,
            Self::Format(error) => in_words(error, error.what_to_try()).0,
            Self::Python(error) => error.to_string(),
            Self::Ended => "the interpreter ends".to_owned(),
        }
    }

    /// Whether there was not enough memory.
    pub(crate) fn is_of_memory(&self) -> bool {
        let of_library =
            |error: &swath::Error| matches!(error.reason(), swath::Reason::OutOfMemory);
        match self {
            Self::Library(error) => of_library(error),
            Self::Format(error) => {
                error.reason() == swath_formats::FormatReason::OutOfMemory
                    || error.library().is_some_and(of_library)
            }
            Self::Python(_) | Self::Ended => false,
        }
    }

    /// Whether the fault is in the text, or in its options, not in the file.
    pub(crate) fn is_of_text(&self) -> bool {
        match self {
            Self::Format(error) => error.library().is_none(),
            Self::Python(_) => true,
            Self::Library(_) | Self::Ended => false,
        }
    }

    /// Returns the exception for the failure.
    pub(crate) fn into_exception(self, py: Python<'_>) -> PyErr {
        let made = match self {
            Self::Python(error) => return error,
            Self::Ended => return PyRuntimeError::new_err("the interpreter ends"),
            Self::Library(error) => of_library(py, &error),
            Self::Format(error) => match error.library() {
                Some(error) => of_library(py, error),
                None => of_format(py, &error),
            },
        };
        made.unwrap_or_else(|error| error)
    }
}

/// Returns the exception for an error that is owned elsewhere.
pub(crate) fn exception(py: Python<'_>, error: &swath::Error) -> PyErr {
    of_library(py, error).unwrap_or_else(|error| error)
}

/// Returns the exception for an error of the kernel about an unreadable object.
pub(crate) fn of_kernel(py: Python<'_>, name: &str, error: &std::io::Error) -> PyErr {
    let hint = "pass an open descriptor, or raise the limit of open files (`ulimit -n`)";
    let text = format!("cannot read {name}: {error}; try: {hint}");
    let words = Words { reason: "Io", text: &text, hint };
    build(py, words, error.raw_os_error(), Path::new(name), None).unwrap_or_else(|error| error)
}

fn of_library(py: Python<'_>, error: &swath::Error) -> PyResult<PyErr> {
    let reason = format!("{:?}", error.reason());
    let (text, hint) = in_words(error, error.what_to_try());
    let words = Words { reason: &reason, text: &text, hint: &hint };
    let errno = error.raw_os_error().or_else(|| errno_of(error.io_kind()));
    build(py, words, errno, error.path(), error.extent())
}

/// Returns an errno for an error kind that the library reported without the kernel, so that
/// `FileNotFoundError` and `FileExistsError` catch it.
fn errno_of(kind: ErrorKind) -> Option<i32> {
    match kind {
        ErrorKind::NotFound => Some(Errno::NOENT.raw_os_error()),
        ErrorKind::AlreadyExists => Some(Errno::EXIST.raw_os_error()),
        _ => None,
    }
}

fn of_format(py: Python<'_>, error: &swath_formats::Error) -> PyResult<PyErr> {
    let reason = format!("{:?}", error.reason());
    let (text, hint) = in_words(error, error.what_to_try());
    let words = Words { reason: &reason, text: &text, hint: &hint };
    build(py, words, None, error.path(), error.offset().and_then(|at| Extent::new(at, 0)))
}

/// Options, functions and flags in hints of the library, and their names here.
const KEYWORDS: [(&str, &str); 11] = [
    ("allow the file to be replaced", "pass replace=True"),
    ("allow the folder to be replaced", "pass replace=True"),
    ("raise the memory limit, or stream the files", "stream the files by ingest_stream"),
    ("`scan`", "scan_records"),
    ("(`--follow-size first`)", "by length="),
    ("(`--verify-against manifest=FILE`)", "to verify="),
    ("`Replace::InPlace`", "replace='in place'"),
    ("`columns` or `--columns`", "columns="),
    ("`missing_words` or `--missing-words`", "null_values="),
    ("`types`", "dtypes="),
    ("read the form `fixed`", "use read_fixed"),
];

/// Returns the message and the hint of an error, both with keywords.
fn in_words(error: &(dyn std::error::Error + 'static), told: &str) -> (String, String) {
    let hint = with_keywords(told);
    let text = swath::machine::in_one_line(error, told);
    let text = match text.strip_suffix(told) {
        Some(what) => format!("{what}{hint}"),
        None => text,
    };
    (text, hint)
}

/// Replaces options of the library in a hint by keywords; an option of tables has its own word.
fn with_keywords(hint: &str) -> String {
    let replace =
        |hint: String, (option, keyword): &(&str, &str)| hint.replace(option, keyword);
    let hint = KEYWORDS.iter().fold(hint.to_owned(), replace);
    BatchOptions::settings().iter().fold(hint, |hint, Setting { word, .. }| {
        hint.replace(&format!("`{word}`"), &format!("{word}="))
    })
}

/// The texts of an error.
#[derive(Clone, Copy)]
struct Words<'e> {
    reason: &'e str,
    text: &'e str,
    hint: &'e str,
}

/// Builds an exception; the classes are written in Python, where users read them.
fn build(
    py: Python<'_>,
    words: Words<'_>,
    errno: Option<i32>,
    path: &Path,
    extent: Option<Extent>,
) -> PyResult<PyErr> {
    static BUILD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    park::at_end();
    let build = BUILD.import(py, "swath._errors", "build")?;
    let Words { reason, text, hint } = words;
    let extent = extent.map(|extent| (extent.offset(), extent.len()));
    let args = (reason, errno, text, file_name(py, path.as_os_str())?, extent, hint);
    Ok(PyErr::from_value(build.call1(args)?))
}

/// Returns a file name as a Python object.
pub(crate) fn file_name<'py>(py: Python<'py>, name: &OsStr) -> PyResult<Bound<'py, PyAny>> {
    static DECODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    DECODE.import(py, "os", "fsdecode")?.call1((PyBytes::new(py, name.as_bytes()),))
}
