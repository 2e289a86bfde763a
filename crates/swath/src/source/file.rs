//! The facts about a file, from its descriptor.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::time::SystemTime;

use rustix::fs::{AtFlags, FileType, Stat, StatxFlags, statx};
use rustix::io::Errno;
use swath_os::descriptors::flush;
use swath_os::direct;
use swath_os::file_system::{self, FileSystem};
use swath_os::names::{is_without, renew};
use swath_plan::policy::Storage;

use crate::locks::{Mutex, lock_cache};

/// The length of a source, and whether it can be read by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLength {
    /// Read by position, this many bytes.
    Sized(u64),
    /// A regular file whose bytes the kernel generates during a read; its reported length is
    /// meaningless.
    Made,
    /// Read in order, until it ends.
    Stream,
}

/// The times of a file's last read and last write, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTimes {
    /// The time of the last read.
    pub accessed: SystemTime,
    /// The time of the last write.
    pub modified: SystemTime,
}

/// The fields of `fstat(2)` that change when the content does.
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

    /// Whether a file that changed from this identity to `after` has the same bytes, as far as can be detected. FUSE
    /// and file servers report attributes that are up to some seconds old: when a file gets its name, its attributes
    /// seem to change later. There only its length and the time of its last write decide.
    pub(crate) fn is_kept(&self, after: &Self, file: impl AsFd) -> bool {
        self == after
            || (Self { changed: after.changed, ..*self } == *after
                && file_system::is_remote(file))
    }

    /// Whether both are the same file, changed or not.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    Ok(Identity::of(&stat_of(file)?))
}

/// Returns the result of fstat(2), on FUSE with the program's current length and times: the kernel caches them for
/// seconds, so a file that was replaced before it was opened would seem to change while it is read.
pub(crate) fn stat_of(file: impl AsFd) -> io::Result<Stat> {
    let mut stat = rustix::fs::fstat(&file)?;
    if is_on_fuse(&file, stat.st_dev) {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        match statx(&file, "", flags, StatxFlags::BASIC_STATS) {
            Ok(now) => renew(&mut stat, &now),
            Err(error) if is_without(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(stat)
}

/// Whether a FUSE program answers for the file; one that does not answer this question either counts too.
fn is_on_fuse(file: impl AsFd, device: u64) -> bool {
    rustix::fs::major(device) == 0
        && matches!(file_system::file_system(file), Ok(FileSystem::Fuse) | Err(_))
}

/// Returns an opened file and its attributes. A FUSE program is asked about the path of an open file, which may be
/// another file by then: there the file is opened again, until the answers before and after agree.
///
/// # Errors
///
/// The errors of opening and of fstat(2); `EBUSY` if the file is replaced again and again.
pub(crate) fn settled<F: AsFd>(
    file: F,
    open: impl Fn() -> io::Result<F>,
) -> io::Result<(F, Stat)> {
    const ATTEMPTS: usize = 16;
    let mut before = stat_of(&file)?;
    let is_regular = FileType::from_raw_mode(before.st_mode) == FileType::RegularFile;
    if !is_regular || !is_on_fuse(&file, before.st_dev) {
        return Ok((file, before));
    }
    for _ in 0..ATTEMPTS {
        let file = open()?;
        let after = stat_of(&file)?;
        if Identity::of(&before).is_kept(&Identity::of(&after), &file) {
            return Ok((file, after));
        }
        before = after;
    }
    Err(Errno::BUSY.into())
}

/// Fails if a FUSE program has lost its connection since the file was opened: sshfs ends reads early then, and the kernel
/// may show zeros. The close of a copy brings the error, but would end a caller's locks on the file: where the caller
/// has opened it, fsync(2) does.
pub(crate) fn check_connected(file: impl AsFd, device: u64, is_ours: bool) -> io::Result<()> {
    if !is_on_fuse(&file, device) {
        return Ok(());
    }
    let asked = if is_ours { flush(file) } else { rustix::fs::fsync(file).map_err(Into::into) };
    // Another error is that of a program without an answer.
    asked.or_else(|error| if is_lost(&error) { Err(error) } else { Ok(()) })
}

/// Whether the reply to a call may have been lost, while the call was executed.
pub(crate) fn is_lost(error: &io::Error) -> bool {
    let lost =
        [Errno::IO, Errno::NOTCONN, Errno::CONNRESET, Errno::CONNABORTED, Errno::TIMEDOUT];
    lost.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Returns how to read this file.
pub(crate) fn kind(file: &File, stat: &Stat) -> io::Result<SourceLength> {
    let len = Identity::of(stat).len;
    match FileType::from_raw_mode(stat.st_mode) {
        // Empty, or generated by the kernel.
        FileType::RegularFile if len == 0 => Ok(SourceLength::Made),
        FileType::RegularFile => Ok(SourceLength::Sized(len)),
        FileType::BlockDevice => Ok(SourceLength::Sized(device_len(file)?)),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Ok(SourceLength::Stream),
    }
}

/// Returns the length of a device, by moving the descriptor's position to the end and back.
fn device_len(mut file: &File) -> io::Result<u64> {
    let here = file.stream_position()?;
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(here))?;
    Ok(len)
}

/// Returns the path that the kernel reports for the file, for messages.
pub(crate) fn name_of(file: &File) -> PathBuf {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::read_link(link).unwrap_or_else(|_| PathBuf::from("<file>"))
}

/// The storage of a file, as far as it affects reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoragePlace {
    pub(crate) storage: Storage,
    /// Whether `io_uring` may read it: FUSE, and overlays over it, can return wrong bytes through
    /// the ring, so only file systems known to be correct are admitted.
    pub(crate) ring: bool,
    /// Bytes that the kernel reads ahead of one thread; 0 if unknown.
    pub(crate) readahead: u64,
}

impl StoragePlace {
    pub(crate) const FOREIGN: Self =
        Self { storage: Storage::Foreign, ring: false, readahead: 0 };
}

pub(crate) fn place(file: &File, device: u64) -> StoragePlace {
    let file_system = file_system::file_system(file).unwrap_or(FileSystem::Other);
    let elsewhere = |storage| StoragePlace { storage, ..StoragePlace::FOREIGN };
    match file_system {
        FileSystem::Ext | FileSystem::Xfs | FileSystem::Btrfs | FileSystem::F2fs => {
            StoragePlace { ring: true, ..on_device(device) }
        }
        FileSystem::Tmpfs => elsewhere(Storage::Memory),
        FileSystem::Fuse => elsewhere(Storage::Fuse),
        FileSystem::Network => elsewhere(Storage::Network),
        FileSystem::Pseudo => StoragePlace::FOREIGN,
        FileSystem::Overlay | FileSystem::Other => on_device(device),
    }
}

/// Returns the facts of sysfs about a device, looked up once: a look-up costs as much as a small cold read.
fn on_device(device: u64) -> StoragePlace {
    static KNOWN: Mutex<BTreeMap<u64, StoragePlace>> = Mutex::new(BTreeMap::new());
    if let Some(place) = lock_cache(&KNOWN).and_then(|known| known.get(&device).copied()) {
        return place;
    }
    let place = StoragePlace {
        storage: match file_system::is_rotational(device) {
            Some(true) => Storage::Rotational,
            Some(false) | None => Storage::Local,
        },
        ring: false,
        readahead: file_system::readahead(device).unwrap_or(0),
    };
    if let Some(mut known) = lock_cache(&KNOWN) {
        known.insert(device, place);
    }
    place
}

/// Whether the file is in `/proc` or `/sys`, where the length from `fstat` is meaningless.
pub(crate) fn is_pseudo(file: &File) -> bool {
    matches!(file_system::file_system(file), Ok(FileSystem::Pseudo))
}

/// A descriptor for direct reads, which bypass the page cache.
#[derive(Debug)]
pub(crate) struct DirectDescriptor {
    pub(crate) file: File,
    /// Offsets and lengths must be multiples of this.
    pub(crate) unit: NonZeroU64,
    /// Addresses must be multiples of this.
    pub(crate) memory: usize,
}

/// Opens the file again with `O_DIRECT`, if the file system supports it and certainly opens the same file: FUSE looks
/// up the name.
pub(crate) fn direct(file: &File) -> io::Result<DirectDescriptor> {
    if matches!(file_system::file_system(file), Ok(FileSystem::Fuse)) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let alignment = direct::direct_alignment(file)?;
    let direct = direct::reopen_direct(file)?;
    // Kernels before 6.1 do not report the alignment: the page size is enough for every device.
    let (unit, memory) = alignment.map_or((4096, 4096), |known| (known.offset, known.memory));
    let unit = NonZeroU64::new(u64::from(unit)).ok_or(io::ErrorKind::Unsupported)?;
    Ok(DirectDescriptor {
        file: direct,
        unit,
        memory: usize::try_from(memory).unwrap_or(4096).max(1),
    })
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
        assert_eq!(place("/proc/self/stat"), StoragePlace::FOREIGN);
        assert!(!place("/sys/kernel").ring);
    }
}
