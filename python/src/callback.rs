//! Calls into Python from threads of Swath; none may reach an interpreter that is ending.
//!
//! ```text
//! worker        attached(…): count up ─ callback ─ count down
//! interpreter   at exit: admit no more, wait for the running ones, then end
//! ```
//!
//! A thread that requests the lock of an ending interpreter crashes the process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping, PySequence, PyString};

// No lock here: a child that is forked while another thread holds it could never take it.

/// The number of running calls.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Whether no further calls are admitted.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Counts down one call when dropped, even by a panic.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        // A child that was forked during a call has not counted it.
        let count = |running: usize| running.checked_sub(1);
        let _ = RUNNING.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
    }
}

/// Calls `call` with the lock; `None` if the interpreter ends.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    admitted(|| Python::try_attach(call)).flatten()
}

/// Calls code of another library, which may take the lock by itself; `None` if the interpreter ends.
pub(crate) fn admitted<T>(call: impl FnOnce() -> T) -> Option<T> {
    // Counts first, then checks; `end` does both in the opposite order, so one sees the other.
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _running = Running;
    if is_over() { None } else { Some(call()) }
}

/// Whether the interpreter ends.
pub(crate) fn is_over() -> bool {
    IS_OVER.load(Ordering::SeqCst)
}

/// Admits no more calls, and waits for the running ones.
#[pyfunction]
fn end(py: Python<'_>) {
    IS_OVER.store(true, Ordering::SeqCst);
    py.detach(|| {
        while RUNNING.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Resets the count in a forked child, in which none of the parent's threads runs.
#[pyfunction]
fn forked() {
    RUNNING.store(0, Ordering::SeqCst);
}

/// Registers for the end of the interpreter, and for forks.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let end = pyo3::wrap_pyfunction!(end, module)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    let how = pyo3::types::PyDict::new(py);
    how.set_item("after_in_child", pyo3::wrap_pyfunction!(forked, module)?)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&how))?;
    import_early(py)
}

/// Makes pyo3 import its modules now, not at their first use: a child that is forked during an import would wait for
/// its end for ever.
fn import_early(py: Python<'_>) -> PyResult<()> {
    let text = PyString::new(py, "text");
    let _ = PyList::empty(py).try_iter()?.size_hint();
    let path = text.extract::<PathBuf>()?;
    drop(path.into_pyobject(py)?);
    drop(text.cast::<PySequence>());
    drop(text.cast::<PyMapping>());
    Ok(())
}
