//! Finds the extent of the records in each source without reading them.

use swath_plan::extent::Extent;

use crate::blocks::plan::BlockPlan;
use crate::blocks::{Records, mapped};
use crate::error::{Error, Operation, Reason, Result};
use crate::source::{OpenSource, SourceLength};

/// Returns the extent of the records in each source.
pub(super) fn extents(mut records: Records<'_>) -> Result<Vec<Extent>> {
    // Turns a permit into a source; its map is not needed.
    drop(mapped::open(&mut records)?);
    let plan = BlockPlan::of(&records);
    let extent = |source| {
        let source = OpenSource::open(source)?;
        plan.check_cut(&source)?;
        match source.kind() {
            SourceLength::Sized(len) => plan.extent_of(&source, len),
            SourceLength::Stream | SourceLength::Made => Err(no_extents(&source)),
        }
    };
    records.sources.into_iter().map(extent).collect()
}

/// Returns the error for a source that can only be read in order.
fn no_extents(source: &OpenSource) -> Error {
    Error::new(Operation::Read, Reason::Invalid, source.name())
        .detail("it is a stream, which has no extents")
        .hint("write the stream to a file first")
}
