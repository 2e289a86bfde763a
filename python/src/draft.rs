//! One file that several processes write.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use swath::drafts::{self, DraftReceipt, DraftToken, SharedDraft};
use swath::machine::Mutex;
use swath::sink::Durability;
use swath::{CancelToken, OutputOptions, WriteOptions};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::finishing::Finishing;
use crate::input::path;
use crate::output::Leave;
use crate::own::Own;
use crate::park;
use crate::words::word;
use crate::work::{Takes, detached, run};

/// Bytes below which a write ends before a user can press a key.
const QUICK: usize = 8 << 20;

/// Begins a file of ``length`` bytes that several processes write, each at its own places.
///
/// Until the commit the target stays as it is; the new file has a hidden name in its folder, under which only
/// processes of this user can open it. Space for all bytes is reserved.
///
/// Parameters
/// ----------
/// path : path
///     Where the output goes.
/// length : int
///     Its length in bytes.
/// durability : {"full", "none"}
///     Whether the commit waits until the device has the bytes and the name.
/// replace : bool
///     Whether an existing file may be replaced.
/// hard_links : {"refuse", "break"}
///     How to treat a file with other names, which keep the old bytes.
///
/// Returns
/// -------
/// Draft
///     Its ``token`` is text for the other processes.
///
/// Examples
/// --------
/// >>> draft = swath.create_shared("out.txt", 8)
/// >>> def write(token, data, offset):              # in any process
/// ...     with swath.open_shared(token) as out:
/// ...         _ = out.write(data, offset)
/// ...     return out.receipt
/// >>> receipts = [write(draft.token, b"two\n", 4), write(draft.token, b"one\n", 0)]
/// >>> draft.commit(receipts)                       # fails if a byte is missing
/// >>> swath.read("out.txt").decode().split()
/// ['one', 'two']
#[pyfunction]
#[pyo3(signature = (path, length, *, durability="full", replace=true, hard_links="refuse"))]
#[pyo3(name = "create_shared")]
pub(crate) fn create_shared(
    path: &Bound<'_, PyAny>,
    length: u64,
    durability: &str,
    replace: bool,
    hard_links: &str,
) -> PyResult<Draft> {
    let target = self::path(path)?;
    let output =
        Leave { durability, replace: replace.into(), hard_links, workers: 0 }.options()?;
    let options = WriteOptions::new().with_output(output);
    let draft = detached(path.py(), || options.create_shared(target, length))?;
    let token = draft.token().to_json();
    Ok(Draft { token, length, draft: Own::new(Mutex::new(Some(draft))) })
}

/// Opens a draft that this or another process has begun, to write to it: on this machine, or on another that
/// sees the same folder under the same path.
///
/// Parameters
/// ----------
/// token : str
///     That of `Draft.token`.
///
/// Raises
/// ------
/// ChangedError
///     If the draft is over: committed, discarded, or followed by another.
///
/// Examples
/// --------
/// >>> with swath.create_shared("out.txt", 3) as draft:
/// ...     with swath.open_shared(draft.token) as out:
/// ...         _ = out.write(b"all", 0)
/// ...     draft.commit([out.receipt])
#[pyfunction]
pub(crate) fn open_shared(token: &Bound<'_, PyString>) -> PyResult<DraftWriter> {
    let text = token.to_str()?;
    let cancel = CancelToken::new();
    let output = OutputOptions::new().with_cancel(cancel.clone());
    let writer = detached(token.py(), || {
        let token = DraftToken::from_json(text)?;
        WriteOptions::new().with_output(output).open_shared(&token)
    })?;
    let over = "the writer has ended; try: open the draft again with open_shared";
    Ok(DraftWriter { writer: Finishing::new(Arc::new(writer), over), cancel })
}

/// A file of known length that several processes write. Made by `create_shared`.
///
/// As a context manager it is discarded at the end of the block, unless it was committed.
///
/// >>> with swath.create_shared("out.txt", 10) as draft:
/// ...     draft.length
/// 10
#[pyclass(frozen, module = "swath", name = "Draft")]
pub(crate) struct Draft {
    /// The token by which other processes open it: one line of text.
    #[pyo3(get)]
    token: String,
    /// The length of the file in bytes.
    #[pyo3(get)]
    length: u64,
    draft: Own<Mutex<Option<SharedDraft>>>,
}

#[pymethods]
impl Draft {
    /// Gives the file its name, when every writer has finished.
    ///
    /// ``receipts`` are those of all writers, in any order. With ``gaps``, bytes that are in no receipt are zero;
    /// otherwise they are an error, with the first of them.
    ///
    /// >>> draft = swath.create_shared("out.txt", 3)
    /// >>> draft.commit([], gaps=True)
    /// >>> bytes(swath.read("out.txt"))
    /// b'\x00\x00\x00'
    #[pyo3(signature = (receipts, *, gaps=false))]
    fn commit(&self, py: Python<'_>, receipts: &Bound<'_, PyAny>, gaps: bool) -> PyResult<()> {
        let receipts = receipts_of(receipts)?;
        let draft = self.draft.get()?;
        detached(py, || {
            let draft = draft.lock().take();
            let draft = draft.ok_or_else(|| {
                let text = "the draft has ended; try: begin another one with create_shared";
                Failure::Python(PyRuntimeError::new_err(text))
            })?;
            match gaps {
                true => draft.commit_with_gaps(&receipts)?,
                false => draft.commit(&receipts)?,
            }
            Ok::<_, Failure>(())
        })
    }

    /// Discards what was written; the old file stays.
    ///
    /// >>> swath.create_shared("out.txt", 3).abort()
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let draft = self.draft.get()?;
        py.detach(|| drop(draft.lock().take()));
        Ok(())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (_kind, *_error))]
    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = _kind.py();
        match self.draft.is_foreign() {
            // The draft belongs to the parent.
            true => Ok(()),
            false => self.abort(py),
        }
    }
}

fn receipts_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<DraftReceipt>> {
    if given.is_instance_of::<PyString>() {
        let text = "receipts must be an iterable of texts; try: pass [receipt]";
        return Err(PyTypeError::new_err(text));
    }
    let receipt = |one: PyResult<Bound<'_, PyAny>>| {
        let one = one?;
        let Ok(text) = one.cast::<PyString>() else {
            let text = format!("{} is not the receipt of a finished writer", one.repr()?);
            return Err(PyTypeError::new_err(text));
        };
        let receipt = DraftReceipt::from_json(text.to_str()?);
        receipt.map_err(|error| Failure::from(error).into_exception(given.py()))
    };
    park::at_end();
    given.try_iter()?.map(receipt).collect()
}

/// Writes to a draft, in the process that began it or in another. Made by `open_shared`. Several threads may
/// use it at once.
///
/// As a context manager it is finished at the end of the block. After an exception, or if its process dies,
/// the commit knows nothing of what it wrote.
///
/// >>> draft = swath.create_shared("out.txt", 3)
/// >>> with swath.open_shared(draft.token) as out:
/// ...     out.write(b"all", 0)
/// 3
/// >>> draft.commit([out.receipt])
#[pyclass(frozen, module = "swath", name = "DraftWriter")]
pub(crate) struct DraftWriter {
    writer: Finishing<Arc<drafts::DraftWriter>, String>,
    cancel: CancelToken,
}

/// Ends a writer; fails if another thread is writing.
fn finished(
    writer: Arc<drafts::DraftWriter>,
    durability: Durability,
) -> Result<String, (Option<Arc<drafts::DraftWriter>>, Failure)> {
    let writer = Arc::try_unwrap(writer).map_err(|writer| {
        let text = "another thread is writing; try: finish when all threads have written";
        (Some(writer), Failure::Python(PyRuntimeError::new_err(text)))
    })?;
    let receipt = writer.finish_with(durability);
    receipt.map(|it| it.to_json()).map_err(|error| (None, error.into()))
}

#[pymethods]
impl DraftWriter {
    /// The receipt, as text for `Draft.commit`; ``None`` until it is finished.
    #[getter]
    fn receipt(&self, py: Python<'_>) -> PyResult<Option<String>> {
        detached(py, || self.writer.receipt())
    }

    /// Writes bytes at ``offset``, straight from their memory; returns how many.
    ///
    /// Bytes that are written twice are from one of the writes. Past the length of the draft nothing can be
    /// written. After an error, or Ctrl-C, this writer gives no receipt.
    ///
    /// >>> draft = swath.create_shared("out.txt", 8)
    /// >>> out = swath.open_shared(draft.token)
    /// >>> out.write(memoryview(b"late"), 4), out.write(b"soon", 0)
    /// (4, 4)
    /// >>> draft.commit([out.finish()])
    fn write(&self, py: Python<'_>, data: Borrowed, offset: u64) -> PyResult<usize> {
        let takes = if data.bytes().len() < QUICK { Takes::NoTime } else { Takes::Time };
        run(py, takes, &self.cancel, || {
            let writer = self.writer.with(|writer| Ok(Arc::clone(writer)))?;
            writer.write_at(data.bytes(), offset)?;
            Ok::<_, Failure>(data.bytes().len())
        })
    }

    /// Ends the writing and returns the receipt, again if it has ended before. Waits for the device if the draft
    /// is durable.
    ///
    /// With ``durability="none"`` it does not wait. One writer of each machine must, and finish last: it waits
    /// for what all processes of the machine have written. On the machine of the commit none has to.
    ///
    /// >>> draft = swath.create_shared("out.txt", 0)
    /// >>> draft.commit([swath.open_shared(draft.token).finish(durability="none")])
    #[pyo3(signature = (*, durability="full"))]
    fn finish(&self, py: Python<'_>, durability: &str) -> PyResult<String> {
        let durability = word("durability", durability, Durability::WORDS)?;
        detached(py, || self.writer.end(|writer| finished(writer, durability)))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, *_error))]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = kind.py();
        let has_failed = !kind.is_none();
        let finish = |writer| finished(writer, Durability::Full);
        detached(py, || self.writer.leave(has_failed, finish))
    }
}
