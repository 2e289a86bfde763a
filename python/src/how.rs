//! Converts the keywords that all readers have to options of the library, and runs calls with progress.

use std::cell::RefCell;
use std::ffi::CString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::{
    PyOverflowError, PyRuntimeError, PyRuntimeWarning, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use swath::machine::Mutex;
use swath::{CancelToken, Engine, Extent, PageCache, Progress, ReadOptions};
use swath_profile::{Lookup, Profiles};

use crate::callback::attached;
use crate::error::Failure;
use crate::park;
use crate::words::word;
use crate::work::{self, Takes};

/// The keywords of every read.
pub(crate) struct How<'a, 'py> {
    pub(crate) workers: usize,
    pub(crate) chunk_size: u64,
    pub(crate) engine: &'a str,
    pub(crate) page_cache: &'a str,
    pub(crate) progress: Option<Bound<'py, PyAny>>,
    pub(crate) verify: Option<Bound<'py, PyAny>>,
    pub(crate) profile: bool,
}

impl<'a, 'py> How<'a, 'py> {
    /// Takes all keywords, in the order of `swath._options.ChunkOptions`.
    pub(crate) fn of(how: &'a Bound<'py, PyTuple>) -> PyResult<Self> {
        Ok(Self {
            workers: keyword(how, 0, "workers")?,
            engine: keyword(how, 1, "engine")?,
            page_cache: keyword(how, 2, "page_cache")?,
            progress: keyword(how, 3, "progress")?,
            verify: keyword(how, 4, "verify")?,
            profile: keyword(how, 5, "profile")?,
            chunk_size: keyword(how, 6, "chunk_size")?,
        })
    }

    /// Returns the options for the file at `path`, and the watch.
    pub(crate) fn options(
        &self,
        py: Python<'_>,
        path: Option<&Path>,
    ) -> PyResult<(ReadOptions, Watch)> {
        let engine = word("engine", self.engine, Engine::WORDS)?;
        if engine == Engine::Map {
            let text = "engine=\"map\": truncating a mapped file would kill the interpreter; \
                        try: choose another engine, or run the command";
            return Err(PyValueError::new_err(text));
        }
        let mut options = ReadOptions::new()
            .with_engine(engine)
            .with_page_cache(word("page_cache", self.page_cache, PageCache::WORDS)?)
            .with_workers(self.workers)
            .with_chunk_size(self.chunk_size);
        if let Some(path) = path.filter(|_| self.profile) {
            options = profile(py, path)?.apply(options);
        }
        let watch = Watch::new(py, self.progress.clone())?;
        options = options.with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(py) {
            options = options.with_progress(tell);
        }
        Ok((options, watch))
    }
}

/// Extracts one of several keywords that Python passes together; its errors name it alone.
pub(crate) fn keyword<'a, 'py, T: FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    all: &'a Bound<'py, PyTuple>,
    place: usize,
    name: &str,
) -> PyResult<T> {
    let found = all.get_borrowed_item(place)?.extract();
    found.map_err(|error: T::Error| noted(error.into(), all.py(), name))
}

/// Adds the name of the argument to an error in one of several arguments.
pub(crate) fn noted(error: PyErr, py: Python<'_>, name: &str) -> PyErr {
    // If the note cannot be added, the error is still correct.
    let note = format!("while processing '{name}'");
    let _ = error.value(py).call_method1("add_note", (note,));
    error
}

/// Returns the options for `length` bytes from `offset`, or for all bytes from there.
pub(crate) fn part(options: ReadOptions, offset: u64, length: Option<u64>) -> ReadOptions {
    let options = options.with_offset(offset);
    match length {
        Some(length) => options.with_len(length),
        None => options,
    }
}

/// Where records may begin: `starting_in=(offset, length)`.
pub(crate) struct StartingIn(pub(crate) Extent);

impl<'py> FromPyObject<'_, 'py> for StartingIn {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = |_| {
            let text = "starting_in= takes (offset, length), two integers; a length of None means the rest";
            PyTypeError::new_err(format!("{text}: not {}", *object))
        };
        let beyond = || {
            let text = "negative, or it ends beyond 2^64";
            PyValueError::new_err(format!("starting_in={}: {text}", *object))
        };
        let number = |number: &Bound<'py, PyAny>| {
            // In Python, True is also 1.
            if number.is_instance_of::<PyBool>() {
                return Err(wrong(PyTypeError::new_err(())));
            }
            number.extract::<u64>().map_err(|error| {
                match error.is_instance_of::<PyOverflowError>(number.py()) {
                    true => beyond(),
                    false => wrong(error),
                }
            })
        };
        let [offset, length] = object.extract::<[Bound<'py, PyAny>; 2]>().map_err(wrong)?;
        let offset = number(&offset)?;
        if length.is_none() {
            return Ok(Self(Extent::between(offset, u64::MAX)));
        }
        Extent::new(offset, number(&length)?).map(Self).ok_or_else(beyond)
    }
}

/// Returns the profile of `swath tune` for the place of a file; looked up once for each file
/// system. A profile that cannot be used is a warning.
pub(crate) fn profile(py: Python<'_>, path: &Path) -> PyResult<Lookup> {
    static KNOWN: OnceLock<Profiles> = OnceLock::new();
    let lookup = KNOWN.get_or_init(Profiles::of_user).of(path);
    if let Some(note) = lookup.note() {
        let note = CString::new(note.replace('\0', " ")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &note, 1)?;
    }
    Ok(lookup)
}

/// Progress, cancellation and the exception of a callback.
pub(crate) struct Watch {
    pub(crate) token: CancelToken,
    raised: Raised,
    callback: Option<Py<PyAny>>,
    /// Ends a progress bar of Swath's own.
    close: Option<Py<PyAny>>,
}

/// The first exception of a callback.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

thread_local! {
    /// The exceptions of all work in whose callbacks this thread is.
    static CALLING: RefCell<Vec<Raised>> = const { RefCell::new(Vec::new()) };
}

impl Raised {
    /// Calls a callback of this work.
    fn calling(&self, call: impl FnOnce()) {
        struct Called;
        impl Drop for Called {
            fn drop(&mut self) {
                CALLING.with_borrow_mut(Vec::pop);
            }
        }
        CALLING.with_borrow_mut(|calling| calling.push(self.clone()));
        let _called = Called;
        call();
    }

    /// Whether this thread is in a callback of this work, and so must not wait for the work.
    pub(crate) fn is_calling(&self) -> bool {
        CALLING.with_borrow(|calling| calling.iter().any(|it| Arc::ptr_eq(&it.0, &self.0)))
    }

    /// Fails if [`is_calling`](Self::is_calling).
    pub(crate) fn refuse_in_callback(&self) -> PyResult<()> {
        match self.is_calling() {
            true => Err(PyRuntimeError::new_err(
                "it is waiting for this callback; try: do this after the callback has returned",
            )),
            false => Ok(()),
        }
    }

    /// Keeps `error`, unless there is an earlier one, and ends the work.
    pub(crate) fn raise(&self, error: PyErr, token: &CancelToken) {
        self.0.lock().get_or_insert(error);
        token.cancel();
    }

    /// Takes the exception out, to be raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().take()
    }
}

impl Watch {
    /// Returns a watch; `progress` is `None`, `False`, `True` for a bar, or a callable.
    pub(crate) fn new(py: Python<'_>, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut watch = Self {
            token: CancelToken::new(),
            raised: Raised::default(),
            callback: None,
            close: None,
        };
        let Some(progress) = progress else { return Ok(watch) };
        if let Ok(wanted) = progress.cast::<PyBool>() {
            if wanted.is_true() {
                let bar = park::module(py, "swath._progress")?.getattr("Bar")?.call0()?;
                watch.close = Some(bar.getattr("close")?.unbind());
                watch.callback = Some(bar.unbind());
            }
        } else if progress.is_callable() {
            watch.callback = Some(progress.unbind());
        } else {
            return Err(PyTypeError::new_err(
                "progress= takes a bool or a callable(done, total)",
            ));
        }
        Ok(watch)
    }

    /// Returns the function that workers call, if progress was requested.
    pub(crate) fn teller(
        &self,
        py: Python<'_>,
    ) -> Option<impl Fn(Progress) + Send + Sync + 'static> {
        let callback = self.callback.as_ref()?.clone_ref(py);
        let (raised, token) = (self.raised.clone(), self.token.clone());
        Some(move |progress: Progress| {
            let told = attached(|py| {
                raised.calling(|| {
                    let told = callback.call1(py, (progress.bytes, progress.total));
                    if let Err(error) = told {
                        raised.raise(error, &token);
                    }
                });
            });
            if told.is_none() {
                // The interpreter has ended, and the rest is not awaited.
                token.cancel();
            }
        })
    }

    /// Returns the slot for exceptions of callbacks.
    pub(crate) fn raised(&self) -> Raised {
        self.raised.clone()
    }

    /// As [`Raised::is_calling`].
    pub(crate) fn is_calling(&self) -> bool {
        self.raised.is_calling()
    }

    /// As [`Raised::refuse_in_callback`].
    pub(crate) fn refuse_in_callback(&self) -> PyResult<()> {
        self.raised.refuse_in_callback()
    }

    /// Whether workers call into Python.
    pub(crate) fn has_callback(&self) -> bool {
        self.callback.is_some()
    }

    /// Runs `call` without the lock, and ends the bar; raises the exception of a callback.
    pub(crate) fn run<T, E>(
        &self,
        py: Python<'_>,
        takes: Takes,
        call: impl FnOnce() -> Result<T, E> + Send,
    ) -> PyResult<T>
    where
        T: Send,
        E: Into<Failure> + Send,
    {
        let ended = self.step(py, takes, call);
        self.close(py)?;
        ended
    }

    /// Runs `call` as one of several steps: the bar continues.
    pub(crate) fn step<T, E>(
        &self,
        py: Python<'_>,
        takes: Takes,
        call: impl FnOnce() -> Result<T, E> + Send,
    ) -> PyResult<T>
    where
        T: Send,
        E: Into<Failure> + Send,
    {
        let ended = work::run(py, takes, &self.token, call);
        match self.raised.take() {
            Some(error) => Err(error),
            None => ended,
        }
    }

    /// Ends the bar.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.close.as_ref().map_or(Ok(()), |close| close.call0(py).map(drop))
    }
}
