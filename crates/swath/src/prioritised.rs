//! The verb `read_prioritised`: reads urgent parts first, and the whole no later than `read`.
//!
//! ```text
//! plan (chunk, class)… → arrange → workers read, class after class ─┬→ wait(class), callbacks
//!                                   at most `window` in flight      └→ finish: the whole
//! ```
//!
//! [`swath_plan::classes`] decides; Swath's own threads carry the decisions out here, and continue
//! after the call has returned.

mod loaded;
mod plan;
mod reading;
mod shared;
mod start;
mod views;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::buffer::{Buffer, BufferPool};
use crate::error::{Error, Operation, Reason, Result};
use crate::options::ReadOptions;
use crate::planned::Clock;
use crate::report::Report;
use crate::source::Source;

use shared::SharedReading;
use start::{Started, start};
use views::Memory;

pub use loaded::{ClassReport, ClassTime, LoadedPlan};
pub use plan::{ClassPlan, RowLayout};
pub use views::{ChunkBytes, ClassBytes};

/// Starts to read the chunks that `plan` lists of one file, the most urgent class first, and
/// returns at once.
///
/// Adjacent chunks of a class are read together, about 1 MiB at a time, by workers that take the
/// next piece in the order of classes. There are no barriers: a worker that finds nothing left of
/// one class begins another, at most the plan's window ahead.
///
/// Source: study A (priorities), but without its barriers between batches.
///
/// ```
/// use swath::classes::ClassPlan;
///
/// let len = std::fs::metadata("/etc/passwd")?.len();
/// let reading = swath::classes::read_prioritised("/etc/passwd", ClassPlan::by_position(len, 8, 4))?;
/// let first = reading.wait(0)?;                          // others are still being read
/// assert!(first.chunks().next().unwrap().bytes.starts_with(b"root"));
/// let loaded = reading.finish()?;
/// assert_eq!(loaded.buffer().len() as u64, len);
/// assert!(loaded.report.elapsed(0) <= loaded.report.elapsed(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be opened, cannot be read by position, or ends before the plan does; if
/// there is not enough memory. [`Prioritised::wait`] and [`Prioritised::finish`] report later
/// failures.
pub fn read_prioritised(source: impl Into<Source>, plan: ClassPlan) -> Result<Prioritised> {
    ReadOptions::new().read_prioritised(source, plan)
}

/// As [`read_prioritised`], for a plan of several files, which names them by their index in
/// `sources`.
///
/// ```
/// use swath::classes::{ClassPlan, read_prioritised_files};
///
/// let (passwd, group) = (std::fs::read("/etc/passwd")?, std::fs::read("/etc/group")?);
/// let mut plan = ClassPlan::new();
/// plan.push_in(0, 0..passwd.len() as u64, 1).push_in(1, 0..group.len() as u64, 0);
/// let reading = read_prioritised_files(["/etc/passwd", "/etc/group"], plan)?;
/// let urgent = reading.wait(0)?; // the second file
/// assert!(urgent.chunks().all(|chunk| chunk.bytes == &group[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`read_prioritised`]; and if the plan names a file that is not in `sources`.
pub fn read_prioritised_files<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
    plan: ClassPlan,
) -> Result<Prioritised> {
    ReadOptions::new().read_prioritised_files(sources, plan)
}

impl ReadOptions {
    /// Starts to read the chunks that `plan` lists of `source`; see [`read_prioritised`].
    ///
    /// Ring and fixed schedules are not used; the report says so. With direct reads, a chunk that
    /// does not consist of whole device blocks is read together with its surroundings.
    ///
    /// # Errors
    ///
    /// As [`read_prioritised`], and if the options have an offset or a length.
    pub fn read_prioritised(
        &self,
        source: impl Into<Source>,
        plan: ClassPlan,
    ) -> Result<Prioritised> {
        self.read_prioritised_files([source], plan)
    }

    /// Starts to read a plan of several files; see [`read_prioritised_files`]. All of them stay
    /// open until the end.
    ///
    /// # Errors
    ///
    /// As [`read_prioritised_files`], and if the options have an offset or a length.
    pub fn read_prioritised_files<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
        plan: ClassPlan,
    ) -> Result<Prioritised> {
        let clock = Clock::start(self);
        let sources = sources.into_iter().map(Into::into).collect();
        let Started { shared, threads, report } = start(self, sources, plan, clock.started())?;
        let threads = Threads { shared: Arc::clone(&shared), handles: threads };
        Ok(Prioritised { threads, shared, report, clock, pool: self.pool.clone() })
    }
}

/// A running read by classes.
///
/// It can be shared freely between threads. Dropping it cancels the read and waits for its workers;
/// no thread remains.
pub struct Prioritised {
    threads: Threads,
    shared: Arc<SharedReading>,
    report: Report,
    clock: Clock,
    pool: BufferPool,
}

impl Prioritised {
    /// Waits until all of `class` is read and checked, and returns its bytes. Complete classes stay
    /// readable after a failure or a cancellation.
    ///
    /// # Errors
    ///
    /// The failure that ended the read early; and if the plan has no such class, or if a callback waits.
    pub fn wait(&self, class: u32) -> Result<ClassBytes<'_>> {
        match self.wait_at_most(class, None)? {
            Some(bytes) => Ok(bytes),
            None => Err(self.shared.incomplete()),
        }
    }

    /// Waits at most `most`; returns `None` if it takes longer.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_for(&self, class: u32, most: Duration) -> Result<Option<ClassBytes<'_>>> {
        self.wait_at_most(class, Some(most))
    }

    fn wait_at_most(
        &self,
        class: u32,
        most: Option<Duration>,
    ) -> Result<Option<ClassBytes<'_>>> {
        let index = self.index(class).ok_or_else(|| {
            let detail = format!("the plan has no class {class}");
            self.invalid(Reason::Invalid, detail, "wait for a class that it lists")
        })?;
        if self.shared.announced(index).is_none() && self.threads.is_one_of_them() {
            let detail = String::from("a callback waits for its own read");
            return Err(self.invalid(Reason::Busy, detail, "wait in another thread"));
        }
        let elapsed = self.shared.wait(index, most)?;
        Ok(elapsed.map(|elapsed| self.shared.class_bytes(index, elapsed)))
    }

    /// Returns a class that is already complete.
    pub fn class(&self, class: u32) -> Option<ClassBytes<'_>> {
        let index = self.index(class)?;
        let elapsed = self.shared.announced(index)?;
        Some(self.shared.class_bytes(index, elapsed))
    }

    /// Returns bytes of a file that have already been read; `None` if some are missing or the
    /// plan does not list all of them. Only complete classes are checked for changes of the
    /// file.
    pub fn bytes(&self, file: usize, range: Range<u64>) -> Option<&[u8]> {
        self.shared.layout.bytes(Memory::Leased(&self.shared.memory), file, range)
    }

    /// As [`bytes`](Self::bytes), with the reason why the bytes will never come; `None` if they
    /// still may.
    ///
    /// # Errors
    ///
    /// The failure that ended the read early; and if the plan does not list all of them.
    pub fn try_bytes(&self, file: usize, range: Range<u64>) -> Result<Option<&[u8]>> {
        if !self.shared.layout.lists(file, &range) {
            let (start, end) = (range.start, range.end);
            let detail =
                format!("the plan does not list all of bytes {start}..{end} of file {file}");
            return Err(self.invalid(
                Reason::Invalid,
                detail,
                "request bytes that the plan lists",
            ));
        }
        // First, so that bytes read just before the end are not missed.
        let ended = self.shared.ended();
        match (self.bytes(file, range), ended) {
            (None, Some(error)) => Err(error),
            (bytes, _) => Ok(bytes),
        }
    }

    /// Makes `class` the next one to begin; returns whether it moved. Classes that have begun
    /// are read to their end first, so that the window holds. To bring several classes forward,
    /// pass the most urgent last.
    pub fn prioritise(&self, class: u32) -> bool {
        self.index(class).is_some_and(|index| self.shared.promote(index))
    }

    /// Cancels the read without waiting for reads in flight. Complete classes stay readable.
    pub fn cancel(&self) {
        self.shared.cancel();
    }

    /// Waits for all classes and returns the whole without copying.
    ///
    /// # Errors
    ///
    /// The first failure; and if a file changed while it was read.
    ///
    /// # Panics
    ///
    /// If a callback panicked, with its payload.
    pub fn finish(self) -> Result<LoadedPlan> {
        let Self { mut threads, shared, report, clock, pool } = self;
        if threads.is_one_of_them() {
            let (name, extent) = shared.running.place();
            let error = Error::new(Operation::Read, Reason::Busy, name).at(extent);
            return Err(error.detail("a callback waits for its own read"));
        }
        threads.join();
        shared.running.resume_panic();
        drop(threads);
        start::drop_behind(&shared);
        let incomplete = shared.incomplete();
        let Some(shared) = Arc::into_inner(shared) else { return Err(incomplete) };
        finish(shared, report, clock, pool).unwrap_or(Err(incomplete))
    }

    fn index(&self, class: u32) -> Option<usize> {
        self.shared.layout.arranged.index(class)
    }

    fn invalid(&self, reason: Reason, detail: String, hint: &'static str) -> Error {
        let (name, _): (&Path, _) = self.shared.running.place();
        Error::new(Operation::Read, reason, name).detail(detail).hint(hint)
    }
}

/// Takes the memory back and returns it with the report; `None` if bytes are missing without a
/// reason.
fn finish(
    shared: SharedReading,
    report: Report,
    clock: Clock,
    pool: BufferPool,
) -> Option<Result<LoadedPlan>> {
    let SharedReading { running, memory, layout, inputs, .. } = shared;
    if let Some(failure) = running.failure() {
        return Some(Err(failure));
    }
    let arranged = &layout.arranged;
    let time = |(index, elapsed): (usize, Option<Duration>)| {
        let (class, bytes) = (arranged.number(index), arranged.bytes(index));
        Some(ClassTime { class, bytes, elapsed: elapsed? })
    };
    let (announced, max_skew) = {
        let by_class = &mut running.state().schedule;
        (std::mem::take(&mut by_class.announced), by_class.classes.max_skew())
    };
    let classes: Vec<_> = announced.into_iter().enumerate().map(time).collect::<Option<_>>()?;
    let mut read = clock.stop(report);
    running.tell(&mut read);
    inputs.iter().for_each(|input| input.source.tell(&mut read));
    read.elapsed = classes.iter().map(|time| time.elapsed).max().unwrap_or(read.elapsed);
    let (window, pieces) = (arranged.window(), arranged.pieces().len());
    let len = usize::try_from(arranged.len()).ok()?;
    let buffer = Buffer::paged(memory.into_pages()?, 0, len, pool);
    let report = ClassReport { read, classes, window, max_skew, pieces };
    Some(Ok(LoadedPlan { report, buffer, layout }))
}

impl fmt::Debug for Prioritised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arranged = &self.shared.layout.arranged;
        f.debug_struct("Prioritised")
            .field("classes", &arranged.classes())
            .field("window", &arranged.window())
            .field("pieces", &arranged.pieces().len())
            .finish_non_exhaustive()
    }
}

/// The workers; cancelled and joined on drop.
struct Threads {
    shared: Arc<SharedReading>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Whether the calling thread is a worker: in a callback.
    fn is_one_of_them(&self) -> bool {
        self.shared.workers().contains(&std::thread::current().id())
    }

    /// Joins all workers.
    fn join(&mut self) {
        let here = std::thread::current().id();
        for handle in self.handles.drain(..) {
            // A callback may own the handle; its thread ends by itself.
            if handle.thread().id() != here {
                // The shared state keeps panics.
                let _ = handle.join();
            }
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if !self.handles.is_empty() {
            self.shared.cancel();
            self.join();
        }
    }
}
