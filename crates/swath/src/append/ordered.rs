//! Ordered mode: writes chunks in the order of their tickets, in whatever order they are finished.
//!
//! A [`Ticket`] is a place in the serial order. Workers take tickets, fill their buffers
//! independently and give them back with [`done`](Ticket::done). A chunk begins where its
//! predecessor ends, so its offset is known once the *sizes* of all earlier chunks are known. Then
//! it is written, in parallel with other chunks. `done` never waits: a chunk whose offset is not
//! known yet is put aside; the thread that makes the offset known writes it.
//!
//! ```text
//! ticket()      0        1        2        3 waits: window 3
//! worker A      |--fill--|done: write 0, write 1|
//! worker B               |fill|done: put aside|     |-- 3 --
//! worker C                        |------fill------|done: write 2|
//! file          0------------1----2-----------
//! ```
//!
//! The window bounds memory: it is the maximum number of chunks. While it is full,
//! [`ticket`](Ordered::ticket) waits, so a fast producer does not run ahead of a slow disk.

mod map;
mod options;
mod ticket;
mod tickets;
mod writers;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use swath_plan::fallback::Fallback;

use crate::append::ordered::tickets::Tickets;
use crate::error::{Error, Operation, Reason, Result};
use crate::failures::FailureLog;
use crate::sink::Sparse;
use crate::sink::direct::DirectFile;
use crate::sink::draft::Draft;
use crate::sink::target::{Target, refused};
use crate::source::FileTimes;

pub use options::{Direct, OrderedOptions};
pub use ticket::Ticket;

/// Maximum direct writes in flight: on a virtual disk four of 1 MiB were a fifth faster than two,
/// and eight no faster than four.
const IN_FLIGHT: usize = 4;

/// Begins a file that is written in the order of tickets. Nothing is visible before
/// [`commit`](Ordered::commit).
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("squares");
/// let out = swath::append::ordered(&path)?;
/// out.map_ordered(1..=1000_u64, 4, |n, ticket| -> std::io::Result<()> {
///     writeln!(ticket, "{}", n * n)
/// })?;
/// out.commit()?; // complete under its name, or absent
/// assert!(std::fs::read_to_string(&path)?.starts_with("1\n4\n9\n16\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the target is a folder or cannot be replaced, if it has another writer ([`Reason::Busy`]),
/// or if no file can be created in its folder.
pub fn ordered(path: impl AsRef<Path>) -> Result<Ordered> {
    OrderedOptions::new().ordered(path)
}

/// Writes to a stream in the order of tickets: a pipe, standard output, a socket.
///
/// ```
/// use std::io::Write;
/// let out = swath::append::ordered_to(std::io::stdout(), "<stdout>");
/// out.map_ordered(1..=3, 2, |n, ticket| writeln!(ticket, "line {n}"))?;
/// out.commit()?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// `name` is used in messages. One worker writes at a time, whole chunks in order; the others
/// continue to fill theirs. If the reader closes a pipe, `ticket`, `done` or `commit` returns an
/// error of kind [`BrokenPipe`](std::io::ErrorKind::BrokenPipe).
///
/// A stream cannot be undone: after an error, all earlier bytes in serial order may have been
/// sent, but no later ones.
pub fn ordered_to(writer: impl Write + Send + 'static, name: impl AsRef<Path>) -> Ordered {
    OrderedOptions::new().ordered_to(writer, name)
}

impl OrderedOptions {
    /// As [`ordered`], with these options.
    ///
    /// # Errors
    ///
    /// As [`ordered`].
    pub fn ordered(&self, path: impl AsRef<Path>) -> Result<Ordered> {
        self.ordered_in(path.as_ref())
    }

    fn ordered_in(&self, path: &Path) -> Result<Ordered> {
        let draft = self.output.begin(path.as_ref())?;
        let file = Arc::clone(draft.file());
        let mut fallbacks = draft.fallbacks();
        let direct = match (self.direct, file.descriptor()) {
            (Direct::No, _) => None,
            (Direct::Yes, None) => {
                fallbacks.push(refused("this file system has no descriptors"));
                None
            }
            (Direct::Yes, Some(descriptor)) => DirectFile::open(descriptor)
                .inspect_err(|error| fallbacks.push(refused(error)))
                .ok(),
        };
        let path = draft.path().to_owned();
        let is_direct = direct.is_some();
        if is_direct && self.sparse == Sparse::Auto {
            let why = "zeros are written too, because writes are direct";
            fallbacks.push(Fallback::Unused { what: "sparse", why });
        }
        let target = Target::file(file, direct, self.output.draft.durability, self.sparse);
        let mut tickets = Tickets::new(path, target, self, fallbacks);
        tickets.set_in_place(draft.is_in_place());
        let tickets = Arc::new(tickets);
        let writers = if is_direct { writers::start(&tickets, IN_FLIGHT) } else { Vec::new() };
        Ok(Ordered { tickets, writers, draft: Some(draft) })
    }

    /// As [`ordered_to`], with these options.
    pub fn ordered_to(
        &self,
        writer: impl Write + Send + 'static,
        name: impl AsRef<Path>,
    ) -> Ordered {
        let mut fallbacks = Vec::new();
        if self.direct == Direct::Yes {
            fallbacks.push(refused("it is a stream"));
        }
        let target = Target::stream(Box::new(writer));
        let tickets = Tickets::new(name.as_ref().to_owned(), target, self, fallbacks);
        Ordered { tickets: Arc::new(tickets), writers: Vec::new(), draft: None }
    }
}

/// A file or stream that workers write chunk by chunk in serial order; see [`ordered`].
///
/// It is shared by reference between threads. If it is dropped without [`commit`](Self::commit),
/// no file remains.
#[derive(Debug)]
pub struct Ordered {
    tickets: Arc<Tickets>,
    /// Threads that only write: a device needs more writes in flight than a program has workers.
    writers: Vec<JoinHandle<()>>,
    /// `None` for a stream, and once it is being committed.
    draft: Option<Draft>,
}

/// The report of an ordered output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderedReport {
    /// Bytes of the file, or sent to the stream.
    pub bytes: u64,
    /// Number of chunks, empty ones included.
    pub chunks: u64,
    /// Bytes written with `O_DIRECT`, bypassing the page cache.
    pub direct_bytes: u64,
    /// Buffers that were allocated: the highest number of chunks at one time.
    pub buffers: u64,
    /// Options that could not be honoured, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

impl Ordered {
    /// Takes the next place in serial order; waits while the window is full.
    ///
    /// A waiting thread writes chunks that other threads have put aside. It must not be the thread
    /// that has to finish the open tickets: with a window of 1, taking a second ticket before the
    /// first is done waits for ever.
    ///
    /// # Errors
    ///
    /// [`Reason::Poisoned`] once a ticket was dropped before it was done; the first failed
    /// write, which every later call returns; [`Reason::Cancelled`].
    pub fn ticket(&self) -> Result<Ticket> {
        loop {
            if let Some(ticket) = self.ticket_within(Duration::MAX)? {
                return Ok(ticket);
            }
        }
    }

    /// Returns a ticket, or `None` if the window is still full after `most`. Waits longer while this
    /// thread writes chunks that other threads have put aside.
    ///
    /// # Errors
    ///
    /// As [`ticket`](Self::ticket).
    pub fn ticket_within(&self, most: Duration) -> Result<Option<Ticket>> {
        let taken = self.tickets.take(most)?;
        Ok(taken.map(|(index, bytes)| Ticket::new(Arc::clone(&self.tickets), index, bytes)))
    }

    /// Writes the remaining chunks and gives the file its name, durably unless the options say
    /// otherwise. Flushes a stream.
    ///
    /// Waits for chunks that other threads are writing, but not for open tickets.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`], with their count, if tickets are open: their bytes would be missing. As
    /// [`ticket`](Self::ticket); and those of the commit, after which the name refers to the
    /// previous file, unless the reason is [`Reason::OutcomeUnknown`].
    ///
    /// # Panics
    ///
    /// If the progress callback panicked on a thread that only writes ([`Direct::Yes`]).
    pub fn commit(mut self) -> Result<OrderedReport> {
        let completed = self.tickets.complete();
        if completed.is_ok() {
            // Threads that only write may still have to report their panics.
            self.join();
        }
        self.tickets.end(&FailureLog::<Error>::default())?;
        let mut written = completed?;
        if let Some(draft) = self.draft.take() {
            written.fallbacks.extend(self.tickets.commit(draft, written.bytes)?);
        }
        Ok(written)
    }

    /// Runs `f` for each item on `workers` threads, including the caller's, and puts the output of
    /// each call where the serial loop would have put it. 0 workers: one for each core.
    ///
    /// A worker takes an item and its place together, so the order is that of the iterator. Unless
    /// the options set a window, it is two chunks for each worker. `f` must not take tickets.
    ///
    /// # Errors
    ///
    /// The first one in serial order, of `f` or of writing. Neither that item nor a later one is
    /// written, and the output is poisoned: it cannot be committed.
    ///
    /// # Panics
    ///
    /// If `f` or the iterator panics: with its panic, once all workers have ended. As after an
    /// error, neither that item nor a later one is written, and the output is poisoned.
    pub fn map_ordered<I, F, E>(
        &self,
        items: I,
        workers: usize,
        f: F,
    ) -> std::result::Result<(), E>
    where
        I: IntoIterator<Item: Send, IntoIter: Send>,
        F: Fn(I::Item, &mut Ticket) -> std::result::Result<(), E> + Sync,
        E: From<Error> + Send,
    {
        map::run(self, items.into_iter(), workers, &f)
    }

    /// Sets the times that the file gets with its name, such as those of its source
    /// ([`Input::times`](crate::Input::times)). `None`, the default: those of its last read and
    /// write. A stream has no times.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("copy");
    /// let source = swath::Input::open("/etc/passwd")?;
    /// let mut out = swath::append::ordered(&path)?;
    /// out.set_times(source.times()?);
    /// let written = out.commit()?;
    /// assert!(written.fallbacks.is_empty(), "times that cannot be kept are a fallback");
    /// # let modified = |path: &std::path::Path| path.metadata().unwrap().modified().unwrap();
    /// assert_eq!(modified(&path), modified("/etc/passwd".as_ref()));
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn set_times(&mut self, times: Option<FileTimes>) {
        if let Some((draft, times)) = self.draft.as_mut().zip(times) {
            draft.give_times(times);
        }
    }

    /// The name in messages: the path, or the name of the stream.
    pub fn name(&self) -> &Path {
        self.tickets.name()
    }

    /// Announces that this many workers will take tickets: widens the window, unless the options
    /// set it.
    pub(crate) fn widen(&self, workers: usize) {
        self.tickets.widen(workers);
    }

    /// Returns how a loop that wrote to this output ended.
    pub(crate) fn end<E>(&self, failures: &FailureLog<E>) -> std::result::Result<(), E> {
        self.tickets.end(failures)
    }

    /// Joins threads that have nothing left to do.
    fn join(&mut self) {
        for thread in self.writers.drain(..) {
            // A panic during a write has been reported to every caller already.
            let _ = thread.join();
        }
    }

    fn tickets(&self) -> &Tickets {
        &self.tickets
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        let error = Error::new(Operation::Write, Reason::Poisoned, self.tickets.name());
        let error = error.detail("its writer was dropped or committed while a ticket was open");
        self.tickets.close(error);
        self.join();
    }
}
