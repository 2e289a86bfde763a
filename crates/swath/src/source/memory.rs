//! Allocates memory for the bytes of a source, after checking that enough is available.

use std::io;

use swath_os::machine;
use swath_plan::extent::Extent;

use super::OpenSource;
use crate::buffer::{Buffer, BufferPool};
use crate::error::{Error, Operation, Reason, Result};

impl OpenSource {
    /// Fails if less memory than this is available.
    pub(crate) fn check_memory(&self, extent: Extent, wanted: u64) -> Result<()> {
        let memory = machine::memory_at_hand().unwrap_or(u64::MAX);
        if wanted <= memory {
            return Ok(());
        }
        Err(Error::new(Operation::Allocate, Reason::OutOfMemory, self.name())
            .at(extent)
            .detail(format!("{} bytes are needed, {memory} are available", extent.len()))
            .hint("read less at a time, or use `scan`, which keeps nothing in memory"))
    }

    /// Returns memory for `len` bytes.
    pub(crate) fn block(&self, pool: &BufferPool, len: usize) -> Result<Buffer> {
        let pages = pool.take(len);
        let pages =
            pages.map_err(|error| Error::io(Operation::Allocate, self.name(), error))?;
        Ok(Buffer::paged(pages, 0, len, pool.clone()))
    }

    /// Returns the error for memory that could not be obtained.
    pub(crate) fn no_memory(&self, extent: Extent, error: io::Error) -> Error {
        Error::io(Operation::Allocate, self.name(), error).at(extent)
    }
}
