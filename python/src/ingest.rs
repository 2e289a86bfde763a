//! Many files at once: into one block of memory, or one after another in bounded memory.

mod files;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use swath::ingest::{Delivery, Failures, FileOrder, IngestOptions, Symlinks};
use swath::machine::Mutex;
use swath::{CancelToken, ReadOptions};

use crate::callback::attached;
use crate::error::{Failure, exception, file_name};
use crate::how::{Raised, Watch, profile};
use crate::input::path;
use crate::memory::Buffer;
use crate::own::Own;
use crate::park;
use crate::queue::{Queue, QueueItem, closed_stream};
use crate::words::word;
use crate::work::{PATIENCE, Takes, unlocked};

pub(crate) use files::Files;

/// The inputs that callers pass: a folder, a file, or many of them.
pub(crate) struct Named {
    paths: Vec<PathBuf>,
    /// Whether it is a single path, which may be a folder that is walked.
    is_one: bool,
}

impl<'py> FromPyObject<'_, 'py> for Named {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        park::at_end();
        let is_one = object.is_instance_of::<PyString>()
            || object.is_instance_of::<PyBytes>()
            || object.hasattr("__fspath__")?;
        if !is_one && object.hasattr("read")? {
            // Iteration would take its lines for paths.
            let text =
                "an open file is not a list of paths; try: pass its path, or a list of paths";
            return Err(PyTypeError::new_err(text));
        }
        let paths = match is_one {
            true => vec![path(&object)?],
            false => object.try_iter()?.map(|one| path(&one?)).collect::<PyResult<_>>()?,
        };
        Ok(Self { paths, is_one })
    }
}

impl Named {
    /// Returns the paths, without walking folders.
    pub(crate) fn paths(self) -> Vec<PathBuf> {
        self.paths
    }

    /// Returns the files: each path may be a folder, as on the command line, or a pattern.
    fn files(self) -> swath::ingest::Files {
        let is_plain = |path: &PathBuf| !path.is_dir() && pattern(path).is_none();
        if !self.is_one && self.paths.iter().all(is_plain) {
            return swath::ingest::Files::paths(self.paths);
        }
        let mut files = swath::ingest::Files::paths(Vec::<PathBuf>::new());
        for path in self.paths {
            let glob = pattern(&path).map(swath::ingest::Files::glob);
            let is_empty = |it: &swath::ingest::Files| {
                it.clone().found().is_ok_and(|found| found.is_empty())
            };
            files = match glob.filter(|it| !is_empty(it)) {
                Some(glob) => files.and(glob),
                // A pattern without matches is a missing file of that name.
                None => files.and(swath::ingest::Files::each([path])),
            };
        }
        files
    }
}

/// Returns the pattern, if a path is one: if no such file exists, or if it matches other files, which that one would
/// hide.
fn pattern(path: &std::path::Path) -> Option<&str> {
    let text = path.to_str().filter(|text| text.contains('*'))?;
    let hides = || {
        let found = swath::ingest::Files::glob(text).found();
        found.is_ok_and(|found| found.iter().any(|it| it != path))
    };
    (path.symlink_metadata().is_err() || hides()).then_some(text)
}

/// Reads many files at once, small ones above all, into one block of memory.
///
/// Parameters
/// ----------
/// paths_or_folder : path, or iterable of paths
///     A folder is walked, with all folders below it; so is each folder among several paths. A pattern such as
///     ``"logs/**/*.txt"`` means the files that match.
/// workers : int
///     Threads; 0 chooses.
/// queue_depth : int
///     How many files may wait for the device at once; 0 chooses.
/// errors : {"fail", "skip", "collect"}
///     How to continue after a file that cannot be read: raise the first failure, leave the file out, or keep its place,
///     empty, with its exception in ``errors``.
/// order : {"given", "path", "inode", "extent"}
///     The order in which files are requested from the device.
/// symlinks : {"files", "skip", "follow"}
///     How a walk treats symbolic links.
/// progress : bool or callable
///     As for `read`.
/// profile : bool
///     As for `read`, for the first path.
///
/// Returns
/// -------
/// Files
///     A sequence of memoryviews, with ``paths`` and ``errors``.
///
/// Measured in study B (many small files).
///
/// Examples
/// --------
/// >>> files = swath.ingest("images")
/// >>> [len(file) for file in files]
/// [100, 200, 300]
/// >>> files.paths[0]
/// 'images/a.png'
#[pyfunction]
#[pyo3(signature = (paths_or_folder, *, workers=0, queue_depth=0, errors="fail", order="given",
    symlinks="files", progress=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn ingest(
    py: Python<'_>,
    paths_or_folder: Named,
    workers: usize,
    queue_depth: usize,
    errors: &str,
    order: &str,
    symlinks: &str,
    progress: Option<Bound<'_, PyAny>>,
    profile: bool,
) -> PyResult<Files> {
    let how = Many { workers, queue_depth, errors, symlinks, profile };
    let watch = Watch::new(py, progress)?;
    let options = how.options(py, &paths_or_folder, &watch)?;
    let options = options.with_order(word("order", order, FileOrder::WORDS)?);
    let ingested =
        watch.run(py, Takes::Time, move || options.ingest(paths_or_folder.files()))?;
    Ok(Files(Arc::new(ingested)))
}

/// The keywords of many files.
struct Many<'a> {
    workers: usize,
    queue_depth: usize,
    errors: &'a str,
    symlinks: &'a str,
    profile: bool,
}

impl Many<'_> {
    fn options(self, py: Python<'_>, named: &Named, watch: &Watch) -> PyResult<IngestOptions> {
        let mut read = ReadOptions::new()
            .with_workers(self.workers)
            .with_queue_depth(self.queue_depth)
            .with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(py) {
            read = read.with_progress(tell);
        }
        if let Some(first) = named.paths.first().filter(|_| self.profile) {
            read = profile(py, first)?.apply(read);
        }
        Ok(IngestOptions::new()
            .with_read(read)
            .with_failures(word("errors", self.errors, Failures::WORDS)?)
            .with_symlinks(word("symlinks", self.symlinks, Symlinks::WORDS)?))
    }
}

/// A file of a stream, or a part of a large one.
///
/// >>> with swath.ingest_stream("images") as stream:
/// ...     part = next(stream)
/// >>> part.index, part.path, part.offset, part.data.nbytes, part.is_last
/// (0, 'images/a.png', 0, 100, True)
#[pyclass(frozen, get_all, module = "swath", name = "Part")]
pub(crate) struct Part {
    /// The index of the file in input order.
    index: usize,
    /// Its path.
    path: Py<PyAny>,
    /// The offset of the bytes in the file.
    offset: u64,
    /// The bytes.
    data: Py<Buffer>,
    /// Whether this is the last part of the file.
    is_last: bool,
}

/// An item from the reading thread.
struct StreamItem {
    index: usize,
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
    is_last: bool,
}

/// The reason why a stream ends early.
enum End {
    Failed(Failure),
    /// The stream was closed.
    Closed,
}

impl From<swath::Error> for End {
    fn from(error: swath::Error) -> Self {
        Self::Failed(error.into())
    }
}

type StreamResult = Result<StreamItem, Failure>;

/// Files one after another, in bounded memory: an iterator of ``Part``.
///
/// ``close()``, or the end of a ``with`` block, ends it early.
///
/// >>> with swath.ingest_stream("images") as stream:
/// ...     [part.data.nbytes for part in stream]
/// [100, 200, 300]
#[pyclass(frozen, module = "swath", name = "Stream")]
pub(crate) struct Stream {
    open: Own<OpenIngest>,
    token: CancelToken,
    raised: Raised,
    is_closed: AtomicBool,
}

struct OpenIngest {
    items: Arc<Queue<StreamResult>>,
    /// `None` once the stream is over.
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// The default bound of memory, in bytes.
const MEMORY: u64 = 64 << 20;
/// Minimum number of parts that fit into it: half in flight, half waiting to be taken.
const PARTS: u64 = 8;

/// Returns the bound of memory, and the largest part.
fn bound(memory: u64, part_size: u64) -> PyResult<(u64, u64)> {
    const LARGEST: u64 = 1 << 20;
    match (memory, part_size) {
        (0, 0) => Ok((MEMORY, LARGEST)),
        (0, size) => Ok((MEMORY.max(size.saturating_mul(PARTS)), size)),
        (memory, 0) => Ok((memory, (memory / PARTS).clamp(4096, LARGEST))),
        (memory, size) if size.saturating_mul(PARTS) > memory => {
            let text = format!(
                "part_size={size}, memory={memory}: {PARTS} parts must fit into memory=; \
                 try: pass part_size={}, or raise memory=",
                memory / PARTS
            );
            Err(PyValueError::new_err(text))
        }
        both => Ok(both),
    }
}

#[pymethods]
impl Stream {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Part>> {
        self.raised.refuse_in_callback()?;
        loop {
            let open = self.open.get()?;
            match py.detach(|| open.items.take(PATIENCE)) {
                QueueItem::Item(Ok(item)) => return part(py, item).map(Some),
                QueueItem::Nothing => py.check_signals()?,
                QueueItem::Item(Err(failure)) => {
                    self.token.cancel();
                    py.detach(|| self.end());
                    let raised = self.raised.take();
                    return Err(raised.unwrap_or_else(|| failure.into_exception(py)));
                }
                QueueItem::Over if self.is_closed.load(Ordering::SeqCst) => {
                    return Err(self.raised.take().unwrap_or_else(closed_stream));
                }
                QueueItem::Over => {
                    py.detach(|| self.end());
                    return self.raised.take().map_or(Ok(None), Err);
                }
            }
        }
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Ends the stream; waits for reads in flight. To iterate over it after that is an error, as with a file.
    ///
    /// >>> stream = swath.ingest_stream("images")
    /// >>> stream.close()
    /// >>> list(stream)
    /// Traceback (most recent call last):
    /// ValueError: the stream is closed; try: read it before close(), and within its `with` block
    fn close(&self, py: Python<'_>) {
        self.token.cancel();
        if !self.raised.is_calling() {
            self.is_closed.store(true, Ordering::SeqCst);
            py.detach(|| self.end());
        }
    }
}

impl Stream {
    fn end(&self) {
        // A forked child has no thread to wait for.
        let Ok(open) = self.open.get() else { return };
        // Tells the reading thread that the stream is closed.
        open.items.close();
        let worker = open.worker.lock().take();
        // Its panic has been printed.
        let _ = worker.map(JoinHandle::join);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.token.cancel();
        // The reading thread may need the lock to report progress.
        unlocked(|| self.end());
    }
}

fn part(py: Python<'_>, item: StreamItem) -> PyResult<Part> {
    let StreamItem { index, path, offset, bytes, is_last } = item;
    let data = Py::new(py, Buffer::of_values(bytes, None)?)?;
    let path = file_name(py, path.as_os_str())?.unbind();
    Ok(Part { index, path, offset, data, is_last })
}

/// Reads many files and yields them one after another, in bounded memory.
///
/// Parameters as for `ingest`, and:
///
/// Parameters
/// ----------
/// memory : int
///     The most bytes in memory at once, not counting parts that were already yielded; 0 means 64 MiB.
/// part_size : int
///     Larger files come in parts of this many bytes, at most an eighth of ``memory``; 0 chooses, at most
///     1 MiB.
/// delivery : {"input", "completion"}
///     In input order, or as they arrive.
///
/// Yields
/// ------
/// Part
///     With ``index``, ``path``, ``offset``, ``data`` (bytes) and ``is_last``.
///
/// Examples
/// --------
/// >>> for part in swath.ingest_stream(["images/a.png", "images/b.png"]):
/// ...     print(part.path, part.data.nbytes)
/// images/a.png 100
/// images/b.png 200
#[pyfunction]
#[pyo3(signature = (paths_or_folder, *, workers=0, queue_depth=0, errors="fail", symlinks="files",
    memory=0, part_size=0, delivery="input", progress=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn ingest_stream(
    py: Python<'_>,
    paths_or_folder: Named,
    workers: usize,
    queue_depth: usize,
    errors: &str,
    symlinks: &str,
    memory: u64,
    part_size: u64,
    delivery: &str,
    progress: Option<Bound<'_, PyAny>>,
    profile: bool,
) -> PyResult<Stream> {
    if errors == "collect" {
        let text = "errors=\"collect\": a stream has no list of errors; try: pass \"fail\" or \"skip\"";
        return Err(PyValueError::new_err(text));
    }
    let (memory, part_size) = bound(memory, part_size)?;
    let how = Many { workers, queue_depth, errors, symlinks, profile };
    let watch = Watch::new(py, progress)?;
    let options = how
        .options(py, &paths_or_folder, &watch)?
        .with_memory_limit(memory / 2)
        .with_part_size(part_size)
        .with_delivery(word("delivery", delivery, Delivery::WORDS)?);
    let items = Arc::new(Queue::new(memory / 2));
    let give = Arc::clone(&items);
    let worker = std::thread::Builder::new().name("swath-stream".into()).spawn(move || {
        // Ends the queue, even after a panic.
        let _ended = Ended(&give);
        produce(&options, paths_or_folder, &give);
    })?;
    let open = Own::new(OpenIngest { items, worker: Mutex::new(Some(worker)) });
    let (token, is_closed) = (watch.token.clone(), AtomicBool::new(false));
    Ok(Stream { open, token, raised: watch.raised(), is_closed })
}

struct Ended<'q>(&'q Queue<StreamResult>);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Reads until all files are delivered, or the stream is closed.
fn produce(options: &IngestOptions, named: Named, give: &Queue<StreamResult>) {
    let ended = options.stream(named.files(), |part| -> Result<(), End> {
        if let Some(error) = part.error {
            // Earlier parts of the file were passed on.
            let exception = attached(|py| exception(py, error));
            return Err(End::Failed(exception.map_or(Failure::Ended, Failure::Python)));
        }
        let item = StreamItem {
            index: part.index,
            path: part.path.to_owned(),
            offset: part.offset,
            bytes: part.bytes.to_vec(),
            is_last: part.is_last,
        };
        let bytes = item.bytes.len() as u64;
        give.give(Ok(item), bytes).map_err(|_| End::Closed)
    });
    if let Err(End::Failed(failure)) = ended {
        // The stream may be closed.
        let _ = give.give(Err(failure), 0);
    }
}
