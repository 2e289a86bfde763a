//! Passes records, block by block, to a Python function.

use swath::machine::Mutex;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use swath::{Block, Cut, Pattern, Records};

use crate::callback::attached;
use crate::error::Failure;
use crate::how::{How, StartingIn, part};
use crate::input::Input;
use crate::memory::Buffer;
use crate::work::Takes;

/// Calls ``function(block)`` for every block of whole records, and returns the results: a list in the order
/// of the file, or one value that ``combine`` makes of them.
///
/// Parameters
/// ----------
/// source : path, descriptor, open file, bytes in memory, or list of copies
///     As for `read`.
/// function : callable, or "count"
///     "count" counts the records, with all cores and without the interpreter's lock; the call returns the number.
///     A callable receives a read-only memoryview of about ``block_size`` bytes: adjacent records, each with its
///     delimiter. A large block is not copied. You may keep the view: it keeps the memory of the block, which is
///     not written to again until the last view of it is gone. Called from several threads, which run at the
///     same time where it releases the interpreter's lock, as numpy, re2 and parsers in C do.
/// combine : callable
///     Receives two values and returns one: the result for all blocks so far, and that of the next block,
///     from left to right. The call then returns the last value, or None if there is no record, and few
///     values exist at once.
/// containing : bytes or str
///     Only the records that contain these bytes, which a search finds without a look at the others. A callable
///     then receives copies of them, one after the other, and no block in which there are none.
/// delimiter : bytes or str of one byte, "csv", or int
///     Where records end: after this byte (default: a newline), after newlines outside quotes, or after
///     this many bytes each.
/// block_size : int
///     Bytes; 0 means 1 MiB.
/// record_limit : int
///     The longest accepted record in bytes; 0: as much as fits into memory.
/// offset, length : int
///     Which bytes: the first record begins with the first of them, and the last one ends with the last.
/// starting_in : (offset, length)
///     Only the records that begin in these bytes; the last one is read to its end, wherever that is. If
///     extents cover the file, each record begins in exactly one of them. A pipe is read from its start.
/// workers, engine, page_cache, progress, verify, profile
///     As for `read`.
///
/// Measured in study C (records in, records out).
///
/// Examples
/// --------
/// >>> swath.scan_records("words.txt", lambda block: len(bytes(block).split()), combine=int.__add__)
/// 5
/// >>> swath.scan_records("words.txt", "count", containing="three")
/// 1
#[pyfunction]
#[pyo3(signature = (source, function, *, combine=None, containing=None, delimiter=None, block_size=0, record_limit=0, offset=0,
    length=None, starting_in=None, workers=0, engine="auto", page_cache="auto", progress=None,
    verify=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn scan_records(
    py: Python<'_>,
    source: Input,
    function: Py<PyAny>,
    combine: Option<Py<PyAny>>,
    containing: Option<Bound<'_, PyAny>>,
    delimiter: Option<Bound<'_, PyAny>>,
    block_size: u64,
    record_limit: u64,
    offset: u64,
    length: Option<u64>,
    starting_in: Option<StartingIn>,
    workers: usize,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'_, PyAny>>,
    verify: Option<Bound<'_, PyAny>>,
    profile: bool,
) -> PyResult<Py<PyAny>> {
    let cut = cut(delimiter.as_ref())?;
    let pattern = containing.as_ref().map(pattern).transpose()?;
    let how = How { workers, chunk_size: 0, engine, page_cache, progress, verify, profile };
    let (options, watch) = how.options(py, source.path())?;
    let mut records = part(options, offset, length)
        .records(source.source(how.verify.as_ref())?)
        .with_cut(cut)
        .with_block_size(block_size)
        .with_record_limit(record_limit);
    if let Some(StartingIn(extent)) = starting_in {
        records = records.with_starting_in(extent);
    }
    if let Ok(kernel) = function.extract::<&str>(py) {
        if kernel != "count" || combine.is_some() {
            let text = "function= takes a callable, or \"count\", which needs no combine=";
            return Err(PyValueError::new_err(text));
        }
        let count = watch.run(py, Takes::Time, move || {
            Ok::<_, Failure>(records.count(pattern.as_ref())?.value)
        })?;
        return count.into_py_any(py);
    }
    let call = RecordsCall { function, pattern };
    let Some(combine) = combine else {
        let values: Vec<Option<Py<PyAny>>> =
            watch.run(py, Takes::Time, move || records.map_blocks(|it| call.of(it)))?;
        return values.into_iter().flatten().collect::<Vec<_>>().into_py_any(py);
    };
    let value = watch.run(py, Takes::Time, move || combined(records, &call, &combine))?;
    Ok(value.unwrap_or_else(|| py.None()))
}

/// Returns the value that `combine` makes of the results of `function` for every block.
fn combined(
    records: Records<'_>,
    call: &RecordsCall,
    combine: &Py<PyAny>,
) -> Result<Option<Py<PyAny>>, Failure> {
    // The exception of `combine`; later blocks are ignored.
    let raised = Mutex::new(None);
    let raised_first = || raised.lock();
    let map = |block: Block<'_>| match raised_first().take() {
        None => call.of(block),
        Some(failure) => Err(failure),
    };
    let join = |left: Option<Py<PyAny>>, right: Option<Py<PyAny>>| {
        if raised_first().is_some() {
            return None;
        }
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return left.or(right),
        };
        let joined = attached(|py| Ok(combine.call1(py, (left, right))?));
        joined
            .unwrap_or(Err(Failure::Ended))
            .map_err(|failure| *raised_first() = Some(failure))
            .ok()
    };
    let value = records.map_reduce(map, join)?.value.flatten();
    raised.into_inner().map_or(Ok(value), Err)
}

/// The function, and the pattern of the records that it receives.
struct RecordsCall {
    function: Py<PyAny>,
    pattern: Option<Pattern>,
}

impl RecordsCall {
    /// Returns the result of the function for the records; `None` if there are none with the pattern.
    fn of(&self, block: Block<'_>) -> Result<Option<Py<PyAny>>, Failure> {
        let bytes = match &self.pattern {
            // A view may be kept. If it is, the next block is read into other memory.
            None => block.to_bytes(),
            Some(pattern) => {
                let mut found = Vec::new();
                block.append_containing(pattern, &mut found);
                if found.is_empty() {
                    return Ok(None);
                }
                found.into()
            }
        };
        let called = attached(|py| {
            let view = Buffer::of_block(bytes)?.into_view(py)?;
            Ok(self.function.call1(py, (view,))?)
        });
        called.unwrap_or(Err(Failure::Ended)).map(Some)
    }
}

/// Returns the pattern that records contain: bytes, or text as UTF-8.
fn pattern(containing: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    if let Ok(text) = containing.extract::<&str>() {
        return Ok(Pattern::new(text.as_bytes()));
    }
    match containing.cast::<PyBytes>() {
        Ok(bytes) => Ok(Pattern::new(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err("containing= takes bytes or str")),
    }
}

/// Returns where records end: after a byte, by "csv" or a width; after newlines without a `delimiter`.
pub(crate) fn cut(delimiter: Option<&Bound<'_, PyAny>>) -> PyResult<Cut> {
    let Some(delimiter) = delimiter else { return Ok(Cut::Byte(b'\n')) };
    if let Ok(bytes) = delimiter.cast::<PyBytes>()
        && let [byte] = bytes.as_bytes()
    {
        return Ok(Cut::Byte(*byte));
    }
    match delimiter.extract::<&str>().map(str::as_bytes) {
        Ok(b"csv") => return Ok(Cut::Quoted { quote: b'"', delimiter: b'\n' }),
        Ok(&[byte]) => return Ok(Cut::Byte(byte)),
        _ => {}
    }
    let text = "delimiter= takes one byte, \"csv\", or the number of bytes of each record";
    match delimiter.extract::<u64>() {
        Ok(width) if width > 0 => Ok(Cut::Fixed(width)),
        _ => Err(PyValueError::new_err(text)),
    }
}
