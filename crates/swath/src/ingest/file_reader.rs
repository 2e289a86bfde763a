//! One worker's calls: open, read, inspect, close. One inspection proves that most files did not
//! change.
//!
//! A file is whole if the number of bytes read is its length, and unchanged if its change time is
//! before the start of the whole call: then one `fstat` after reading is enough. If that proves
//! nothing (the file is young, or its file system has times of another machine), there is also an
//! `fstat` before reading.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

use swath_os::descriptors::close_all;
use swath_os::file_system::{FileSystem, file_system};
use swath_os::links::open_long;
use swath_os::names::open_at_once;

use super::listing::{Listing, as_path};
use super::report::IngestTally;
use crate::source::Identity;
use crate::timeline::Recorder;

/// The outcome of a small file.
pub(super) enum Outcome {
    /// The room begins with all of it: this many bytes.
    Whole(usize),
    /// It is longer than the room, or unusual, and must be read with checks before and after.
    Careful(OwnedFd),
    /// It is not in the page cache; with its descriptor, if it was opened.
    Miss(Option<OwnedFd>),
    /// The kernel refused this call.
    Failed(Call, Errno),
}

/// The call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    Inspect,
    Read,
}

/// Whether to wait for the device, or to read only bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    ForDevice,
    Never,
}

/// The facts about a device, found with its first file.
#[derive(Clone, Copy)]
struct DeviceFacts {
    number: u64,
    /// Whether its change times come from this machine's clock.
    times: bool,
    /// Whether attributes are those of a path, which may be another file's.
    fuse: bool,
}

/// An open folder.
struct OpenFolder {
    run: u32,
    file: Rc<OwnedFd>,
    /// The device of the folder, if `io_uring` may read files in it.
    ring: Option<Option<u64>>,
}

/// See the [module](self).
pub(super) struct FileReader<'l> {
    listing: &'l Listing,
    /// Seconds; an earlier change time is before the call.
    old: i64,
    folders: Vec<OpenFolder>,
    devices: Vec<DeviceFacts>,
    /// Finished files, which are closed together.
    done: Vec<OwnedFd>,
    most_done: usize,
    /// Descriptors that this worker may hold.
    share: usize,
    /// Whether `openat2` works and can be restricted to files in memory.
    cached_open: bool,
    cached_read: bool,
    /// Whether the last files suggest an `fstat` before reading.
    look_first: bool,
    pub(super) tally: IngestTally,
    /// Records this worker's activities and their times.
    pub(super) recorder: Recorder,
}

/// Files shorter than this are read without a prior inspection.
pub(super) const SMALL: usize = 64 << 10;
/// Seconds that a change time may be off: some file systems have a resolution of two seconds, on
/// others it is a tick late.
const COARSE: i64 = 3;
/// Number of files from which a folder is opened, and names are looked up in it.
const MANY: u32 = 4;
/// Number of folders kept open.
const FOLDERS: usize = 4;
/// Number of files that wait to be closed, if the descriptor limit allows it. A descriptor table has
/// 64 places; to enlarge it, the kernel waits for all processors.
const DONE: usize = 48;

impl<'l> FileReader<'l> {
    /// Returns a reader. `began`: start of the call, in seconds since 1970; `share`: descriptors that
    /// this worker may hold.
    pub(super) fn new(
        listing: &'l Listing,
        began: i64,
        share: usize,
        recorder: Recorder,
    ) -> Self {
        Self {
            listing,
            old: began.saturating_sub(COARSE),
            folders: Vec::new(),
            devices: Vec::new(),
            done: Vec::with_capacity(DONE),
            share,
            most_done: share.saturating_sub(FOLDERS + 2).clamp(1, DONE),
            cached_open: true,
            cached_read: true,
            look_first: false,
            tally: IngestTally::default(),
            recorder,
        }
    }

    /// Opens a file; with [`Wait::Never`], `AGAIN` means "not in memory".
    pub(super) fn open(&mut self, index: usize, wait: Wait) -> Result<OwnedFd, Errno> {
        // A pipe is opened without waiting for its other end, and then refused.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        // If descriptors are scarce, the only one may be needed for the file itself.
        let mut by_path = false;
        loop {
            let in_folder = !by_path && self.listing.run(index).1 >= MANY && self.enter(index);
            let (listing, folders) = (self.listing, &self.folders);
            let (folder, name) = match folders.last() {
                Some(folder) if in_folder => (folder.file.as_fd(), listing.c_name(index)),
                _ => (CWD, listing.c_path(index)),
            };
            self.tally.calls.open += 1;
            let opened = if wait == Wait::Never && self.cached_open {
                openat2(folder, name, flags, Mode::empty(), ResolveFlags::CACHED)
            } else {
                openat(folder, name, flags, Mode::empty())
            };
            match opened {
                Err(Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL)
                    if wait == Wait::Never && self.cached_open =>
                {
                    self.cached_open = false;
                }
                // Another process holds a lease on the file: the kernel revokes it while an open
                // waits.
                Err(Errno::AGAIN) if wait == Wait::ForDevice => {
                    return open_at_once(folder, name, flags);
                }
                // Files that wait to be closed may hold the descriptors.
                Err(Errno::MFILE | Errno::NFILE)
                    if !self.done.is_empty() || !self.folders.is_empty() =>
                {
                    self.let_go();
                    by_path = true;
                }
                Err(Errno::NAMETOOLONG) => return open_long(as_path(name.to_bytes()), flags),
                other => return other,
            }
        }
    }

    /// Opens the folder of a file, which is then the last one; `false` if the path is shorter.
    fn enter(&mut self, index: usize) -> bool {
        let (folder, _) = self.listing.run(index);
        if self.folders.last().is_some_and(|last| last.run == folder) {
            return true;
        }
        let path = self.listing.folder_path(index);
        if path.as_os_str().is_empty() {
            return false;
        }
        if let Some(at) = self.folders.iter().position(|known| known.run == folder) {
            let found = self.folders.remove(at);
            self.folders.push(found);
            return true;
        }
        if self.listing.run(index).1 as usize >= DONE {
            // Otherwise the folder's number would be among theirs, and split every run of files.
            self.tally.calls.close += close_all(&mut self.done);
        }
        self.tally.calls.open += 1;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(opened) = open_long(path, flags) else { return false };
        if self.folders.len() >= FOLDERS {
            let oldest = self.folders.remove(0);
            self.left(oldest);
        }
        self.folders.push(OpenFolder { run: folder, file: Rc::new(opened), ring: None });
        true
    }

    /// Closes a finished folder, unless the ring still uses it and will close it.
    fn left(&mut self, folder: OpenFolder) {
        match Rc::try_unwrap(folder.file) {
            Ok(file) => self.done_with(file),
            Err(_) => self.tally.calls.close += 1,
        }
    }

    /// Returns the folder of a file and its device, if `io_uring` may read files in it.
    ///
    /// FUSE, and overlays over it, can return wrong bytes through the ring: only file systems that
    /// are known to be correct are admitted.
    pub(super) fn ring_folder(&mut self, index: usize) -> Option<(Rc<OwnedFd>, u64)> {
        if !self.enter(index) {
            return None;
        }
        let folder = self.folders.last_mut()?;
        let ring = *folder.ring.get_or_insert_with(|| {
            self.tally.calls.stat += 2;
            let kind = file_system(&folder.file).unwrap_or(FileSystem::Other);
            let known = matches!(
                kind,
                FileSystem::Ext | FileSystem::Xfs | FileSystem::Btrfs | FileSystem::F2fs
            );
            #[expect(clippy::unnecessary_cast, reason = "types differ between architectures")]
            fstat(&folder.file).ok().filter(|_| known).map(|stat| stat.st_dev as u64)
        });
        Some((Rc::clone(&folder.file), ring?))
    }

    /// Whether this many more files may be open.
    pub(super) fn has_room_for(&self, files: usize) -> bool {
        files + self.most_done + FOLDERS + 2 <= self.share
    }

    /// Seconds; earlier change times are before the call.
    pub(super) fn old(&self) -> i64 {
        self.old
    }

    /// Reads a whole file into the beginning of `room`.
    pub(super) fn read_small(&mut self, index: usize, room: &mut [u8], wait: Wait) -> Outcome {
        match self.open(index, wait) {
            Ok(file) => self.read_opened(file, room, wait),
            Err(Errno::AGAIN) if wait == Wait::Never => Outcome::Miss(None),
            Err(error) => Outcome::Failed(Call::Open, error),
        }
    }

    /// Reads a whole open file.
    pub(super) fn read_opened(
        &mut self,
        file: OwnedFd,
        room: &mut [u8],
        wait: Wait,
    ) -> Outcome {
        let mut before = None;
        if self.look_first {
            match self.look(&file) {
                Ok(stat)
                    if stat_len(&stat) < room.len() as u64
                        && is_regular(&stat)
                        && !self.device(&file, &stat).fuse =>
                {
                    before = Some(stat);
                }
                Ok(_) => return Outcome::Careful(file),
                Err(error) => return self.failed(file, Call::Inspect, error),
            }
        }
        // A second round only if an inspection after reading proved nothing.
        for round in 0..2 {
            let wait = if round == 0 { wait } else { Wait::ForDevice };
            let came = match self.read(file.as_fd(), room, 0, wait) {
                Ok(came) => came,
                Err(Errno::AGAIN) if wait == Wait::Never => return Outcome::Miss(Some(file)),
                // A pipe, a folder: the careful path reports it.
                Err(_) => return Outcome::Careful(file),
            };
            let after = match self.look(&file) {
                Ok(stat) => stat,
                Err(error) => return self.failed(file, Call::Inspect, error),
            };
            if self.device(&file, &after).fuse {
                self.look_first = true;
                return Outcome::Careful(file);
            }
            let whole =
                is_regular(&after) && came < room.len() && stat_len(&after) == came as u64;
            let still = before.is_some_and(|before| same(&before, &after))
                || self.is_old(&file, &after);
            if whole && still {
                self.tally.checked_twice += u64::from(before.is_some());
                // The next file is likely to be like this one.
                self.look_first = before.is_some() && !self.is_old(&file, &after);
                self.done_with(file);
                return Outcome::Whole(came);
            }
            let len = stat_len(&after);
            if wait == Wait::Never
                && came as u64 != len
                && (came as u64) < len
                && came < room.len()
            {
                return Outcome::Miss(Some(file));
            }
            self.look_first = true;
            if !whole || before.is_some() {
                return Outcome::Careful(file);
            }
            before = Some(after);
        }
        Outcome::Careful(file)
    }

    /// One read, repeated after interrupts.
    pub(super) fn read(
        &mut self,
        file: BorrowedFd<'_>,
        room: &mut [u8],
        offset: u64,
        wait: Wait,
    ) -> Result<usize, Errno> {
        loop {
            self.tally.calls.read += 1;
            let cached = wait == Wait::Never && self.cached_read;
            let came = if cached {
                let mut parts = [IoSliceMut::new(room)];
                preadv2(file, &mut parts, offset, ReadWriteFlags::NOWAIT)
            } else {
                pread(file, &mut *room, offset)
            };
            match came {
                Err(Errno::INTR) => {}
                // Some file systems cannot tell.
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) if cached => {
                    self.cached_read = false;
                }
                other => return other,
            }
        }
    }

    fn look(&mut self, file: &OwnedFd) -> Result<Stat, Errno> {
        self.tally.calls.stat += 1;
        fstat(file)
    }

    /// Whether the change time proves that the file has not changed since the call began.
    fn is_old(&mut self, file: &OwnedFd, stat: &Stat) -> bool {
        #[expect(clippy::unnecessary_cast, reason = "types differ between architectures")]
        let changed = stat.st_ctime as i64;
        changed < self.old && self.device(file, stat).times
    }

    fn device(&mut self, file: &OwnedFd, stat: &Stat) -> DeviceFacts {
        #[expect(clippy::unnecessary_cast, reason = "types differ between architectures")]
        let number = stat.st_dev as u64;
        if let Some(known) = self.devices.iter().find(|device| device.number == number) {
            return *known;
        }
        self.tally.calls.stat += 1;
        let kind = kind_of(file);
        let times = matches!(
            kind,
            FileSystem::Ext
                | FileSystem::Xfs
                | FileSystem::Btrfs
                | FileSystem::F2fs
                | FileSystem::Tmpfs
        );
        let device = DeviceFacts { number, times, fuse: kind == FileSystem::Fuse };
        self.devices.push(device);
        device
    }

    fn failed(&mut self, file: OwnedFd, call: Call, error: Errno) -> Outcome {
        self.done_with(file);
        Outcome::Failed(call, error)
    }

    /// Queues a file to be closed.
    pub(super) fn done_with(&mut self, file: OwnedFd) {
        self.done.push(file);
        if self.done.len() >= self.most_done {
            self.tally.calls.close += close_all(&mut self.done);
        }
    }

    /// Closes all files and folders that are open and not in use.
    pub(super) fn let_go(&mut self) {
        for folder in std::mem::take(&mut self.folders) {
            match Rc::try_unwrap(folder.file) {
                Ok(file) => self.done.push(file),
                Err(_) => self.tally.calls.close += 1,
            }
        }
        self.tally.calls.close += close_all(&mut self.done);
    }
}

impl Drop for FileReader<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Whether the kernel reports that the descriptor table of the process, or of the system, is
/// full.
pub(super) fn is_out_of_descriptors(raw_os_error: Option<i32>) -> bool {
    let full = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    raw_os_error.is_some_and(|number| full.contains(&number))
}

fn kind_of(file: &OwnedFd) -> FileSystem {
    // A FUSE program may give no answer.
    file_system(file).unwrap_or(FileSystem::Fuse)
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode).is_file()
}

fn stat_len(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn same(before: &Stat, after: &Stat) -> bool {
    Identity::of(before) == Identity::of(after)
}
