//! The shared state of the strands of one output: target, logs, limit of waiting bytes, first
//! failure.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use swath_os::machine::{memory_at_hand, usable_cpus_at_start};
use swath_os::memory::Pages;
use swath_plan::extent::Extent;
use swath_plan::segment::rope::{LogExtent, Rope};

use crate::append::options::{AppendOptions, ExtentChecksums, Mode};
use crate::append::unplaced::Unplaced;
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::{AtomicU64, AtomicUsize, Mutex, MutexGuard};
use crate::observe::Observer;
use crate::sink::writeback;
use crate::sink::{
    Draft, Durability, Folder, FsFile, Moved, Preallocation, move_range, share_range,
    write_all_at,
};
use crate::threads;
use crate::timeline::Activity;

/// The file being written; it gets its name at commit.
#[derive(Debug)]
pub(super) enum AppendTarget {
    File(Draft),
    Folder(Folder),
}

/// One log, lent to one strand at a time.
#[derive(Debug)]
struct Log {
    index: u32,
    file: Arc<dyn FsFile>,
    len: u64,
}

/// The file of a log, for the manifest and for reading spilled bytes back.
#[derive(Debug, Clone)]
pub(super) struct LogFile {
    pub(super) name: String,
    pub(super) file: Arc<dyn FsFile>,
}

#[derive(Debug, Default)]
struct Logs {
    all: Vec<LogFile>,
    /// Logs that no strand holds. The last one returned is taken first, so that a thread mostly
    /// gets its own log again.
    free: Vec<Log>,
}

/// Counters for the report.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) forks: AtomicU64,
    pub(super) steals: AtomicU64,
    pub(super) in_place: AtomicU64,
    pub(super) logged: AtomicU64,
    pub(super) cloned: AtomicU64,
    pub(super) copied: AtomicU64,
}

impl Counters {
    // Relaxed throughout: statistics, read after all strands have ended.
    pub(super) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct AppendOutput {
    pub(super) mode: Mode,
    pub(super) path: PathBuf,
    pub(super) buffer_size: usize,
    pub(super) checksums: ExtentChecksums,
    durability: Durability,
    /// The target of bytes whose place is known; `None` for folders.
    file: Option<Arc<dyn FsFile>>,
    preallocation: Preallocation,
    /// Dropped before the target: in a folder to be removed, FUSE keeps files that are open.
    logs: Mutex<Logs>,
    target: Mutex<Option<AppendTarget>>,
    /// The limit of [`most_in_memory`](Self::most_in_memory) from the options.
    memory_limit: u64,
    most_in_memory: OnceLock<u64>,
    /// Memory used by pieces without a place, in bytes.
    in_memory: AtomicU64,
    spare_pages: Mutex<Vec<Pages>>,
    /// Branches that other threads may take or are running, where these are counted.
    offers: AtomicUsize,
    pub(super) counters: Counters,
    pub(super) observer: Observer,
    /// The first failure, for every later caller.
    failed: OnceLock<String>,
    /// A failure that could not be returned to a caller where it occurred.
    untold: Mutex<Option<Error>>,
}

/// With four, eight threads on two processors took four times as long as two threads for 2 GiB: their bytes waited
/// in fresh memory.
const OFFERS_PER_CPU: usize = 2;

/// How the second branch of a join runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchOffer {
    /// Other threads may take it.
    Free,
    /// Other threads may take it, and it is one of the [`AppendOutput::offers`].
    Counted,
    /// It follows the first branch, on the same thread.
    Refused,
}

/// Bytes of one piece that waits in memory, unless it is small: one huge page.
const PAGES_LEN: usize = 2 << 20;

impl AppendOutput {
    pub(super) fn new(options: &AppendOptions, path: &Path, target: AppendTarget) -> Self {
        let file = match &target {
            AppendTarget::File(draft) => Some(Arc::clone(draft.file())),
            AppendTarget::Folder(_) => None,
        };
        Self {
            mode: options.mode,
            path: path.to_owned(),
            buffer_size: options.buffer_size(),
            checksums: options.checksums,
            durability: options.output.draft.durability,
            file,
            preallocation: Preallocation::new(),
            target: Mutex::new(Some(target)),
            logs: Mutex::default(),
            memory_limit: options.memory_limit,
            most_in_memory: OnceLock::new(),
            in_memory: AtomicU64::new(0),
            spare_pages: Mutex::default(),
            offers: AtomicUsize::new(0),
            counters: Counters::default(),
            observer: Observer::new(options.output.hooks.clone(), None),
            failed: OnceLock::new(),
            untold: Mutex::default(),
        }
    }

    /// Returns whether a branch may be offered to other threads; if so, call [`end_offer`](Self::end_offer) later. In
    /// a pool with more threads than processors can keep busy, only some branches are offered: the bytes of more would
    /// wait for their place in memory.
    #[inline]
    pub(super) fn offer(&self) -> BranchOffer {
        let most = OFFERS_PER_CPU * usable_cpus_at_start();
        if rayon::current_num_threads() <= most {
            BranchOffer::Free
        } else {
            self.offer_counted(most)
        }
    }

    #[cold]
    fn offer_counted(&self, most: usize) -> BranchOffer {
        // Relaxed: a count that orders nothing.
        if self.offers.fetch_add(1, Ordering::Relaxed) < most {
            return BranchOffer::Counted;
        }
        self.end_offer(BranchOffer::Counted);
        BranchOffer::Refused
    }

    #[inline]
    pub(super) fn end_offer(&self, offer: BranchOffer) {
        if offer == BranchOffer::Counted {
            self.offers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Fails after a failure or a cancellation: later bytes could not be committed.
    pub(super) fn check(&self) -> Result<()> {
        match self.failed.get() {
            None if self.observer.is_cancelled() => {
                Err(self.fail(Error::cancelled(Operation::Write, &self.path)))
            }
            None => Ok(()),
            Some(first) => {
                Err(Error::new(Operation::Write, Reason::Poisoned, &self.path).detail(first))
            }
        }
    }

    /// Records `error` and returns it.
    pub(super) fn fail(&self, error: Error) -> Error {
        // The first failure wins; later ones follow from it.
        let _ = self.failed.set(format!("an earlier operation failed: {error:?}"));
        error
    }

    /// Records `error` where it cannot be returned before the commit.
    pub(super) fn fail_untold(&self, error: Error) {
        let error = self.fail(error);
        self.untold.lock().get_or_insert(error);
    }

    /// Ends an output that was abandoned or committed: frees memory and logs of strands; later
    /// calls of remaining forks fail.
    pub(super) fn close(&self) {
        let _ = self
            .failed
            .set(String::from("its output was dropped or committed while a fork was open"));
        // Outside the locks: closing files and unmapping pages takes time.
        let target = self.target().take();
        let logs = mem::take(&mut *self.logs.lock());
        let pages = mem::take(&mut *self.spare_pages.lock());
        // Segments before their folder.
        drop((logs, pages));
        drop(target);
    }

    /// Returns the reason why the output cannot be committed, if any.
    pub(super) fn failure(&self) -> Option<Error> {
        self.untold.lock().take().or_else(|| self.check().err())
    }

    /// Appends bytes without a place to `rope`: in memory while there is room, otherwise
    /// spilled. Segments always go to a log.
    pub(super) fn keep(&self, rope: &mut Rope<Unplaced>, bytes: &[u8]) -> Result<()> {
        if self.mode == Mode::Plain {
            if rope.grow_last(|last| last.push(bytes)) {
                return Ok(());
            }
            if let Some(mut pages) = self.take_memory(bytes.len()) {
                pages.push(bytes);
                rope.push(pages);
                return Ok(());
            }
        }
        let mut last = None;
        rope.grow_last(|piece| {
            last = piece.log();
            false
        });
        rope.push(self.log(bytes, last)?);
        Ok(())
    }

    /// Returns an empty piece with room for `len` bytes; `None` if too much is waiting already.
    fn take_memory(&self, len: usize) -> Option<Unplaced> {
        // Relaxed: a limit that concurrent calls may slightly exceed.
        if self.in_memory.load(Ordering::Relaxed) + len as u64 > self.most_in_memory() {
            return None;
        }
        let piece = if len < PAGES_LEN / 32 {
            Unplaced::Memory(Vec::with_capacity(len))
        } else {
            Unplaced::Pages { pages: self.take_pages(len.max(PAGES_LEN))?, len: 0 }
        };
        self.in_memory.fetch_add(piece.footprint(), Ordering::Relaxed);
        Some(piece)
    }

    /// Returns how many bytes may wait in memory. The available memory is determined when the first bytes have to wait:
    /// that reads some 20 files of the kernel, which takes longer than a short output.
    fn most_in_memory(&self) -> u64 {
        const MOST: u64 = 2 << 30;
        let share = || memory_at_hand().map_or(MOST / 8, |bytes| (bytes / 8).min(MOST));
        *self
            .most_in_memory
            .get_or_init(|| if self.memory_limit == 0 { share() } else { self.memory_limit })
    }

    fn take_pages(&self, len: usize) -> Option<Pages> {
        let used = self.spare_pages.lock().pop();
        if let Some(pages) = used.filter(|pages| pages.len() >= len) {
            return Some(pages);
        }
        let pages = Pages::map(len).ok()?;
        // Kernels without huge pages refuse it: slower, not wrong.
        let _ = pages.advise_huge();
        Some(pages)
    }

    /// Frees a piece in memory that is no longer needed.
    pub(super) fn give_back(&self, piece: Unplaced) {
        self.in_memory.fetch_sub(piece.footprint(), Ordering::Relaxed);
        if let Unplaced::Pages { pages, .. } = piece
            && self.failed.get().is_none()
        {
            self.spare_pages.lock().push(pages);
        }
    }

    /// Appends bytes to a log that no other strand holds.
    pub(super) fn log(&self, bytes: &[u8], last: Option<u32>) -> Result<Unplaced> {
        let mut log = self.take_log(last)?;
        let span = Extent::between(log.len, log.len + bytes.len() as u64);
        let written = self.observer.hooks().record(Activity::Write, &self.path, span, || {
            write_all_at(&*log.file, bytes, log.len)
        });
        let extent = LogExtent { log: log.index, offset: log.len, len: bytes.len() as u64 };
        log.len += extent.len;
        let error = written.err().map(|error| {
            let bytes = Extent::between(extent.offset, log.len);
            Error::io(Operation::Write, &self.path.join(self.log_name(log.index)), error)
                .at(bytes)
        });
        self.logs.lock().free.push(log);
        if let Some(error) = error {
            return Err(self.fail(error));
        }
        Counters::add(&self.counters.logged, extent.len);
        self.observer.delivered(extent.len);
        let is_checked =
            self.mode == Mode::Segments && self.checksums == ExtentChecksums::Extents;
        let crc = if is_checked { crc32c::crc32c(bytes) } else { 0 };
        Ok(Unplaced::Log { extent, crc })
    }

    fn log_name(&self, index: u32) -> String {
        let logs = self.logs.lock();
        logs.all.get(index as usize).map_or_else(String::new, |log| log.name.clone())
    }

    /// Returns the log `last`, so that the bytes continue a piece there, otherwise any log.
    fn take_log(&self, last: Option<u32>) -> Result<Log> {
        let mut logs = self.logs.lock();
        let same = logs.free.iter().position(|log| Some(log.index) == last);
        if let Some(log) = same.map(|at| logs.free.swap_remove(at)).or_else(|| logs.free.pop())
        {
            return Ok(log);
        }
        drop(logs);
        let made = match &*self.target.lock() {
            Some(AppendTarget::Folder(folder)) => folder.create_segment(),
            Some(AppendTarget::File(draft)) => {
                draft.scratch().map(|file| (String::new(), file))
            }
            None => Err(Error::new(Operation::Write, Reason::Invalid, &self.path)
                .detail("it has been committed already")),
        };
        let (name, file) = made.map_err(|error| self.fail(error))?;
        let mut logs = self.logs.lock();
        let index = u32::try_from(logs.all.len()).unwrap_or(u32::MAX);
        logs.all.push(LogFile { name, file: Arc::clone(&file) });
        Ok(Log { index, file, len: 0 })
    }

    /// Returns all logs, by index.
    pub(super) fn log_files(&self) -> Vec<LogFile> {
        self.logs.lock().all.clone()
    }

    /// Returns the lengths of all logs; no strand may be writing.
    pub(super) fn log_lens(&self) -> Vec<u64> {
        let logs = self.logs.lock();
        let mut lens = vec![0; logs.all.len()];
        for log in &logs.free {
            lens[log.index as usize] = log.len;
        }
        lens
    }

    /// Writes bytes to their place.
    pub(super) fn place(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let Some(file) = &self.file else {
            return Err(Error::new(Operation::Write, Reason::Invalid, &self.path));
        };
        let Some(end) = offset.checked_add(bytes.len() as u64) else {
            let error = Error::io(Operation::Write, &self.path, Errno::FBIG.into());
            return Err(self.fail(
                error.detail(format!("offset {offset} is beyond the longest possible file")),
            ));
        };
        self.preallocation.reach(&**file, end);
        let span = Extent::between(offset, offset + bytes.len() as u64);
        let written = self
            .observer
            .hooks()
            .record(Activity::Write, &self.path, span, || write_all_at(&**file, bytes, offset));
        written.map_err(|error| {
            let extent = Extent::between(offset, end);
            self.fail(Error::io(Operation::Write, &self.path, error).at(extent))
        })?;
        writeback::written(&**file, Extent::between(offset, end), self.durability);
        Counters::add(&self.counters.in_place, bytes.len() as u64);
        self.observer.delivered(bytes.len() as u64);
        Ok(())
    }

    /// Moves a piece to its place.
    pub(super) fn land(&self, piece: Unplaced, offset: u64) -> Result<()> {
        match piece {
            Unplaced::Log { extent, .. } => self.land_log(extent, offset),
            piece => {
                self.place(piece.bytes(), offset)?;
                self.give_back(piece);
                Ok(())
            }
        }
    }

    /// Moves a piece to its place if its blocks can be shared.
    pub(super) fn share(&self, piece: &Unplaced, offset: u64) -> Result<bool> {
        let Unplaced::Log { extent, .. } = piece else { return Ok(false) };
        let (file, from) = self.way_of(*extent)?;
        let mut recorder = self.observer.hooks().recorder(&self.path);
        let moved = share_range(file, &*from, extent.offset, offset, extent.len);
        if let Ok(Some(_)) = moved {
            recorder.lap(Activity::Copy, offset, extent.len);
        }
        let moved = moved.map_err(|error| self.not_moved(*extent, offset, error))?;
        self.count(moved.unwrap_or_default());
        Ok(moved.is_some())
    }

    fn land_log(&self, extent: LogExtent, offset: u64) -> Result<()> {
        let (file, from) = self.way_of(extent)?;
        self.preallocation.reach(file, offset + extent.len);
        let span = Extent::between(offset, offset + extent.len);
        let moved = self.observer.hooks().record(Activity::Copy, &self.path, span, || {
            move_range(file, &*from, extent.offset, offset, extent.len)
        });
        self.count(moved.map_err(|error| self.not_moved(extent, offset, error))?);
        Ok(())
    }

    /// Returns the target file, and the log that `extent` is in.
    fn way_of(&self, extent: LogExtent) -> Result<(&dyn FsFile, Arc<dyn FsFile>)> {
        let log = |logs: &Logs| Some(Arc::clone(&logs.all.get(extent.log as usize)?.file));
        let way = self.file.as_deref().zip(log(&self.logs.lock()));
        way.ok_or_else(|| Error::new(Operation::Write, Reason::Invalid, &self.path))
    }

    fn not_moved(&self, extent: LogExtent, offset: u64, error: io::Error) -> Error {
        let bytes = Extent::between(offset, offset + extent.len);
        self.fail(Error::io(Operation::Write, &self.path, error).at(bytes))
    }

    fn count(&self, moved: Moved) {
        Counters::add(&self.counters.cloned, moved.cloned);
        Counters::add(&self.counters.copied, moved.copied);
    }

    /// Frees the logs once all spilled bytes are in their place; many bytes on another thread, since
    /// a file system takes as long to free them as it took to move them.
    pub(super) fn release_logs(&self) {
        const MUCH: u64 = 16 << 20;
        let lens: u64 = self.log_lens().iter().sum();
        let logs = mem::take(&mut *self.logs.lock());
        if lens > MUCH {
            // If the thread cannot be started, the logs have been dropped already.
            let _ = threads::start_for_good(0, Box::new(move || drop(logs)));
        }
    }

    /// Drops the logs that the target has too.
    pub(super) fn forget_logs(&self) {
        drop(mem::take(&mut *self.logs.lock()));
    }

    /// Locks the target, for the commit; strands do not use it.
    pub(super) fn target(&self) -> MutexGuard<'_, Option<AppendTarget>> {
        self.target.lock()
    }
}

/// Returns the error for a fork that can no longer be finished.
pub(super) fn dropped(output: &AppendOutput) -> Error {
    Error::new(Operation::Commit, Reason::Poisoned, &output.path)
        .detail("a forked handle was dropped before it was finished")
        .hint("call `finish` on each, or write the output again")
}

/// Returns the error for a lost strand, whose bytes are unknown.
pub(super) fn lost(output: &AppendOutput) -> Error {
    Error::new(Operation::Write, Reason::Poisoned, &output.path)
        .detail("a panic lost a strand and what it had written")
        .hint("write the output again")
}

/// Converts an error for `std::io`; `downcast` returns the original.
pub(super) fn to_io(error: Error) -> io::Error {
    io::Error::from(error)
}
