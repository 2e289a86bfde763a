//! The bytes of the records in each source, without reading them.

use swath_plan::extent::Extent;

use crate::blocks::plan::Plan;
use crate::blocks::{Records, mapped};
use crate::error::{Error, Operation, Reason, Result};
use crate::source::{Kind, Opened};

/// The extent of the records in each source.
pub(super) fn extents(mut records: Records<'_>) -> Result<Vec<Extent>> {
    // A permit becomes a source; its map is not needed.
    drop(mapped::open(&mut records)?);
    let plan = Plan::of(&records);
    let extent = |source| {
        let source = Opened::open(source)?;
        plan.check_cut(&source)?;
        match source.kind() {
            Kind::Sized(len) => plan.extent_of(&source, len),
            Kind::Stream | Kind::Made => Err(no_extents(&source)),
        }
    };
    records.sources.into_iter().map(extent).collect()
}

/// The error for a source that is only read in order.
fn no_extents(source: &Opened) -> Error {
    Error::new(Operation::Read, Reason::Invalid, source.name())
        .detail("it is a stream, which has no extents")
        .hint("write the stream to a file first")
}
