//! A file that is written in any order, by any threads.

use std::fmt;

use swath_plan::fallback::Fallback;

use super::placing::WritePlacing;
use crate::error::Result;
use crate::sink::draft::Draft;

/// A file of known length that threads write to at any offset, from
/// [`WriteOptions::create`](crate::WriteOptions::create).
///
/// Nothing is visible before [`commit`](Self::commit); if it is dropped without a commit, no file
/// remains. Unwritten bytes are zero. Where two concurrent writes overlap, each overlapping byte is
/// from one or the other.
///
/// A write is split into chunks of the options' size. Progress is reported after each chunk, and
/// bytes that are written twice count twice; a cancelled token ends a write before its next chunk,
/// and the commit.
///
/// ```
/// use swath::WriteOptions;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rows.bin");
/// let out = WriteOptions::new().create(&path, 4 * 8)?;
/// std::thread::scope(|scope| {
///     for row in 0..4_u64 {
///         let out = &out;
///         scope.spawn(move || out.write_at(&row.to_le_bytes(), row * 8));
///     }
/// });
/// out.commit()?; // fails if one of the writes did
/// # assert_eq!(std::fs::read(&path).unwrap()[24], 3);
/// # Ok::<(), swath::Error>(())
/// ```
pub struct Positional {
    draft: Draft,
    fallbacks: Vec<Fallback>,
    placing: WritePlacing,
}

impl Positional {
    pub(super) fn new(draft: Draft, fallbacks: Vec<Fallback>, placing: WritePlacing) -> Self {
        Self { draft, fallbacks, placing }
    }

    /// Length that the file will have, in bytes.
    pub fn len(&self) -> u64 {
        self.placing.len
    }

    /// Whether it will be empty.
    pub fn is_empty(&self) -> bool {
        self.placing.len == 0
    }

    /// Options that could not be honoured, and what was done instead.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::Reason::Invalid) if they extend past the length, in which case nothing
    /// of them is written; the kernel's errors of writing, with the bytes that are missing;
    /// [`Cancelled`](crate::Reason::Cancelled). After an error, or a panic of the progress
    /// callback, the file cannot be committed.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let written = self.placing.write_at(&**self.draft.file(), bytes, offset);
        written.map_err(|error| self.draft.failed(error))
    }

    /// Gives the file its name, durably unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// [`Cancelled`](crate::Reason::Cancelled); [`Poisoned`](crate::Reason::Poisoned) if a write
    /// has failed; otherwise those of the commit, after which the target is unchanged, unless the
    /// reason is [`OutcomeUnknown`](crate::Reason::OutcomeUnknown).
    pub fn commit(self) -> Result<()> {
        self.placing.check_whole()?;
        let (draft, WritePlacing { path, len, observer, .. }) = (self.draft, self.placing);
        observer.hooks().commit(&path, len, || draft.commit(len))
    }
}

impl fmt::Debug for Positional {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positional")
            .field("path", &self.draft.path())
            .field("len", &self.placing.len)
            .finish_non_exhaustive()
    }
}
