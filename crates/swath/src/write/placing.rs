//! Writes bytes to their places in a file of known length, chunk by chunk.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use swath_os::writeback::start_writeback;
use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::sink::fs::{FsFile, write_all_at};
use crate::timeline::Activity;

/// The limits of one writer's bytes, and whether a write has failed.
pub(super) struct WritePlacing {
    /// The target, for errors.
    pub(super) path: PathBuf,
    pub(super) len: u64,
    pub(super) chunk_size: NonZeroU64,
    pub(super) observer: Observer,
    /// Whether to start writeback at once, because a sync will wait for the device.
    pub(super) is_eager: bool,
    /// Whether a write failed, so that the file lacks bytes.
    pub(super) is_poisoned: AtomicBool,
}

impl WritePlacing {
    /// Writes all of `bytes` at `offset`.
    pub(super) fn write_at(&self, file: &dyn FsFile, bytes: &[u8], offset: u64) -> Result<()> {
        let unless_done = Poison(&self.is_poisoned);
        let extent = self.place_of(bytes, offset)?;
        let mut rest = bytes;
        let plan = ChunkPlan::new(extent, self.chunk_size);
        for chunk in (0..plan.count()).filter_map(|index| plan.chunk(index)) {
            // A chunk is no longer than what is left.
            let len = usize::try_from(chunk.len()).unwrap_or(rest.len());
            let (now, later) = rest.split_at(len);
            self.write_chunk(file, now, chunk)?;
            rest = later;
        }
        std::mem::forget(unless_done);
        Ok(())
    }

    fn place_of(&self, bytes: &[u8], offset: u64) -> Result<Extent> {
        let extent = Extent::new(offset, bytes.len() as u64);
        extent.filter(|extent| extent.end() <= self.len).ok_or_else(|| {
            Error::new(Operation::Write, Reason::Invalid, &self.path)
                .detail(format!(
                    "{} bytes at byte {offset} extend past its length of {}",
                    bytes.len(),
                    self.len
                ))
                .hint("create the file with the length that it is to have")
        })
    }

    fn write_chunk(&self, file: &dyn FsFile, bytes: &[u8], chunk: Extent) -> Result<()> {
        let (path, hooks): (&Path, _) = (&self.path, self.observer.hooks());
        hooks.check(Operation::Write, path, chunk)?;
        let written = hooks
            .record(Activity::Write, path, chunk, || write_all_at(file, bytes, chunk.offset()));
        written.map_err(|(error, done)| {
            let missing = Extent::between(chunk.offset() + done, chunk.end());
            Error::io(Operation::Write, path, error).at(missing)
        })?;
        if let (true, Some(descriptor)) = (self.is_eager, file.descriptor()) {
            // A failure is reported again when the file is synced.
            let _ = start_writeback(descriptor, chunk.offset(), chunk.len());
        }
        self.observer.delivered(chunk.len());
        Ok(())
    }

    /// Fails after a failed write.
    pub(super) fn check_whole(&self) -> Result<()> {
        // Relaxed: the caller owns the writer, so this happens after every write.
        // A cancelled write has failed too: the next step reports the cancellation.
        if !self.is_poisoned.load(Ordering::Relaxed) || self.observer.is_cancelled() {
            return Ok(());
        }
        Err(Error::new(Operation::Commit, Reason::Poisoned, &self.path)
            .detail("an earlier write to it failed")
            .hint("write the file again from the start"))
    }
}

/// Guard: a write that is not completed makes the file unusable for a commit.
struct Poison<'p>(&'p AtomicBool);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        // Relaxed: read by the owner, whose call happens after every write.
        self.0.store(true, Ordering::Relaxed);
    }
}
