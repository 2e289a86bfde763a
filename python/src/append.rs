//! Results written in parallel, whose file is the serial program's.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use swath::append::{AppendOptions, Direct, Fork, Mode, Ordered, OrderedOptions, Ticket};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::input::path;
use crate::output::Leave;
use crate::own::Own;
use crate::words::word;
use crate::work::{PATIENCE, detached};

/// An output: forks, or tickets.
enum Output {
    Forked(Box<swath::append::Append>),
    /// Shared with those who wait for a place.
    Ordered(Arc<Ordered>),
}

/// A file, or a folder of segments, that several threads write; see ``append``.
#[pyclass(frozen, module = "swath", name = "Append")]
pub(crate) struct Append {
    /// Gone once it is committed or given up.
    output: Own<Mutex<Option<Output>>>,
    mode: String,
}

/// A place in the serial order: what is written to it comes behind everything written before it was
/// taken, and before everything written after.
///
/// As a context manager it is finished at the end of the block, or given up by an exception: then
/// the output cannot be committed. Once the output is given up, ``write`` and ``finish`` raise.
#[pyclass(frozen, module = "swath", name = "Place")]
pub(crate) struct Place {
    place: Own<Mutex<Option<Taken>>>,
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

impl Append {
    /// The output, as long as it is open.
    fn ordered(&self) -> PyResult<Option<Arc<Ordered>>> {
        match &*lock(self.output.get()?) {
            None => Err(closed()),
            Some(Output::Forked(_)) => Ok(None),
            Some(Output::Ordered(output)) => Ok(Some(Arc::clone(output))),
        }
    }

    /// The next place of an ordered output, waited for without holding anything, and as long as no
    /// signal comes.
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

    /// Takes the output out, when nobody waits for a place any more: they look often.
    fn take(&self) -> PyResult<Option<Whole>> {
        let Some(output) = lock(self.output.get()?).take() else { return Ok(None) };
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

/// An output that nobody else has.
enum Whole {
    Forked(Box<swath::append::Append>),
    Ordered(Box<Ordered>),
}

impl Place {
    fn new(taken: Taken) -> Self {
        Self { place: Own::new(Mutex::new(Some(taken))) }
    }
}

#[pymethods]
impl Append {
    /// As it was opened: "ordered", "plain", …
    #[getter]
    fn mode(&self) -> &str {
        &self.mode
    }

    /// Takes the next place in the serial order. With ``mode="ordered"`` it waits while ``window`` of
    /// them are open: whoever takes places and writes to them later opens with a window for all.
    fn place(&self, py: Python<'_>) -> PyResult<Place> {
        if let Some(ticket) = self.ticket(py)? {
            return Ok(Place::new(Taken::Ticket(ticket)));
        }
        let output = self.output.get()?;
        let taken = detached(py, || match &*lock(output) {
            Some(Output::Forked(output)) => Ok(Taken::Fork(output.fork()?)),
            _ => Err(Failure::Python(closed())),
        })?;
        Ok(Place::new(taken))
    }

    /// Writes bytes at the end of what was written so far, as a serial program does.
    fn write(&self, py: Python<'_>, data: Borrowed) -> PyResult<usize> {
        let ticket = self.ticket(py)?;
        let output = self.output.get()?;
        detached(py, || {
            let bytes = data.bytes();
            match (ticket, &*lock(output)) {
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

    /// Calls ``function(item)`` for each item, on ``workers`` threads (0: one for each core), and writes
    /// what each call returns, bytes or ``None``, where the serial loop would have put it.
    ///
    /// The first exception, in the order of the items, is raised when all threads have ended; the output
    /// cannot be committed then.
    #[pyo3(signature = (function, items, *, workers=0))]
    fn map_ordered<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        items: &Bound<'py, PyAny>,
        workers: usize,
    ) -> PyResult<()> {
        let map = slf.py().import("swath._append")?.getattr("map_ordered")?;
        map.call1((slf, function, items, workers)).map(drop)
    }

    /// Gives the file its name: complete, and durable as ``durability`` says; returns its bytes.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || match self.take()? {
            None => Err(Failure::Python(closed())),
            Some(Whole::Forked(output)) => Ok(output.commit()?.bytes),
            Some(Whole::Ordered(output)) => Ok(output.commit()?.bytes),
        })
    }

    /// Gives it up: nothing is left of it, and what stood there before stays. In a child that was
    /// forked it does nothing: the output is its parent's.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(self.take()));
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
        if kind.is_none() && lock(self.output.get()?).is_some() {
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
        let place = self.place.get()?;
        detached(py, || {
            let bytes = data.bytes();
            match &mut *lock(place) {
                None => return Err(Failure::Python(closed())),
                Some(Taken::Fork(fork)) => {
                    fork.write_all(bytes).map_err(Failure::of_io)?;
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
        let place = self.place.get()?;
        let taken = detached(py, || match &mut *lock(place) {
            None => Err(Failure::Python(closed())),
            Some(Taken::Fork(fork)) => Ok(Taken::Fork(fork.fork())),
            Some(Taken::Ticket(_)) => {
                let text =
                    "mode=\"ordered\" has places one behind the other: use mode=\"plain\"";
                Err(Failure::Python(PyTypeError::new_err(text)))
            }
        })?;
        Ok(Self::new(taken))
    }

    /// Says that everything is written here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let place = self.place.get()?;
        detached(py, || match lock(place).take() {
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
        if !kind.is_none() && self.place.is_foreign() {
            // It goes on in the parent.
            return Ok(());
        }
        let place = self.place.get()?;
        if kind.is_none() && lock(place).is_some() {
            return self.finish(py);
        }
        py.detach(|| drop(lock(place).take()));
        Ok(())
    }
}

/// Begins an output that several threads write, and whose bytes are those of the serial program.
///
/// A context manager: committed at the end of the block, given up by an exception. Nothing is visible
/// under the name before.
///
/// Parameters
/// ----------
/// path : path
/// mode : {"ordered", "plain", "segments"}
///     "ordered": places one behind the other, in bounded memory, for results that come item by item.
///     The others have places within places: "plain" leaves one file, "segments" a folder with a
///     manifest, which ``swath cat`` and ``swath cp`` read. All have the order of the serial
///     program.
/// durability : {"full", "none"}
///     Whether a commit waits for the device.
/// replace : bool
///     Whether an existing file may be replaced.
/// hard_links : {"refuse", "break"}
///     What to do with an existing file that has further names, which keep the old bytes: refuse it, or
///     let this name alone get the new ones.
/// window : int
///     With "ordered": places that may be open at one time; 0 chooses twice as many as there are cores.
/// direct : bool
///     With "ordered": past the page cache.
///
/// Source: study E (serial-append).
#[pyfunction]
#[pyo3(signature = (path, *, mode="ordered", durability="full", replace=true, hard_links="refuse",
    window=0, direct=false))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn append(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: std::path::PathBuf,
    mode: &str,
    durability: &str,
    replace: bool,
    hard_links: &str,
    window: usize,
    direct: bool,
) -> PyResult<Append> {
    let output = Leave { durability, replace, hard_links, workers: 0 }.options()?;
    let output = if mode == "ordered" {
        let direct = if direct { Direct::Yes } else { Direct::No };
        let options =
            OrderedOptions::new().with_output(output).with_window(window).with_direct(direct);
        Output::Ordered(Arc::new(detached(py, || options.ordered(path))?))
    } else {
        if window > 0 || direct {
            return Err(PyValueError::new_err("window= and direct= are for mode=\"ordered\""));
        }
        let known = [&[("ordered", Mode::Plain)], Mode::WORDS].concat();
        let known = word("mode", mode, &known)?;
        let options = AppendOptions::new().with_mode(known).with_output(output);
        Output::Forked(Box::new(detached(py, || options.create(path))?))
    };
    Ok(Append { output: Own::new(Mutex::new(Some(output))), mode: mode.to_owned() })
}
