//! Calls into Python from threads of Swath's own, none of which may reach an interpreter that ends.
//!
//! ```text
//! worker        attached(…): count up ─ callback ─ count down
//! interpreter   at exit: no more from now on, wait until none is left, then end
//! ```
//!
//! A thread that asks for the lock of an interpreter that is ending brings the process down.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Calls on their way, and whether there may be more.
struct Calls {
    running: usize,
    is_over: bool,
}

static CALLS: Mutex<Calls> = Mutex::new(Calls { running: 0, is_over: false });
static NONE_LEFT: Condvar = Condvar::new();

fn calls() -> MutexGuard<'static, Calls> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts one call down, also by a panic.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        let mut calls = calls();
        // A child that was forked has none of its parent's.
        calls.running = calls.running.saturating_sub(1);
        if calls.running == 0 {
            NONE_LEFT.notify_all();
        }
    }
}

/// Calls `call` with the lock; `None` if the interpreter ends.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    {
        let mut calls = calls();
        if calls.is_over {
            return None;
        }
        calls.running += 1;
    }
    let _running = Running;
    Python::try_attach(call)
}

/// Lets nobody in any more, and waits for those who are.
#[pyfunction]
fn end(py: Python<'_>) {
    py.detach(|| {
        let mut calls = calls();
        calls.is_over = true;
        while calls.running > 0 {
            calls = NONE_LEFT.wait(calls).unwrap_or_else(PoisonError::into_inner);
        }
    });
}

/// In a child that was forked, none of its parent's threads goes on.
#[pyfunction]
fn forked() {
    calls().running = 0;
}

/// Has the interpreter tell when it ends, and when it was forked.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let end = pyo3::wrap_pyfunction!(end, module)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    let how = pyo3::types::PyDict::new(py);
    how.set_item("after_in_child", pyo3::wrap_pyfunction!(forked, module)?)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&how))?;
    Ok(())
}
