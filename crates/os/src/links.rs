//! Resolves a path: to an open folder, and a name in it.
//!
//! ```text
//! path       the folder above its last name is opened; links on the way obey the rules below
//! a link     the kernel follows it, or returns an error if it may not       -> the file it reaches
//!            its text leads to the next folder and name
//! the end    must be what the kernel reached; otherwise something was swapped: start again
//! strangers  whose links were followed must own the folder where the path led, or share it as that of the link
//! ```
//!
//! Following only the texts would bypass the kernel's rules, and would miss a link that is swapped
//! between two looks.

mod way;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;

use crate::names;

/// The kernel's own limit.
const MOST_LINKS: usize = 40;
/// The most times that links may be swapped while they are followed.
const ATTEMPTS: usize = 16;
/// Bytes of a path, without the terminating zero, that the kernel takes at one time.
const LONGEST: usize = 4095;
const STICKY: u32 = 0o1000;
const STICKY_FOR_ALL: u32 = 0o1002;
const OTHERS_WRITE: u32 = 0o022;

/// See the [module](self).
#[derive(Debug)]
pub struct Located {
    /// The folder, open for reading if that is allowed.
    pub folder: File,
    /// The last name, `.` if the path does not end in one. It is not a link, except for those of
    /// the kernel that lead to no name (a pipe in `/proc/self/fd`).
    pub name: OsString,
    /// The path that led to the folder.
    pub path: PathBuf,
    /// Whether a link of another user, who may have put it there, was followed.
    pub is_by_stranger: bool,
}

/// Opens the file at `path`, whose links the kernel follows. It may be longer than the 4,095 bytes
/// that the kernel takes at one time: then the folders on the way are opened one after another.
///
/// # Errors
///
/// The errors of open(2).
///
/// ```
/// use rustix::fs::OFlags;
///
/// let long = format!("/etc{}/passwd", "/.".repeat(3_000));
/// assert!(std::fs::File::open(&long).is_err());
/// swath_os::links::open_long(long.as_ref(), OFlags::RDONLY)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_long(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let open = |from: BorrowedFd<'_>, path: &[u8], flags| {
        let flags = flags | OFlags::CLOEXEC;
        retry_on_intr(|| openat(from, OsStr::from_bytes(path), flags, Mode::empty()))
    };
    let mut rest = path.as_os_str().as_bytes();
    let mut at: Option<OwnedFd> = None;
    loop {
        let from = at.as_ref().map_or(CWD, AsFd::as_fd);
        // The kernel refuses a name that is too long by itself.
        let piece =
            rest.get(..LONGEST).and_then(|most| most.iter().rposition(|&it| it == b'/'));
        let Some(end) = piece.filter(|&end| end > 0) else { return open(from, rest, flags) };
        at = Some(open(from, &rest[..end], OFlags::PATH | OFlags::DIRECTORY)?);
        let names = rest[end..].iter().position(|&it| it != b'/');
        rest = names.map_or(b".", |begin| &rest[end + begin..]);
    }
}

/// Follows the links of an absolute path, even to a name that does not exist yet.
///
/// A link in a sticky, world-writable folder is followed only if it belongs to this process's
/// user or to the folder's owner. This is the rule of the sysctl `fs.protected_symlinks`,
/// applied whatever its setting, and not only at the end of the path. In any other folder that
/// this process's user shares, or below one, another user's link is followed only to a folder of that user,
/// or to another name in the folder of the link: it gives its owner no power over the files of this
/// process's user.
///
/// # Errors
///
/// The errors of open(2), including `EACCES` for a link that must not be followed; `ESTALE` if
/// links are swapped repeatedly.
pub fn locate(path: &Path) -> io::Result<Located> {
    for _ in 0..ATTEMPTS {
        let mut strangers = Strangers::default();
        if let Some(located) = follow(path, &mut strangers)? {
            strangers.check(&located)?;
            return Ok(Located { is_by_stranger: !strangers.0.is_empty(), ..located });
        }
    }
    Err(Errno::STALE.into())
}

/// Whether only `owner`, root and this process's user may rename in the folders above `folder`: no one else can have
/// put it there.
///
/// ```
/// let folder = std::fs::File::open("/")?;
/// assert!(swath_os::links::is_placed_by(&folder, 12));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_placed_by(folder: impl AsFd, owner: u32) -> bool {
    let user = geteuid().as_raw();
    let above = |at: BorrowedFd<'_>| -> rustix::io::Result<(OwnedFd, Stat)> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = retry_on_intr(|| openat(at, "..", flags, Mode::empty()))?;
        let facts = fstat(&above)?;
        Ok((above, facts))
    };
    let Ok(mut facts) = fstat(&folder) else { return false };
    let mut at: Option<OwnedFd> = None;
    loop {
        let Ok((upper, there)) = above(at.as_ref().map_or(folder.as_fd(), AsFd::as_fd)) else {
            return false;
        };
        if (there.st_dev, there.st_ino) == (facts.st_dev, facts.st_ino) {
            return true;
        }
        let is_kept = there.st_mode & STICKY != 0 && [0, user].contains(&facts.st_uid);
        let is_closed = there.st_mode & OTHERS_WRITE == 0 || is_kept;
        if !is_closed || ![0, user, owner].contains(&there.st_uid) {
            return false;
        }
        (at, facts) = (Some(upper), there);
    }
}

/// Links of other users that were followed: the user, and the folder that the user shares with this process's user.
#[derive(Debug, Default)]
struct Strangers(Vec<(u32, (u64, u64))>);

impl Strangers {
    /// Notes the owner of a `link` in `folder`, whose facts these are.
    fn note(&mut self, folder: BorrowedFd<'_>, facts: &Stat, link: &Stat) {
        let user = geteuid();
        if [user.as_raw(), 0].contains(&link.st_uid) {
            return;
        }
        // A folder of its owner's alone, which this user has chosen to go through: no one has put it in the way.
        let is_shared = match user.is_root() {
            true => facts.st_mode & OTHERS_WRITE != 0,
            false => names::may_write(folder, OsStr::new(".")).is_ok(),
        };
        if is_shared || link.st_uid != facts.st_uid || !is_placed_by(folder, link.st_uid) {
            self.0.push((link.st_uid, (facts.st_dev, facts.st_ino)));
        }
    }

    /// Refuses a folder that is not theirs. Modes and groups prove nothing: a folder may be out of their reach, and a
    /// link gets its group from where it is made.
    fn check(&self, at: &Located) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (folder, there) = (fstat(&at.folder)?, names::look(&at.folder, &at.name)?);
        let may_replace = |&(user, shared): &(u32, (u64, u64))| {
            let is_owner = folder.st_uid == user && folder.st_mode & 0o200 != 0;
            let is_kept =
                folder.st_mode & STICKY != 0 && there.is_some_and(|it| it.st_uid != user);
            is_owner || (shared == (folder.st_dev, folder.st_ino) && !is_kept)
        };
        if self.0.iter().all(may_replace) { Ok(()) } else { Err(Errno::ACCESS.into()) }
    }
}

/// Returns `None` if something was swapped on the way.
fn follow(path: &Path, strangers: &mut Strangers) -> io::Result<Option<Located>> {
    let mut at = open(CWD, path, Path::new(""), strangers)?;
    let Some(text) = text_of(&at, strangers)? else { return Ok(Some(at)) };
    let reached = reach(&at)?;
    let mut text = Some(text);
    for _ in 0..=MOST_LINKS {
        let Some(link) = text else { return arrived(path, at, reached, strangers) };
        at = match open(&at.folder, &link, &at.path, strangers) {
            // A link text of the kernel that is not a path.
            Err(error) if error.kind() == io::ErrorKind::NotFound && reached.is_some() => {
                return open(CWD, path, Path::new(""), strangers).map(Some);
            }
            opened => opened?,
        };
        text = text_of(&at, strangers)?;
    }
    Err(Errno::LOOP.into())
}

/// The end of the texts, if it is what the kernel has reached.
fn arrived(
    path: &Path,
    at: Located,
    reached: Option<Stat>,
    strangers: &mut Strangers,
) -> io::Result<Option<Located>> {
    let found = names::look(&at.folder, &at.name)?;
    match (found, reached) {
        (None, None) => Ok(Some(at)),
        (Some(found), Some(reached)) => {
            Ok(((found.st_dev, found.st_ino) == (reached.st_dev, reached.st_ino)).then_some(at))
        }
        // A link that leads nowhere, and yet can be followed: one of the kernel's own, to a pipe
        // or a file without a name. The link itself is what is there.
        (None, Some(_)) => open(CWD, path, Path::new(""), strangers).map(Some),
        (Some(_), None) => Ok(None),
    }
}

/// Opens the folder above the last name of `path`, which begins `from` a folder at `base`.
fn open(
    from: impl AsFd,
    path: &Path,
    base: &Path,
    strangers: &mut Strangers,
) -> io::Result<Located> {
    let (above, name) = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => (above, name),
        _ => (path, OsStr::new(".")),
    };
    let here = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let folder = way::open(from, here, strangers)?;
    let (folder, path) = (File::from(folder), base.join(above));
    Ok(Located { folder, name: name.to_owned(), path, is_by_stranger: false })
}

/// The text of the link that is there; `None` if it is not a link.
fn text_of(at: &Located, strangers: &mut Strangers) -> io::Result<Option<PathBuf>> {
    match retry_on_intr(|| readlinkat(&at.folder, &at.name, Vec::new())) {
        Err(Errno::INVAL | Errno::NOENT) => return Ok(None),
        read => drop(read?),
    }
    let link = match names::hold(&at.folder, &at.name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        held => held?,
    };
    let facts = fstat(&link)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    text_held(&at.folder, &link, &facts, strangers).map(Some)
}

/// Returns the text of an opened link in `folder`, if it may be followed: the rule of
/// `fs.protected_symlinks`.
fn text_held(
    folder: impl AsFd,
    link: impl AsFd,
    facts: &Stat,
    strangers: &mut Strangers,
) -> io::Result<PathBuf> {
    let above = fstat(&folder)?;
    let is_shared = above.st_mode & STICKY_FOR_ALL == STICKY_FOR_ALL;
    if is_shared && ![geteuid().as_raw(), above.st_uid].contains(&facts.st_uid) {
        return Err(Errno::ACCESS.into());
    }
    strangers.note(folder.as_fd(), &above, facts);
    let text = retry_on_intr(|| readlinkat(&link, "", Vec::new()))?;
    Ok(PathBuf::from(OsString::from_vec(text.into_bytes())))
}

/// Returns the file that the kernel reaches through all links; `None` if there is none.
fn reach(at: &Located) -> io::Result<Option<Stat>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match retry_on_intr(|| openat(&at.folder, &at.name, flags, Mode::empty())) {
        Ok(reached) => Ok(Some(fstat(reached)?)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Returns the end of a path, as a path.
    fn end(path: &Path) -> io::Result<PathBuf> {
        locate(path).map(|at| at.path.join(at.name))
    }

    #[test]
    fn links_are_followed_to_a_name_that_may_not_exist_yet() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        symlink("b", path("a")).expect("linked");
        symlink(path("c"), path("b")).expect("linked");
        assert_eq!(end(&path("a")).expect("followed"), path("c"));
        fs::write(path("c"), b"").expect("written");
        assert_eq!(end(&path("a")).expect("followed"), path("c"));
        symlink("loop", path("loop")).expect("linked");
        let error = end(&path("loop")).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
    }

    #[test]
    fn a_link_without_a_last_name_leads_to_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("made");
        for text in ["/", "inner/..", ".."] {
            let link = folder.path().join("link");
            symlink(text, &link).expect("linked");
            assert_eq!(locate(&link).expect("followed").name, ".", "{text}");
            fs::remove_file(link).expect("removed");
        }
    }

    #[test]
    fn what_stands_above_must_be_a_folder_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), b"").expect("written");
        symlink("missing/out", folder.path().join("link")).expect("linked");
        for (name, kind) in [
            ("file/out", io::ErrorKind::NotADirectory),
            ("missing/out", io::ErrorKind::NotFound),
            ("link", io::ErrorKind::NotFound),
        ] {
            let error = end(&folder.path().join(name)).unwrap_err();
            assert_eq!(error.kind(), kind, "{name}");
        }
    }

    #[test]
    fn a_link_of_a_stranger_in_a_sticky_folder_is_not_followed() {
        if !geteuid().is_root() {
            return swath_reference::skip("root", "only root makes links of others");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let set = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("mine");
        };
        let link = folder.path().join("link");
        for text in ["missing", "there"] {
            symlink(text, &link).expect("linked");
            std::os::unix::fs::lchown(&link, Some(12), None).expect("root may");
            fs::write(folder.path().join("there"), b"").expect("written");
            set(0o1777);
            assert_eq!(end(&link).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            set(0o777);
            end(&link).expect("a folder as any other");
            std::os::unix::fs::lchown(&link, Some(0), None).expect("root may");
            set(0o1777);
            end(&link).expect("my own");
            fs::remove_file(&link).expect("removed");
        }
    }

    /// `private` is its owner's alone; the folder of the link is open to all, and not sticky.
    #[test]
    fn a_strangers_link_leads_only_to_a_folder_of_its_owner() {
        if !geteuid().is_root() {
            return swath_reference::skip("root", "only root makes links of others");
        }
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        let set = |name: &str, mode| {
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).expect("mine");
        };
        let own = |name: &str, user| {
            std::os::unix::fs::lchown(path(name), Some(user), Some(user)).expect("root may");
        };
        fs::create_dir(path("shared")).expect("made");
        fs::create_dir(path("private")).expect("made");
        fs::write(path("private/secret"), b"").expect("written");
        set("shared", 0o777);
        symlink("../private/secret", path("shared/out")).expect("linked");
        symlink("../private", path("shared/sub")).expect("linked");
        let check = |is_followed: bool, what: &str| {
            for way in ["shared/out", "shared/sub/secret"] {
                match end(&path(way)) {
                    Ok(_) => assert!(is_followed, "{what}: {way}"),
                    Err(error) => {
                        let kind = error.kind();
                        assert_eq!(kind, io::ErrorKind::PermissionDenied, "{what}: {error}");
                        assert!(!is_followed, "{what}: {way}");
                    }
                }
            }
        };
        check(true, "my own");
        for link in ["shared/out", "shared/sub"] {
            own(link, 12);
        }
        // Owner and mode of the folder of the file, and the owner of the file.
        for (owner, mode, file, is_followed) in [
            (0, 0o700, 0, false),
            (0, 0o755, 0, false),
            (0, 0o775, 0, false),
            (13, 0o775, 13, false),
            (0, 0o777, 0, false),
            (0, 0o1777, 12, false),
            (12, 0o755, 0, true),
            (12, 0o555, 0, false),
        ] {
            own("private", owner);
            own("private/secret", file);
            set("private", mode);
            check(is_followed, &format!("{owner} {mode:o} {file}"));
        }
        own("private", 0);
        set("private", 0o755);
        own("shared", 12);
        check(false, "a folder of his that others may write to");
        set("shared", 0o755);
        check(true, "a folder that only he may write to");
        // Where he can have put it.
        for (mode, is_followed) in
            [(0o777, false), (0o1777, false), (0o775, false), (0o755, true)]
        {
            set(".", mode);
            check(is_followed, &format!("a folder of his in one of mode {mode:o}"));
        }
        own(".", 13);
        check(false, "a folder of his in one of a third user");
        own(".", 0);
    }

    /// The kernel checks only the last name.
    #[test]
    fn a_strangers_link_on_the_way_is_not_followed_either() {
        if !geteuid().is_root() {
            return swath_reference::skip("root", "only root makes links of others");
        }
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("private/inner")).expect("made");
        fs::create_dir(path("shared")).expect("made");
        fs::set_permissions(path("shared"), fs::Permissions::from_mode(0o1777)).expect("mine");
        let link = path("shared/link");
        symlink("../private", &link).expect("linked");
        symlink("shared/link/inner", path("trusted")).expect("linked");
        let ways =
            ["shared/link/out", "shared/link/inner/out", "shared/link/../out", "trusted/out"];
        for (owner, is_followed) in [(0, true), (12, false)] {
            std::os::unix::fs::lchown(&link, Some(owner), None).expect("root may");
            for way in ways {
                match end(&path(way)) {
                    Ok(_) => assert!(is_followed, "{way}"),
                    Err(error) => {
                        let kind = error.kind();
                        assert_eq!(kind, io::ErrorKind::PermissionDenied, "{way}: {error}");
                        assert!(!is_followed, "{way}");
                    }
                }
            }
        }
    }

    #[test]
    fn links_on_the_way_lead_where_the_kernel_would_go() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("a/b")).expect("made");
        symlink("a", path("relative")).expect("linked");
        symlink(path("a/b"), path("absolute")).expect("linked");
        symlink("../..", path("a/b/up")).expect("linked");
        symlink(".", path("here")).expect("linked");
        let opened = File::open(path("a/b")).expect("there");
        let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&opened));
        for way in
            ["relative", "relative/b", "absolute/up/relative", "a/b/up/here/here", "a//b/./"]
        {
            check_folder(&path(way));
        }
        for way in [own.clone(), format!("{own}/.."), format!("{own}/up/relative")] {
            check_folder(Path::new(&way));
        }
        check_folder(Path::new("/proc/self/cwd"));
        fs::remove_dir_all(path("a")).expect("mine");
        assert_eq!(end(&path("relative/out")).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(path("a"), b"").expect("written");
        assert_eq!(
            end(&path("relative/out")).unwrap_err().kind(),
            io::ErrorKind::NotADirectory
        );
    }

    /// Checks that `folder` is resolved as by the kernel, and can be listed.
    fn check_folder(folder: &Path) {
        use std::os::unix::fs::MetadataExt;
        let there = fs::metadata(folder).expect("there");
        let found = locate(&folder.join("out")).expect("located").folder;
        let facts = found.metadata().expect("open");
        assert_eq!((facts.dev(), facts.ino()), (there.dev(), there.ino()), "{folder:?}");
        names::list(&found).expect("to be read");
    }

    #[test]
    fn links_on_the_way_end_somewhere() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("0")).expect("made");
        for link in 1..=MOST_LINKS + 1 {
            symlink((link - 1).to_string(), path(&link.to_string())).expect("linked");
        }
        end(&path(&format!("{MOST_LINKS}/out"))).expect("as many as the kernel follows");
        symlink("loop/on", path("loop")).expect("linked");
        for way in [format!("{}/out", MOST_LINKS + 1), String::from("loop/out")] {
            let error = end(&path(&way)).unwrap_err();
            assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP), "{way}");
        }
    }
}
