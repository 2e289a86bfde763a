//! How to ingest: every option, with its default.

use swath_plan::fallback::Fallback;
use swath_plan::policy::Wishes;
use swath_plan::{setters, words};

use super::arena::Arena;
use crate::observe::Hooks;
use crate::options::{Advice, Costs, Numa, ReadOptions};
use crate::profile::Profile;
use crate::source::Growth;

/// Limit of threads, and of files in flight.
const MOST: u32 = 1024;

/// The order in which files are read. Their bytes are passed on in input order anyway, unless
/// [`Delivery::Completion`] is requested.
///
/// On solid-state disks it gains little; the report says how much
/// ([`OrderGain`](crate::ingest::OrderGain)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileOrder {
    /// As given.
    #[default]
    Given,
    /// By the bytes of their paths.
    Path,
    /// By inode number; many file systems number files close to where the inode is.
    Inode,
    /// By the place of the first byte on the device (`FIEMAP`): opens every file once more.
    Extent,
}

words!(FileOrder { Given = "given", Path = "path", Inode = "inode", Extent = "extent" });

/// The opener of files that are not in the page cache, if a ring reads them.
///
/// A ring opens many files at a time in kernel threads, with few calls: good if each open waits
/// for the device. A worker that opens them itself takes half the processor time, as long as the
/// file system has read inodes ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenedBy {
    /// The worker while that is fast, otherwise the ring.
    #[default]
    Auto,
    /// The worker: two calls for each file and few more.
    Worker,
    /// The ring: one call for many files.
    Ring,
}

words!(OpenedBy { Auto = "auto", Worker = "worker", Ring = "ring" });

/// How to continue after a file that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failures {
    /// The whole call fails, with the first failure in input order; a stream that passes files
    /// on as they complete fails with the first failure to occur.
    #[default]
    Fail,
    /// The file is left out, and counted in the report.
    Skip,
    /// The file keeps its place, with the error.
    Collect,
}

words!(Failures { Fail = "fail", Skip = "skip", Collect = "collect" });

/// How a walk treats symbolic links. Links that the caller names are always followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symlinks {
    /// Reads the files that links lead to, but enters no folder through a link.
    #[default]
    Files,
    /// Leaves links out.
    Skip,
    /// Reads files and enters folders; a link to a folder that contains it is an error.
    Follow,
}

words!(Symlinks { Files = "files", Skip = "skip", Follow = "follow" });

/// The expected form of the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// Any bytes.
    #[default]
    Bytes,
    /// UTF-8. Anything else is an error with its path and byte; parts of a stream end between
    /// characters.
    Text,
}

words!(Content { Bytes = "bytes", Text = "text" });

/// The order in which a stream passes files on. The parts of one file always come in order, one
/// file after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// In the order in which they were given.
    #[default]
    Input,
    /// As they complete.
    Completion,
}

words!(Delivery { Input = "input", Completion = "completion" });

/// How to read many files. No setter can fail; 0 means "choose for me".
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
    /// The defaults: any bytes, in the given order, and the first failure ends it; everything
    /// else is chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the files are read. These options are used: workers (default: one for each core; if
        /// files are not in the page cache, as many as keep the device busy), the queue depth (files
        /// in flight on the device; default: 128 in rings, 64 threads), the profile, progress
        /// (called on the calling thread; the total is not known), cancellation, the timeline, and
        /// fallbacks from before the call. The other options are for one large file and are not
        /// used; the report's fallbacks list those that are set.
        fn with_read(read: ReadOptions);

        /// The opener of files. Default: [`OpenedBy::Auto`].
        fn with_opened_by(opened_by: OpenedBy);

        /// The order of reading. Default: [`FileOrder::Given`].
        fn with_order(order: FileOrder);

        /// How to continue after a file that cannot be read. Default: [`Failures::Fail`].
        fn with_failures(failures: Failures);

        /// How a walk treats symbolic links. Default: [`Symlinks::Files`].
        fn with_symlinks(symlinks: Symlinks);

        /// The expected form of the bytes. Default: [`Content::Bytes`].
        fn with_content(shape: Content);

        /// The most bytes that [`ingest`](Self::ingest) may keep, or that a [`stream`](Self::stream)
        /// may hold at a time; a stream needs at least four parts. Default 0: the available memory;
        /// for a stream 64 MiB.
        fn with_memory_limit(memory_limit: u64);

        /// The order in which a stream passes files on. Default: [`Delivery::Input`].
        fn with_delivery(delivery: Delivery);

        /// Bytes of a large file that one worker reads at a time, and the most that a stream passes
        /// on at a time; at least 4,096. Default 0: 1 MiB.
        fn with_part_size(part_size: u64);

        /// Where [`ingest`](Self::ingest) puts the bytes: memory that was used before takes half the
        /// time of fresh memory. Default: memory of the process, which keeps at most 64 MiB of it
        /// between calls.
        fn with_arena(arena: Arena);
    }

    pub(super) fn hooks(&self) -> &Hooks {
        &self.read.hooks
    }

    pub(super) fn profile(&self) -> Option<&Profile> {
        self.read.profile.as_deref()
    }

    /// Returns the options for one large file of `files`; its bytes are counted with those of the others. Among
    /// several files it is read by one thread, since each worker may read one.
    pub(super) fn of_one_file(&self, files: usize) -> ReadOptions {
        let workers = if files == 1 { self.workers() } else { 1 };
        let read = ReadOptions::new().with_workers(workers);
        let cancel = self.read.hooks.cancel.clone();
        cancel.into_iter().fold(read, ReadOptions::with_cancel)
    }

    /// Returns the requested number of threads.
    pub(super) fn workers(&self) -> usize {
        self.read.workers().min(MOST as usize)
    }

    /// Returns fallbacks known before the first file: those of the caller, and options that apply
    /// to one large file only.
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
            ("NUMA node", !matches!(read.numa, Numa::Auto | Numa::FirstTouch)),
            ("growth", read.growth != Growth::Refused),
            ("offset or length", !read.is_whole()),
            ("costs", read.costs != Costs::Time),
        ];
        let unused = unused.into_iter().filter(|&(_, is_set)| is_set);
        let why = "many files are read without it";
        let told = unused.map(|(what, _)| Fallback::Unused { what, why });
        self.read.noted.iter().cloned().chain(told).collect()
    }

    /// Returns the number of files in flight on the device: as requested, otherwise as measured; 0: neither.
    pub(super) fn depth(&self) -> u32 {
        let wished = u32::try_from(self.read.wishes.queue_depth).unwrap_or(MOST).min(MOST);
        match (wished, self.profile()) {
            (0, Some(profile)) => profile.files_depth().min(MOST),
            (depth, _) => depth,
        }
    }

    /// Returns fallbacks for absurd values of the profile, which were clamped.
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

    /// Returns the most bytes of a file without a length. While its memory grows, half as much again is held.
    pub(super) fn most_made(&self) -> usize {
        let limit = match self.memory_limit {
            0 => swath_os::machine::memory_at_hand().unwrap_or(u64::MAX),
            limit => limit,
        };
        let each = limit / 2 / self.cores().max(1) as u64;
        usize::try_from(each).unwrap_or(usize::MAX).clamp(64 << 10, 1 << 30)
    }

    /// Returns the number of threads to start with.
    pub(super) fn cores(&self) -> usize {
        let tuned = self.profile().map_or(0, |profile| profile.files_workers());
        match (self.workers(), tuned) {
            (0, 0) => swath_os::machine::usable_cpus_at_start(),
            (0, tuned) => tuned.min(MOST as usize),
            (workers, _) => workers,
        }
    }
}
