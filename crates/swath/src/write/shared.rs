//! A draft that other processes write to.
//!
//! ```text
//! create_shared   lock, a closed file under its hidden name, space for all bytes, a mark past them
//! token           text for the other processes
//! open_shared     is it that file, and that draft? → DraftWriter
//! commit          is every byte in a receipt, and the file the same? then as any draft
//! ```
//!
//! The mark is a number that no other draft has. Until the commit cuts it off, it proves that the
//! file is this draft: a name, and even an inode, may have become another draft's.

use std::fmt;
use std::path::Path;

use swath_plan::extent::Extent;
use swath_plan::extents::{gaps, merged};
use swath_plan::fallback::Fallback;

use super::token::{DraftReceipt, DraftToken};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Hooks;
use crate::sink::draft::Draft;
use crate::sink::fs::write_all_at;
use crate::sink::{Durability, OutputOptions, unique_number};

/// The page size of any machine is this or a divisor of it.
const LARGEST_PAGE: u64 = 64 << 10;

/// A file of known length that several processes write, each at its own places, from
/// [`WriteOptions::create_shared`](crate::WriteOptions::create_shared).
///
/// This process begins it and commits it. With its [`token`](Self::token), processes of the same
/// user open it by [`WriteOptions::open_shared`](crate::WriteOptions::open_shared): on this machine,
/// or on others that see the same folder under the same path. Each returns a receipt of the bytes
/// that it wrote.
///
/// Nothing is visible before [`commit`](Self::commit). If this is dropped without a commit, no file
/// remains; if this process is killed, the next writer of the target removes the draft.
///
/// ```
/// use swath::WriteOptions;
/// use swath::drafts::{DraftReceipt, DraftToken};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rows.bin");
/// let draft = WriteOptions::new().create_shared(&path, 16)?;
/// let token = draft.token().to_json();
/// // In another process, and in as many as you like:
/// let write = |token: &str, row: u64| -> swath::Result<String> {
///     let out = WriteOptions::new().open_shared(&DraftToken::from_json(token)?)?;
///     out.write_at(&row.to_le_bytes(), row * 8)?;
///     Ok(out.finish()?.to_json())
/// };
/// let receipts = [write(&token, 1)?, write(&token, 0)?];
/// // In the process that began it:
/// let receipts: Result<Vec<_>, _> =
///     receipts.iter().map(|it| DraftReceipt::from_json(it)).collect();
/// draft.commit(&receipts?)?; // fails if a byte is missing
/// # assert_eq!(std::fs::read(&path).unwrap()[8], 1);
/// # Ok::<(), swath::Error>(())
/// ```
pub struct SharedDraft {
    draft: Draft,
    token: DraftToken,
    fallbacks: Vec<Fallback>,
    hooks: Hooks,
}

impl SharedDraft {
    /// Begins a draft for `path`; `reserve` reserves space.
    pub(super) fn begin(
        output: &OutputOptions,
        path: &Path,
        len: u64,
        reserve: fn(&Draft, u64, &mut Vec<Fallback>) -> Result<()>,
    ) -> Result<Self> {
        let target = std::path::absolute(path)
            .map_err(|error| Error::io(Operation::Create, path, error))?;
        let draft = output.begin_named(path)?;
        let mut fallbacks = draft.fallbacks();
        reserve(&draft, len, &mut fallbacks)?;
        let id = format!("{:016x}", unique_number());
        let mut token = DraftToken::new(id, target, draft.hidden().into(), len);
        let facts = draft.file().facts();
        token.owner = facts.map_err(|error| Error::io(Operation::Inspect, path, error))?.owner;
        token.is_durable = output.draft.durability == Durability::Full;
        if draft.file().is_remote() {
            // On a page of its own: no machine reads bytes of the file together with the mark.
            token.mark = len.checked_next_multiple_of(LARGEST_PAGE).unwrap_or(u64::MAX);
        }
        token.check()?;
        let shared = Self { draft, token, fallbacks, hooks: output.hooks.clone() };
        shared.mark()?;
        Ok(shared)
    }

    /// Writes the mark, which also gives the file its length.
    fn mark(&self) -> Result<()> {
        let (file, path) = (self.draft.file(), self.draft.path());
        write_all_at(&**file, &self.token.mark_bytes(), self.token.mark)
            .map_err(|(error, _)| Error::io(Operation::Write, path, error))?;
        if file.is_remote() {
            // Synced, because other machines see only bytes on the server.
            file.sync().map_err(|error| Error::io(Operation::Sync, path, error))?;
        }
        Ok(())
    }

    /// Returns the token with which other processes open the draft.
    pub fn token(&self) -> &DraftToken {
        &self.token
    }

    /// Length that the file will have, in bytes.
    pub fn len(&self) -> u64 {
        self.token.len
    }

    /// Whether it will be empty.
    pub fn is_empty(&self) -> bool {
        self.token.len == 0
    }

    /// Options that could not be honoured, and what was done instead.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Gives the file its name, durably unless the options say otherwise. Call it when every writer
    /// has finished, with the receipts of all, in any order.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`], with the first missing bytes, if no receipt has them, and for a receipt
    /// of another draft; [`Reason::Changed`] if another program has truncated or extended the file;
    /// [`Reason::Cancelled`]; otherwise those of the commit. After each the target is unchanged,
    /// unless the reason is [`Reason::OutcomeUnknown`].
    pub fn commit(self, receipts: &[DraftReceipt]) -> Result<()> {
        let written = self.written(receipts)?;
        let missing = gaps(&written, Extent::between(0, self.token.len));
        if let Some(first) = missing.first() {
            let bytes: u64 = missing.iter().map(|gap| gap.len()).sum();
            return Err(Error::new(Operation::Commit, Reason::Invalid, self.draft.path())
                .at(*first)
                .detail(format!("{bytes} of its {} bytes were not written", self.token.len))
                .hint("write them before the commit, and pass the receipts of all writers"));
        }
        self.finish()
    }

    /// As [`commit`](Self::commit), but bytes that are in no receipt are zero.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit), but for missing bytes.
    pub fn commit_with_gaps(self, receipts: &[DraftReceipt]) -> Result<()> {
        self.written(receipts)?;
        self.finish()
    }

    /// Returns the bytes in the receipts.
    fn written(&self, receipts: &[DraftReceipt]) -> Result<Vec<Extent>> {
        if let Some(other) = receipts.iter().find(|it| it.draft != self.token.id) {
            return Err(Error::new(Operation::Commit, Reason::Invalid, self.draft.path())
                .detail(format!(
                    "a receipt is of draft {:?}, and this is {}",
                    other.draft, self.token.id
                ))
                .hint("pass the receipts of this draft only"));
        }
        Ok(merged(receipts.iter().flat_map(DraftReceipt::extents).collect()))
    }

    fn finish(self) -> Result<()> {
        let (draft, token) = (self.draft, self.token);
        let path = draft.path().to_owned();
        let facts = draft.file().facts();
        let facts = facts.map_err(|error| Error::io(Operation::Inspect, &path, error))?;
        if facts.len != token.draft_len() {
            return Err(Error::new(Operation::Commit, Reason::Changed, &path)
                .detail("another program has changed the length of its temporary file")
                .hint("write the file again from the start"));
        }
        self.hooks.commit(&path, token.len, || draft.commit(token.len))
    }
}

impl fmt::Debug for SharedDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedDraft").field("token", &self.token).finish_non_exhaustive()
    }
}
