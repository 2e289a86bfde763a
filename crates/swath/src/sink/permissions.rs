//! The permissions of a new file.

use std::io;

use swath_os::access::Access;
use swath_os::umask::umask;

use crate::sink::fs::FsFile;

/// Returns the mode with which `file`, in its own group, lets in no more users than `access`.
pub(crate) fn mode_in(access: Access, file: &dyn FsFile) -> io::Result<u32> {
    // Most files grant their group no more than all others; then the group of this one does not matter.
    let group = match access.depends_on_group() {
        true => file.access()?.group(),
        false => None,
    };
    Ok(access.in_group(group))
}

/// The reason why a file is not committed.
pub(crate) const WIDER: &str =
    "on this mount the new file would let in more users than the one that it replaces";

/// Returns the read and write permissions of `mode` beyond `given`: some mounts and servers change the permissions that
/// a file is given.
pub(crate) fn beyond(mode: u32, given: u32) -> u32 {
    mode & 0o666 & !given
}

/// Restricts a new file to this mode, if the mount has given it more.
pub(crate) fn close_to(file: &dyn FsFile, mode: u32) -> io::Result<()> {
    if beyond(file.facts()?.mode, mode) == 0 { Ok(()) } else { file.set_mode(mode) }
}

/// Fails if a file lets in more users than `mode` does.
pub(crate) fn refuse_beyond(file: &dyn FsFile, mode: u32) -> io::Result<()> {
    match beyond(file.facts()?.mode, mode) {
        0 => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, WIDER)),
    }
}

/// Returns the permissions that both the source and the folder allow. New files are created without
/// execute bits: users who may not read the new file do not get them either.
pub(crate) fn mode_of_copy(source: u32, made: u32, umask: u32) -> u32 {
    let readers = (made & 0o444) >> 2;
    source & ((made & 0o666) | (readers & !umask & 0o111))
}

/// Returns the mode of a folder whose files have this mode: users who may read them may list it, less
/// the umask.
pub(crate) fn mode_of_folder(file: u32) -> u32 {
    let readers = (file & 0o444) >> 2;
    (file & 0o666) | 0o700 | (readers & !umask().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_may_do_what_its_source_may_less_the_umask() {
        for (source, umask, expected) in [
            (0o644, 0o022, 0o644),
            (0o755, 0o022, 0o755),
            (0o777, 0o027, 0o750),
            (0o600, 0o022, 0o600),
            (0o4755, 0o022, 0o755),
            (0o666, 0o077, 0o600),
            (0o777, 0o111, 0o666),
            (0o000, 0o022, 0o000),
        ] {
            let made = 0o666 & !umask;
            assert_eq!(mode_of_copy(source, made, umask), expected, "{source:o} {umask:o}");
        }
        assert_eq!(mode_of_copy(0o777, 0o660, 0), 0o770, "the folder's list allows no others");
    }
}
