//! What a part of a release is, and what becomes of it.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::release::Release;

/// One part of a release.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) make: fn(&Release) -> Result<Made>,
    /// Tries the files in a clean environment; returns what was tried and what it showed.
    pub(super) attempt: fn(&Release, &[PathBuf]) -> Result<Vec<String>>,
}

/// What making a part gave.
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

/// For parts that are checks.
pub(super) fn nothing_to_try(_: &Release, _: &[PathBuf]) -> Result<Vec<String>> {
    Ok(Vec::new())
}

/// The name of a file and its size in MB.
pub(super) fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match path.metadata() {
        Ok(facts) => format!("{name}, {}", megabytes(facts.len())),
        Err(_) => name,
    }
}

/// One digit after the point.
pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_tenths() {
        assert_eq!(megabytes(11_949_999), "11.9 MB");
        assert_eq!(megabytes(11_950_000), "12.0 MB");
        assert_eq!(megabytes(0), "0.0 MB");
    }
}
