//! Names in an open folder: inspects, creates, renames, removes and syncs them.
//!
//! A name is one component, relative to the folder's descriptor, and is not followed if it is a
//! link. If the folder is moved, or a name is swapped, nothing elsewhere changes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, Statx,
    StatxAttributes, StatxFlags, accessat, fstat, mkdirat, openat, renameat, renameat_with,
    statat, statx, syncfs, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

use crate::nameless::create_nameless;

const IN_FOLDER: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
/// Does not wait for the other end of a pipe, or make a terminal the controlling one.
const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Returns the status of `name`, of a link itself; `None` if nothing is there. FUSE and file
/// servers may cache the length, times and number of names of a file, and are asked for current
/// ones.
///
/// # Errors
///
/// The errors of fstatat(2), except for a missing name.
pub fn look(folder: &File, name: &OsStr) -> io::Result<Option<Stat>> {
    match retry_on_intr(|| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(mut found) if FileType::from_raw_mode(found.st_mode).is_file() => {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
            match statx(folder, name, flags, StatxFlags::BASIC_STATS) {
                Ok(now) => {
                    found.st_nlink = now.stx_nlink.into();
                    renew(&mut found, &now);
                }
                // The file was removed elsewhere.
                Err(Errno::NOENT) => return Ok(None),
                Err(error) if is_without(error) => {}
                // The server is gone: cached values must not replace its answer.
                Err(error) => return Err(error.into()),
            }
            Ok(Some(found))
        }
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a kernel or a sandbox has no statx(2), or not with these flags.
pub fn is_without(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM)
}

/// Replaces inode, length and times by those in `now`.
pub fn renew(stat: &mut Stat, now: &Statx) {
    stat.st_ino = now.stx_ino;
    stat.st_size = now.stx_size.try_into().unwrap_or(stat.st_size);
    (stat.st_mtime, stat.st_ctime) = (now.stx_mtime.tv_sec, now.stx_ctime.tv_sec);
    stat.st_mtime_nsec = now.stx_mtime.tv_nsec.into();
    stat.st_ctime_nsec = now.stx_ctime.tv_nsec.into();
}

/// Opens `name` as a descriptor that can be neither read nor written: it keeps referring to the
/// same file, whatever happens to the name.
///
/// # Errors
///
/// The errors of open(2).
pub fn hold(folder: &File, name: &OsStr) -> io::Result<File> {
    open_as(folder, name, OFlags::PATH)
}

/// Opens the file `name` for reading, without waiting.
///
/// # Errors
///
/// The errors of open(2); `ELOOP` for a link.
pub fn open_to_read(folder: &File, name: &OsStr) -> io::Result<File> {
    open_as(folder, name, OFlags::RDONLY | AT_ONCE)
}

/// Opens the file `name` for reading and writing, without waiting.
///
/// # Errors
///
/// The errors of open(2); `ELOOP` for a link.
pub fn open_to_write(folder: &File, name: &OsStr) -> io::Result<File> {
    open_as(folder, name, OFlags::RDWR | AT_ONCE)
}

/// Opens the file `name` for writing, without waiting and without the right to read it.
///
/// # Errors
///
/// The errors of open(2); `ELOOP` for a link.
pub fn open_to_write_only(folder: &File, name: &OsStr) -> io::Result<File> {
    open_as(folder, name, OFlags::WRONLY | AT_ONCE)
}

/// Opens the folder `name`.
///
/// # Errors
///
/// The errors of open(2); `ENOTDIR` for a link.
pub fn open_folder(folder: &File, name: &OsStr) -> io::Result<File> {
    open_as(folder, name, OFlags::RDONLY | OFlags::DIRECTORY)
}

fn open_as(folder: &File, name: &OsStr, flags: OFlags) -> io::Result<File> {
    let opened = match flags.contains(OFlags::NONBLOCK) {
        true => open_at_once(folder, name, flags | IN_FOLDER),
        false => retry_on_intr(|| openat(folder, name, flags | IN_FOLDER, Mode::empty())),
    };
    Ok(File::from(opened?))
}

/// Opens `name` without waiting for the other end of a pipe. Waits for a regular file under another
/// process's lease until the kernel ends the lease, even if its name changes in the meantime.
///
/// # Errors
///
/// The errors of open(2).
pub fn open_at_once(
    folder: impl AsFd,
    name: impl Arg,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let (folder, name) = (folder.as_fd(), name.into_c_str()?);
    let open = |flags| retry_on_intr(|| openat(folder, &*name, flags, Mode::empty()));
    match open(flags | AT_ONCE) {
        Err(Errno::AGAIN) => {
            let link = flags & OFlags::NOFOLLOW;
            let held = open(OFlags::PATH | OFlags::CLOEXEC | link)?;
            if !FileType::from_raw_mode(fstat(&held)?.st_mode).is_file() {
                return Err(Errno::AGAIN);
            }
            // Of this thread, which may have its own table of descriptors.
            let held_name = format!("/proc/thread-self/fd/{}", held.as_raw_fd());
            let waiting = flags - OFlags::NOFOLLOW - AT_ONCE;
            retry_on_intr(|| openat(CWD, &*held_name, waiting, Mode::empty()))
        }
        opened => opened,
    }
}

/// Creates the file `name`, which must be free, for reading and writing: with the permissions
/// `mode` less the umask, or those of the folder's default access list.
///
/// # Errors
///
/// The errors of open(2), including `AlreadyExists`.
pub fn create_file(folder: &File, name: &OsStr, mode: u32) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | IN_FOLDER;
    let mode = Mode::from_raw_mode(mode);
    Ok(File::from(retry_on_intr(|| openat(folder, name, flags, mode))?))
}

/// Creates the folder `name`, which must be free, with permissions like [`create_file`].
///
/// # Errors
///
/// The errors of mkdir(2), including `AlreadyExists`.
pub fn create_folder(folder: &File, name: &OsStr, mode: u32) -> io::Result<()> {
    Ok(retry_on_intr(|| mkdirat(folder, name, Mode::from_raw_mode(mode)))?)
}

/// Removes the name of a file.
///
/// # Errors
///
/// The errors of unlink(2).
pub fn remove(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(retry_on_intr(|| unlinkat(folder, name, AtFlags::empty()))?)
}

/// Removes the folder `name`, which must be empty.
///
/// # Errors
///
/// The errors of rmdir(2).
pub fn remove_folder(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(retry_on_intr(|| unlinkat(folder, name, AtFlags::REMOVEDIR))?)
}

/// Renames `from` to `to`, replacing an existing file, in one step.
///
/// # Errors
///
/// The errors of rename(2).
pub fn rename_over(folder: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
    Ok(retry_on_intr(|| renameat(folder, from, folder, to))?)
}

/// Renames `from` to a free name, in one step.
///
/// # Errors
///
/// `AlreadyExists` if the name is taken; `Unsupported` if the file system or the kernel cannot
/// guarantee this; otherwise the errors of renameat2(2).
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::names::rename_new;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("from"), "bytes")?;
/// std::fs::write(folder.path().join("to"), "kept")?;
/// let opened = std::fs::File::open(folder.path())?;
/// assert!(rename_new(&opened, "from".as_ref(), "to".as_ref()).is_err());
/// assert_eq!(std::fs::read(folder.path().join("to"))?, b"kept");
/// # Ok(())
/// # }
/// ```
pub fn rename_new(folder: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let flags = RenameFlags::NOREPLACE;
    match retry_on_intr(|| renameat_with(folder, from, folder, to, flags)) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the names in `folder`, in no particular order.
///
/// # Errors
///
/// The errors of open(2) and getdents(2).
pub fn list(folder: &File) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    // Not with the descriptor, which may be unreadable (`O_PATH`).
    for entry in Dir::new(open_folder(folder, OsStr::new("."))?)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Returns once the device has stored the names in `folder`; if this user may write to the folder
/// but not list it, syncs its whole file system.
///
/// # Errors
///
/// The errors of fsync(2), of open(2) if the folder can be opened neither for reading nor for a
/// file without a name, and of syncfs(2). File systems that cannot sync a folder, because all or
/// none of its changes are durable, count as done.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    let synced = match folder.sync_all() {
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => {
            match open_folder(folder, OsStr::new(".")) {
                Ok(folder) => folder.sync_all(),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    let file = create_nameless(folder).map_err(|_| error)?;
                    syncfs(file).map_err(io::Error::from)
                }
                Err(error) => Err(error),
            }
        }
        done => done,
    };
    match synced {
        Err(error)
            if [Some(libc::EINVAL), Some(libc::EOPNOTSUPP)].contains(&error.raw_os_error()) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Checks whether this process may write to `name`.
///
/// For messages, not for security: the answer may change a moment later.
///
/// # Errors
///
/// The errors of faccessat2(2): `EACCES`, `EROFS` on a read-only file system, `ETXTBSY` for a program
/// that is running.
pub fn may_write(folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    // With the effective ids, as open(2) would; kernels that lack the flag use the real ones.
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    Ok(match accessat(&folder, name, Access::WRITE_OK, flags) {
        Err(Errno::NOSYS) => accessat(&folder, name, Access::WRITE_OK, AtFlags::empty()),
        answered => answered,
    }?)
}

/// Returns the reason why no other file can replace `name`: `EBUSY` if it is a mount point (unknown
/// before Linux 5.8), `EPERM` if it is immutable or append-only, see chattr(1).
pub fn why_not_replaced(folder: &File, name: &OsStr) -> Option<Errno> {
    const KEPT: StatxAttributes = StatxAttributes::IMMUTABLE.union(StatxAttributes::APPEND);
    let found =
        retry_on_intr(|| statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty()));
    match found.map(|it| it.stx_attributes) {
        Ok(it) if it.contains(StatxAttributes::MOUNT_ROOT) => Some(Errno::BUSY),
        Ok(it) if it.intersects(KEPT) => Some(Errno::PERM),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Place(tempfile::TempDir, File);

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let opened = File::open(folder.path()).expect("mine");
            Self(folder, opened)
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.0.path().join(name)
        }
    }

    fn named(name: &str) -> &OsStr {
        OsStr::new(name)
    }

    #[test]
    fn a_free_name_is_taken_and_a_taken_one_kept() {
        let place = Place::new();
        fs::write(place.path("a"), b"a").expect("written");
        match rename_new(&place.1, named("a"), named("b")) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                return swath_reference::skip("rename-noreplace", error);
            }
        }
        fs::write(place.path("a"), b"new a").expect("written");
        let error = rename_new(&place.1, named("a"), named("b")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(place.path("b")).expect("there"), b"a");
        rename_over(&place.1, named("a"), named("b")).expect("renamed");
        assert_eq!(fs::read(place.path("b")).expect("there"), b"new a");
        assert!(!place.path("a").exists());
    }

    #[test]
    fn names_are_of_the_folder_that_was_opened_wherever_it_is_moved() {
        let place = Place::new();
        fs::create_dir(place.path("before")).expect("made");
        let opened = File::open(place.path("before")).expect("mine");
        fs::rename(place.path("before"), place.path("after")).expect("moved");
        fs::create_dir(place.path("before")).expect("made");
        create_file(&opened, named("new"), 0o600).expect("made");
        create_folder(&opened, named("inner"), 0o700).expect("made");
        let mut names = list(&opened).expect("listed");
        names.sort();
        assert_eq!(names, ["inner", "new"]);
        assert_eq!(fs::read_dir(place.path("before")).expect("listed").count(), 0);
        let facts = fs::metadata(place.path("after/new")).expect("there");
        assert_eq!(facts.permissions().mode() & 0o777, 0o600);
        remove(&opened, named("new")).expect("removed");
        remove_folder(&opened, named("inner")).expect("removed");
        assert!(look(&opened, named("new")).expect("asked").is_none());
    }

    #[test]
    fn no_link_under_a_name_is_followed() {
        let place = Place::new();
        fs::write(place.path("real"), b"").expect("written");
        symlink("real", place.path("link")).expect("linked");
        let link = named("link");
        assert!(open_to_read(&place.1, link).is_err());
        assert!(open_to_write(&place.1, link).is_err());
        assert!(open_folder(&place.1, link).is_err());
        assert!(create_file(&place.1, link, 0o600).is_err());
        assert!(hold(&place.1, link).expect("held").metadata().expect("known").is_symlink());
        remove(&place.1, link).expect("the link alone");
        assert!(place.path("real").exists());
    }

    #[test]
    fn a_folder_is_synced_also_where_that_means_nothing() {
        let place = Place::new();
        sync_folder(&place.1).expect("synced");
        let parent = File::open(place.0.path().parent().expect("one")).expect("opened");
        let name = place.0.path().file_name().expect("one");
        sync_folder(&hold(&parent, name).expect("held")).expect("opened again, and synced");
        sync_folder(&File::open("/proc").expect("mounted")).expect("nothing to sync");
    }

    #[test]
    fn writable_means_for_this_process() {
        let place = Place::new();
        fs::write(place.path("file"), b"").expect("written");
        may_write(&place.1, named("file")).expect("mine");
        let error = may_write(&place.1, named("missing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        // No process may write to a process's map table, not even root.
        let own = File::open("/proc/self").expect("mounted");
        let is_root = rustix::process::geteuid().is_root();
        assert!(may_write(&own, named("maps")).is_err() || is_root);
    }
}
