//! Converts the keywords that all writers have to options of the library.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::OutputOptions;
use swath::sink::{Durability, HardLinks, Replace};

use crate::error::Failure;
use crate::how::{Watch, keyword};
use crate::input::path;
use crate::words::word;
use crate::work::detached;

/// The keyword `replace`.
#[derive(Clone, Copy)]
pub(crate) struct Replacing(Replace);

impl From<bool> for Replacing {
    fn from(may: bool) -> Self {
        Self(if may { Replace::Allowed } else { Replace::Refused })
    }
}

impl<'py> FromPyObject<'_, 'py> for Replacing {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match (object.extract::<bool>(), object.extract::<&str>()) {
            (Ok(may), _) => Ok(may.into()),
            (_, Ok("in place")) => Ok(Self(Replace::InPlace)),
            _ => {
                let text = "replace= takes True, False or 'in place'";
                Err(PyTypeError::new_err(format!("{text}: not {}", object.repr()?)))
            }
        }
    }
}

/// The keywords of every writer.
pub(crate) struct Leave<'a> {
    pub(crate) durability: &'a str,
    pub(crate) replace: Replacing,
    pub(crate) hard_links: &'a str,
    /// Threads of the library; 0 where the threads are the caller's.
    pub(crate) workers: usize,
}

impl<'a> Leave<'a> {
    /// Returns the options of the library.
    pub(crate) fn options(&self) -> PyResult<OutputOptions> {
        Ok(OutputOptions::new()
            .with_durability(word("durability", self.durability, Durability::WORDS)?)
            .with_replace(self.replace.0)
            .with_hard_links(word("hard_links", self.hard_links, HardLinks::WORDS)?)
            .with_workers(self.workers))
    }
}

/// Where and how a call writes: to where the path led when this was made, before values are prepared.
#[pyclass(frozen, module = "swath._swath")]
pub(crate) struct PythonOutput {
    pub(crate) path: PathBuf,
    options: OutputOptions,
    progress: Option<Py<PyAny>>,
}

#[pymethods]
impl PythonOutput {
    /// `leave` has the keywords of `swath._options.WriteOptions`.
    #[new]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path)] path: PathBuf,
        leave: &Bound<'_, PyTuple>,
    ) -> PyResult<Self> {
        let keywords = Leave {
            durability: keyword(leave, 0, "durability")?,
            replace: keyword(leave, 1, "replace")?,
            hard_links: keyword(leave, 2, "hard_links")?,
            workers: keyword(leave, 3, "workers")?,
        };
        let options = keywords.options()?;
        let progress = keyword(leave, 4, "progress")?;
        let options =
            detached(py, || Ok::<_, Failure>(options.in_same_folders(&[path.as_path()])))?;
        Ok(Self { path, options, progress })
    }
}

impl PythonOutput {
    /// Returns the options of the library, and the watch.
    pub(crate) fn watched(&self, py: Python<'_>) -> PyResult<(OutputOptions, Watch)> {
        let progress = self.progress.as_ref().map(|progress| progress.bind(py).clone());
        let watch = Watch::new(py, progress)?;
        let mut options = self.options.clone().with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(py) {
            options = options.with_progress(tell);
        }
        Ok((options, watch))
    }
}
