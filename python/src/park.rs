//! Parks Python threads that still run when the interpreter ends: each waits for the end of the process.
//!
//! ```text
//! thread        at_end() ─ … Swath ─ code of the caller ─ takes the lock again ─┬→ ends: pthread_exit
//! interpreter   at exit: no more calls ─────────────────── has ended ───────────┘    here: parks
//! ```
//!
//! Before 3.14, CPython ends such a thread by `pthread_exit`, which unwinds its stack. If it unwinds functions of
//! Rust, the process aborts. So the thread parks first, as in CPython 3.14 and later. pyo3 does this where it takes
//! the lock itself; this module does it where Python does, in a generator or an `__fspath__` of the caller.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use pyo3::prelude::*;

use crate::callback::is_over;

/// Memory for a handler: the `struct _pthread_cleanup_buffer` of glibc, which has four words; musl's has three.
type Handler = UnsafeCell<[*mut c_void; 4]>;

unsafe extern "C" {
    /// Adds `routine` before the handlers of this thread, which `pthread_exit` runs before it unwinds the stack, if
    /// `handler` is not on the stack. In glibc and musl.
    fn _pthread_cleanup_push(
        handler: *mut c_void,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );

    /// Removes the handler.
    fn _pthread_cleanup_pop(handler: *mut c_void, execute: c_int);
}

/// A handler of this thread.
struct Parked(Box<Handler>);

impl Parked {
    fn new() -> Self {
        let handler = Box::new(Handler::new([null_mut(); 4]));
        // SAFETY: the memory is large enough, keeps its address, and is only freed after its removal.
        unsafe { _pthread_cleanup_push(handler.get().cast(), park, null_mut()) };
        Self(handler)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        // SAFETY: this thread added it and owns it, and it is not run.
        unsafe { _pthread_cleanup_pop(self.0.get().cast(), 0) };
    }
}

extern "C" fn park(_: *mut c_void) {
    // If the interpreter is not ending, another library may end the thread.
    while is_over() {
        std::thread::park();
    }
}

/// Makes this thread park if the interpreter ends while it runs. Call it before code of the caller may run.
pub(crate) fn at_end() {
    thread_local!(static PARKED: Parked = Parked::new());
    // An ending thread runs no code of the caller.
    let _ = PARKED.try_with(|_| ());
}

/// Returns a module whose code this thread may run.
pub(crate) fn module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    at_end();
    py.import(name)
}
