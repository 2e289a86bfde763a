//! How to write: the keywords of every writer, as options of the library.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::OutputOptions;
use swath::sink::{Durability, HardLinks, Replace};

use crate::how::{Watch, keyword};
use crate::words::word;

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
    /// Those of the library; 0 where threads are the caller's.
    pub(crate) workers: usize,
}

impl<'a> Leave<'a> {
    /// The options of the library for those of `swath._options.WriteOptions`, and who watches.
    pub(crate) fn watched(given: &'a Bound<'_, PyTuple>) -> PyResult<(OutputOptions, Watch)> {
        let leave = Self {
            durability: keyword(given, 0, "durability")?,
            replace: keyword(given, 1, "replace")?,
            hard_links: keyword(given, 2, "hard_links")?,
            workers: keyword(given, 3, "workers")?,
        };
        let watch = Watch::new(given.py(), keyword(given, 4, "progress")?)?;
        let mut options = leave.options()?.with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(given.py()) {
            options = options.with_progress(tell);
        }
        Ok((options, watch))
    }

    /// The options of the library.
    pub(crate) fn options(&self) -> PyResult<OutputOptions> {
        Ok(OutputOptions::new()
            .with_durability(word("durability", self.durability, Durability::WORDS)?)
            .with_replace(self.replace.0)
            .with_hard_links(word("hard_links", self.hard_links, HardLinks::WORDS)?)
            .with_workers(self.workers))
    }
}
