//! How to write: the keywords of every verb that leaves a file, as options of the library.

use crate::how::Watch;
use pyo3::prelude::*;
use swath::OutputOptions;
use swath::sink::{Durability, HardLinks, Replace};

use crate::words::word;

/// What callers may say of every file that is left.
#[derive(Clone, Copy)]
pub(crate) struct Leave<'a> {
    pub(crate) durability: &'a str,
    pub(crate) replace: bool,
    pub(crate) hard_links: &'a str,
    /// Those of the library; 0 where threads are the caller's.
    pub(crate) workers: usize,
}

impl Leave<'_> {
    /// The options of the library, and who watches.
    pub(crate) fn watched(
        self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(OutputOptions, Watch)> {
        let watch = Watch::new(py, progress)?;
        let mut options = self.options()?.with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(py) {
            options = options.with_progress(tell);
        }
        Ok((options, watch))
    }

    /// The options of the library.
    pub(crate) fn options(self) -> PyResult<OutputOptions> {
        let replace = if self.replace { Replace::Allowed } else { Replace::Refused };
        Ok(OutputOptions::new()
            .with_durability(word("durability", self.durability, Durability::WORDS)?)
            .with_replace(replace)
            .with_hard_links(word("hard_links", self.hard_links, HardLinks::WORDS)?)
            .with_workers(self.workers))
    }
}
