//! The interface to copies that are read as one source.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use swath_plan::extent::Extent;

use super::file::StoragePlace;
use crate::error::Result;
use crate::report::Report;

/// Copies that have not been opened.
pub(crate) trait Closed: fmt::Debug + Send + Sync {
    /// Their common name in messages.
    fn name(&self) -> PathBuf;

    /// Opens the copies that can be opened.
    ///
    /// # Errors
    ///
    /// If no copy can be read, or the length of the file is unknown.
    fn open(&self) -> Result<Box<dyn Copies>>;
}

/// Copies that have been opened.
pub(crate) trait Copies: Send + Sync {
    fn len(&self) -> u64;

    /// The descriptors of all copies that have one; one of a copy that is read comes first.
    fn files(&self) -> Vec<&File>;

    /// Returns how many copies are read in parallel.
    fn active_count(&self) -> u64;

    /// Returns the storage of the first copy that is read.
    fn place(&self) -> StoragePlace;

    /// Announces a read by this many workers.
    fn expect(&self, extent: Extent, workers: u64);

    /// Fills `target` from `offset`, less only at the end of the file; returns the number of bytes.
    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Passes a chunk to `each` in steps that fit into `room`. Begins again if a step that was
    /// already passed proves to be wrong.
    fn take_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()>;

    /// Adds the contribution of each copy to a report.
    fn tell(&self, report: &mut Report);
}
