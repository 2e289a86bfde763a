//! How to ingest: every choice a caller can make, each with its default.

use swath_plan::fallback::Fallback;
use swath_plan::policy::Wishes;
use swath_plan::words;

use super::arena::Arena;
use crate::observe::Hooks;
use crate::options::{Advice, Costs, Numa, ReadOptions};
use crate::profile::Profile;
use crate::source::Growth;

/// Threads, and files in flight, at most.
const MOST: u32 = 1024;

/// In which order files are read. Their bytes are handed over in input order whatever it is,
/// unless [`Delivery::Completion`] is asked for.
///
/// On disks without heads it gains little; the report says what it gained
/// ([`OrderGain`](crate::ingest::OrderGain)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileOrder {
    /// As they were given.
    #[default]
    Given,
    /// By the bytes of their paths.
    Path,
    /// By inode number, which many file systems give out near to where the inode is.
    Inode,
    /// By where the first byte is on the device (`FIEMAP`): opens every file once more.
    Extent,
}

words!(FileOrder { Given = "given", Path = "path", Inode = "inode", Extent = "extent" });

/// Who opens files that are not in the page cache, where a ring reads them.
///
/// A ring opens many at one time in threads of the kernel: good where each open waits for the
/// device, and few calls. A worker that opens them itself takes half the processor time, as long as
/// the file system has read inodes ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenedBy {
    /// The worker while that is quick, else the ring.
    #[default]
    Auto,
    /// The worker: two calls a file and few more.
    Worker,
    /// The ring: a call for many files.
    Ring,
}

words!(OpenedBy { Auto = "auto", Worker = "worker", Ring = "ring" });

/// What happens when a file cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failures {
    /// The whole call fails, with the first failure in input order; a stream that hands files over
    /// as they come, with the first that came.
    #[default]
    Fail,
    /// The file is left out, and counted in the report.
    Skip,
    /// The file keeps its place, with the error.
    Collect,
}

words!(Failures { Fail = "fail", Skip = "skip", Collect = "collect" });

/// What a walk does with symbolic links. What a caller names is always followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symlinks {
    /// Reads the files that links lead to, and enters no folder through a link.
    #[default]
    Files,
    /// Leaves them out.
    Skip,
    /// Reads files and enters folders; a link to a folder that it is in is an error.
    Follow,
}

words!(Symlinks { Files = "files", Skip = "skip", Follow = "follow" });

/// What the bytes are to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// Anything.
    #[default]
    Bytes,
    /// UTF-8. What is not is an error with its path and byte; parts of a stream end between
    /// characters.
    Text,
}

words!(Content { Bytes = "bytes", Text = "text" });

/// In which order a stream hands files over. The parts of one file always come in order, one
/// file after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// The order they were given in.
    #[default]
    Input,
    /// As they come.
    Completion,
}

words!(Delivery { Input = "input", Completion = "completion" });

/// How to read many files. Every setter returns the options, none can fail; 0 means "choose for
/// me".
///
/// ```
/// use swath::ingest::{Failures, IngestOptions};
///
/// let options = IngestOptions::new().with_failures(Failures::Collect);
/// let ingested = options.ingest(swath::ingest::Files::paths(["/etc/passwd", "/no such file"]))?;
/// assert!(ingested.get(0).unwrap().bytes.starts_with(b"root"));
/// assert_eq!(ingested.get(1).unwrap().error.unwrap().raw_os_error(), Some(2));
/// assert_eq!((ingested.report().files, ingested.report().failed), (1, 1));
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    read: ReadOptions,
    pub(super) opened_by: OpenedBy,
    pub(super) order: FileOrder,
    pub(super) failures: Failures,
    pub(super) symlinks: Symlinks,
    pub(super) shape: Content,
    pub(super) memory_limit: u64,
    pub(super) delivery: Delivery,
    pub(super) part_size: u64,
    pub(super) arena: Option<Arena>,
}

impl IngestOptions {
    /// Everything chosen for the files: bytes, in the order given, the first failure ends it.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the files are read. Taken of it: workers (default: one for each core, and where files are
    /// not in the page cache as many as keep the device busy), the queue depth (files that wait for
    /// the device at one time; default: 128 in rings, 64 threads), the profile, progress (called on
    /// the calling thread; how many bytes there will be is not known), cancellation, the timeline
    /// and fall-backs from before the call. The rest is for one large file: what is set of it is not
    /// used, and the report's fall-backs say so.
    #[must_use]
    pub fn with_read(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }

    /// Default: [`OpenedBy::Auto`].
    #[must_use]
    pub fn with_opened_by(mut self, opened_by: OpenedBy) -> Self {
        self.opened_by = opened_by;
        self
    }

    /// Default: [`FileOrder::Given`].
    #[must_use]
    pub fn with_order(mut self, order: FileOrder) -> Self {
        self.order = order;
        self
    }

    /// Default: [`Failures::Fail`].
    #[must_use]
    pub fn with_failures(mut self, failures: Failures) -> Self {
        self.failures = failures;
        self
    }

    /// Default: [`Symlinks::Files`].
    #[must_use]
    pub fn with_symlinks(mut self, symlinks: Symlinks) -> Self {
        self.symlinks = symlinks;
        self
    }

    /// Default: [`Content::Bytes`].
    #[must_use]
    pub fn with_content(mut self, shape: Content) -> Self {
        self.shape = shape;
        self
    }

    /// Bytes that [`ingest`](Self::ingest) may keep, or that a [`stream`](Self::stream) may hold
    /// at one time; a stream needs at least four parts. Default 0: what memory is at hand, for a
    /// stream 64 MiB.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Default: [`Delivery::Input`].
    #[must_use]
    pub fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Bytes that one worker reads of a large file at one time, and that a stream hands over at
    /// most; at least 4,096. Default 0: 1 MiB.
    #[must_use]
    pub fn with_part_size(mut self, part_size: u64) -> Self {
        self.part_size = part_size;
        self
    }

    /// Where [`ingest`](Self::ingest) puts the bytes: memory that was used before costs half the
    /// time of fresh one. Default: memory of the process, which keeps at most 64 MiB of it between
    /// calls.
    #[must_use]
    pub fn with_arena(mut self, arena: Arena) -> Self {
        self.arena = Some(arena);
        self
    }

    pub(super) fn hooks(&self) -> &Hooks {
        &self.read.hooks
    }

    pub(super) fn profile(&self) -> Option<&Profile> {
        self.read.profile.as_deref()
    }

    /// Threads that were asked for.
    pub(super) fn workers(&self) -> usize {
        self.read.workers().min(MOST as usize)
    }

    /// Fall-backs that are known before the first file: those of the caller, and wishes about the
    /// reading of one large file.
    pub(super) fn noted(&self) -> Vec<Fallback> {
        let (read, wishes, usual) = (&self.read, &self.read.wishes, Wishes::default());
        let unused = [
            ("engine", wishes.engine != usual.engine),
            ("chunk size", wishes.chunk_size != usual.chunk_size),
            ("schedule", wishes.schedule != usual.schedule),
            ("page cache", wishes.page_cache != usual.page_cache),
            ("reuse", wishes.reuse != usual.reuse),
            ("advice", read.advice != Advice::None),
            ("rate", read.rate_bytes_per_s.is_some()),
            ("I/O priority", read.io_priority.is_some()),
            ("NUMA node", read.numa != Numa::FirstTouch),
            ("growth", read.growth != Growth::Refused),
            ("offset or length", !read.is_whole()),
            ("costs", read.costs != Costs::Time),
        ];
        let unused = unused.into_iter().filter(|&(_, is_set)| is_set);
        let why = "many files are read without it";
        let told = unused.map(|(what, _)| Fallback::Unused { what, why });
        self.read.noted.iter().cloned().chain(told).collect()
    }

    /// Files that wait for the device at one time: the wish, else what was measured; 0: neither.
    pub(super) fn depth(&self) -> u32 {
        let wished = u32::try_from(self.read.wishes.queue_depth).unwrap_or(MOST).min(MOST);
        match (wished, self.profile()) {
            (0, Some(profile)) => profile.files_depth().min(MOST),
            (depth, _) => depth,
        }
    }

    /// What of the profile cannot be meant, and was bounded.
    pub(super) fn out_of_range(&self) -> Vec<Fallback> {
        let Some(profile) = self.profile() else { return Vec::new() };
        let numbers = [
            ("workers for files", self.workers() == 0, profile.files_workers() as u64),
            (
                "depth for files",
                self.read.wishes.queue_depth == 0,
                u64::from(profile.files_depth()),
            ),
        ];
        let wild = numbers.into_iter().filter(|&(_, used, n)| used && n > u64::from(MOST));
        wild.map(|(what, _, asked)| Fallback::OutOfRange {
            from: "profile",
            what,
            asked,
            used: u64::from(MOST),
        })
        .collect()
    }

    pub(super) fn part_len(&self) -> usize {
        let size = usize::try_from(self.part_size).unwrap_or(usize::MAX);
        if size == 0 { 1 << 20 } else { size.clamp(4096, 1 << 30) }
    }

    /// Threads to start with.
    pub(super) fn cores(&self) -> usize {
        let tuned = self.profile().map_or(0, |profile| profile.files_workers());
        match (self.workers(), tuned) {
            (0, 0) => swath_os::machine::usable_cpus_at_start(),
            (0, tuned) => tuned.min(MOST as usize),
            (workers, _) => workers,
        }
    }
}
