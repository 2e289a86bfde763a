//! The access that a file grants, for another file made from it.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{fgetxattr, getxattr};
use rustix::io::{Errno, retry_on_intr};

/// The extended attribute that holds a file's access control list.
pub(crate) const ACCESS_LIST: &str = "system.posix_acl_access";

/// The access that a file grants: its permissions, and the group they apply to.
///
/// ```
/// use std::os::unix::fs::PermissionsExt;
/// use swath_os::access::Access;
///
/// let file = tempfile::tempfile()?;
/// file.set_permissions(PermissionsExt::from_mode(0o640))?;
/// let access = Access::of(&file)?;
/// assert_eq!(access.in_group(access.group()), 0o640);
/// assert_eq!(access.in_group(None), 0o600, "members of another group are not let in");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    mode: u32,
    group: Option<u32>,
}

impl Access {
    /// Returns the access of these permissions, the twelve bits of chmod(2), for members of this
    /// group; `None`: of any group that the file has.
    pub fn new(mode: u32, group: Option<u32>) -> Self {
        Self { mode: mode & 0o7777, group }
    }

    /// Returns the access of a file whose group is unknown: its members get only what all others
    /// get too.
    pub fn of_unknown_group(mode: u32) -> Self {
        Self::new(with_least(mode & 0o7777, 0o7), None)
    }

    /// Returns the access of an open file. An access control list is treated as if it gave the
    /// group and all others what each of its entries gives.
    ///
    /// # Errors
    ///
    /// The errors of fstat(2) and fgetxattr(2).
    pub fn of(file: &File) -> io::Result<Self> {
        let list = grown(|buffer| fgetxattr(file, ACCESS_LIST, buffer));
        let list = answered(list, |name| fgetxattr(file, name, &mut [0]));
        let facts = file.metadata()?;
        Self::with_list(facts.mode(), facts.gid(), list)
    }

    /// Returns the access of the file that a path leads to.
    ///
    /// # Errors
    ///
    /// The errors of stat(2) and getxattr(2).
    pub fn at(path: &Path) -> io::Result<Self> {
        let list = grown(|buffer| getxattr(path, ACCESS_LIST, buffer));
        let list = answered(list, |name| getxattr(path, name, &mut [0]));
        let facts = path.metadata()?;
        Self::with_list(facts.mode(), facts.gid(), list)
    }

    /// Returns the access of a file of this mode, group and access control list.
    ///
    /// # Errors
    ///
    /// The errors from reading the list, except those that mean that there is none.
    pub(crate) fn with_list(
        mode: u32,
        group: u32,
        list: rustix::io::Result<Vec<u8>>,
    ) -> io::Result<Self> {
        match list {
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                Ok(Self::new(mode, Some(group)))
            }
            Ok(list) => Ok(Self::new(with_least(mode, least(&list)), None)),
            // There may be a list.
            Err(Errno::PERM | Errno::ACCESS) => Ok(Self::new(with_least(mode, 0), None)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the group that the permissions apply to; `None` if they hold for any, as for a file
    /// with an access control list: its group permissions are a mask.
    pub fn group(self) -> Option<u32> {
        self.group
    }

    /// Returns the access that both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let group = match (self.group, other.group) {
            (Some(one), Some(another)) if one != another => None,
            (one, another) => one.or(another),
        };
        let of_both = |it: Self| if it.group.is_some() { it.in_group(group) } else { it.mode };
        Self { mode: of_both(self) & of_both(other), group }
    }

    /// Whether some user may read, write or run under this access, but not under `other`.
    pub fn exceeds(self, other: Self) -> bool {
        let both = self.and(other);
        both.in_group(self.group) != self.mode
    }

    /// Whether [`in_group`](Self::in_group) differs between groups.
    pub fn depends_on_group(self) -> bool {
        self.in_group(None) != self.mode
    }

    /// Returns the permissions of a file of this group that lets in no more users; `None`: of a
    /// file with an access control list. If the group differs, its members and all others get what
    /// both got before.
    pub fn in_group(self, group: Option<u32>) -> u32 {
        match self.group {
            Some(own) if group != Some(own) => with_least(self.mode, 0o7),
            _ => self.mode,
        }
    }
}

impl From<std::fs::Permissions> for Access {
    /// Returns the access for members of any group that the file has.
    fn from(permissions: std::fs::Permissions) -> Self {
        Self::new(permissions.mode(), None)
    }
}

/// Returns the mode, with the permissions common to the group, all others and `least` for both the
/// group and all others.
fn with_least(mode: u32, least: u32) -> u32 {
    let all = mode >> 3 & mode & least & 0o7;
    mode & !0o77 | all << 3 | all
}

/// Returns the permissions common to all entries of an access control list, except the owner's.
fn least(list: &[u8]) -> u32 {
    const VERSION: [u8; 4] = [2, 0, 0, 0];
    const OWNER: u16 = 1;
    let Some(entries) = list.strip_prefix(&VERSION) else { return 0 };
    let entries = entries.chunks_exact(8).map(|entry| {
        let number = |at: usize| u16::from_le_bytes([entry[at], entry[at + 1]]);
        (number(0), u32::from(number(2)))
    });
    entries.filter(|&(tag, _)| tag != OWNER).fold(0o7, |all, (_, may)| all & may)
}

/// Calls `get` with buffers that double until the result fits; the kernel's limit is 64 KiB.
pub(crate) fn grown(
    get: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match retry_on_intr(|| get(&mut buffer)) {
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 2, 0),
            Err(error) => return Err(error),
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
        }
    }
}

/// The answer about an attribute. Programs of FUSE that have none, rclone among them, may report each as a failure of
/// the device: also one that no file has.
pub(crate) fn answered<T>(
    answer: rustix::io::Result<T>,
    ask: impl FnOnce(&str) -> rustix::io::Result<usize>,
) -> rustix::io::Result<T> {
    match answer {
        Err(Errno::IO) if ask("user.swath.none") == Err(Errno::IO) => Err(Errno::OPNOTSUPP),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_an_answer_only_if_each_attribute_fails_alike() {
        let failed: rustix::io::Result<usize> = Err(Errno::IO);
        assert_eq!(answered(failed, |_| Err(Errno::IO)), Err(Errno::OPNOTSUPP));
        assert_eq!(answered(failed, |_| Err(Errno::NODATA)), failed);
        assert_eq!(answered(Ok(3), |_| unreachable!()), Ok(3));
    }

    #[test]
    fn another_group_gets_what_the_group_and_all_others_had() {
        for (mode, elsewhere) in [
            (0o600, 0o600),
            (0o640, 0o600),
            (0o644, 0o644),
            (0o664, 0o644),
            (0o604, 0o600),
            (0o755, 0o755),
            (0o750, 0o700),
            (0o4765, 0o4744),
        ] {
            let access = Access::new(mode, Some(7));
            assert_eq!(access.in_group(Some(7)), mode, "{mode:o}");
            assert_eq!(access.in_group(Some(8)), elsewhere, "{mode:o}");
            assert_eq!(access.in_group(None), elsewhere, "{mode:o}");
            assert_eq!(access.depends_on_group(), mode != elsewhere, "{mode:o}");
            assert_eq!(Access::new(mode, None).in_group(Some(8)), mode, "{mode:o}");
        }
    }

    /// Each user is the owner, in one of two groups, in both, or in none: the new file allows a
    /// user no more than both files do and, within one group, no less.
    #[test]
    fn two_files_allow_what_each_of_them_allows_each_user() {
        let may = |mode: u32, group: u32, user: (bool, bool)| match [user.0, user.1]
            [group as usize]
        {
            true => mode >> 3 & 0o7,
            false => mode & 0o7,
        };
        let users = [(false, false), (false, true), (true, false), (true, true)];
        for one in 0..0o100 {
            for another in 0..0o100 {
                for (first, second, group) in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)] {
                    let both =
                        Access::new(one, Some(first)).and(Access::new(another, Some(second)));
                    let mode = both.in_group(Some(group));
                    for user in users {
                        let (of_one, of_another) =
                            (may(one, first, user), may(another, second, user));
                        let made = may(mode, group, user);
                        assert_eq!(made & !(of_one & of_another), 0, "{one:o} {another:o}");
                        assert!(
                            (first, second) != (group, group) || made == of_one & of_another,
                            "{one:o} {another:o}: too little"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn an_access_exceeds_another_if_it_lets_one_more_user_in() {
        let of = |mode, group| Access::new(mode, Some(group));
        assert!(!of(0o644, 1).exceeds(of(0o644, 2)));
        assert!(!of(0o640, 1).exceeds(of(0o660, 1)));
        assert!(of(0o640, 1).exceeds(of(0o640, 2)));
        assert!(of(0o640, 1).exceeds(Access::new(0o600, None)));
        assert!(!of(0o600, 1).exceeds(of(0o600, 2)));
        assert!(of(0o644, 1).exceeds(of(0o600, 1)));
    }

    #[test]
    fn a_list_gives_what_all_of_its_entries_give() {
        let list = |entries: [(u16, u16); 5]| {
            swath_reference::access_list(&entries.map(|(tag, may)| (tag, may, u32::MAX)))
        };
        assert_eq!(least(&list([(1, 0), (2, 4), (4, 6), (16, 7), (32, 5)])), 4);
        assert_eq!(least(&list([(1, 6), (2, 0), (4, 4), (16, 4), (32, 4)])), 0);
        assert_eq!(least(b"something else"), 0);
    }
}
