//! Files without a name, and the name they get when they are finished.
//!
//! A nameless file is gone when its last descriptor is closed, however the process ends; so a
//! writer that is killed leaves nothing. [`link_file`] makes it visible in one step.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use rustix::io::{Errno, retry_on_intr};

/// What a new file may be used for, before the caller's umask takes its part.
const FOR_ALL: Mode = Mode::from_raw_mode(0o666);

/// Makes a file without a name in `folder`, readable and writable: `O_TMPFILE`.
///
/// Its mode is 0666 less the umask, or what a default ACL of the folder says. It is closed on
/// exec(2).
///
/// # Errors
///
/// Those of open(2); `Unsupported` where the file system or the kernel has no such files (NFS,
/// FAT, most of FUSE).
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::nameless::{create_nameless, link_file};
///
/// let folder = tempfile::tempdir()?;
/// match create_nameless(folder.path()) {
///     Ok(file) => link_file(&file, &folder.path().join("result"))?,
///     Err(refused) => eprintln!("no nameless files here: {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn create_nameless(folder: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match retry_on_intr(|| open(folder, flags, FOR_ALL)) {
        Ok(file) => Ok(File::from(file)),
        // Kernels that do not know the flag see a folder that is to be written.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives an open file the name `path`, which must be free.
///
/// In one step: other processes see no name, or all of the file.
///
/// # Errors
///
/// `AlreadyExists` if something stands there; `CrossesDevices` in another file system; else those
/// of linkat(2). Before Linux 6.10 `/proc` must be mounted, else `NotFound`.
pub fn link_file(file: &File, path: &Path) -> io::Result<()> {
    let direct = retry_on_intr(|| linkat(file, "", CWD, path, AtFlags::EMPTY_PATH));
    match direct {
        // What older kernels tell those who may not search every folder.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {}
        done => return Ok(done?),
    }
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(retry_on_intr(|| linkat(CWD, &from, CWD, path, AtFlags::SYMLINK_FOLLOW))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn nameless() -> Option<(tempfile::TempDir, File)> {
        let folder = tempfile::tempdir().expect("a folder");
        match create_nameless(folder.path()) {
            Ok(file) => Some((folder, file)),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                swath_reference::skip("nameless-files", error);
                None
            }
        }
    }

    #[test]
    fn a_nameless_file_is_in_no_listing_until_it_is_linked() {
        let Some((folder, mut file)) = nameless() else { return };
        file.write_all(b"whole").expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        let path = folder.path().join("result");
        link_file(&file, &path).expect("linked");
        assert_eq!(fs::read(path).expect("there"), b"whole");
    }

    #[test]
    fn a_name_that_is_taken_is_refused_and_kept() {
        let Some((folder, file)) = nameless() else { return };
        let path = folder.path().join("taken");
        fs::write(&path, b"old").expect("written");
        let error = link_file(&file, &path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(path).expect("there"), b"old");
    }

    #[test]
    fn what_is_missing_is_not_found() {
        let Some((folder, file)) = nameless() else { return };
        let missing = folder.path().join("missing");
        assert_eq!(create_nameless(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
        let error = link_file(&file, &missing.join("name")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_system_without_them_says_unsupported() {
        let error = create_nameless(Path::new("/proc")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
}
