//! A source that is opened once, for whoever reads it more than once.
//!
//! ```text
//! Source ── Input::open ──▶ Input ── &input ──▶ any verb, any number of times
//!                             └── read(extent), check_unchanged()
//! ```
//!
//! Every read of one input is of the same file, whatever is done to its name meanwhile; and if it is
//! written to, replaced or cut between two reads, the later one fails.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use swath_plan::extent::Extent;

use super::{Growth, Kind, Opened, Source};
use crate::error::Result;

/// A source that is open: its length and its identity are known. Cheap to clone; every verb takes
/// it, by reference or by value.
///
/// ```
/// use swath::{Input, ReadOptions};
///
/// # let file = tempfile::NamedTempFile::new().unwrap();
/// # std::fs::write(file.path(), b"2 rows\n1\n2\n").unwrap();
/// # let path = file.path();
/// let input = Input::open(path)?;
/// let header = ReadOptions::new().with_len(6).read(&input)?.buffer;
/// assert_eq!((&header[..], input.len()), (&b"2 rows"[..], Some(11)));
/// let lines = ReadOptions::new().with_offset(7).count(&input, b'\n')?;
/// assert_eq!(lines.value, 2);
/// std::fs::write(path, b"3 rows\n").unwrap();
/// assert!(input.check_unchanged().is_err(), "another file now");
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone)]
pub struct Input(pub(super) Arc<Opened>);

impl Input {
    /// Opens `source`. A pipe that has no writer yet is waited for.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is a folder.
    pub fn open(source: impl Into<Source>) -> Result<Self> {
        Opened::open(source.into()).map(Self)
    }

    /// What messages call it: its path, if it has one.
    pub fn name(&self) -> &Path {
        self.0.name()
    }

    /// Bytes long; `None` for what is read in order until it ends: pipes, terminals, the kernel's own
    /// files. Only the first read of a pipe gets its bytes.
    pub fn len(&self) -> Option<u64> {
        match self.0.kind() {
            Kind::Sized(len) => Some(len),
            Kind::Made | Kind::Stream => None,
        }
    }

    /// Whether it is known to hold nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Whether it is a device that is read in order, such as `/dev/zero`, which may never end.
    pub fn is_device(&self) -> bool {
        self.len().is_none() && self.0.is_character_device()
    }

    /// Fails if it is not what it was when it was opened. Every verb asks this itself after its last
    /// byte.
    ///
    /// # Errors
    ///
    /// If it was written to, replaced, cut or made longer meanwhile, or cannot be looked at.
    pub fn check_unchanged(&self) -> Result<()> {
        let extent = Extent::between(0, self.len().unwrap_or(0));
        self.0.check_unchanged(extent, Growth::Refused)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name()).field("len", &self.len()).finish()
    }
}

impl From<Input> for Source {
    fn from(input: Input) -> Self {
        Self(super::Inner::Opened(input.0))
    }
}

impl From<&Input> for Source {
    fn from(input: &Input) -> Self {
        Self::from(input.clone())
    }
}
