//! Copies that are read as one source: what is known of them here, whoever they are.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use swath_plan::extent::Extent;

use super::file::Place;
use crate::error::Result;
use crate::report::Report;

/// Copies that have not been opened.
pub(crate) trait Closed: fmt::Debug + Send + Sync {
    /// What messages call them all.
    fn name(&self) -> PathBuf;

    /// Opens what can be opened.
    ///
    /// # Errors
    ///
    /// If no copy can be read, or nobody knows how long the file is.
    fn open(&self) -> Result<Box<dyn Copies>>;
}

/// Copies that have been opened.
pub(crate) trait Copies: Send + Sync {
    fn len(&self) -> u64;

    /// The descriptors of all copies that have one; that of a copy that is read comes first.
    fn files(&self) -> Vec<&File>;

    /// How many are read side by side.
    fn active_count(&self) -> u64;

    /// Where the first of them lives that is read.
    fn place(&self) -> Place;

    /// A read by so many workers begins.
    fn expect(&self, extent: Extent, workers: u64);

    /// Fills `target` from `offset` on; less only at the end of the file.
    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Hands a chunk to `each` in steps that fit into `room`: from the beginning again where one that was
    /// handed over turns out to be wrong.
    fn take_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()>;

    /// Says in a report what each copy did.
    fn tell(&self, report: &mut Report);
}
