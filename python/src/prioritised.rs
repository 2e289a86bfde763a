//! Reads the urgent parts first: a read by classes that continues after the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::classes::ClassPlan;
use swath::{ReadOptions, Reason, Source};

use crate::error::Failure;
use crate::how::{How, Watch};
use crate::input::Input;
use crate::memory::Buffer;
use crate::own::Own;
use crate::park;
use crate::work::{PATIENCE, Unlocked, detached};

/// The running read. Views keep it alive; dropping the last one waits for its workers.
type Reading = Own<Unlocked<swath::classes::Prioritised>>;

/// A read by classes that goes on in the background. Complete classes stay readable, whatever happens.
///
/// Iterating waits for one class after another, in their order, and yields ``(class, chunks)``; chunks are
/// read-only memoryviews, in the order in which they were listed.
///
/// >>> with swath.read_prioritised("data.bin", 4) as reading:
/// ...     [(cls, len(chunks[0])) for cls, chunks in reading]
/// [(0, 250000), (1, 250000), (2, 250000), (3, 250000)]
#[pyclass(frozen, module = "swath", name = "Prioritised")]
pub(crate) struct Prioritised {
    reading: Arc<Reading>,
    /// The numbers of the classes, most urgent first.
    #[pyo3(get)]
    classes: Vec<u32>,
    watch: Watch,
}

#[pymethods]
impl Prioritised {
    /// Waits until a class is complete and checked; returns its chunks as read-only memoryviews, in the
    /// order in which they were listed.
    ///
    /// >>> reading = swath.read_prioritised("data.bin", 4)
    /// >>> [len(chunk) for chunk in reading.wait(0)]
    /// [250000]
    fn wait<'py>(&self, py: Python<'py>, cls: u32) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.watch.refuse_in_callback()?;
        loop {
            let reading = self.reading.get()?.get();
            let came = py.detach(|| reading.wait_for(cls, PATIENCE).map(|it| it.is_some()));
            match came {
                // An exception at the last byte came too late to end it, but is raised anyway.
                Ok(true) => match self.watch.raised().take() {
                    Some(raised) => return Err(raised),
                    None => return self.chunks(py, cls),
                },
                Ok(false) => py.check_signals()?,
                Err(error) => {
                    let raised = self.watch.raised().take();
                    return Err(
                        raised.unwrap_or_else(|| Failure::from(error).into_exception(py))
                    );
                }
            }
        }
    }

    /// Returns whether a class is complete.
    ///
    /// >>> reading = swath.read_prioritised("data.bin", 4)
    /// >>> chunks = reading.wait(1)
    /// >>> reading.is_ready(1)
    /// True
    fn is_ready(&self, cls: u32) -> PyResult<bool> {
        Ok(self.reading.get()?.get().class(cls).is_some())
    }

    /// Makes a class the next one to begin; returns whether it moved.
    ///
    /// >>> reading = swath.read_prioritised("data.bin", 4)
    /// >>> chunks = reading.wait(3)
    /// >>> reading.prioritise(3)
    /// False
    fn prioritise(&self, py: Python<'_>, cls: u32) -> PyResult<bool> {
        let reading = self.reading.get()?.get();
        Ok(py.detach(|| reading.prioritise(cls)))
    }

    /// Ends the read. Complete classes stay readable. In a forked child it does nothing.
    ///
    /// >>> reading = swath.read_prioritised("data.bin", 4)
    /// >>> chunks = reading.wait(0)
    /// >>> reading.cancel()
    /// >>> len(chunks[0])
    /// 250000
    fn cancel(&self, py: Python<'_>) {
        if let Ok(reading) = self.reading.get() {
            py.detach(|| reading.get().cancel());
        }
    }

    fn __iter__(slf: Bound<'_, Self>) -> Classes {
        Classes { reading: slf.unbind(), next: 0.into() }
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) {
        self.cancel(py);
    }

    fn __repr__(&self) -> String {
        format!("<swath.Prioritised: {} classes>", self.classes.len())
    }
}

impl Prioritised {
    fn chunks<'py>(&self, py: Python<'py>, class: u32) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let chunks = Buffer::all_shared(&self.reading, |reading| {
            let class = reading.get().ok().and_then(|reading| reading.get().class(class));
            class.map_or_else(Vec::new, |it| it.chunks().map(|chunk| chunk.bytes).collect())
        })?;
        chunks.into_iter().map(|chunk| chunk.into_view(py)).collect()
    }
}

impl Drop for Prioritised {
    fn drop(&mut self) {
        // Views may keep bytes that were read; the rest is not awaited.
        if let Ok(reading) = self.reading.get() {
            reading.get().cancel();
        }
    }
}

/// Goes from class to class.
#[pyclass(module = "swath", frozen)]
pub(crate) struct Classes {
    reading: Py<Prioritised>,
    next: AtomicUsize,
}

#[pymethods]
impl Classes {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(u32, Vec<Bound<'py, PyAny>>)>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let reading = self.reading.get();
        let Some(&class) = reading.classes.get(index) else { return Ok(None) };
        Ok(Some((class, reading.wait(py, class)?)))
    }
}

/// Starts reading parts of a file, the most urgent first, and returns at once.
///
/// Parameters
/// ----------
/// source : path, descriptor, open file, bytes in memory, or list of copies
///     As for `read`.
/// classes : int, or iterable of (offset, length, class)
///     Chunks, as tuples, lists or rows of an array, each with its class: class 0 is needed first. An
///     integer divides the file into that many classes of adjacent bytes, from front to back.
/// window : int
///     How many classes may be in flight at once: 1 reads one after another; 0 chooses.
/// workers, chunk_size, engine, page_cache, progress, verify, profile
///     As for `read`.
///
/// Returns
/// -------
/// Prioritised
///     With ``wait(class)``, and iteration in the order of classes.
///
/// Measured in study A (priorities); unlike there, no barriers between classes.
///
/// Examples
/// --------
/// >>> parts = [(0, 64, 1), (500_000, 64, 0)]
/// >>> with swath.read_prioritised("data.bin", parts) as reading:
/// ...     [urgent] = reading.wait(0)
/// >>> len(urgent)
/// 64
#[pyfunction]
#[pyo3(signature = (source, classes, *, window=0, workers=0, chunk_size=0, engine="auto",
    page_cache="auto", progress=None, verify=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read_prioritised(
    py: Python<'_>,
    source: Input,
    classes: &Bound<'_, PyAny>,
    window: usize,
    workers: usize,
    chunk_size: u64,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'_, PyAny>>,
    verify: Option<Bound<'_, PyAny>>,
    profile: bool,
) -> PyResult<Prioritised> {
    let how = How { workers, chunk_size, engine, page_cache, progress, verify, profile };
    let (options, watch) = how.options(py, source.path())?;
    let (plan, classes) = plan(classes)?;
    let source = source.source(how.verify.as_ref())?;
    let plan = plan.with_window(window);
    let reading = start(py, &options, source, plan)?;
    let classes = match classes {
        Asked::Listed(numbers) => numbers,
        Asked::Whole(most) => (0..how_many(&reading, most)).collect(),
    };
    let reading = Arc::new(Own::new(Unlocked::new(reading)));
    Ok(Prioritised { reading, classes, watch })
}

/// Returns how many of `most` classes exist: a short file has fewer.
fn how_many(reading: &swath::classes::Prioritised, most: u32) -> u32 {
    let is_there = |class: u32| {
        let looked = reading.wait_for(class, Duration::ZERO);
        !looked.is_err_and(|error| error.reason() == Reason::Invalid)
    };
    let (mut there, mut beyond) = (0, most);
    while there < beyond {
        let middle = there + (beyond - there) / 2;
        if is_there(middle) { there = middle + 1 } else { beyond = middle }
    }
    there
}

fn start(
    py: Python<'_>,
    options: &ReadOptions,
    source: Source,
    plan: ClassPlan,
) -> PyResult<swath::classes::Prioritised> {
    detached(py, || options.read_prioritised(source, plan))
}

/// The classes that were requested.
enum Asked {
    /// At most this many, for all bytes.
    Whole(u32),
    /// These classes.
    Listed(Vec<u32>),
}

/// Returns the plan, and its classes.
fn plan(classes: &Bound<'_, PyAny>) -> PyResult<(ClassPlan, Asked)> {
    if let Ok(count) = classes.extract::<u32>() {
        if count == 0 {
            return Err(PyValueError::new_err(
                "classes=0: there is nothing to read; try: pass at least 1",
            ));
        }
        return Ok((ClassPlan::of_whole(u64::from(count), count), Asked::Whole(count)));
    }
    park::at_end();
    let mut plan = ClassPlan::new();
    let mut numbers = Vec::new();
    for chunk in classes.try_iter().map_err(|_| wrong(classes))? {
        let (offset, length, class) = triple(&chunk?)?;
        let Some(end) = offset.checked_add(length) else {
            return Err(PyValueError::new_err("classes= has a chunk that ends beyond 2^64"));
        };
        plan.push(offset..end, class);
        numbers.push(class);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok((plan, Asked::Listed(numbers)))
}

fn wrong(given: &Bound<'_, PyAny>) -> PyErr {
    let text =
        "classes= takes a number, or (offset, length, class) for each chunk, not negative";
    PyTypeError::new_err(format!("{text}: not {given}"))
}

/// Extracts a chunk from a tuple, a list, or a row of an array.
fn triple(chunk: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u32)> {
    let parts: Vec<Bound<'_, PyAny>> =
        chunk.try_iter().and_then(Iterator::collect).map_err(|_| wrong(chunk))?;
    let [offset, length, class] = &parts[..] else { return Err(wrong(chunk)) };
    let number = |number: &Bound<'_, PyAny>| number.extract::<u64>();
    let told = |error: PyErr| match error.is_instance_of::<PyOverflowError>(chunk.py()) {
        true => PyValueError::new_err(format!("classes= has {chunk}: negative, or too large")),
        false => wrong(chunk),
    };
    let class = class.extract::<u32>().map_err(told)?;
    Ok((number(offset).map_err(told)?, number(length).map_err(told)?, class))
}
