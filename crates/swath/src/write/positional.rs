//! A file that is written in any order, by any threads.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;

use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::fs::write_all_at;
use crate::timeline::Activity;

/// A file of known length that threads write to at any offset; made by
/// [`WriteOptions::create`](crate::WriteOptions::create).
///
/// Nothing is visible before [`commit`](Self::commit); if it is dropped without it, no file
/// remains. Bytes that are not written are zero. Where two writes overlap and neither ends
/// before the other begins, each overlapping byte is from one or the other.
///
/// A write is split into chunks of the options' size. Progress is reported after each of them,
/// and bytes that are written twice count twice; a cancelled token ends a write before its next
/// chunk, and the commit.
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
    len: u64,
    fallbacks: Vec<Fallback>,
    chunk_size: NonZeroU64,
    observer: Observer,
    /// A write failed, so the file is not what the program meant to write.
    is_poisoned: AtomicBool,
}

impl Positional {
    pub(super) fn new(
        draft: Draft,
        fallbacks: Vec<Fallback>,
        len: u64,
        chunk_size: NonZeroU64,
        observer: Observer,
    ) -> Self {
        let is_poisoned = AtomicBool::new(false);
        Self { draft, len, fallbacks, chunk_size, observer, is_poisoned }
    }

    /// Length that the file will have, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it will be empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Options that could not be honoured, and what was done instead.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if they extend past the length, in which case nothing of them is
    /// written; the kernel's errors of writing, with the bytes that are missing;
    /// [`Reason::Cancelled`]. After an error, or a panic of the progress callback, the file
    /// cannot be committed.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let unless_done = Poison(&self.is_poisoned);
        let extent = self.place_of(bytes, offset)?;
        let mut rest = bytes;
        let plan = ChunkPlan::new(extent, self.chunk_size);
        for chunk in (0..plan.count()).filter_map(|index| plan.chunk(index)) {
            // A chunk is no longer than what is left.
            let len = usize::try_from(chunk.len()).unwrap_or(rest.len());
            let (now, later) = rest.split_at(len);
            self.write_chunk(now, chunk)?;
            rest = later;
        }
        std::mem::forget(unless_done);
        Ok(())
    }

    fn place_of(&self, bytes: &[u8], offset: u64) -> Result<Extent> {
        let extent = Extent::new(offset, bytes.len() as u64);
        extent.filter(|extent| extent.end() <= self.len).ok_or_else(|| {
            Error::new(Operation::Write, Reason::Invalid, self.draft.path())
                .detail(format!(
                    "{} bytes at byte {offset} extend past its length of {}",
                    bytes.len(),
                    self.len
                ))
                .hint("create the file with the length that it is to have")
        })
    }

    fn write_chunk(&self, bytes: &[u8], chunk: Extent) -> Result<()> {
        let path = self.draft.path();
        self.look_for_cancel(chunk)?;
        let written = self.observer.hooks().record(Activity::Write, path, chunk, || {
            write_all_at(&**self.draft.file(), bytes, chunk.offset())
        });
        written.map_err(|(error, done)| {
            let missing = Extent::between(chunk.offset() + done, chunk.end());
            Error::io(Operation::Write, path, error).at(missing)
        })?;
        self.observer.delivered(chunk.len());
        Ok(())
    }

    fn look_for_cancel(&self, extent: Extent) -> Result<()> {
        self.observer.hooks().check(Operation::Write, self.draft.path(), extent)
    }

    /// Gives the file its name, durably unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// [`Reason::Cancelled`]; [`Reason::Poisoned`] if a write has failed; otherwise those of the
    /// commit, after which the target is unchanged, unless the reason is
    /// [`Reason::OutcomeUnknown`].
    pub fn commit(mut self) -> Result<()> {
        // A write that was cancelled has failed, too: the commit reports the cancellation.
        if *self.is_poisoned.get_mut() && !self.observer.is_cancelled() {
            return Err(Error::new(Operation::Commit, Reason::Poisoned, self.draft.path())
                .detail("an earlier write to it failed")
                .hint("write the file again from the start"));
        }
        let (draft, len, hooks) = (self.draft, self.len, self.observer.hooks());
        let path = draft.path().to_owned();
        hooks.commit(&path, len, || draft.commit(len))
    }
}

impl fmt::Debug for Positional {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positional")
            .field("path", &self.draft.path())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// A write that is not completed makes the file unusable for a commit.
struct Poison<'p>(&'p AtomicBool);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        // Relaxed: read by `commit`, which owns the file: it happens after every write.
        self.0.store(true, Ordering::Relaxed);
    }
}
