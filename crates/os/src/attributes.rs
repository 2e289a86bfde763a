//! Copies mode, owner and extended attributes from a file to its replacement.

use std::ffi::CString;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{
    Gid, Uid, XattrFlags, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr,
    listxattr,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

use crate::access::{ACCESS_LIST, Access, answered, grown};

/// The set-user-id and set-group-id bits.
const SET_ID: u32 = 0o6000;
/// Attributes that a write to the old file would have removed (capabilities), or that are a
/// checksum of its bytes (integrity).
const BOUND_TO_THE_BYTES: [&[u8]; 3] =
    [b"security.capability", b"security.ima", b"security.evm"];

/// Gives `to` the owner, group, extended attributes (access control lists among them) and mode
/// of the file `from`, as far as this process may. `from` may be a descriptor that can be neither
/// read nor written (`O_PATH`); nothing is looked up by its name.
///
/// Attributes that this process may not set are left out, on the safe side: if the group or the
/// access control list cannot be set, the group and all others get what each of them had. The bits
/// set-user-id and set-group-id, file capabilities and integrity checksums are always left out:
/// they belong to the old bytes.
///
/// # Errors
///
/// The errors of stat(2), fchown(2), fchmod(2) and fsetxattr(2), except those that mean "not
/// permitted" or "not on this file system". `EBADF` if `from` cannot be read and `/proc` is not
/// mounted.
pub fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let (old, new) = (from.metadata()?, to.metadata()?);
    let mode = old.mode() & 0o7777 & !SET_ID;
    // Some mounts report success and change nothing.
    let same_group = old.gid() == new.gid()
        || chown(to, None, Some(old.gid()))? && to.metadata()?.gid() == old.gid();
    if old.uid() != new.uid() {
        chown(to, Some(old.uid()), None)?;
    }
    copy_extended(from, to)?;
    let mode = match copy_list(from, to) && same_group {
        true => mode,
        // If there is a list, the group permissions are the mask of all its entries.
        false => {
            Access::with_list(mode, old.gid(), attribute(from, ACCESS_LIST))?.in_group(None)
        }
    };
    // Last: changing the owner clears bits of the mode, and with an access list the mode sets its
    // mask.
    set_mode(to, mode)
}

/// Sets the permissions of a file. Leaves a file alone that already has them for its owner only:
/// some mounts widen every change, and no mount that shows wrong permissions shows them as the
/// owner's only.
///
/// # Errors
///
/// The errors of fchmod(2), unless the file already has these permissions: a mount that shows the
/// caller's files under another owner refuses every change.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let has_it = || file.metadata().is_ok_and(|facts| facts.mode() & 0o7777 == mode);
    if mode & 0o077 == 0 && has_it() {
        return Ok(());
    }
    match file.set_permissions(Permissions::from_mode(mode)) {
        Err(error) if may_not(&error) && has_it() => Ok(()),
        set => set,
    }
}

/// Whether a mount refused to change permissions, as some always do.
fn may_not(error: &io::Error) -> bool {
    let refused = [Errno::PERM, Errno::ACCESS, Errno::NOSYS, Errno::OPNOTSUPP];
    Errno::from_io_error(error).is_some_and(|error| refused.contains(&error))
}

/// Returns whether the change was allowed.
fn chown(file: &File, owner: Option<u32>, group: Option<u32>) -> io::Result<bool> {
    let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
    match retry_on_intr(|| fchown(file, owner, group)) {
        Ok(()) => Ok(true),
        // Invalid: an id without a mapping in this user namespace or file system.
        Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

fn copy_extended(from: &File, to: &File) -> io::Result<()> {
    let path = path_of(from);
    let listed = grown(|buffer| match listxattr(&path, &mut *buffer) {
        // `/proc` is not mounted.
        Err(Errno::NOENT) => flistxattr(from, buffer),
        listed => listed,
    });
    let names = match answered(listed, |name| getxattr(&path, name, &mut [0])) {
        Ok(names) => names,
        Err(error) if may_be_left_out(error) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if BOUND_TO_THE_BYTES.contains(&name) {
            continue;
        }
        // It contains no zero: the list was split at zeros.
        let name = CString::new(name)?;
        let copied = attribute(from, &*name).and_then(|value| {
            retry_on_intr(|| fsetxattr(to, &name, &value, XattrFlags::empty()))
        });
        match copied {
            Ok(()) => {}
            // The attribute was removed since it was listed.
            Err(Errno::NODATA) => {}
            Err(error) if may_be_left_out(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether `to` has the access control list of `from`, or lacks one as `from` does. It may have
/// inherited one from its folder.
fn copy_list(from: &File, to: &File) -> bool {
    match (attribute(from, ACCESS_LIST), attribute(to, ACCESS_LIST)) {
        (Ok(old), Ok(new)) => old == new,
        (Err(Errno::NODATA), Ok(_)) => fremovexattr(to, ACCESS_LIST).is_ok(),
        (Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS), Err(_)) => true,
        _ => false,
    }
}

/// Returns a path to the same file, since the kernel lists nothing for a descriptor that cannot be
/// read.
fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

fn attribute(file: &File, name: impl Arg + Copy) -> rustix::io::Result<Vec<u8>> {
    let got = grown(|buffer| match getxattr(path_of(file), name, &mut *buffer) {
        // `/proc` is not mounted.
        Err(Errno::NOENT) => fgetxattr(file, name, buffer),
        got => got,
    });
    answered(got, |name| getxattr(path_of(file), name, &mut [0]))
}

fn may_be_left_out(error: Errno) -> bool {
    matches!(error, Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP | Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::setxattr;
    use tempfile::NamedTempFile;

    fn file_with_mode(mode: u32) -> NamedTempFile {
        let file = NamedTempFile::new().expect("a temporary file");
        file.as_file().set_permissions(Permissions::from_mode(mode)).expect("mine");
        file
    }

    fn mode(file: &NamedTempFile) -> u32 {
        file.as_file().metadata().expect("known").mode() & 0o7777
    }

    /// Returns an access control list with an entry for user 1.
    fn list_for(user: u16) -> Vec<u8> {
        const ALL: u32 = u32::MAX;
        let others = [(4, 4, ALL), (16, 6, ALL), (32, 0, ALL)];
        swath_reference::access_list(&[&[(1, 6, ALL), (2, user, 1)][..], &others].concat())
    }

    #[test]
    fn the_mode_is_kept_but_for_what_was_given_to_the_old_bytes() {
        for (old, wanted) in [
            (0o600, 0o600),
            (0o640, 0o640),
            (0o755, 0o755),
            (0o444, 0o444),
            (0o1777, 0o1777),
            (0o4755, 0o755),
            (0o2750, 0o750),
            (0o6711, 0o711),
        ] {
            let (old, new) = (file_with_mode(old), file_with_mode(0o600));
            copy_attributes(old.as_file(), new.as_file()).expect("copied");
            assert_eq!(mode(&new), wanted, "{wanted:o}");
        }
    }

    #[test]
    fn small_and_large_attributes_are_kept() {
        let (old, new) = (file_with_mode(0o600), file_with_mode(0o600));
        for (name, value) in
            [("user.small", &b"1"[..]), ("user.empty", b""), ("user.large", &[7; 1500])]
        {
            if let Err(error) = setxattr(old.path(), name, value, XattrFlags::empty()) {
                return swath_reference::skip("extended-attributes", error);
            }
        }
        copy_attributes(old.as_file(), new.as_file()).expect("copied");
        let get = |name: &str| grown(|buffer| fgetxattr(new.as_file(), name, buffer));
        assert_eq!(get("user.small").expect("kept"), b"1");
        assert_eq!(get("user.empty").expect("kept"), b"");
        assert_eq!(get("user.large").expect("kept"), [7; 1500]);
    }

    #[test]
    fn an_access_control_list_is_kept_with_its_mask() {
        let (old, new) = (file_with_mode(0o640), file_with_mode(0o600));
        let (list, name) = (list_for(4), ACCESS_LIST);
        if let Err(error) = setxattr(old.path(), name, &list, XattrFlags::empty()) {
            return swath_reference::skip("access-control-lists", error);
        }
        copy_attributes(old.as_file(), new.as_file()).expect("copied");
        let kept = grown(|buffer| fgetxattr(new.as_file(), name, buffer)).expect("kept");
        assert_eq!(kept, list);
        assert_eq!(mode(&new), mode(&old));
    }

    /// A new file gets the default list of its folder; the file that it replaces may have none.
    #[test]
    fn a_list_that_the_old_file_lacks_is_removed() {
        let (old, new) = (file_with_mode(0o640), file_with_mode(0o600));
        let name = ACCESS_LIST;
        if let Err(error) = setxattr(new.path(), name, &list_for(6), XattrFlags::empty()) {
            return swath_reference::skip("access-control-lists", error);
        }
        copy_attributes(old.as_file(), new.as_file()).expect("copied");
        assert_eq!(attribute(new.as_file(), name), Err(Errno::NODATA));
        assert_eq!(mode(&new), 0o640);
    }

    #[test]
    fn the_owner_is_kept_where_allowed() {
        if !rustix::process::geteuid().is_root() {
            return swath_reference::skip("root", "only root gives files away");
        }
        let (old, new) = (file_with_mode(0o600), file_with_mode(0o600));
        let (owner, group) = (Uid::from_raw(12), Gid::from_raw(34));
        fchown(old.as_file(), Some(owner), Some(group)).expect("root may");
        old.as_file().set_permissions(Permissions::from_mode(0o6755)).expect("root may");
        copy_attributes(old.as_file(), new.as_file()).expect("copied");
        let facts = new.as_file().metadata().expect("known");
        assert_eq!((facts.uid(), facts.gid(), facts.mode() & 0o7777), (12, 34, 0o755));
    }

    #[test]
    fn a_descriptor_that_cannot_be_read_is_enough_whatever_takes_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("old");
        std::fs::write(&path, b"").expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("mine");
        let coloured = setxattr(&path, "user.colour", b"red", XattrFlags::empty()).is_ok();
        let opened = File::open(folder.path()).expect("mine");
        let held = crate::names::hold(&opened, "old".as_ref()).expect("held");
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("/proc/self/exe", &path).expect("linked");
        let new = file_with_mode(0o600);
        copy_attributes(&held, new.as_file()).expect("copied");
        assert_eq!(mode(&new), 0o640);
        let colour = grown(|buffer| fgetxattr(new.as_file(), "user.colour", buffer));
        assert_eq!(colour.is_ok(), coloured);
    }
}
