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

/// A file of a known length that threads write wherever they like; made by
/// [`WriteOptions::create`](crate::WriteOptions::create).
///
/// Nothing is visible before [`commit`](Self::commit); dropped without it, nothing is left. What
/// nobody writes is zero. Where two writes overlap and neither ends before the other begins, each
/// overlapping byte is of one or of the other.
///
/// A write is cut into chunks of the options' size. Progress is told after each of them, and what is
/// written twice counts twice; a cancelled token ends a write before its next chunk, and the commit.
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
    /// A write was not done, so the file is not what the program meant.
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

    /// Bytes that the file will have.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it will have none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Wishes that could not be granted, and what was done instead.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if they reach beyond the length, of which nothing is written then; the
    /// kernel's errors of writing, with the bytes that are missing; [`Reason::Cancelled`]. After an
    /// error, or a panic of progress, the file cannot be committed.
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
                    "{} bytes at byte {offset} reach beyond its length of {}",
                    bytes.len(),
                    self.len
                ))
                .hint("create it with the length that it is to have")
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
    /// [`Reason::Cancelled`]; [`Reason::Poisoned`] if a write has failed; else those of the commit,
    /// after which the target is what it was, unless the reason is [`Reason::OutcomeUnknown`].
    pub fn commit(mut self) -> Result<()> {
        // A write that was cancelled has failed, too: of that, the commit tells.
        if *self.is_poisoned.get_mut() && !self.observer.is_cancelled() {
            return Err(Error::new(Operation::Commit, Reason::Poisoned, self.draft.path())
                .detail("a write to it has failed")
                .hint("write it again from the start"));
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

/// A write that does not come to its end leaves a file that is not what the program meant.
struct Poison<'p>(&'p AtomicBool);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        // Relaxed: read by `commit`, which owns the file: whatever brought it there came after.
        self.0.store(true, Ordering::Relaxed);
    }
}
