//! How to read: every option, with its default.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use swath_os::map::MapAdvice;
#[cfg(test)]
use swath_os::numa::Topology;
use swath_os::priority::IoPriority;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Engine, PageCache, Reuse, Schedule, Tuning, Wishes};
use swath_plan::{setters, words};

use crate::buffer::BufferPool;
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::{CancelToken, Hooks, Observer, Progress};
use crate::profile::Profile;
use crate::source::{Growth, OpenSource};
use crate::timeline::Timeline;

/// Advice to the kernel about a file before it is read: study D's flags.
///
/// It is passed with `posix_fadvise(2)` for reads and with `madvise(2)` for maps. Advice that only
/// applies to maps is reported as a fallback elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// No advice.
    #[default]
    None,
    /// The file will be needed soon: start reading it.
    WillNeed,
    /// The file is read from front to back.
    Sequential,
    /// The file is read at random offsets: no readahead.
    Random,
    /// Use huge pages (maps only).
    HugePage,
    /// A rolling, asynchronous will-need just ahead of each worker (maps only).
    MapAhead,
}

words!(Advice {
    None = "none", WillNeed = "will-need", Sequential = "sequential", Random = "random",
    HugePage = "huge-page", MapAhead = "map-ahead",
});

impl Advice {
    pub(crate) fn for_map(self) -> Option<MapAdvice> {
        match self {
            Self::None | Self::MapAhead => None,
            Self::WillNeed => Some(MapAdvice::WillNeed),
            Self::Sequential => Some(MapAdvice::Sequential),
            Self::Random => Some(MapAdvice::Random),
            Self::HugePage => Some(MapAdvice::HugePage),
        }
    }
}

/// When the pages of a map are entered into the page table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MapPages {
    /// One by one, as they are touched.
    #[default]
    WhenTouched,
    /// All at once, when the map is created (`MAP_POPULATE`).
    WhenMade,
}

/// The page size of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageSize {
    /// The machine's base pages.
    #[default]
    Usual,
    /// Huge pages, where the file system has them.
    Huge,
}

/// The part of a report about the cost of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Costs {
    /// The elapsed time.
    #[default]
    Time,
    /// Also the resources of the whole process, including other threads: page faults, context
    /// switches, CPU time, peak memory ([`Usage`](crate::reading::Usage)).
    Process,
}

/// The NUMA node of a result's fresh memory, on machines with more than one node.
///
/// This applies to the results of `read` and `read_prioritised`. Blocks, streams and files that one
/// call reads are always first touch. Used memory from a [pool](BufferPool) keeps its place. If the
/// kernel or a sandbox refuses a placement, the report says so ([`Fallback::NotPlaced`]), and the
/// memory is first touch.
///
/// `docs/design/scaling.md` has the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numa {
    /// [`Interleave`](Self::Interleave) for a large result with several reads in flight, of at least
    /// 16 MiB for each node; otherwise [`FirstTouch`](Self::FirstTouch). A memory policy of the
    /// calling thread, such as `numactl --membind`, is left unchanged. A refused placement is not
    /// reported, because none was requested.
    #[default]
    Auto,
    /// Each worker's own node: the thread that populates a page decides.
    FirstTouch,
    /// The node of the calling thread.
    Caller,
    /// All nodes in turn, page by page: those with memory and processors that this process may use.
    Interleave,
}

/// How to read. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::{Engine, PageCache, ReadOptions};
///
/// let options = ReadOptions::new().with_workers(2).with_page_cache(PageCache::Drop);
/// let loaded = options.read("/etc/passwd")?;
/// println!("{} bytes by {}: {}", loaded.report.bytes, loaded.report.engine, loaded.report.reason);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    pub(crate) wishes: Wishes,
    pub(crate) advice: Advice,
    pub(crate) map_pages: MapPages,
    pub(crate) map_page_size: PageSize,
    pub(crate) numa: Numa,
    pub(crate) growth: Growth,
    pub(crate) rate_bytes_per_s: Option<NonZeroU64>,
    pub(crate) io_priority: Option<IoPriority>,
    pub(crate) offset: u64,
    pub(crate) len: Option<u64>,
    pub(crate) hooks: Hooks,
    pub(crate) pool: BufferPool,
    pub(crate) costs: Costs,
    pub(crate) profile: Option<Arc<Profile>>,
    pub(crate) noted: Vec<Fallback>,
    /// Replaces the topology of this machine, for tests.
    #[cfg(test)]
    pub(crate) topology: Option<fn() -> std::io::Result<Topology>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// The defaults: the whole file, everything else chosen for you (`auto`).
    pub fn new() -> Self {
        Self {
            wishes: Wishes::default(),
            advice: Advice::None,
            map_pages: MapPages::WhenTouched,
            map_page_size: PageSize::Usual,
            numa: Numa::Auto,
            growth: Growth::Refused,
            rate_bytes_per_s: None,
            io_priority: None,
            offset: 0,
            len: None,
            hooks: Hooks::default(),
            pool: BufferPool::shared(),
            costs: Costs::Time,
            profile: None,
            noted: Vec::new(),
            #[cfg(test)]
            topology: None,
        }
    }

    setters! {
        /// Which engine moves the bytes. Default: [`Engine::Auto`].
        fn with_engine(engine: Engine) in wishes;
    }

    /// Sets the number of threads, including the caller's, at most 1,024. Default 0: one for each core,
    /// or more where the device needs more reads in flight. For a source that is not a file, the number
    /// adapts during the read, see [`SourceFacts`](crate::SourceFacts). Workers for which nothing would
    /// be left to read are not started.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.wishes.workers = workers as u64;
        self
    }

    setters! {
        /// Bytes of one read; for a scan, of one fold. Default 0: 1 MiB; for a scan 512 KiB.
        fn with_chunk_size(chunk_size: u64) in wishes;
    }

    /// Sets the direct reads in flight, at most 1,024. Default 0: 16; on spinning disks and networks 2.
    #[must_use]
    pub fn with_queue_depth(mut self, queue_depth: usize) -> Self {
        self.wishes.queue_depth = queue_depth as u64;
        self
    }

    setters! {
        /// How chunks are assigned to workers. Default: [`Schedule::Dynamic`].
        fn with_schedule(schedule: Schedule) in wishes;

        /// How to use the page cache. Default: [`PageCache::Auto`].
        fn with_page_cache(page_cache: PageCache) in wishes;

        /// Whether the file will be read again. Default: unknown, so reads warm the page cache.
        fn with_reuse(reuse: Reuse) in wishes;

        /// Advice to the kernel before the read. Default: no advice.
        fn with_advice(advice: Advice);

        /// When the pages of a map are entered. Default: [`MapPages::WhenTouched`].
        fn with_map_pages(map_pages: MapPages);

        /// The page size of maps. Default: [`PageSize::Usual`].
        fn with_map_page_size(map_page_size: PageSize);
    }

    /// Limits the rate to this many bytes per second, all workers together. Default 0: no limit.
    #[must_use]
    pub fn with_rate_bytes_per_s(mut self, rate: u64) -> Self {
        self.rate_bytes_per_s = NonZeroU64::new(rate);
        self
    }

    setters! {
        /// The priority of the reads in the kernel's I/O scheduler. Default: that of the thread.
        fn with_io_priority(io_priority: IoPriority);

        /// Where the fresh memory of a result comes from. Default: [`Numa::Auto`].
        fn with_numa(numa: Numa);

        /// How the file may change while it is read. Default: [`Growth::Refused`].
        fn with_growth(growth: Growth);

        /// The offset of the first byte to read. Default 0.
        fn with_offset(offset: u64);

        /// The number of bytes to read; a file with fewer bytes after the offset is an error. Default:
        /// to the end.
        fn with_len(len: u64);
    }

    /// Calls `progress` about once for each MiB, from the worker that delivered it. The count of
    /// delivered bytes never shrinks, but calls of different workers may overtake each other.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.progress = Some(Arc::new(progress));
        self
    }

    setters! {
        /// Lets `token` cancel the read.
        fn with_cancel(cancel: CancelToken) in hooks;

        /// Records the activities of each worker in `timeline`, chunk by chunk. Default: no timeline.
        fn with_timeline(timeline: impl Into<Option<Timeline>>) in hooks;

        /// The pool of buffers. Default: that of the process; see [`BufferPool`].
        fn with_pool(pool: BufferPool);

        /// The part of the report about the cost of the read. Default: [`Costs::Time`].
        fn with_costs(costs: Costs);
    }

    /// Sets the settings that were measured to be faster than the defaults on this file system; `auto`
    /// uses them in place of the defaults. Other options set here take precedence. Default: no profile.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<Profile>>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Adds a line to the report's [fallbacks](crate::Report::fallbacks) about a service that was not
    /// available before the call: for example why a profile is not used. Default: no line.
    #[must_use]
    pub fn with_fallback(mut self, text: impl Into<String>) -> Self {
        self.noted.push(Fallback::Noted(text.into()));
        self
    }

    /// Returns the profile for `auto`, if there is one.
    pub(crate) fn auto_profile(&self) -> Option<&Profile> {
        self.profile.as_deref().filter(|_| self.wishes.engine == Engine::Auto)
    }

    /// Returns the profile's settings for reads, or the defaults.
    pub(crate) fn tuning(&self) -> Tuning {
        self.auto_profile().map(Profile::tuning).unwrap_or_default()
    }

    /// Returns the profile's name, for the report.
    pub(crate) fn profile_name(&self) -> Option<String> {
        self.auto_profile().map(|profile| profile.name().to_owned())
    }

    /// The offset of the first byte to read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The requested chunk size in bytes; 0 means "choose for me".
    pub fn chunk_size(&self) -> u64 {
        self.wishes.chunk_size
    }

    /// The requested number of threads; 0 means "choose for me".
    pub fn workers(&self) -> usize {
        usize::try_from(self.wishes.workers).unwrap_or(usize::MAX)
    }

    /// Whether all of a source is requested: neither an offset nor a length is set.
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.len.is_none()
    }

    /// Refuses an offset or a length for a verb that takes the whole source.
    pub(crate) fn check_whole(&self, operation: Operation, name: &Path) -> Result<()> {
        if self.is_whole() {
            return Ok(());
        }
        let error = Error::new(operation, Reason::Invalid, name);
        Err(error
            .detail(
                "this call takes the whole source, but the options set an offset or a length",
            )
            .hint("leave out the offset and the length, or read the part and write it"))
    }

    /// Returns these options, joined with the hooks of the same verb's output.
    pub(crate) fn joined(&self, output: &Hooks) -> Self {
        let hooks = Hooks::joined(&self.hooks, output);
        Self { hooks, ..self.clone() }
    }

    /// Returns the options without the progress callback: for all but one read of a verb.
    #[must_use]
    pub fn without_progress(mut self) -> Self {
        self.hooks.progress = None;
        self
    }

    /// Returns the options for the whole source: neither an offset nor a length is set.
    #[must_use]
    pub fn without_extent(mut self) -> Self {
        (self.offset, self.len) = (0, None);
        self
    }

    /// Whether the token of these options is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.hooks.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// The token of these options, if there is one: for a caller that ends one of several reads early,
    /// with a [child](CancelToken::child) of the token.
    pub fn cancel(&self) -> Option<&CancelToken> {
        self.hooks.cancel.as_ref()
    }

    /// The progress callback, if there is one: for a caller that combines several reads into one.
    pub fn progress(&self) -> Option<Arc<dyn Fn(Progress) + Send + Sync>> {
        self.hooks.progress.clone()
    }

    /// The timeline, if there is one: for a caller that records work of its own.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.hooks.timeline.as_ref()
    }

    /// Returns the hook of a read of `extent`.
    pub(crate) fn observer(&self, extent: Extent) -> Observer {
        Observer::new(self.hooks.clone(), Some(extent.len()))
    }

    /// Returns the requested bytes of a source of `len` bytes.
    pub(crate) fn extent_of(&self, source: &OpenSource, len: u64) -> Result<Extent> {
        self.extent_of_len(source, len, self.len)
    }

    /// As [`extent_of`](Self::extent_of), with the caller's own number of bytes to read.
    pub(crate) fn extent_of_len(
        &self,
        source: &OpenSource,
        len: u64,
        wanted: Option<u64>,
    ) -> Result<Extent> {
        let wanted = wanted.unwrap_or(len.saturating_sub(self.offset));
        let Some(extent) = Extent::new(self.offset, wanted) else {
            let error = Error::new(Operation::Read, Reason::Invalid, source.name());
            return Err(error.detail("offset and length exceed 2^64"));
        };
        if extent.end() > len {
            return Err(source.too_short(extent, len));
        }
        Ok(extent)
    }
}
