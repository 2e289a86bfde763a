//! Results written in parallel, whose file is the serial program's.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use swath::append::{
    AppendOptions, Direct, Fork, Mode, Ordered, OrderedOptions, Ticket, create, ordered,
};
use swath::sink::{Replace, Sync};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::input::path;
use crate::words::word;
use crate::work::detached;

/// An output: forks, or tickets.
enum Output {
    Forked(Box<swath::append::Append>),
    Ordered(Box<Ordered>),
}

/// A file, or a folder of segments, that several threads write; see ``append``.
#[pyclass(frozen, module = "swath", name = "Append")]
pub(crate) struct Append {
    /// Gone once it is committed or given up.
    output: Mutex<Option<Output>>,
}

/// A place in the serial order: what is written to it comes behind everything written before it was
/// taken, and before everything written after.
///
/// As a context manager it is finished at the end of the block, or given up by an exception: then
/// the output cannot be committed.
#[pyclass(frozen, module = "swath", name = "Place")]
pub(crate) struct Place {
    place: Mutex<Option<Taken>>,
}

enum Taken {
    Fork(Fork),
    Ticket(Ticket),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("it was finished, committed or given up before")
}

#[pymethods]
impl Append {
    /// Takes the next place in the serial order. With ``mode="ordered"`` it waits while too many are
    /// open.
    fn place(&self, py: Python<'_>) -> PyResult<Place> {
        let taken = detached(py, || match &*lock(&self.output) {
            None => Err(Failure::Python(closed())),
            Some(Output::Forked(output)) => Ok(Taken::Fork(output.fork()?)),
            Some(Output::Ordered(output)) => Ok(Taken::Ticket(output.ticket()?)),
        })?;
        Ok(Place { place: Mutex::new(Some(taken)) })
    }

    /// Writes bytes at the end of what was written so far, as a serial program does.
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        detached(py, || {
            let output = lock(&self.output);
            let bytes = data.bytes();
            match &*output {
                None => return Err(Failure::Python(closed())),
                Some(Output::Forked(output)) => {
                    (&mut &**output).write_all(bytes).map_err(Failure::of_io)?;
                }
                Some(Output::Ordered(output)) => {
                    let mut ticket = output.ticket()?;
                    ticket.buffer().extend_from_slice(bytes);
                    ticket.done()?;
                }
            }
            Ok(bytes.len())
        })
    }

    /// Calls ``function(item)`` for each item, on ``workers`` threads (0: one for each core), and writes
    /// what each call returns, bytes or ``None``, where the serial loop would have put it.
    ///
    /// The first exception, in the order of the items, is raised when all threads have ended; the output
    /// cannot be committed then.
    #[pyo3(signature = (function, items, workers=0))]
    fn map_ordered<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        items: &Bound<'py, PyAny>,
        workers: usize,
    ) -> PyResult<()> {
        let map = slf.py().import("swath._append")?.getattr("map_ordered")?;
        map.call1((slf, function, items, workers)).map(drop)
    }

    /// Gives the file its name: complete, and durable as ``sync`` says; returns its bytes.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || match lock(&self.output).take() {
            None => Err(Failure::Python(closed())),
            Some(Output::Forked(output)) => Ok(output.commit()?.bytes),
            Some(Output::Ordered(output)) => Ok(output.commit()?.bytes),
        })
    }

    /// Gives it up: nothing is left of it, and what stood there before stays.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.output).take()));
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let is_open = lock(&self.output).is_some();
        if kind.is_none() && is_open {
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
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        detached(py, || {
            let bytes = data.bytes();
            match &mut *lock(&self.place) {
                None => return Err(Failure::Python(closed())),
                Some(Taken::Fork(fork)) => {
                    fork.with(|writer| writer.write_all(bytes)).map_err(Failure::of_io)?;
                }
                Some(Taken::Ticket(ticket)) => {
                    ticket.write_all(bytes).map_err(Failure::of_io)?;
                }
            }
            Ok(bytes.len())
        })
    }

    /// Takes a place here, in the order of this one. Not with ``mode="ordered"``.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let taken = detached(py, || match &mut *lock(&self.place) {
            None => Err(Failure::Python(closed())),
            Some(Taken::Fork(fork)) => Ok(Taken::Fork(fork.fork())),
            Some(Taken::Ticket(_)) => {
                let text =
                    "mode=\"ordered\" has places one behind the other: use mode=\"plain\"";
                Err(Failure::Python(PyTypeError::new_err(text)))
            }
        })?;
        Ok(Self { place: Mutex::new(Some(taken)) })
    }

    /// Says that everything is written here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || match lock(&self.place).take() {
            None => Err(Failure::Python(closed())),
            Some(Taken::Fork(fork)) => Ok(fork.finish()?),
            Some(Taken::Ticket(ticket)) => Ok(ticket.done()?),
        })
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let is_open = lock(&self.place).is_some();
        if kind.is_none() && is_open {
            return self.finish(py);
        }
        py.detach(|| drop(lock(&self.place).take()));
        Ok(())
    }
}

/// How sure to be that a power cut does not undo a commit.
const SYNCS: &[(&str, Sync)] = &[("full", Sync::Full), ("none", Sync::None)];

/// Begins an output that several threads write, and whose bytes are those of the serial program.
///
/// A context manager: committed at the end of the block, given up by an exception. Nothing is visible
/// under the name before.
///
/// Parameters
/// ----------
/// path : path
/// mode : {"ordered", "plain", "segments", "global", "local", "local-files"}
///     "ordered": places one behind the other, in bounded memory, for results that come item by item.
///     The others have places within places: "plain" leaves one file, "segments" a folder with a
///     manifest, which ``swath cat`` and ``swath export`` read.
/// sync : {"full", "none"}
///     Whether a commit waits for the device.
/// replace : bool
///     Whether an existing file may be replaced.
/// window : int
///     With "ordered": places that may be open at one time; 0 chooses.
/// direct : bool
///     With "ordered": past the page cache.
///
/// Source: study E (serial-append).
#[pyfunction]
#[pyo3(signature = (path, *, mode="ordered", sync="full", replace=true, window=0, direct=false))]
pub(crate) fn append(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: std::path::PathBuf,
    mode: &str,
    sync: &str,
    replace: bool,
    window: usize,
    direct: bool,
) -> PyResult<Append> {
    let sync = word("sync", sync, SYNCS)?;
    let replace = if replace { Replace::Allowed } else { Replace::Refused };
    let output = if mode == "ordered" {
        let direct = if direct { Direct::Yes } else { Direct::No };
        let options = OrderedOptions::new()
            .with_sync(sync)
            .with_replace(replace)
            .with_window(window)
            .with_direct(direct);
        Output::Ordered(Box::new(detached(py, || ordered(path, options))?))
    } else {
        if window > 0 || direct {
            return Err(PyValueError::new_err("window= and direct= are for mode=\"ordered\""));
        }
        let known = [&[("ordered", Mode::Plain)], Mode::WORDS].concat();
        let mode = word("mode", mode, &known)?;
        let options =
            AppendOptions::new().with_mode(mode).with_sync(sync).with_replace(replace);
        Output::Forked(Box::new(detached(py, || create(path, options))?))
    };
    Ok(Append { output: Mutex::new(Some(output)) })
}
