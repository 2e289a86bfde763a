//! The memory that the control groups of this process allow it, in bytes.
//!
//! A group's limit holds for everything below it, so the lowest limit may be any ancestor's: all
//! folders from the process's own group up to the mount are read. In a container the group's path
//! may be outside the mount; then only the mount's own folder can be read.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::kernel_text;
use crate::mounts::Mount;

/// The two generations of control groups, whose files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// The memory of one group, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupMemory {
    pub(crate) limit: u64,
    pub(crate) used: u64,
    /// Page cache that the kernel drops first when the limit is near.
    pub(crate) inactive_file: u64,
}

impl GroupMemory {
    /// Returns the bytes that may still be taken before the group's own OOM killer acts.
    pub(crate) fn at_hand(self) -> u64 {
        let held = self.used.saturating_sub(self.inactive_file);
        self.limit.saturating_sub(held)
    }
}

/// One hierarchy that accounts for memory, as visible to this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    version: Version,
    mount_point: PathBuf,
    group: PathBuf,
}

impl Hierarchy {
    /// Returns the version, which determines the files of its groups.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the folder of the process's own group, or of the nearest group that is mounted.
    pub fn own(&self) -> &Path {
        if self.group.is_dir() { &self.group } else { &self.mount_point }
    }

    /// Returns the folders of all groups from the process's own up to the mount.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.own().ancestors().take_while(|folder| folder.starts_with(&self.mount_point))
    }

    /// Reads every group from the process's own up to the mount; leaves out those without a limit.
    pub(crate) fn groups(&self) -> Vec<GroupMemory> {
        self.folders().filter_map(|folder| group_memory(self.version, folder)).collect()
    }

    /// As [`groups`](Self::groups), but reads only their limits.
    fn limits(&self) -> Vec<u64> {
        self.folders().filter_map(|folder| limit(self.version, folder)).collect()
    }
}

/// Reads the groups of this process; empty if `/proc` or the hierarchies are not mounted.
pub(crate) fn groups() -> Vec<GroupMemory> {
    hierarchies().unwrap_or_default().iter().flat_map(Hierarchy::groups).collect()
}

/// Reads the limits of the groups of this process, in bytes; empty as [`groups`].
pub(crate) fn limits() -> Vec<u64> {
    hierarchies().unwrap_or_default().iter().flat_map(Hierarchy::limits).collect()
}

/// Finds the hierarchies that account for the memory of this process.
///
/// # Errors
///
/// If `/proc` is not mounted.
pub fn hierarchies() -> io::Result<Vec<Hierarchy>> {
    let membership = kernel_text::read_text("/proc/self/cgroup")?;
    Ok(joined(Mount::all()?, &membership))
}

/// Combines the mounts with `/proc/self/cgroup`.
fn joined(mounts: impl IntoIterator<Item = Mount>, membership: &str) -> Vec<Hierarchy> {
    let member = |version| membership.lines().find_map(|line| group_path(line, version));
    let hierarchy = |mount: Mount| {
        let version = accounts_as(&mount)?;
        let group = visible_at(&mount.root, &mount.point, member(version)?);
        Some(Hierarchy { version, mount_point: mount.point, group })
    };
    mounts.into_iter().filter_map(hierarchy).collect()
}

/// Returns the path in a line `id:controllers:path`, if that hierarchy is the one for memory.
fn group_path(line: &str, version: Version) -> Option<&str> {
    let mut fields = line.splitn(3, ':');
    let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let wanted = match version {
        Version::V1 => controllers.split(',').any(|name| name == "memory"),
        Version::V2 => id == "0" && controllers.is_empty(),
    };
    wanted.then_some(path)
}

/// Returns the version that accounts for memory at a mount, if any.
fn accounts_as(mount: &Mount) -> Option<Version> {
    match mount.kind.as_str() {
        "cgroup2" => Some(Version::V2),
        "cgroup" if mount.inner_options.split(',').any(|name| name == "memory") => {
            Some(Version::V1)
        }
        _ => None,
    }
}

/// Returns the folder of group `path` in a mount that shows `root` and everything below it.
fn visible_at(root: &Path, mount_point: &Path, path: &str) -> PathBuf {
    let below = Path::new(path).strip_prefix(root).ok();
    // A group outside this namespace has a path that goes up: `/../other`.
    let below = below.filter(|below| below.components().all(is_plain));
    below.map_or_else(|| mount_point.to_owned(), |below| mount_point.join(below))
}

fn is_plain(component: Component<'_>) -> bool {
    matches!(component, Component::Normal(_))
}

/// Reads one group's folder; `None` if it sets no limit or does not account for memory.
fn group_memory(version: Version, folder: &Path) -> Option<GroupMemory> {
    let limit = limit(version, folder)?;
    let (used, inactive) = match version {
        Version::V1 => ("memory.usage_in_bytes", "total_inactive_file"),
        Version::V2 => ("memory.current", "inactive_file"),
    };
    let used = number(folder, used)?;
    let stat = kernel_text::read_text(folder.join("memory.stat")).ok();
    let inactive_file = stat.and_then(|text| statistic(&text, inactive)).unwrap_or(0);
    Some(GroupMemory { limit, used, inactive_file })
}

/// Reads the limit of one group.
fn limit(version: Version, folder: &Path) -> Option<u64> {
    match version {
        Version::V1 => number(folder, "memory.limit_in_bytes"),
        // At the first limit the group is throttled, at the second killed; either may be `max`.
        Version::V2 => {
            let limits = [number(folder, "memory.high"), number(folder, "memory.max")];
            limits.into_iter().flatten().min()
        }
    }
}

/// Reads a group's file that consists of a number.
fn number(folder: &Path, name: &str) -> Option<u64> {
    kernel_text::read_text(folder.join(name)).ok()?.trim().parse().ok()
}

/// Finds `name` in lines of `name value`.
fn statistic(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";
    const V2: &str = "41 31 0:38 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate";

    fn joined(mounts: &str, membership: &str) -> Vec<Hierarchy> {
        super::joined(
            mounts.lines().filter_map(|line| Mount::parse(line.as_bytes())),
            membership,
        )
    }

    fn one(mounts: &str, membership: &str) -> (Version, PathBuf) {
        let found = joined(mounts, membership);
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].version, found[0].group.clone())
    }

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).expect("folder");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("file");
        }
    }

    #[test]
    fn the_memory_hierarchies_of_both_versions_are_found() {
        let found = one(V2, "0::/user.slice/a:b\n");
        assert_eq!(found, (Version::V2, "/sys/fs/cgroup/user.slice/a:b".into()));
        let found = one(V1, "9:cpu,cpuacct:/x\n8:hugetlb,memory:/jobs/7\n0::/\n");
        assert_eq!(found, (Version::V1, "/sys/fs/cgroup/memory/jobs/7".into()));
        let both = joined(&format!("{V1}\n{V2}\n"), "8:memory:/a\n0::/b\n");
        assert_eq!(both.len(), 2);
        assert_eq!(joined(V1, "0::/\n"), []);
        assert_eq!(joined("nonsense\n- - -\n", "1:\n"), []);
    }

    #[test]
    fn a_mount_of_an_inner_group_shows_that_group_as_its_root() {
        let mounts = "9 1 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory";
        let found = one(mounts, "4:memory:/docker/abc/job\n");
        assert_eq!(found.1, Path::new("/sys/fs/cgroup/memory/job"));
        let found = one(mounts, "4:memory:/docker/abcdef\n");
        assert_eq!(found.1, Path::new("/sys/fs/cgroup/memory"), "outside the mount");
    }

    #[test]
    fn a_path_that_climbs_out_of_the_namespace_is_the_mount_itself() {
        assert_eq!(one(V2, "0::/../../other\n").1, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn every_ancestor_with_a_limit_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let own = root.path().join("a/b");
        write(&own, &[("memory.max", "max\n"), ("memory.current", "5\n")]);
        let stat = "anon 1\ninactive_file 30\nactive_file 7\n";
        let files =
            [("memory.max", "100\n"), ("memory.high", "90"), ("memory.current", "70\n")];
        write(&root.path().join("a"), &files);
        write(&root.path().join("a"), &[("memory.stat", stat)]);
        write(root.path(), &[("memory.max", "400\n"), ("memory.current", "100\n")]);
        let mount_point = root.path().to_owned();
        let mut hierarchy = Hierarchy { version: Version::V2, mount_point, group: own };
        let inner = GroupMemory { limit: 90, used: 70, inactive_file: 30 };
        let outer = GroupMemory { limit: 400, used: 100, inactive_file: 0 };
        assert_eq!(hierarchy.groups(), [inner, outer]);
        assert_eq!((inner.at_hand(), outer.at_hand()), (50, 300));
        hierarchy.group = root.path().join("hidden");
        assert_eq!(hierarchy.groups(), [outer], "the mount answers for a hidden group");
    }

    #[test]
    fn the_first_version_has_other_names() {
        let root = tempfile::tempdir().expect("a folder");
        let files = [("memory.limit_in_bytes", "100\n"), ("memory.usage_in_bytes", "60\n")];
        write(root.path(), &files);
        let stat = "inactive_file 1\ntotal_inactive_file 20\n";
        write(root.path(), &[("memory.stat", stat)]);
        let (mount_point, group) = (root.path().to_owned(), root.path().to_owned());
        let groups = Hierarchy { version: Version::V1, mount_point, group }.groups();
        assert_eq!(groups, [GroupMemory { limit: 100, used: 60, inactive_file: 20 }]);
    }

    #[test]
    fn nothing_is_at_hand_above_the_limit_and_all_of_it_below() {
        let group = |used, inactive_file| GroupMemory { limit: 100, used, inactive_file };
        assert_eq!(group(150, 0).at_hand(), 0);
        assert_eq!(group(150, 60).at_hand(), 10);
        assert_eq!(group(10, 60).at_hand(), 100);
    }
}
