//! Writes results in parallel into the file of the serial program.

use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::append::{AppendOptions, Direct, Fork, Mode, Ordered, OrderedOptions, Ticket};
use swath::machine::Mutex;
use swath::sink::Sparse;

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::input::path;
use crate::output::{Leave, Replacing};
use crate::own::Own;
use crate::park;
use crate::words::word;
use crate::work::{PATIENCE, detached};

/// An output: forks, or tickets.
enum Output {
    Forked(Box<swath::append::Append>),
    /// Tickets; shared with callers that wait for a place.
    Ordered(Arc<Ordered>),
}

/// An output that several threads write: a file, or a folder of segments. Made by ``append``.
///
/// >>> with swath.append("out.txt") as out:
/// ...     out.write(b"complete\n")
/// 9
/// >>> bytes(swath.read("out.txt"))
/// b'complete\n'
#[pyclass(frozen, module = "swath", name = "Append")]
pub(crate) struct Append {
    /// `None` once it is committed or aborted.
    output: Own<Mutex<Option<Output>>>,
    /// The mode that it was opened with: "ordered", "plain" or "segments".
    #[pyo3(get)]
    mode: String,
}

/// A place in the serial order: what is written to it comes after everything written before the place was
/// taken, and before everything written afterwards.
///
/// As a context manager it is finished at the end of the block. An exception abandons it, and the output
/// cannot be committed then. Once the output has ended, ``write`` and ``finish`` raise.
///
/// >>> with swath.append("out.txt", mode="plain") as out:
/// ...     place = out.place()
/// ...     _ = out.write(b"second ")
/// ...     with place:
/// ...         _ = place.write(b"first ")
/// >>> bytes(swath.read("out.txt"))
/// b'first second '
#[pyclass(frozen, module = "swath", name = "Place")]
pub(crate) struct Place {
    place: Own<Mutex<Option<AppendParent>>>,
}

enum AppendParent {
    Fork(Fork),
    Ticket(Ticket),
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("it has ended: it was finished, committed or aborted")
}

thread_local! {
    /// The output for whose `map_ordered` this thread calls a function; 0 for none.
    static MAPPED: Cell<usize> = const { Cell::new(0) };
}

impl Append {
    fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Fails in a function of `map_ordered`: when it writes would depend on the threads, and a wait for a place that it
    /// holds itself would not end.
    fn refuse_mapped(&self) -> PyResult<()> {
        if MAPPED.get() != self.number() {
            return Ok(());
        }
        let text = "the function of map_ordered writes to its own output, whose order is that of the items; \
                    try: return the bytes";
        Err(PyRuntimeError::new_err(text))
    }

    /// Returns the output, as long as it is open.
    fn ordered(&self) -> PyResult<Option<Arc<Ordered>>> {
        match &*self.output.get()?.lock() {
            None => Err(closed()),
            Some(Output::Forked(_)) => Ok(None),
            Some(Output::Ordered(output)) => Ok(Some(Arc::clone(output))),
        }
    }

    /// Takes the next place of an ordered output. Waits without holding a lock, until a signal comes.
    fn ticket(&self, py: Python<'_>) -> PyResult<Option<Ticket>> {
        loop {
            let Some(output) = self.ordered()? else { return Ok(None) };
            let taken = detached(py, || {
                let taken = output.ticket_within(PATIENCE);
                drop(output);
                taken
            })?;
            if taken.is_some() {
                return Ok(taken);
            }
            py.check_signals()?;
        }
    }

    /// Takes the output out once no caller waits for a place; waiting callers check often.
    fn take(&self) -> PyResult<Option<Whole>> {
        let Some(output) = self.output.get()?.lock().take() else { return Ok(None) };
        let mut shared = match output {
            Output::Forked(output) => return Ok(Some(Whole::Forked(output))),
            Output::Ordered(output) => output,
        };
        loop {
            shared = match Arc::try_unwrap(shared) {
                Ok(output) => return Ok(Some(Whole::Ordered(Box::new(output)))),
                Err(shared) => shared,
            };
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// An output without other users.
enum Whole {
    Forked(Box<swath::append::Append>),
    Ordered(Box<Ordered>),
}

impl Place {
    fn new(taken: AppendParent) -> Self {
        Self { place: Own::new(Mutex::new(Some(taken))) }
    }
}

#[pymethods]
impl Append {
    /// Takes the next place in the serial order.
    ///
    /// With ``mode="ordered"`` it waits while ``window`` places are open. To take all places first and write to
    /// them later, open the output with a window for all of them.
    ///
    /// >>> with swath.append("out.txt") as out, out.place() as place:
    /// ...     place.write(b"one")
    /// 3
    fn place(&self, py: Python<'_>) -> PyResult<Place> {
        self.refuse_mapped()?;
        if let Some(ticket) = self.ticket(py)? {
            return Ok(Place::new(AppendParent::Ticket(ticket)));
        }
        let output = self.output.get()?;
        let taken = detached(py, || match &*output.lock() {
            Some(Output::Forked(output)) => Ok(AppendParent::Fork(output.fork()?)),
            _ => Err(Failure::Python(closed())),
        })?;
        Ok(Place::new(taken))
    }

    /// Appends bytes, as a serial program does; returns how many.
    ///
    /// >>> with swath.append("out.txt") as out:
    /// ...     out.write(b"one")
    /// 3
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        self.refuse_mapped()?;
        let ticket = self.ticket(py)?;
        let output = self.output.get()?;
        detached(py, || {
            let bytes = data.bytes();
            match (ticket, &*output.lock()) {
                (Some(mut ticket), _) => {
                    ticket.write_all(bytes).map_err(Failure::of_io)?;
                    ticket.done()?;
                }
                (None, Some(Output::Forked(output))) => {
                    (&mut &**output).write_all(bytes).map_err(Failure::of_io)?;
                }
                (None, _) => return Err(Failure::Python(closed())),
            }
            Ok(bytes.len())
        })
    }

    /// Calls ``function(item)`` for each item, on ``workers`` threads (0: one per core), and writes what each
    /// call returns, bytes or ``None``, in the order of the items. The function cannot write to this output itself.
    ///
    /// A thread takes ``chunksize`` items at one time. The default, 0, measures how long they take, and lets a
    /// thread take as many as fill a millisecond: one, if it is slow. Pass 1 if an item waits for a later one, or
    /// if some items take very much longer than others.
    ///
    /// The first exception, in the order of the items, is raised when all threads have ended; the output
    /// cannot be committed then.
    ///
    /// >>> with swath.append("out.txt") as out:
    /// ...     out.map_ordered(lambda item: b"%d " % item, range(5), workers=2)
    /// >>> bytes(swath.read("out.txt"))
    /// b'0 1 2 3 4 '
    #[pyo3(signature = (function, items, *, workers=0, chunksize=0))]
    fn map_ordered<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        items: &Bound<'py, PyAny>,
        workers: usize,
        chunksize: usize,
    ) -> PyResult<()> {
        slf.get().refuse_mapped()?;
        let map = park::module(slf.py(), "swath._append")?.getattr("map_ordered")?;
        map.call1((slf, function, items, workers, chunksize)).map(drop)
    }

    /// Begins to call the function of `map_ordered` on this thread; returns what to pass to `_end_turn`.
    fn _begin_turn(&self) -> usize {
        MAPPED.replace(self.number())
    }

    #[staticmethod]
    fn _end_turn(before: usize) {
        MAPPED.set(before);
    }

    /// Gives the file its name: complete, and durable as ``durability`` says; returns its length in bytes.
    ///
    /// >>> out = swath.append("out.txt")
    /// >>> out.write(b"one")
    /// 3
    /// >>> out.commit()
    /// 3
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || match self.take()? {
            None => Err(Failure::Python(closed())),
            Some(Whole::Forked(output)) => Ok(output.commit()?.bytes),
            Some(Whole::Ordered(output)) => Ok(output.commit()?.bytes),
        })
    }

    /// Discards the output; the old file stays. In a forked child it does nothing: the output belongs to
    /// the parent.
    ///
    /// >>> out = swath.append("never.txt")
    /// >>> out.abort()
    /// >>> import os
    /// >>> os.path.exists("never.txt")
    /// False
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(self.take()));
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, *_error))]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = kind.py();
        if kind.is_none() && self.output.get()?.lock().is_some() {
            self.commit(py)?;
        } else {
            self.abort(py);
        }
        Ok(())
    }
}

#[pymethods]
impl Place {
    /// Writes bytes here; returns how many.
    ///
    /// >>> with swath.append("out.txt") as out, out.place() as place:
    /// ...     place.write(memoryview(b"one"))
    /// 3
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        let place = self.place.get()?;
        detached(py, || {
            let bytes = data.bytes();
            match &mut *place.lock() {
                None => return Err(Failure::Python(closed())),
                Some(AppendParent::Fork(fork)) => {
                    fork.write_all(bytes).map_err(Failure::of_io)?;
                }
                Some(AppendParent::Ticket(ticket)) => {
                    ticket.write_all(bytes).map_err(Failure::of_io)?;
                }
            }
            Ok(bytes.len())
        })
    }

    /// Takes a place inside this one. Not with ``mode="ordered"``.
    ///
    /// >>> with swath.append("out.txt", mode="plain") as out, out.place() as place:
    /// ...     with place.fork() as inner:
    /// ...         inner.write(b"one")
    /// 3
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let place = self.place.get()?;
        let taken = detached(py, || match &mut *place.lock() {
            None => Err(Failure::Python(closed())),
            Some(AppendParent::Fork(fork)) => Ok(AppendParent::Fork(fork.fork())),
            Some(AppendParent::Ticket(_)) => {
                let text =
                    "a place of mode=\"ordered\" cannot fork; try: open it with mode=\"plain\"";
                Err(Failure::Python(PyTypeError::new_err(text)))
            }
        })?;
        Ok(Self::new(taken))
    }

    /// Ends this place: everything is written.
    ///
    /// >>> with swath.append("out.txt") as out:
    /// ...     place = out.place()
    /// ...     _ = place.write(b"one")
    /// ...     place.finish()
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let place = self.place.get()?;
        detached(py, || match place.lock().take() {
            None => Err(Failure::Python(closed())),
            Some(AppendParent::Fork(fork)) => Ok(fork.finish()?),
            Some(AppendParent::Ticket(ticket)) => Ok(ticket.done()?),
        })
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, *_error))]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = kind.py();
        if !kind.is_none() && self.place.is_foreign() {
            // The output belongs to the parent.
            return Ok(());
        }
        let place = self.place.get()?;
        if kind.is_none() && place.lock().is_some() {
            return self.finish(py);
        }
        py.detach(|| drop(place.lock().take()));
        Ok(())
    }
}

/// Begins an output that several threads write, with the bytes of the serial program.
///
/// A context manager: committed at the end of the block, discarded by an exception. Nothing is visible
/// under the name before the commit.
///
/// Parameters
/// ----------
/// path : path
/// mode : {"ordered", "plain", "segments"}
///     "ordered": one place after another, in bounded memory, for results that arrive item by item. In
///     the other modes places may contain places: "plain" writes one file, "segments" a folder with a
///     manifest, which ``swath cat`` and ``swath cp`` read. All keep the order of the serial program.
/// durability : {"full", "none"}
///     Whether a commit waits until the device has it.
/// replace : bool or "in place"
///     Whether an existing file may be replaced. With ``"in place"`` it is truncated and written where it is, for a
///     file that is mounted by itself or is in a folder that cannot be written to. That is not one step: after an
///     error or a crash it holds a part of the new bytes.
/// hard_links : {"refuse", "break"}
///     How to treat a file with other names, which keep the old bytes: refuse, or give only this name
///     the new ones.
/// window : int
///     With "ordered": how many places may be open at once; 0 means two per core.
/// direct : bool
///     With "ordered": whether writes bypass the page cache.
/// sparse : bool
///     With "ordered": whether runs of at least 32 KiB of zeros become holes, which take no space. Direct
///     writes write them.
///
/// Examples
/// --------
/// >>> with swath.append("out.txt") as out:
/// ...     out.map_ordered(lambda n: b"%d\n" % n, range(3))
/// >>> bytes(swath.read("out.txt"))
/// b'0\n1\n2\n'
#[pyfunction]
#[pyo3(signature = (path, *, mode="ordered", durability="full", replace=true.into(), hard_links="refuse",
    window=0, direct=false, sparse=false), text_signature = "(path, *, mode='ordered', durability='full', \
    replace=True, hard_links='refuse', window=0, direct=False, sparse=False)")]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn append(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: std::path::PathBuf,
    mode: &str,
    durability: &str,
    replace: Replacing,
    hard_links: &str,
    window: usize,
    direct: bool,
    sparse: bool,
) -> PyResult<Append> {
    let output = Leave { durability, replace, hard_links, workers: 0 }.options()?;
    let output = if mode == "ordered" {
        let direct = if direct { Direct::Yes } else { Direct::No };
        let sparse = if sparse { Sparse::Auto } else { Sparse::Never };
        let options = OrderedOptions::new()
            .with_output(output)
            .with_window(window)
            .with_direct(direct)
            .with_sparse(sparse);
        Output::Ordered(Arc::new(detached(py, || options.ordered(path))?))
    } else {
        if window > 0 || direct || sparse {
            return Err(PyValueError::new_err(
                "window=, direct= and sparse= need mode=\"ordered\"; try: leave them out, or change the mode",
            ));
        }
        let known = [&[("ordered", Mode::Plain)], Mode::WORDS].concat();
        let known = word("mode", mode, &known)?;
        let options = AppendOptions::new().with_mode(known).with_output(output);
        Output::Forked(Box::new(detached(py, || options.create(path))?))
    };
    Ok(Append { output: Own::new(Mutex::new(Some(output))), mode: mode.to_owned() })
}
