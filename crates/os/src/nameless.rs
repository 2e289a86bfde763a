//! Files without a name, which are named when they are finished.
//!
//! An unnamed file is gone when its last descriptor is closed, however the process ends: a killed
//! writer leaves nothing. [`link_file`] makes the file visible in one step.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use rustix::io::{Errno, retry_on_intr};

/// The permissions of a new file, before the caller's umask is applied.
const FOR_ALL: Mode = Mode::from_raw_mode(0o666);

/// Creates a file without a name in `folder`, readable and writable: `O_TMPFILE`.
///
/// Its mode is 0666 less the umask, or that of the folder's default ACL: without a name, no other
/// process can open it, whatever its mode. It is closed on exec(2).
///
/// # Errors
///
/// The errors of open(2); `Unsupported` if the file system or the kernel has no such files (NFS,
/// FAT, most of FUSE), or if a sandbox refuses linkat(2), which is needed to name them.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::nameless::{create_nameless, link_file};
///
/// let folder = tempfile::tempdir()?;
/// let opened = std::fs::File::open(folder.path())?;
/// match create_nameless(&opened) {
///     Ok(file) => link_file(&file, &opened, "result".as_ref())?,
///     Err(refused) => eprintln!("no nameless files here: {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn create_nameless(folder: &File) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match retry_on_intr(|| openat(folder, ".", flags, FOR_ALL)) {
        Ok(file) => {
            let file = File::from(file);
            // A name that always exists: nothing is linked.
            match link_file(&file, folder, OsStr::new(".")) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(file),
                _ => Err(io::ErrorKind::Unsupported.into()),
            }
        }
        // Kernels that do not know the flag report an attempt to write to a folder.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives an open file a name in `folder`, which must be free.
///
/// Happens in one step: other processes see no name, or the whole file.
///
/// # Errors
///
/// `AlreadyExists` if the name is taken; `CrossesDevices` if the folder is on another file system;
/// otherwise the errors of linkat(2). Before Linux 6.10, `NotFound` if `/proc` is not mounted.
pub fn link_file(file: &File, folder: &File, name: &OsStr) -> io::Result<()> {
    let direct = retry_on_intr(|| linkat(file, "", folder, name, AtFlags::EMPTY_PATH));
    match direct {
        // Errors of older kernels for processes without the right to search every folder.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {}
        done => return Ok(done?),
    }
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(retry_on_intr(|| linkat(CWD, &from, folder, name, AtFlags::SYMLINK_FOLLOW))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    struct Nameless {
        folder: tempfile::TempDir,
        opened: File,
        file: File,
    }

    fn nameless() -> Option<Nameless> {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = File::open(folder.path()).expect("mine");
        match create_nameless(&opened) {
            Ok(file) => Some(Nameless { folder, opened, file }),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                swath_reference::skip("nameless-files", error);
                None
            }
        }
    }

    #[test]
    fn a_nameless_file_is_in_no_listing_until_it_is_linked() {
        let Some(Nameless { folder, opened, mut file }) = nameless() else { return };
        file.write_all(b"whole").expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        link_file(&file, &opened, OsStr::new("result")).expect("linked");
        assert_eq!(fs::read(folder.path().join("result")).expect("there"), b"whole");
    }

    #[test]
    fn a_name_that_is_taken_is_refused_and_kept() {
        let Some(Nameless { folder, opened, file }) = nameless() else { return };
        let path = folder.path().join("taken");
        fs::write(&path, b"old").expect("written");
        let error = link_file(&file, &opened, OsStr::new("taken")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(path).expect("there"), b"old");
    }

    #[test]
    fn in_a_folder_that_is_gone_there_is_no_file() {
        let Some(Nameless { folder, opened, file }) = nameless() else { return };
        folder.close().expect("removed");
        // The error depends on the file system: ext4 refuses, others find no folder.
        assert!(create_nameless(&opened).is_err());
        assert!(link_file(&file, &opened, OsStr::new("name")).is_err());
    }

    #[test]
    fn a_file_system_without_them_says_unsupported() {
        let proc = File::open("/proc").expect("mounted");
        let error = create_nameless(&proc).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
}
