//! Permissions, other attributes and times of a copy.

use std::fs::File;
use std::sync::Arc;

use crate::error::{Error, Operation, Result};
use crate::sink::LocalFs;
use crate::sink::draft::Draft;
use crate::sink::fs::FsFile;
use crate::source::OpenSource;

/// Gives a new target the permissions of its source. A copy of a pipe or device is an ordinary
/// new file.
pub(super) fn take(source: &OpenSource, draft: &mut Draft) -> Result<()> {
    match source.access()? {
        Some(access) => draft.give_access(access),
        None => Ok(()),
    }
}

/// Gives the target all attributes and the times of its source, if that is a regular file.
pub(super) fn take_all(source: &OpenSource, draft: &mut Draft) -> Result<()> {
    if let (Some(times), Some(model)) = (source.times()?, descriptor(source)?) {
        draft.give_times(times);
        draft.give_attributes_of(model);
    }
    Ok(())
}

/// The source as passed to the kernel, if it has a descriptor.
pub(super) fn descriptor(source: &OpenSource) -> Result<Option<Arc<dyn FsFile>>> {
    let cloned = source.file().map(File::try_clone).transpose();
    let cloned = cloned.map_err(|error| Error::io(Operation::Open, source.name(), error))?;
    Ok(cloned.map(LocalFs::readable))
}
