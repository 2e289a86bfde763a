//! Names in folders: renamed, never by accident over another, and made durable.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, RenameFlags, accessat, open, rename, renameat_with,
};
use rustix::io::{Errno, retry_on_intr};

/// Renames `from`, replacing what `to` named, in one step.
///
/// # Errors
///
/// Those of rename(2).
pub fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    Ok(retry_on_intr(|| rename(from, to))?)
}

/// Renames `from` to a name that is free, in one step.
///
/// # Errors
///
/// `AlreadyExists` if something stands there; `Unsupported` where the file system or the kernel
/// cannot promise it; else those of renameat2(2).
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::names::rename_new;
///
/// let folder = tempfile::tempdir()?;
/// let (from, to) = (folder.path().join("from"), folder.path().join("to"));
/// std::fs::write(&from, "bytes")?;
/// std::fs::write(&to, "kept")?;
/// assert!(rename_new(&from, &to).is_err());
/// assert_eq!(std::fs::read(&to)?, b"kept");
/// # Ok(())
/// # }
/// ```
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match retry_on_intr(|| renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns once the device has the names in `folder`.
///
/// # Errors
///
/// Those of open(2) and fsync(2). File systems that cannot sync a folder, because every change
/// of it is durable or none ever is, count as done.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = File::from(retry_on_intr(|| open(folder, flags, Mode::empty()))?);
    match folder.sync_all() {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
        done => done,
    }
}

/// Returns whether this process may write to what `path` names, in a file system that may be
/// written to.
///
/// An answer for messages, not for safety: it may have changed a moment later.
///
/// # Errors
///
/// Those of faccessat2(2), except the ones that mean no.
pub fn is_writable(path: &Path) -> io::Result<bool> {
    // With the effective ids, as open(2) would; kernels that lack the flag take the real ones.
    let asked = accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS);
    let asked = match asked {
        Err(Errno::NOSYS) => accessat(CWD, path, Access::WRITE_OK, AtFlags::empty()),
        answered => answered,
    };
    match asked {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::TXTBSY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_free_name_is_taken_and_a_taken_one_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name| folder.path().join(name);
        fs::write(path("a"), b"a").expect("written");
        match rename_new(&path("a"), &path("b")) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                return swath_reference::skip("rename-noreplace", error);
            }
        }
        fs::write(path("a"), b"new a").expect("written");
        let error = rename_new(&path("a"), &path("b")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(path("b")).expect("there"), b"a");
        rename_over(&path("a"), &path("b")).expect("renamed");
        assert_eq!(fs::read(path("b")).expect("there"), b"new a");
        assert!(!path("a").exists());
    }

    #[test]
    fn a_folder_is_synced_and_a_file_is_not_one() {
        let folder = tempfile::tempdir().expect("a folder");
        sync_folder(folder.path()).expect("synced");
        sync_folder(Path::new("/proc")).expect("nothing to sync");
        let file = folder.path().join("file");
        fs::write(&file, b"").expect("written");
        let error = sync_folder(&file).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn writable_means_for_this_process() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        assert!(is_writable(file.path()).expect("it is there"));
        let missing = file.path().join("missing");
        assert!(is_writable(&missing).is_err());
        // Nobody writes to a process's map table, root included.
        assert!(!is_writable(Path::new("/proc/self/maps")).unwrap_or(false) || is_root());
    }

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }
}
