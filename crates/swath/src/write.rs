//! The verb `write`: bytes in memory become a file, complete and durable under its name, or
//! absent.
//!
//! The bytes go to an unnamed file in the target's folder, in chunks that are written by one
//! thread, or by several where that is faster; then the file gets its name in one step. Readers,
//! other processes and a power cut find either the old file or the new one.
//! [`WriteOptions::create`] does the same for bytes that are produced piece by piece, in any
//! order: [`Positional`]. With [`WriteOptions::create_shared`] several processes write them:
//! [`SharedDraft`].

mod job;
mod parts;
mod placing;
mod positional;
mod shared;
mod token;
mod writer;

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::MOST_IN_FLIGHT;
use swath_plan::setters;

use crate::error::{Error, Operation, Result};
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::{Durability, OutputOptions};
use crate::write::job::WriteJob;
use crate::write::parts::Parts;
use crate::write::placing::WritePlacing;

pub use positional::Positional;
pub use shared::SharedDraft;
pub use token::{DraftReceipt, DraftToken};
pub use writer::DraftWriter;

/// Bytes of one write, unless the caller chooses. Larger writes are hardly faster.
const CHUNK_SIZE: NonZeroU64 = NonZeroU64::new(1 << 20).expect("positive");
/// Local file systems let one thread at a time write to a file; a second one would only wait.
/// Servers and FUSE take several writes at a time.
const REMOTE_WORKERS: u64 = 4;
/// Bytes for each worker: a thread for fewer does not pay.
const BYTES_PER_WORKER: u64 = 8 << 20;

/// Writes `bytes` to the file `path`: complete and durable under its name, or not at all.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("out.bin");
/// let written = swath::write(&path, b"bytes")?;
/// assert_eq!(written.bytes, 5);
/// assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
/// # Ok::<(), swath::Error>(())
/// ```
///
/// It is [`WriteOptions::write`] with the default options.
///
/// # Errors
///
/// As [`WriteOptions::write`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<Written> {
    WriteOptions::new().write(path, bytes)
}

/// The report of a file that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written {
    /// Length of the file in bytes.
    pub bytes: u64,
    /// From the call to the end of the commit.
    pub elapsed: Duration,
    /// Threads that wrote, the caller's included.
    pub workers: usize,
    /// Options that could not be honoured, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

/// How to write bytes. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::sink::Durability;
/// use swath::{OutputOptions, WriteOptions};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("out.bin");
/// let output = OutputOptions::new().with_durability(Durability::None);
/// let written = WriteOptions::new().with_output(output).write(&path, b"bytes")?;
/// assert_eq!(written.bytes, 5);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    output: OutputOptions,
    chunk_size: u64,
}

impl WriteOptions {
    /// The defaults: durable, replacing an existing file unless it has other names; everything else
    /// is chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Bytes of one write. Default 0: 1 MiB.
        fn with_chunk_size(chunk_size: u64);

        /// How the file is written. Default number of workers: 1, since local file systems let one
        /// thread at a time write to a file; on a network file system or FUSE up to 4, one for each
        /// 8 MiB.
        fn with_output(output: OutputOptions);
    }

    /// Makes the file `path` hold exactly `bytes`.
    ///
    /// A new file is readable and writable by everyone, less the umask; a file that is replaced
    /// keeps its mode, attributes and, where allowed, its owner. A symbolic link is followed.
    /// Space for the bytes is reserved before the first is written.
    ///
    /// # Errors
    ///
    /// If the target is a folder, a device, read-only or has other names;
    /// [`Busy`](crate::Reason::Busy) if it has another writer; the kernel's errors of writing,
    /// with the bytes. In all these cases the target is unchanged, and no other file remains.
    /// With [`OutcomeUnknown`](crate::Reason::OutcomeUnknown) the target is new, but a power cut
    /// might undo that.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<Written> {
        self.write_parts(path, &[bytes.as_ref()])
    }

    /// Makes the file `path` hold exactly `parts`, one after the other, without concatenating
    /// them in memory first.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("out.bin");
    /// swath::WriteOptions::new().write_parts(&path, &[b"head", b"", b"body"])?;
    /// # assert_eq!(std::fs::read(&path).unwrap(), b"headbody");
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn write_parts(&self, path: impl AsRef<Path>, parts: &[&[u8]]) -> Result<Written> {
        self.parts_to(path.as_ref(), parts)
    }

    fn parts_to(&self, path: &Path, parts: &[&[u8]]) -> Result<Written> {
        let started = Instant::now();
        let parts = Parts::new(parts);
        let len = parts.len();
        let chunks = self.chunks(len);
        let draft = self.output.begin(path)?;
        let mut fallbacks = draft.fallbacks();
        let workers = self.workers_for(&draft, &chunks, &mut fallbacks);
        // A single write allocates as well as a reservation would.
        if chunks.count() > 1 {
            reserve(&draft, len, &mut fallbacks).map_err(|error| draft.failed(error))?;
        }
        let observer = Observer::new(self.output.hooks.clone(), Some(len));
        let is_eager = self.output.draft.durability == Durability::Full && chunks.count() > 1;
        let job = WriteJob::new(&draft, parts, chunks, observer, is_eager);
        let ran = job.run(workers, &mut fallbacks);
        let workers = ran.map_err(|error| draft.failed(error))?;
        let notes = self.output.hooks.commit(path, len, || draft.commit_with_notes(len))?;
        fallbacks.extend(notes);
        Ok(Written { bytes: len, elapsed: started.elapsed(), workers, fallbacks })
    }

    /// Begins a file of `len` bytes that can be written in any order, by any threads; see
    /// [`Positional`]. Unwritten bytes are zero. The threads are the caller's:
    /// [`OutputOptions::with_workers`] has no effect.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); `StorageFull` if there is no space for `len` bytes.
    pub fn create(&self, path: impl AsRef<Path>, len: u64) -> Result<Positional> {
        self.create_at(path.as_ref(), len)
    }

    fn create_at(&self, path: &Path, len: u64) -> Result<Positional> {
        let draft = self.output.begin(path)?;
        let mut fallbacks = draft.fallbacks();
        reserve(&draft, len, &mut fallbacks).map_err(|error| draft.failed(error))?;
        let placing = WritePlacing {
            path: draft.path().to_owned(),
            len,
            chunk_size: self.chunk_size(),
            observer: Observer::new(self.output.hooks.clone(), Some(len)),
            is_eager: false,
            is_poisoned: AtomicBool::new(false),
        };
        Ok(Positional::new(draft, fallbacks, placing))
    }

    /// Begins a file of `len` bytes that several processes write, at any places; see
    /// [`SharedDraft`]. Until the commit it has a hidden name in the target's folder, under which
    /// only processes of this user can open it.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_shared(&self, path: impl AsRef<Path>, len: u64) -> Result<SharedDraft> {
        SharedDraft::begin(&self.output, path.as_ref(), len, reserve)
    }

    /// Opens a draft that this or another process has begun, to write to it; see [`SharedDraft`].
    ///
    /// Only these options of the output have an effect: file system, progress, cancellation,
    /// timeline. All others were chosen when the draft was begun.
    ///
    /// # Errors
    ///
    /// [`Changed`](crate::Reason::Changed) if the draft is over: committed, discarded, or replaced
    /// by another; `PermissionDenied` for another user; [`Corrupt`](crate::Reason::Corrupt) for a
    /// token that is not from a draft; those of open(2).
    pub fn open_shared(&self, token: &DraftToken) -> Result<DraftWriter> {
        DraftWriter::open(token, &self.output, self.chunk_size())
    }

    fn chunks(&self, len: u64) -> ChunkPlan {
        ChunkPlan::new(Extent::between(0, len), self.chunk_size())
    }

    fn workers_for(
        &self,
        draft: &Draft,
        chunks: &ChunkPlan,
        fallbacks: &mut Vec<Fallback>,
    ) -> usize {
        let mut workers = self.output.workers as u64;
        if workers > MOST_IN_FLIGHT {
            let (asked, used) = (workers, MOST_IN_FLIGHT);
            fallbacks.push(Fallback::TooMany { what: "workers", asked, used });
            workers = used;
        }
        if workers == 0 && chunks.count() > 1 && draft.file().is_remote() {
            let len = chunks.count().saturating_mul(self.chunk_size().get());
            workers = REMOTE_WORKERS.min(len / BYTES_PER_WORKER);
        }
        usize::try_from(workers.min(chunks.count())).unwrap_or(usize::MAX).max(1)
    }

    fn chunk_size(&self) -> NonZeroU64 {
        NonZeroU64::new(self.chunk_size).unwrap_or(CHUNK_SIZE)
    }
}

/// Reserves space, so that a full disk is noticed before the first byte is written.
fn reserve(draft: &Draft, len: u64, fallbacks: &mut Vec<Fallback>) -> Result<()> {
    match draft.file().allocate(0, len) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            fallbacks.push(Fallback::NotReserved);
            Ok(())
        }
        Err(error) => {
            Err(Error::io(Operation::Write, draft.path(), error).at(Extent::between(0, len)))
        }
    }
}
