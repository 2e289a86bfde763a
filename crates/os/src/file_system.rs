//! The kind of a file's file system, and whether its disk is a spinning one.
//!
//! Kinds are as coarse as the decisions that depend on them: which calls work, whether another
//! machine may change the file, whether lengths can be trusted.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{fstatfs, major, minor};

use crate::kernel_text;

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileSystem {
    /// ext2, ext3 and ext4, which have the same number.
    Ext,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// tmpfs and ramfs: the page cache is the only copy. Also memory files and devtmpfs.
    Tmpfs,
    /// overlayfs, whatever is below it.
    Overlay,
    /// A program in user space. virtiofs too: both have the same number.
    Fuse,
    /// Another machine, or the host of this one, stores the file and may change it.
    Network,
    /// The kernel generates the bytes when they are read: lengths mean nothing.
    Pseudo,
    /// Anything else, including hugetlbfs, whose pages are not in the ordinary page cache.
    Other,
}

impl FileSystem {
    /// Returns a short name in lower case, for reports.
    pub fn name(self) -> &'static str {
        match self {
            FileSystem::Ext => "ext",
            FileSystem::Xfs => "xfs",
            FileSystem::Btrfs => "btrfs",
            FileSystem::F2fs => "f2fs",
            FileSystem::Tmpfs => "tmpfs",
            FileSystem::Overlay => "overlay",
            FileSystem::Fuse => "fuse",
            FileSystem::Network => "network",
            FileSystem::Pseudo => "pseudo",
            FileSystem::Other => "other",
        }
    }

    /// Numbers from `<linux/magic.h>`, and of file systems maintained outside the kernel.
    fn from_magic(magic: u32) -> FileSystem {
        match magic {
            0xef53 => FileSystem::Ext,
            0x5846_5342 => FileSystem::Xfs,
            0x9123_683e => FileSystem::Btrfs,
            0xf2f5_2010 => FileSystem::F2fs,
            // tmpfs, ramfs.
            0x0102_1994 | 0x8584_58f6 => FileSystem::Tmpfs,
            0x794c_7630 => FileSystem::Overlay,
            0x6573_5546 => FileSystem::Fuse,
            _ if NETWORK.contains(&magic) => FileSystem::Network,
            _ if PSEUDO.contains(&magic) => FileSystem::Pseudo,
            _ => FileSystem::Other,
        }
    }
}

/// Whether a server, another machine or a user-space program stores the bytes of an open file or
/// folder: its facts about a file may be seconds old, it may look up the name of an open file
/// again, and its locks may keep out only programs of this machine.
///
/// ```
/// let file = std::fs::File::open("/proc/version")?;
/// assert!(!swath_os::file_system::is_remote(&file));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_remote(file: impl AsFd) -> bool {
    // A file system without an answer is one of FUSE whose program does not answer.
    matches!(file_system(file), Ok(FileSystem::Fuse | FileSystem::Network) | Err(_))
}

const NETWORK: [u32; 15] = [
    0x6969,      // nfs
    0x517b,      // smb
    0xff53_4d42, // cifs
    0xfe53_4d42, // smb2
    0x0102_1997, // 9p
    0x00c3_6400, // ceph
    0x5346_414f, // afs
    0x6b41_4653, // kafs
    0x0bd0_0bd0, // lustre
    0x4750_4653, // gpfs
    0x7375_7245, // coda
    0x1983_0326, // beegfs
    0x2003_0528, // orangefs
    0x786f_4256, // vboxsf
    0xaad7_aaea, // panfs
];

const PSEUDO: [u32; 29] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0xf97c_ff8c, // selinux
    0x4341_5d53, // smack
    0x5a3c_69f0, // apparmor
    0x1cd1,      // devpts
    0xde5e_81e4, // efivarfs
    0x6165_676c, // pstore
    0x4249_4e4d, // binfmt_misc
    0x1980_0202, // mqueue
    0x6e73_6673, // nsfs
    0x5049_4446, // pidfs
    0x534f_434b, // sockfs
    0x5049_5045, // pipefs
    0x0904_1934, // anonymous inodes
    0x0765_5821, // resctrl
    0x6c6f_6f70, // binder
    0x0187,      // autofs
    0x6759_6969, // rpc_pipefs
    0x6e66_7364, // nfsd
    0x6573_5543, // fusectl
    0xabba_1974, // xenfs
];

/// Returns the kind of file system that `file` is on.
///
/// # Errors
///
/// The errors of fstatfs(2): `ENOSYS` from a file system without it, `EIO`.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::file_system::{FileSystem, file_system};
///
/// let status = std::fs::File::open("/proc/self/status")?;
/// assert_eq!(file_system(&status)?, FileSystem::Pseudo);
/// # Ok(())
/// # }
/// ```
pub fn file_system(file: impl AsFd) -> io::Result<FileSystem> {
    // If the field has 32 bits, it is signed: only its bits count.
    let bits = fstatfs(file)?.f_type & 0xffff_ffff;
    Ok(u32::try_from(bits).map_or(FileSystem::Other, FileSystem::from_magic))
}

/// Returns whether the disk of `dev`, an `st_dev`, is a spinning one, so that seeks are
/// expensive.
///
/// `None` if unknown: no disk of its own (tmpfs, btrfs, overlay, network), no sysfs, or a
/// virtual disk (virtio, NVMe, loop, zram and similar) that claims to be spinning, because that
/// is the default of a driver. A stack of disks (device mapper, md) is spinning if one of its
/// disks is.
pub fn is_rotational(dev: u64) -> Option<bool> {
    let link = format!("/sys/dev/block/{}:{}", major(dev), minor(dev));
    disk_turns(&fs::canonicalize(link).ok()?)
}

/// Returns how many bytes the kernel reads ahead of a thread that reads sequentially from device
/// `dev`.
///
/// `None` if sysfs does not report it, as for network file systems.
pub fn readahead(dev: u64) -> Option<u64> {
    let link = format!("/sys/dev/block/{}:{}", major(dev), minor(dev));
    let device = fs::canonicalize(link).ok()?;
    let disk = if device.join("queue").is_dir() { &device } else { device.parent()? };
    let kib = kernel_text::read_text(disk.join("queue/read_ahead_kb")).ok()?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the sysfs folder of the whole disk that device `dev` is, or is a part of: all devices of
/// one disk have the same folder.
///
/// A stack of disks (device mapper, md) is a disk of its own. `None` if sysfs has no disk for it,
/// as for network file systems.
pub fn disk(dev: u64) -> Option<PathBuf> {
    let link = format!("/sys/dev/block/{}:{}", major(dev), minor(dev));
    let device = fs::canonicalize(link).ok()?;
    if device.join("queue").is_dir() {
        Some(device)
    } else {
        device.parent().map(Path::to_owned)
    }
}

/// Returns it for one device folder of sysfs, that of a whole disk or a partition.
fn disk_turns(device: &Path) -> Option<bool> {
    let is_partition = !device.join("queue").is_dir();
    let disk = if is_partition { device.parent()? } else { device };
    let below: Vec<_> =
        fs::read_dir(disk.join("slaves")).ok().into_iter().flatten().flatten().collect();
    if !below.is_empty() {
        let answers = below.iter().map(|link| disk_turns(&fs::canonicalize(link.path()).ok()?));
        return answers.reduce(either_turns)?;
    }
    let flag = kernel_text::read_text(disk.join("queue/rotational")).ok()?;
    judge(disk.file_name()?, flag.trim())
}

/// Returns whether a stack is slow: one spinning disk makes it so, and an unknown one makes the
/// rest unknown.
fn either_turns(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    if a == Some(true) || b == Some(true) { Some(true) } else { a.and(b) }
}

fn judge(disk: &OsStr, flag: &str) -> Option<bool> {
    const VIRTUAL: [&[u8]; 8] =
        [b"vd", b"xvd", b"nvme", b"loop", b"zram", b"ram", b"nbd", b"rbd"];
    let is_virtual = VIRTUAL.iter().any(|start| disk.as_encoded_bytes().starts_with(start));
    match flag {
        "0" => Some(false),
        "1" if !is_virtual => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn known_numbers_have_their_kind_and_others_none() {
        for (magic, kind) in [
            (libc::EXT4_SUPER_MAGIC, FileSystem::Ext),
            (libc::XFS_SUPER_MAGIC, FileSystem::Xfs),
            (libc::BTRFS_SUPER_MAGIC, FileSystem::Btrfs),
            (libc::TMPFS_MAGIC, FileSystem::Tmpfs),
            (libc::OVERLAYFS_SUPER_MAGIC, FileSystem::Overlay),
            (libc::FUSE_SUPER_MAGIC, FileSystem::Fuse),
            (libc::NFS_SUPER_MAGIC, FileSystem::Network),
            (libc::SMB_SUPER_MAGIC, FileSystem::Network),
            (libc::CODA_SUPER_MAGIC, FileSystem::Network),
            (libc::SYSFS_MAGIC, FileSystem::Pseudo),
            (libc::CGROUP2_SUPER_MAGIC, FileSystem::Pseudo),
            (libc::TRACEFS_MAGIC, FileSystem::Pseudo),
            (libc::DEVPTS_SUPER_MAGIC, FileSystem::Pseudo),
            (libc::HUGETLBFS_MAGIC, FileSystem::Other),
        ] {
            let magic = u32::try_from(magic).expect("32 bits");
            assert_eq!(FileSystem::from_magic(magic), kind, "{magic:#x}");
        }
        assert_eq!(FileSystem::from_magic(0), FileSystem::Other);
    }

    #[test]
    fn proc_sysfs_and_memory_files_are_recognised() {
        for (path, kind) in [
            ("/proc/self/stat", FileSystem::Pseudo),
            ("/sys/kernel/mm", FileSystem::Pseudo),
            ("/dev/null", FileSystem::Tmpfs),
        ] {
            match fs::File::open(path) {
                Ok(file) => assert_eq!(file_system(&file).expect("fstatfs"), kind, "{path}"),
                Err(error) => eprintln!("skipped {path}: {error}"),
            }
        }
    }

    #[test]
    fn a_virtual_disk_that_claims_to_turn_is_unknown() {
        for (disk, flag, turns) in [
            ("sda", "1", Some(true)),
            ("sda", "0", Some(false)),
            ("vda", "1", None),
            ("vda", "0", Some(false)),
            ("nvme0n1", "1", None),
            ("loop7", "1", None),
            ("zram0", "0", Some(false)),
            ("sda", "", None),
        ] {
            assert_eq!(judge(OsStr::new(disk), flag), turns, "{disk} {flag}");
        }
    }

    #[test]
    fn a_partition_asks_its_disk_and_a_stack_asks_what_is_below() {
        let root = tempfile::tempdir().expect("a folder");
        let make = |disk: &str, flag: &str| {
            fs::create_dir_all(root.path().join(disk).join("queue")).expect("folder");
            let path = root.path().join(disk).join("queue/rotational");
            fs::write(path, flag).expect("flag");
        };
        make("sda", "1\n");
        make("vda", "1\n");
        make("dm-0", "1\n");
        fs::create_dir_all(root.path().join("sda/sda1")).expect("partition");
        assert_eq!(disk_turns(&root.path().join("sda/sda1")), Some(true));
        let slaves = root.path().join("dm-0/slaves");
        fs::create_dir_all(&slaves).expect("slaves");
        symlink(root.path().join("vda"), slaves.join("vda")).expect("link");
        assert_eq!(disk_turns(&root.path().join("dm-0")), None);
        symlink(root.path().join("sda/sda1"), slaves.join("sda1")).expect("link");
        assert_eq!(disk_turns(&root.path().join("dm-0")), Some(true));
    }

    #[test]
    fn a_file_without_a_disk_does_not_turn_or_stand() {
        let dev = fs::metadata("/proc/self/stat").expect("procfs").dev();
        assert_eq!((is_rotational(dev), readahead(dev)), (None, None));
    }
}
