//! The parts of a release, and their outcome.

use std::path::PathBuf;

use anyhow::Result;

use super::release::Release;

/// One part of a release.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) make: fn(&Release) -> Result<Made>,
    /// Tries the files in a clean environment; returns the trials and their results.
    pub(super) attempt: fn(&Release, &[PathBuf]) -> Result<Vec<String>>,
}

/// The result of making a part.
#[derive(Debug)]
pub(super) enum Made {
    Files {
        files: Vec<PathBuf>,
        notes: Vec<String>,
    },
    /// A check, which leaves no file.
    Checked(Vec<String>),
    /// This machine lacks something.
    Missing {
        lacks: String,
        install: String,
    },
}

impl Made {
    pub(super) fn missing(lacks: impl Into<String>, install: impl Into<String>) -> Made {
        Made::Missing { lacks: lacks.into(), install: install.into() }
    }
}

/// Tries nothing, for parts that are checks.
pub(super) fn nothing_to_try(_: &Release, _: &[PathBuf]) -> Result<Vec<String>> {
    Ok(Vec::new())
}
