//! The permissions of a copy, as with cp(1), and the other attributes and the times.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt as _, PermissionsExt as _};
use std::sync::Arc;

use crate::error::{Error, Operation, Result};
use crate::sink::draft::Draft;
use crate::sink::fs::FsFile;
use crate::sink::permissions::give;
use crate::sink::{LocalFs, MANIFEST};
use crate::source::Opened;

/// Gives a new target the permissions of its source. A copy of a pipe or device is an ordinary
/// new file.
pub(super) fn take(source: &Opened, draft: &mut Draft) -> Result<()> {
    let failed = |error| Error::io(Operation::Inspect, source.name(), error);
    let Some(from) = source.file() else {
        return take_of_folder(source, draft).map_err(failed)?;
    };
    let facts = from.metadata().map_err(failed)?;
    if !(facts.is_file() || facts.file_type().is_block_device()) {
        return Ok(());
    }
    give(draft, &facts.permissions())
}

/// The same of a source whose bytes are in a folder: what it and the manifest of its segments allow.
fn take_of_folder(source: &Opened, draft: &mut Draft) -> io::Result<Result<()>> {
    let Some(folder) = source.folder() else { return Ok(Ok(())) };
    // Who may not enter reads nothing.
    let enter = folder.metadata()?.mode() & 0o111;
    let mut mode = (enter | enter << 1 | enter << 2) & 0o666;
    if let Ok(manifest) = folder.join(MANIFEST).metadata() {
        mode &= manifest.mode();
    }
    Ok(give(draft, &Permissions::from_mode(mode)))
}

/// Gives the target all attributes and the times of its source, if that is a regular file.
pub(super) fn take_all(source: &Opened, draft: &mut Draft) -> Result<()> {
    if let (Some(times), Some(model)) = (source.times()?, descriptor(source)?) {
        draft.give_times(times);
        draft.give_attributes_of(model);
    }
    Ok(())
}

/// The source as passed to the kernel, if it has a descriptor.
pub(super) fn descriptor(source: &Opened) -> Result<Option<Arc<dyn FsFile>>> {
    let cloned = source.file().map(File::try_clone).transpose();
    let cloned = cloned.map_err(|error| Error::io(Operation::Open, source.name(), error))?;
    Ok(cloned.map(LocalFs::readable))
}
