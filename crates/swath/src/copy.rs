//! Copies a file in parallel, whole or not at all.
//!
//! ```text
//! reflink      one call, no byte moves        where the file system shares blocks
//! kernel       copy_file_range                where a server does it: network, FUSE
//! read-write   workers read, and write        everywhere else; on ext4 faster than the kernel
//! ```
//!
//! Holes stay holes. The source is inspected before and after: if it changed during the copy,
//! nothing is committed. The target appears in one step when it is complete, as with everything
//! that Swath writes.

mod holes;
mod leave;
mod options;
pub(crate) mod permissions;

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use swath_os::file_system::is_remote;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;

use crate::engine::stream::{STREAM_SIZE, Stream};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::fs::write_all_at;
use crate::sink::writeback;
use crate::source::{Growth, OpenSource, Source, SourceLength};
use crate::timeline::Activity;

pub use options::{CopyOptions, Preserve, Reflink};

/// How the bytes of a copy were moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum How {
    /// Not at all: both files share the same blocks until one is written to.
    Reflink,
    /// By the kernel, or by the server of a network file system.
    Kernel,
    /// By workers, through memory.
    ReadWrite,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reflink => "reflink",
            Self::Kernel => "kernel",
            Self::ReadWrite => "read-write",
        })
    }
}

/// The report of a copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// Length of the copy, holes included.
    pub bytes: u64,
    /// Bytes in holes, which were not copied; 0 for a reflink, which has the same holes.
    pub hole_bytes: u64,
    /// How the bytes were moved.
    pub how: How,
    /// Threads that copied, the caller's included; 1 if no other was needed.
    pub workers: usize,
    /// From the call to the end of the commit.
    pub elapsed: Duration,
    /// Options that could not be honoured, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

/// Copies `from` to the file `to`, durably, replacing an existing file.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("copy");
/// let copied = swath::copy("/etc/passwd", &path)?;
/// assert_eq!(std::fs::read("/etc/passwd").unwrap(), std::fs::read(&path).unwrap());
/// println!("{} bytes by {}", copied.bytes, copied.how);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// Blocks are shared where the file system can (reflink), holes stay holes, and the target
/// appears in one step when all of it is there.
///
/// A new file gets the permissions of the source, less the umask; a file that is replaced keeps
/// its own, as with cp(1). Owner, times and extended attributes are copied only with
/// [`Preserve::All`]. A source without a length (a pipe, a file that the kernel generates) is read
/// until it ends.
///
/// # Errors
///
/// If the source is a folder, cannot be read, or changes during the copy; if both are the same
/// file, or the target is in the source's [folder](crate::ReadAt::folder); if the target cannot
/// be written, is a folder, or has another writer. After any of them the target is unchanged.
pub fn copy(from: impl Into<Source>, to: impl AsRef<Path>) -> Result<Copied> {
    CopyOptions::new().copy(from, to)
}

impl CopyOptions {
    /// As [`copy`], with these options.
    ///
    /// # Errors
    ///
    /// As [`copy`]; and if a reflink is required that the file system cannot make.
    pub fn copy(&self, from: impl Into<Source>, to: impl AsRef<Path>) -> Result<Copied> {
        self.copy_to(from.into(), to.as_ref())
    }

    fn copy_to(&self, from: Source, to: &Path) -> Result<Copied> {
        let started = Instant::now();
        let source = OpenSource::open(from)?;
        self.read.check_whole(Operation::Read, source.name())?;
        self.refuse_same(&source, to)?;
        refuse_within(&source, to)?;
        let mut draft = self.output.clone().with_input(source.name()).begin(to)?;
        if self.output.access.is_none() {
            permissions::take(&source, &mut draft)?;
        }
        if self.preserve == Preserve::All {
            permissions::take_all(&source, &mut draft)?;
        }
        let joined = Self { read: self.read.joined(&self.output.hooks), ..self.clone() };
        let copied = match source.kind() {
            SourceLength::Sized(len) => joined.copy_sized(&source, len, &draft),
            SourceLength::Stream | SourceLength::Made => joined.copy_stream(&source, &draft),
        };
        let mut copied = copied.map_err(|error| draft.failed(error))?;
        copied.fallbacks.extend(draft.fallbacks());
        let (hooks, len) = (&joined.read.hooks, copied.bytes);
        copied.fallbacks.extend(hooks.commit(to, len, || draft.commit_with_notes(len))?);
        copied.elapsed = started.elapsed();
        Ok(copied)
    }

    /// Refuses to replace a file by its own copy: a mistake, even if nothing would be lost.
    fn refuse_same(&self, source: &OpenSource, to: &Path) -> Result<()> {
        let Some(from) = source.file().and_then(|file| file.metadata().ok()) else {
            return Ok(());
        };
        // If `to` cannot be inspected now, creating the draft will report it.
        let there = self.output.draft.fs.locate(to).and_then(|to| to.folder.facts(&to.name));
        let there = there.ok().flatten();
        if there.is_none_or(|there| there.identity != (from.dev(), from.ino())) {
            return Ok(());
        }
        let error = Error::new(Operation::Create, Reason::Invalid, to);
        let source = source.name().display();
        Err(error
            .detail(format!("it is the same file as {source}"))
            .hint("copy to another name"))
    }

    fn copy_sized(&self, source: &Arc<OpenSource>, len: u64, draft: &Draft) -> Result<Copied> {
        let extent = Extent::between(0, len);
        let observer = Observer::new(self.read.hooks.clone(), Some(len));
        observer.check(source.name(), extent)?;
        let mut copied = Copied::new(len);
        if self.reflink(source, extent, draft)? {
            copied.how = How::Reflink;
            observer.delivered(len);
        } else {
            let data = holes::data(source, extent)?;
            copied.hole_bytes = len - data.iter().map(|part| part.len()).sum::<u64>();
            observer.delivered(copied.hole_bytes);
            holes::reserve(draft, &data)?;
            if kernel(source, &data, draft, &observer)? {
                copied.how = How::Kernel;
            } else {
                self.leave(source, extent, &data, draft, &observer, &mut copied)?;
            }
        }
        source.check_unchanged(extent, Growth::Refused)?;
        Ok(copied)
    }

    /// Tries a reflink; returns whether all blocks are shared.
    fn reflink(&self, source: &OpenSource, extent: Extent, draft: &Draft) -> Result<bool> {
        if self.reflink == Reflink::Never || extent.is_empty() {
            return Ok(false);
        }
        let hooks = &self.read.hooks;
        let shared = match permissions::descriptor(source)? {
            Some(from) => hooks.record(Activity::Copy, source.name(), extent, || {
                draft.file().clone_range(&*from, 0, 0, extent.len())
            }),
            None => Err(ErrorKind::Unsupported.into()),
        };
        match shared {
            Ok(()) => Ok(true),
            Err(error)
                if Errno::from_io_error(&error).is_some_and(|it| LASTING.contains(&it)) =>
            {
                Err(Error::io(Operation::Write, draft.path(), error).at(extent))
            }
            // The file system, its settings or these files do not allow it.
            Err(_) if self.reflink == Reflink::Auto => Ok(false),
            Err(_) => {
                let error = Error::new(Operation::Write, Reason::Invalid, draft.path());
                Err(error
                    .detail("these two files cannot share blocks")
                    .hint("allow a copy where blocks cannot be shared (`--reflink auto`)"))
            }
        }
    }

    /// Copies a stream.
    fn copy_stream(&self, source: &OpenSource, draft: &Draft) -> Result<Copied> {
        let observer = Observer::new(self.read.hooks.clone(), None);
        let mut stream = Stream::new(source, &observer, None);
        let mut block = source.block(&self.read.pool, STREAM_SIZE)?;
        let mut copied = Copied::new(0);
        loop {
            let came = stream.fill(&mut block)?;
            let written = self.write(draft, &block[..came], copied.bytes);
            stream.recorder.lap_if(&written, Activity::Write, copied.bytes, came as u64);
            written?;
            copied.bytes += came as u64;
            if came < block.len() {
                return Ok(copied);
            }
        }
    }
}

impl CopyOptions {
    /// Writes one block at its offset.
    fn write(&self, draft: &Draft, bytes: &[u8], offset: u64) -> Result<()> {
        let (file, end) = (&**draft.file(), offset + bytes.len() as u64);
        write_all_at(file, bytes, offset).map_err(|(error, done)| {
            let extent = Extent::between(offset + done, end);
            Error::io(Operation::Write, draft.path(), error).at(extent)
        })?;
        writeback::written(file, Extent::between(offset, end), self.output.draft.durability);
        Ok(())
    }
}

/// Refuses a copy inside the folder that the bytes come from: it could replace some of them.
fn refuse_within(source: &OpenSource, to: &Path) -> Result<()> {
    let folder = source.folder().and_then(|folder| folder.canonicalize().ok());
    let Some(folder) = folder else { return Ok(()) };
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    // If it cannot be inspected now, creating the draft will report it.
    if !to.canonicalize().or(parent).is_ok_and(|place| place.starts_with(&folder)) {
        return Ok(());
    }
    let error = Error::new(Operation::Create, Reason::Invalid, to);
    Err(error
        .detail(format!("it is inside {}, which is being copied", folder.display()))
        .hint("choose a path outside this folder"))
}

impl Copied {
    fn new(bytes: u64) -> Self {
        Self {
            bytes,
            hole_bytes: 0,
            how: How::ReadWrite,
            workers: 1,
            elapsed: Duration::ZERO,
            fallbacks: Vec::new(),
        }
    }
}

/// Errors that another way of copying would get as well.
const LASTING: [Errno; 4] = [Errno::IO, Errno::NOMEM, Errno::NOSPC, Errno::DQUOT];
/// Bytes of one kernel call; cancellation is checked between calls.
const KERNEL_SIZE: u64 = 64 << 20;

/// Copies in the kernel; returns whether that worked. Only tried where a server may do the work:
/// through the page cache of this machine the kernel copies page by page, more slowly than reading
/// and writing.
fn kernel(
    source: &OpenSource,
    data: &[Extent],
    draft: &Draft,
    observer: &Observer,
) -> Result<bool> {
    if !source.file().is_some_and(is_remote) {
        return Ok(false);
    }
    let Some(from) = permissions::descriptor(source)? else { return Ok(false) };
    let mut recorder = observer.recorder(source.name());
    let mut delivered = 0;
    for &part in data {
        let mut at = part.offset();
        while at < part.end() {
            let rest = Extent::between(at, part.end());
            observer.check(source.name(), rest)?;
            let copied = draft.file().copy_range(&*from, at, at, rest.len().min(KERNEL_SIZE));
            recorder.lap(Activity::Copy, at, copied.as_ref().map_or(0, |&more| more));
            match copied {
                Ok(0) => return Err(source.shrunk(rest)),
                Ok(more) => {
                    at += more;
                    delivered += more;
                    observer.delivered(more);
                }
                Err(error) if error.kind() == ErrorKind::Unsupported && delivered == 0 => {
                    return Ok(false);
                }
                Err(error) => {
                    return Err(Error::io(Operation::Write, draft.path(), error).at(rest));
                }
            }
        }
    }
    Ok(true)
}
