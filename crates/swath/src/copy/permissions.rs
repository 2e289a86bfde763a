//! The permissions of a copy, as with cp(1).

use std::os::unix::fs::FileTypeExt;

use crate::error::{Error, Operation, Result};
use crate::sink::draft::Draft;
use crate::sink::permissions::give;
use crate::source::Opened;

/// Gives a new target the permissions of its source. A copy of a pipe or device is an ordinary
/// new file.
pub(super) fn take(source: &Opened, draft: &mut Draft) -> Result<()> {
    let Some(from) = source.file() else { return Ok(()) };
    let failed = |error| Error::io(Operation::Inspect, source.name(), error);
    let facts = from.metadata().map_err(failed)?;
    if !(facts.is_file() || facts.file_type().is_block_device()) {
        return Ok(());
    }
    give(draft, &facts.permissions())
}
