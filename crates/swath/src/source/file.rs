//! Facts about a file, from its descriptor.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use swath_os::direct;
use swath_os::file_system::{self, FileSystem};
use swath_plan::policy::Storage;

/// How long a source is, and whether it can be read by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By position, this many bytes.
    Sized(u64),
    /// A regular file of the kernel's that makes its bytes when read, whatever length it says.
    Made,
    /// In order, until it ends.
    Stream,
}

/// What `fstat(2)` says that changes when the content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) len: u64,
    pub(crate) device: u64,
    inode: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Self {
        #[expect(clippy::unnecessary_cast, reason = "types differ between architectures")]
        Self {
            len: u64::try_from(stat.st_size).unwrap_or(0),
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        }
    }

    /// Whether both are of one file, changed or not.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    Ok(Identity::of(&rustix::fs::fstat(file)?))
}

/// How this file is to be read.
pub(crate) fn kind(file: &File, stat: &Stat) -> io::Result<Kind> {
    let len = Identity::of(stat).len;
    match FileType::from_raw_mode(stat.st_mode) {
        // Empty, or one of the kernel's own files.
        FileType::RegularFile if len == 0 => Ok(Kind::Made),
        FileType::RegularFile => Ok(Kind::Sized(len)),
        FileType::BlockDevice => Ok(Kind::Sized(device_len(file)?)),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Ok(Kind::Stream),
    }
}

/// The position of the descriptor moves to the end and back.
fn device_len(mut file: &File) -> io::Result<u64> {
    let here = file.stream_position()?;
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(here))?;
    Ok(len)
}

/// The path that the kernel knows it by, for messages.
pub(crate) fn name_of(file: &File) -> PathBuf {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::read_link(link).unwrap_or_else(|_| PathBuf::from("<file>"))
}

/// Where a file lives, and what that means for reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) storage: Storage,
    /// Whether `io_uring` may read it: FUSE, and overlays over it, can return wrong bytes through
    /// the ring, so only file systems known to be right are let in.
    pub(crate) ring: bool,
    /// Bytes that the kernel reads ahead of one thread; 0 where nobody knows.
    pub(crate) readahead: u64,
}

impl Place {
    pub(crate) const FOREIGN: Self =
        Self { storage: Storage::Foreign, ring: false, readahead: 0 };
}

pub(crate) fn place(file: &File, device: u64) -> Place {
    let file_system = file_system::file_system(file).unwrap_or(FileSystem::Other);
    let elsewhere = |storage| Place { storage, ..Place::FOREIGN };
    match file_system {
        FileSystem::Ext | FileSystem::Xfs | FileSystem::Btrfs | FileSystem::F2fs => {
            Place { ring: true, ..on_device(device) }
        }
        FileSystem::Tmpfs => elsewhere(Storage::Memory),
        FileSystem::Fuse => elsewhere(Storage::Fuse),
        FileSystem::Network => elsewhere(Storage::Network),
        FileSystem::Pseudo => Place::FOREIGN,
        FileSystem::Overlay | FileSystem::Other => on_device(device),
    }
}

/// What sysfs says of a device, asked once: the answer costs as much as a small cold read.
fn on_device(device: u64) -> Place {
    static KNOWN: Mutex<BTreeMap<u64, Place>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(device).or_insert_with(|| Place {
        storage: match file_system::is_rotational(device) {
            Some(true) => Storage::Rotational,
            Some(false) | None => Storage::Local,
        },
        ring: false,
        readahead: file_system::readahead(device).unwrap_or(0),
    })
}

/// Whether the length that `fstat` shows can be believed: in `/proc` and `/sys` it cannot.
pub(crate) fn is_pseudo(file: &File) -> bool {
    matches!(file_system::file_system(file), Ok(FileSystem::Pseudo))
}

/// A descriptor that reads past the page cache.
#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) file: File,
    /// What offsets and lengths must be multiples of.
    pub(crate) unit: NonZeroU64,
    /// What addresses must be multiples of.
    pub(crate) memory: usize,
}

/// Opens it again with `O_DIRECT`, if the file system can.
pub(crate) fn direct(file: &File) -> io::Result<Direct> {
    let alignment = direct::direct_alignment(file)?;
    let direct = direct::reopen_direct(file)?;
    // Kernels before 6.1 do not say: the page size satisfies every device.
    let (unit, memory) = alignment.map_or((4096, 4096), |known| (known.offset, known.memory));
    let unit = NonZeroU64::new(u64::from(unit)).ok_or(io::ErrorKind::Unsupported)?;
    Ok(Direct { file: direct, unit, memory: usize::try_from(memory).unwrap_or(4096).max(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_not_let_at_files_that_the_kernel_makes() {
        let place = |path: &str| {
            let file = File::open(path).expect("the kernel's own");
            let device = identity(&file).expect("it is open").device;
            place(&file, device)
        };
        assert_eq!(place("/proc/self/stat"), Place::FOREIGN);
        assert!(!place("/sys/kernel").ring);
    }
}
