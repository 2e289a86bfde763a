//! One file: into memory, or in one pass without keeping it.

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use swath::{Cut, Extent, Loaded, ReadOptions, Source, WriteOptions};
use swath_formats::checksum::{Algorithm, ChecksumOptions};

use crate::bytes::{Borrowed, Held};
use crate::how::{How, StartingIn, part};
use crate::input::Input;
use crate::memory::{Buffer, Stable};
use crate::output::PythonOutput;
use crate::records::cut;
use crate::words::word;
use crate::work::Takes;

/// Reads a file, or ``length`` bytes of it from ``offset``, into memory.
///
/// Parameters
/// ----------
/// source : path, descriptor, open file, bytes in memory, or list of paths
///     A path is a str, bytes or an ``os.PathLike``. A descriptor or an open file is read by position from
///     its first byte, and its own position does not move; a pipe is read in order, to its end. Bytes in
///     memory are anything with a buffer: a memoryview, a bytearray, an ``mmap``, an array. ``bytes`` are a
///     path; pass ``memoryview(data)`` to read them. A list names copies of one file: each chunk is read
///     from one of them, and from another one if that fails.
/// offset, length : int
///     Which bytes. If the file ends before them, that is an error. Without ``length``, all to the end.
/// starting_in : (offset, length)
///     Only the records that begin in these bytes; the last one is read to its end, wherever that is. If
///     extents cover the file, each record begins in exactly one of them; an extent may end after the file. Not
///     for a pipe, and not with ``out``, because the length is known only afterwards.
/// delimiter : bytes or str of one byte, "csv", or int
///     The kind of record, for ``starting_in``: as for `scan_records`. Default: a line.
/// workers : int
///     Threads; 0 chooses.
/// chunk_size : int
///     Bytes of one read; 0 chooses.
/// engine : {"auto", "serial", "pool", "ring"}
///     The engine that moves the bytes. Files are never mapped into the interpreter.
/// page_cache : {"auto", "keep", "drop", "bypass"}
///     How the read treats the page cache.
/// progress : bool or callable
///     ``True`` shows a bar (tqdm's if it is installed); a callable receives the bytes done and the total
///     (``None`` for a stream), on threads of Swath.
/// out : writable buffer
///     Memory to read into, to its full length. Once this returns or raises, nothing writes there.
/// readonly : bool
///     Whether the result refuses writers.
/// verify : {"vote"} or path
///     For copies: compare them with each other, or with the manifest at that path.
/// profile : bool
///     Whether to use the settings that ``swath tune`` saved for the file system.
///
/// Returns
/// -------
/// Buffer
///     Or, with ``out``, a memoryview of it, as bytes.
///
/// Raises
/// ------
/// swath.Error
///     An ``OSError`` with ``errno`` and ``filename``: the file cannot be opened or read, changes while it
///     is read, or does not fit into memory.
///
/// Measured in study A (parallel file loading).
///
/// Examples
/// --------
/// >>> data = swath.read("data.bin", offset=1, length=4)
/// >>> bytes(data)
/// b'\x01\x02\x03\x04'
/// >>> bytes(swath.read("words.txt", starting_in=(1, 20)))
/// b'four five\n'
/// >>> memory = bytearray(4)
/// >>> swath.read("data.bin", out=memory).nbytes
/// 4
#[pyfunction]
#[pyo3(signature = (source, *, offset=0, length=None, starting_in=None, delimiter=None, workers=0,
    chunk_size=0, engine="auto", page_cache="auto", progress=None, out=None, readonly=false, verify=None,
    profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read<'py>(
    py: Python<'py>,
    source: Input,
    offset: u64,
    length: Option<u64>,
    starting_in: Option<StartingIn>,
    delimiter: Option<Bound<'py, PyAny>>,
    workers: usize,
    chunk_size: u64,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    readonly: bool,
    verify: Option<Bound<'py, PyAny>>,
    profile: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How { workers, chunk_size, engine, page_cache, progress, verify, profile };
    let (options, watch) = how.options(py, source.path())?;
    let options = part(options, offset, length);
    if let Some((cut, extent)) = records(starting_in, delimiter.as_ref(), out.is_some())? {
        let source = source.source(how.verify.as_ref())?;
        let run = move || records_in(&options, source, cut, extent);
        let loaded = watch.run(py, Takes::Time, run)?;
        return Ok(Bound::new(py, Buffer::of_bytes(loaded.buffer, readonly)?)?.into_any());
    }
    let mut target = out.as_ref().map(Target::of).transpose()?;
    if target.as_ref().is_some_and(|target| source.overlaps(&target.0)) {
        return Err(PyValueError::new_err(
            "out= overlaps the memory that is read; try: pass other memory",
        ));
    }
    let wanted = target.as_ref().map_or(length, |target| Some(target.len() as u64));
    let takes = source.takes(wanted);
    let source = source.source(how.verify.as_ref())?;
    let Some(target) = &mut target else {
        let loaded = watch.run(py, takes, move || options.read(source))?;
        return Ok(Bound::new(py, Buffer::of_bytes(loaded.buffer, readonly)?)?.into_any());
    };
    if readonly {
        return Err(PyTypeError::new_err(
            "readonly= does not apply to out=; try: leave out one of them",
        ));
    }
    if length.is_some_and(|length| length != target.len() as u64) {
        let text = format!(
            "out= takes {} bytes, but length= differs; try: leave out length=",
            target.len()
        );
        return Err(PyValueError::new_err(text));
    }
    let view = PyMemoryView::from(out.as_ref().expect("there is a target"))?;
    watch.run(py, takes, || options.read_into(source, target.bytes()).map(drop))?;
    match view.getattr("nbytes")?.extract::<usize>()? {
        // An empty view cannot be cast.
        0 => Ok(view.into_any()),
        // Nor can a view of items of foreign kinds, such as those of `ctypes`.
        _ => match view.call_method1("cast", ("B",)) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Target::of(out.as_ref().expect("there is a target"))?.into_view(py),
        },
    }
}

/// Returns the requested records, if records are requested, not bytes.
fn records(
    starting_in: Option<StartingIn>,
    delimiter: Option<&Bound<'_, PyAny>>,
    has_out: bool,
) -> PyResult<Option<(Cut, Extent)>> {
    match (starting_in, delimiter) {
        (Some(_), _) if has_out => Err(PyTypeError::new_err(
            "the length of the records in starting_in= is not known before, so out= does not apply; \
             try: leave out out=",
        )),
        (Some(StartingIn(extent)), _) => Ok(Some((cut(delimiter)?, extent))),
        (None, Some(_)) => Err(PyTypeError::new_err(
            "delimiter= says what a record is, for starting_in=; try: pass starting_in= too",
        )),
        (None, None) => Ok(None),
    }
}

/// Reads the records that begin in an extent into memory.
fn records_in(
    options: &ReadOptions,
    source: Source,
    cut: Cut,
    extent: Extent,
) -> swath::Result<Loaded> {
    let input = swath::Input::open(source)?;
    let records = options.records(&input).with_cut(cut).with_starting_in(extent);
    let extents = records.extents()?;
    let found = extents.first().copied().unwrap_or(extent);
    let options = options.clone().with_offset(found.offset()).with_len(found.len());
    options.read(&input)
}

/// Memory of the caller, which keeps its address as long as this lives.
struct Target(Held);

impl Target {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let held = Held::of(object, "out=")?;
        if held.is_readonly() {
            return Err(PyBufferError::new_err("out= is read-only; try: pass writable memory"));
        }
        Ok(Self(held))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the object exports this many contiguous, writable bytes until it is released, which
        // this prevents. The caller promises, as for `readinto`, that no other thread reads or writes
        // them in that time, which cannot be checked: a breach is a data race. It only leaves mixed
        // bytes in the caller's memory, since no code here depends on their values.
        unsafe { std::slice::from_raw_parts_mut(self.0.place().as_ptr(), self.len()) }
    }

    /// Returns a view of the bytes.
    fn into_view(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Buffer::of_values::<u8, _>(self, None)?.into_view(py)
    }
}

impl Stable<u8> for Target {
    fn items(&mut self) -> &mut [u8] {
        self.bytes()
    }
}

/// Writes pieces one after another as a file, complete or not at all; returns its length in bytes.
/// `swath.write_npy` makes the pieces.
#[pyfunction]
pub(crate) fn write_parts(
    py: Python<'_>,
    output: &PythonOutput,
    parts: Vec<Borrowed>,
) -> PyResult<u64> {
    let (options, watch) = output.watched(py)?;
    let options = WriteOptions::new().with_output(options);
    let written = watch.run(py, Takes::Time, || {
        let parts: Vec<&[u8]> = parts.iter().map(Borrowed::bytes).collect();
        options.write_parts(&output.path, &parts)
    })?;
    Ok(written.bytes)
}

/// Returns the sum of all bytes of a file, or of ``length`` of them from ``offset``.
///
/// Takes no memory for the file. Parameters as for `read`.
///
/// >>> swath.sum("data.bin")
/// 124500000
#[pyfunction]
#[pyo3(signature = (source, *, offset=0, length=None, workers=0, chunk_size=0, engine="auto",
    page_cache="auto", progress=None, verify=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn sum<'py>(
    py: Python<'py>,
    source: Input,
    offset: u64,
    length: Option<u64>,
    workers: usize,
    chunk_size: u64,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'py, PyAny>>,
    verify: Option<Bound<'py, PyAny>>,
    profile: bool,
) -> PyResult<u64> {
    let how = How { workers, chunk_size, engine, page_cache, progress, verify, profile };
    let (options, watch) = how.options(py, source.path())?;
    let (takes, options) = (source.takes(length), part(options, offset, length));
    let source = source.source(how.verify.as_ref())?;
    watch.run(py, takes, move || options.sum(source).map(|scanned| scanned.value))
}

/// Returns a checksum of a file, or of ``length`` bytes of it from ``offset``, as hexadecimal digits.
///
/// ``algorithm`` is "xxh3" (64 bits, as ``xxhsum -H3``), "crc32c" or "blake3" (as ``b3sum``). Takes no memory
/// for the file. Other parameters as for `read`.
///
/// >>> len(swath.hash("data.bin", "blake3"))
/// 64
#[pyfunction]
#[pyo3(signature = (source, algorithm="xxh3", *, offset=0, length=None, workers=0, chunk_size=0,
    engine="auto", page_cache="auto", progress=None, verify=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn hash<'py>(
    py: Python<'py>,
    source: Input,
    algorithm: &str,
    offset: u64,
    length: Option<u64>,
    workers: usize,
    chunk_size: u64,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'py, PyAny>>,
    verify: Option<Bound<'py, PyAny>>,
    profile: bool,
) -> PyResult<String> {
    let algorithm = word("algorithm", algorithm, Algorithm::WORDS)?;
    let how = How { workers, chunk_size, engine, page_cache, progress, verify, profile };
    let (options, watch) = how.options(py, source.path())?;
    let (takes, options) = (source.takes(length), part(options, offset, length));
    let source = source.source(how.verify.as_ref())?;
    let sum = watch.run(py, takes, move || {
        ChecksumOptions::new().with_read(options).checksum(source, algorithm)
    })?;
    Ok(sum.hex())
}
