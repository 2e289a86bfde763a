//! Inputs of a job, and checks that they have not changed since it was planned.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, FileType, OFlags, Stat};
use serde::{Deserialize, Serialize};
use swath_os::access::Access;
use swath_os::file_system::is_remote;
use swath_os::names::open_at_once;
use swath_plan::extent::Extent;
use swath_plan::parts::Division;

use super::data::{InputState, LocalInode, Part, PartPiece, is_exact};
use crate::error::{Error, Operation, Reason, Result, counted};
use crate::sink::path_text;
use crate::source::{Input, OpenSource, Source, SourceLength, stat_of};

/// An input, in its state when the job was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JobInput {
    #[serde(with = "path_text")]
    pub(super) path: PathBuf,
    #[serde(flatten)]
    pub(super) state: InputState,
}

impl JobInput {
    /// Inspects an input.
    ///
    /// # Errors
    ///
    /// The errors of stat(2); `Invalid` if it is not a regular file, or has bytes but no length, as files
    /// of `/proc`; those of opening a file of length 0.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(Operation::Inspect, path, error);
        let absolute = std::path::absolute(path).map_err(failed)?;
        let facts = fs::metadata(&absolute).map_err(failed)?;
        if !facts.is_file() {
            return Err(Error::new(Operation::Inspect, Reason::Invalid, path)
                .detail("it is not a regular file, and several processes are to read it")
                .hint("write it to a file first, and pass that file"));
        }
        if facts.len() == 0 {
            refuse_unknown_len(path)?;
        }
        let state = state_now(&absolute).map_err(failed)?;
        Ok(Self { path: absolute, state })
    }

    /// Returns an extent of the input, for a part of this division.
    pub(super) fn piece(&self, extent: Extent, division: Division) -> PartPiece {
        let (path, state) = (self.path.clone(), self.state);
        let (offset, len) = (extent.offset(), extent.len());
        PartPiece { path, offset, len, is_exact: is_exact(division), state }
    }

    /// Opens the input, if it is unchanged.
    pub(super) fn open(&self, extent: Extent) -> Result<Arc<OpenSource>> {
        open_as(&self.path, &self.state, extent)
    }

    /// Fails if the input has changed.
    pub(super) fn check(&self) -> Result<()> {
        let whole = Extent::between(0, self.state.input_len);
        check(&self.path, &self.state, whole, "")
    }
}

impl Part {
    /// Fails if an input of this part has changed since the job was planned.
    /// [`SegmentWriter::finish`](super::SegmentWriter::finish) does this too.
    ///
    /// # Errors
    ///
    /// [`Reason::Changed`] with path, bytes and part; those of stat(2).
    pub fn check_inputs(&self) -> Result<()> {
        let of = format!("part {} of the job reads it, and ", self.index);
        self.pieces.iter().try_for_each(|piece| piece.check(&of))
    }
}

impl PartPiece {
    fn check(&self, of: &str) -> Result<()> {
        check(&self.path, &self.state, self.extent(), of)
    }

    /// Opens the input, if it is unchanged since the job was planned. Its name may lead to another file later, but
    /// the returned input always reads the file that was checked.
    ///
    /// # Errors
    ///
    /// The errors of open(2) and fstat(2); [`Reason::Changed`] if the input has changed.
    ///
    /// ```
    /// use swath::job::{Division, JobOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("in.txt");
    /// std::fs::write(&path, "a\nb\n")?;
    /// let parts = JobOptions::new().with_division(Division::Lines).divide([&path])?;
    /// let piece = &parts[0].contents()?[0];
    /// let input = piece.open()?;
    /// let read = swath::ReadOptions::new().with_offset(piece.offset).with_len(piece.len);
    /// assert_eq!(&*read.read(&input)?.buffer, b"a\nb\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self) -> Result<Input> {
        open_as(&self.path, &self.state, self.extent()).map(Input)
    }
}

/// Opens an input, if it is unchanged since `then`.
fn open_as(path: &Path, then: &InputState, extent: Extent) -> Result<Arc<OpenSource>> {
    let opened = OpenSource::open_copy(Source::from(path))?;
    // A path always opens as a file, of any kind.
    let file = opened.file().ok_or(ErrorKind::InvalidInput.into());
    let now = file.and_then(|file| {
        let facts = stat_of(file)?;
        let inode = inode_of(&facts, || !is_remote(file));
        Ok(state_of(&facts, inode, Access::of(file)?))
    });
    let now = now.map_err(|error| Error::io(Operation::Inspect, path, error))?;
    compare(path, then, &now, extent, "")?;
    Ok(opened)
}

/// Refuses files that report a length of 0 but have bytes, as those of `/proc`.
fn refuse_unknown_len(path: &Path) -> Result<()> {
    let mut byte = [0];
    let opened = OpenSource::open_copy(Source::from(path))?;
    if matches!(opened.kind(), SourceLength::Stream) {
        return Err(Error::new(Operation::Inspect, Reason::Changed, path)
            .detail("another program has put something else in its place")
            .hint("check what is at this path now, then plan the job again"));
    }
    let read = opened.file().map_or(Ok(0), |mut file| file.read(&mut byte));
    match read.map_err(|error| Error::io(Operation::Read, path, error))? {
        0 => Ok(()),
        _ => Err(Error::new(Operation::Inspect, Reason::Invalid, path)
            .detail("it reports a length of 0 bytes, but has some, as files of /proc do")
            .hint("copy it with cat(1) to a file of another file system, and pass that file")),
    }
}

impl InputState {
    pub(super) fn access(&self) -> Access {
        Access::new(self.mode, self.group)
    }

    /// Returns the access of its readers.
    fn readers(&self) -> Access {
        Access::new(self.mode & 0o444, self.group)
    }
}

/// Returns the inode number, if the file is on a disk of this machine; `is_local` decides where there is no device.
fn inode_of(facts: &Stat, is_local: impl FnOnce() -> bool) -> Option<LocalInode> {
    let has_device = rustix::fs::major(facts.st_dev) != 0;
    let place = (has_device || is_local()).then(place_here).flatten()?;
    Some(LocalInode { place, number: facts.st_ino })
}

/// Returns the inode number of a folder, if it is on a disk of this machine.
pub(super) fn local_inode_at(folder: &Path) -> Option<LocalInode> {
    let facts = rustix::fs::stat(folder).ok()?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    inode_of(&facts, || {
        let opened = rustix::fs::open(folder, flags, rustix::fs::Mode::empty());
        opened.is_ok_and(|folder| !is_remote(folder))
    })
}

/// Returns a hash of this machine's boot and the mounts that this process sees; `None` without /proc.
pub(super) fn place_here() -> Option<u64> {
    static HERE: OnceLock<Option<u64>> = OnceLock::new();
    *HERE.get_or_init(|| {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        let mounts = fs::metadata("/proc/self/ns/mnt").ok()?.ino();
        Some(swath_plan::random::mix(
            boot.iter()
                .fold(mounts, |word, byte| swath_plan::random::mix(word ^ u64::from(*byte))),
        ))
    })
}

fn state_of(facts: &Stat, inode: Option<LocalInode>, access: Access) -> InputState {
    InputState {
        inode,
        input_len: u64::try_from(facts.st_size).unwrap_or(0),
        modified_s: facts.st_mtime,
        modified_ns: facts.st_mtime_nsec.try_into().unwrap_or(0),
        mode: access.in_group(access.group()) & 0o777,
        group: access.group(),
    }
}

fn check(path: &Path, then: &InputState, extent: Extent, of: &str) -> Result<()> {
    let failed = |error| Error::io(Operation::Inspect, path, error).at(extent);
    compare(path, then, &state_now(path).map_err(failed)?, extent, of)
}

fn state_now(path: &Path) -> io::Result<InputState> {
    let facts = rustix::fs::stat(path)?;
    let is_file = FileType::from_raw_mode(facts.st_mode).is_file();
    let open = |flags: OFlags| open_at_once(CWD, path, flags | OFlags::CLOEXEC).map(File::from);
    // On sshfs, opening may fail for a removed file.
    let inode = inode_of(&facts, || open(OFlags::PATH).is_ok_and(|file| !is_remote(file)));
    if !is_file || inode.is_some() {
        return Ok(state_of(&facts, inode, Access::at(path)?));
    }
    // Opened, because caches may be stale: that of sshfs for many seconds, the kernel's for one second.
    let file = open(OFlags::empty())?;
    Ok(state_of(&stat_of(&file)?, None, Access::of(&file)?))
}

/// Fails if the state `now` shows another file or other bytes than `then`, or fewer readers.
fn compare(
    path: &Path,
    then: &InputState,
    now: &InputState,
    extent: Extent,
    of: &str,
) -> Result<()> {
    // A number that only one state has says nothing, nor do numbers of two machines.
    let is_other = then
        .inode
        .zip(now.inode)
        .is_some_and(|(then, now)| then.place == now.place && then.number != now.number);
    let change = if now.input_len != then.input_len {
        let (then, now) = (then.input_len, now.input_len);
        format!("it had {} when the job was planned, and has {now}", counted(then, "byte"))
    } else if (then.modified_s, then.modified_ns) != (now.modified_s, now.modified_ns) {
        String::from("it was written to or replaced after the job was planned")
    } else if then.readers().exceeds(now.readers()) {
        String::from("fewer users may read it than when the job was planned")
    } else if is_other {
        String::from("it is another file than when the job was planned")
    } else {
        return Ok(());
    };
    Err(Error::new(Operation::Inspect, Reason::Changed, path)
        .at(extent)
        .detail(format!("{of}{change}"))
        .hint("plan the job again, with the input as it is now"))
}
