//! Sources from Python: a path, a descriptor, an open file, bytes in memory, or copies of one file.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySequence, PyString, PyTuple};
use swath::mirror::{Mirrored, Verify};
use swath::{ReadAt, Source, SourceFacts};
use swath_formats::{FileFormat, compressed};

use crate::bytes::{Held, exports_bytes};
use crate::callback::attached;
use crate::error::of_kernel;
use crate::park;
use crate::work::{Takes, detached};

/// The source of bytes.
pub(crate) enum Input {
    Path(PathBuf),
    /// A path that was found, in a folder or by a pattern: `FoundPath`.
    Found(PathBuf),
    /// Swath's own descriptor of a file that the caller has opened.
    Open(File),
    /// Bytes of the caller.
    Memory(Held),
    /// Copies of one file.
    Copies(Vec<PathBuf>),
    /// The input of a part of a job, opened and the same as when the job was planned.
    Checked(swath::Input),
}

/// An input that is open: every function that reads one file takes it, and reads this file, whatever the name leads to by
/// then.
///
/// >>> [piece] = swath.job.divide("words.txt")[0].pieces
/// >>> swath.read(piece.open()).nbytes
/// 24
#[pyclass(frozen, module = "swath.job", name = "Input")]
pub(crate) struct OpenInput(pub(crate) swath::Input);

#[pymethods]
impl OpenInput {
    /// Opens what several reads take, once: all read one file, whatever its name leads to later.
    #[new]
    fn new(py: Python<'_>, source: Input) -> PyResult<Self> {
        let source = source.source(None)?;
        detached(py, || swath::Input::open(source)).map(Self)
    }
}

/// Bytes that are read before a user can press a key.
const SHORT: u64 = 1 << 20;

impl<'py> FromPyObject<'_, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        park::at_end();
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            let is_found = !object.is_exact_instance_of::<PyString>()
                && object.hasattr(intern!(object.py(), "is_found_by_swath"))?;
            let path = path(&object)?;
            return Ok(if is_found { Self::Found(path) } else { Self::Path(path) });
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return copies(&object);
        }
        if let Ok(input) = object.cast::<OpenInput>() {
            return Ok(Self::Checked(input.get().0.clone()));
        }
        if let Ok(number) = object.extract::<RawFd>() {
            return opened(object.py(), number);
        }
        if let Ok(fileno) = object.getattr("fileno") {
            return match fileno.call0() {
                Ok(number) if has_bytes_of_its_descriptor(&object)? => {
                    opened(object.py(), number.extract()?)
                }
                Ok(_) => Err(unreadable(&object, "its descriptor has other bytes")?),
                Err(error) => without_descriptor(&object, error),
            };
        }
        match path(&object) {
            Ok(path) => Ok(Self::Path(path)),
            Err(_) if lists_names(&object) => copies(&object),
            Err(_) if exports_bytes(&object) => memory(&object),
            Err(_) if object.cast::<PySequence>().is_ok() => copies(&object),
            Err(error) => Err(error),
        }
    }
}

/// Returns the source for an open file without a descriptor: its bytes, if it is in memory.
fn without_descriptor(file: &Bound<'_, PyAny>, error: PyErr) -> PyResult<Input> {
    if let Ok(buffer) = file.getattr("getbuffer") {
        return memory(&buffer.call0()?);
    }
    // An open file over an object that has no descriptor, such as a member of a tar archive.
    let lacks_one = error.is_instance_of::<PyOSError>(file.py())
        || error.is_instance_of::<PyAttributeError>(file.py());
    if !lacks_one {
        // The file is closed.
        return Err(error);
    }
    let told = unreadable(file, "it has no descriptor")?;
    told.set_cause(file.py(), Some(error));
    Err(told)
}

fn unreadable(file: &Bound<'_, PyAny>, why: &str) -> PyResult<PyErr> {
    let hint = "pass its path, or memoryview(file.read())";
    Ok(PyTypeError::new_err(format!("cannot read {}: {why}; try: {hint}", file.repr()?)))
}

/// Whether an open file yields the bytes of its descriptor: `gzip.open` and an HTTP response decode them. An
/// object without `read`, such as a socket, has no other bytes.
fn has_bytes_of_its_descriptor(file: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !file.hasattr("read")? {
        return Ok(true);
    }
    let io = file.py().import("io")?;
    let is = |file: &Bound<'_, PyAny>, kind: &str| file.is_instance(&io.getattr(kind)?);
    let mut file = file.clone();
    loop {
        let kind = file.get_type();
        let (module, name) = (kind.module()?, kind.qualname()?);
        let inner = match (module.to_str()?, name.to_str()?) {
            ("tempfile", "_TemporaryFileWrapper") => "file",
            ("tempfile", "SpooledTemporaryFile") => "_file",
            ("os", "_wrap_close") => "_stream",
            ("fsspec.implementations.local", "LocalFileOpener") => "f",
            _ if is(&file, "FileIO")? => return Ok(true),
            _ if is(&file, "TextIOWrapper")? => "buffer",
            _ if is(&file, "BufferedReader")? || is(&file, "BufferedWriter")? => "raw",
            _ if is(&file, "BufferedRandom")? => "raw",
            _ => return Ok(false),
        };
        file = file.getattr(inner)?;
    }
}

/// Whether an object is an array of text or objects: a list of names, not memory to be read.
fn lists_names(object: &Bound<'_, PyAny>) -> bool {
    let kind = object.getattr("dtype").and_then(|dtype| dtype.getattr("kind"));
    kind.is_ok_and(|kind| {
        kind.extract::<&str>().is_ok_and(|kind| matches!(kind, "U" | "S" | "O"))
    })
}

fn memory(object: &Bound<'_, PyAny>) -> PyResult<Input> {
    Ok(Input::Memory(Held::of(object, "the source")?))
}

fn copies(object: &Bound<'_, PyAny>) -> PyResult<Input> {
    let named = |copy: PyResult<Bound<'_, PyAny>>| {
        let copy = copy?;
        path(&copy).map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(copy.py()) {
                return error;
            }
            let text = "a list names copies of one file, each by its path";
            PyTypeError::new_err(format!("{text}: not {copy}"))
        })
    };
    Ok(Input::Copies(object.try_iter()?.map(named).collect::<PyResult<_>>()?))
}

/// Returns a path, as `os.fspath` does.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    park::at_end();
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(PathBuf::from(OsString::from_vec(bytes.as_bytes().to_vec())));
    }
    if let Ok(path) = object.extract::<PathBuf>() {
        return Ok(path);
    }
    // A path-like object whose path is bytes.
    let plain = object.py().import("os")?.call_method1("fspath", (object,))?;
    match plain.cast::<PyBytes>() {
        Ok(bytes) => Ok(PathBuf::from(OsString::from_vec(bytes.as_bytes().to_vec()))),
        Err(_) => plain.extract(),
    }
}

/// Returns the reference for comparing copies: each other, or a manifest.
fn verify_by(how: &Bound<'_, PyAny>) -> PyResult<Verify> {
    if how.extract::<&str>().is_ok_and(|word| word == "vote") {
        return Ok(Verify::Vote);
    }
    let path = path(how)?;
    let sums = detached(how.py(), || swath::manifest::load(path))?;
    Ok(Verify::Manifest(Arc::new(sums)))
}

fn opened(py: Python<'_>, number: RawFd) -> PyResult<Input> {
    if number < 0 {
        return Err(PyValueError::new_err("a descriptor cannot be negative"));
    }
    // SAFETY: it is not negative, and is only duplicated here, which fails if it is closed.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    if let Some(file) = opened_anew(borrowed) {
        return Ok(Input::Open(file));
    }
    match borrowed.try_clone_to_owned() {
        Ok(owned) => Ok(Input::Open(File::from(owned))),
        Err(error) => Err(of_kernel(py, &format!("<descriptor {number}>"), &error)),
    }
}

/// Opens a file that the caller has open for writing again for reading: closing a copy of its descriptor would take an
/// error of FUSE or NFS that the caller's own close should report. `None` if that fails, and for any other file.
fn opened_anew(file: BorrowedFd<'_>) -> Option<File> {
    let flags = rustix::fs::fcntl_getfl(file).ok()?;
    let facts = rustix::fs::fstat(file).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(facts.st_mode).is_file();
    let is_written = flags.intersects(rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::RDWR);
    let name = || format!("/proc/self/fd/{}", file.as_raw_fd());
    let opened = (is_file && is_written).then(|| File::open(name()).ok()).flatten()?;
    let same = rustix::fs::fstat(&opened).ok()?;
    ((same.st_dev, same.st_ino) == (facts.st_dev, facts.st_ino)).then_some(opened)
}

/// Returns the kind of a file that begins with `head`, and a hint; `None` for numbers and text.
#[pyfunction]
pub(crate) fn file_format(head: &[u8]) -> Option<(&'static str, &'static str)> {
    FileFormat::detect(head).map(|kind| (kind.name, kind.hint))
}

impl Input {
    /// Returns the path whose file system decides how the input is read.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Found(path) => Some(path),
            Self::Open(_) | Self::Memory(_) => None,
            Self::Checked(input) => Some(input.name()),
            Self::Copies(copies) => copies.first().map(PathBuf::as_path),
        }
    }

    /// Whether the input shares memory with `held`.
    pub(crate) fn overlaps(&self, held: &Held) -> bool {
        matches!(self, Self::Memory(memory) if memory.overlaps(held))
    }

    /// Estimates the time to read `wanted` bytes, or all.
    pub(crate) fn takes(&self, wanted: Option<u64>) -> Takes {
        let is_short = |len: u64| wanted.unwrap_or(len).min(len) <= SHORT;
        let facts = match self {
            Self::Path(path) | Self::Found(path) => std::fs::metadata(path),
            Self::Open(file) => file.metadata(),
            Self::Memory(held) if is_short(held.len() as u64) => return Takes::NoTime,
            Self::Checked(input) if input.len().is_some_and(is_short) => return Takes::NoTime,
            Self::Checked(_) | Self::Memory(_) | Self::Copies(_) => return Takes::Time,
        };
        match facts {
            // A length of 0 may be a kernel file of any length.
            Ok(facts) if facts.is_file() && facts.len() > 0 && is_short(facts.len()) => {
                Takes::NoTime
            }
            // An error is reported at once.
            Err(_) => Takes::NoTime,
            Ok(_) => Takes::Time,
        }
    }

    /// Estimates the time to read and parse the whole input. Compressed text may be a thousand times as long.
    pub(crate) fn takes_to_parse(&self) -> Takes {
        let is_packed = |path: &Path| compressed::Format::of_name(path).is_some();
        if self.path().is_some_and(is_packed) { Takes::Time } else { self.takes(None) }
    }

    /// Returns the source for the library; `verify` is of copies.
    pub(crate) fn source(self, verify: Option<&Bound<'_, PyAny>>) -> PyResult<Source> {
        match (self, verify) {
            (Self::Copies(copies), _) if copies.is_empty() => {
                Err(PyValueError::new_err("no copies given; try: pass at least one path"))
            }
            (Self::Copies(copies), None) => Ok(Mirrored::new(copies).into()),
            (Self::Copies(copies), Some(how)) => {
                Ok(Mirrored::new(copies).with_verify(verify_by(how)?).into())
            }
            (_, Some(_)) => Err(PyTypeError::new_err(
                "verify= compares copies of one file; try: pass a list of paths",
            )),
            (Self::Path(path), None) => Ok(path.into()),
            (Self::Found(path), None) => Ok(Source::found(path)),
            (Self::Checked(input), None) => Ok(Source::from(&input)),
            (Self::Open(file), None) => Ok(Source::file(Arc::new(file), "<open file>")),
            (Self::Memory(held), None) => Ok(Source::custom(Arc::new(Memory(Some(held))))),
        }
    }
}

/// Bytes of the caller as a source. `None` only while it is dropped.
struct Memory(Option<Held>);

impl Memory {
    fn bytes(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], Held::bytes)
    }
}

impl ReadAt for Memory {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.bytes().len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.bytes();
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let len = target.len().min(bytes.len() - at);
        target[..len].copy_from_slice(&bytes[at..at + len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("<memory>")
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // If the last owner is a thread of the library while the interpreter ends, the bytes are never
        // released.
        let mut held = self.0.take();
        if attached(|_| drop(held.take())).is_none() {
            mem::forget(held);
        }
    }
}

/// Shards of one model, each any source; an inner list names copies of one shard.
pub(crate) struct Shards(pub(crate) Vec<Input>);

impl<'py> FromPyObject<'_, 'py> for Shards {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let shards = object.try_iter()?.map(|shard| shard?.extract::<Input>());
            return shards.collect::<PyResult<_>>().map(Self);
        }
        Ok(Self(vec![object.extract::<Input>()?]))
    }
}

impl Shards {
    /// Returns the path whose file system decides how the shards are read.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.first().and_then(Input::path)
    }

    /// Estimates the time to read all shards.
    pub(crate) fn takes(&self) -> Takes {
        match &self.0[..] {
            [one] => one.takes(None),
            _ => Takes::Time,
        }
    }

    /// Returns the source for the library; `verify` is of copies.
    pub(crate) fn sources(self, verify: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Source>> {
        self.0.into_iter().map(|shard| shard.source(verify)).collect()
    }
}
