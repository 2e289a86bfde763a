//! A file that is written in any order, by any threads.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Hooks;
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
    fallbacks: Vec<String>,
    hooks: Hooks,
    /// A write was not done, so the file is not what the program meant.
    is_poisoned: AtomicBool,
}

impl Positional {
    pub(super) fn new(draft: Draft, len: u64, fallbacks: Vec<String>, hooks: Hooks) -> Self {
        Self { draft, len, fallbacks, hooks, is_poisoned: AtomicBool::new(false) }
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
    pub fn fallbacks(&self) -> &[String] {
        &self.fallbacks
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if they reach beyond the length, of which nothing is written then; the
    /// kernel's errors of writing, with the bytes that are missing. After an error the file cannot
    /// be committed.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let error = match Extent::new(offset, bytes.len() as u64) {
            Some(extent) if extent.end() <= self.len => {
                let span = (offset, extent.len());
                let written =
                    self.hooks.record((Activity::Write, self.draft.path()), span, || {
                        write_all_at(&**self.draft.file(), bytes, offset)
                    });
                match written {
                    Ok(()) => return Ok(()),
                    Err((error, done)) => Error::io(Operation::Write, self.draft.path(), error)
                        .at(Extent::between(offset + done, extent.end())),
                }
            }
            _ => Error::new(Operation::Write, Reason::Invalid, self.draft.path())
                .detail(format!(
                    "{} bytes at byte {offset} reach beyond its length of {}",
                    bytes.len(),
                    self.len
                ))
                .hint("create it with the length that it is to have"),
        };
        // Read by `commit`, which owns the file: whatever brought it there came after.
        self.is_poisoned.store(true, Ordering::Relaxed);
        Err(error)
    }

    /// Gives the file its name, durably unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// [`Reason::Poisoned`] if a write has failed; else those of the commit, after which the
    /// target is what it was, unless the reason is [`Reason::OutcomeUnknown`].
    pub fn commit(mut self) -> Result<()> {
        if *self.is_poisoned.get_mut() {
            return Err(Error::new(Operation::Commit, Reason::Poisoned, self.draft.path())
                .detail("a write to it has failed")
                .hint("write it again from the start"));
        }
        let (draft, len) = (self.draft, self.len);
        let path = draft.path().to_owned();
        self.hooks.record((Activity::Commit, &path), (0, len), || draft.commit(len))
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
