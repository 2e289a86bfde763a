//! Allocates memory for the bytes of a source, after checking that enough is available.

use std::io;

use swath_os::memory::Pages;
use swath_plan::extent::Extent;

use super::facts::is_large;
use crate::error::Result;
use crate::options::ReadOptions;
use crate::source::OpenSource;

/// Returns memory for `extent`, and for `phase` bytes before it.
///
/// # Errors
///
/// If there is not enough.
pub(crate) fn pages(
    source: &OpenSource,
    extent: Extent,
    phase: usize,
    options: &ReadOptions,
) -> Result<Pages> {
    let len = extent.len();
    // Before the address space is taken: a limit on it would count it twice.
    if is_large(len) && (options.pool.ready_bytes() as u64) < len {
        source.check_memory(extent, len)?;
    }
    let wanted = usize::try_from(len).ok().and_then(|len| len.checked_add(phase));
    let wanted = wanted.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory));
    let allocate = |error| source.no_memory(extent, error);
    wanted.and_then(|wanted| options.pool.take(wanted)).map_err(allocate)
}
