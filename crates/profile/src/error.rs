//! The reason why a profile cannot be used, saved or removed.

use std::io;
use std::path::PathBuf;

/// A failed action on a profile, and a hint.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    hint: &'static str,
    path: PathBuf,
    #[source]
    cause: Option<Cause>,
}

/// Its cause.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Cause {
    Kernel(io::Error),
    Library(swath::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(
        text: impl Into<String>,
        path: impl Into<PathBuf>,
        hint: &'static str,
    ) -> Self {
        Self { text: text.into(), hint, path: path.into(), cause: None }
    }

    pub(crate) fn caused_by(self, cause: io::Error) -> Self {
        Self { cause: Some(Cause::Kernel(cause)), ..self }
    }

    pub(crate) fn by_library(self, cause: swath::Error) -> Self {
        Self { cause: Some(Cause::Library(cause)), ..self }
    }

    /// Returns the file, folder or mount point.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Returns the hint, which starts with a verb; empty if no help is known.
    pub fn what_to_try(&self) -> &'static str {
        self.hint
    }

    /// Returns the error in one line, with its causes and the hint.
    pub fn in_one_line(&self) -> String {
        swath::machine::in_one_line(self, self.hint)
    }
}
