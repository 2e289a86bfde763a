//! Threads of Python that go on when the interpreter ends: each waits for the end of the process.
//!
//! ```text
//! thread        at_end() ─ … Swath ─ code of the caller ─ takes the lock again ─┬→ ends: pthread_exit
//! interpreter   at exit: no more calls ─────────────────── has ended ───────────┘    here: parks
//! ```
//!
//! Before 3.14, CPython ends such a thread by `pthread_exit`, which unwinds its stack. If it unwinds functions of
//! Rust, the process aborts. So the thread parks first, as CPython has it from 3.14 on. pyo3 does this where it
//! takes the lock itself; here it is done where Python does, in a generator or an `__fspath__` of the caller.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use pyo3::prelude::*;

use crate::callback::is_over;

/// Memory for a handler: the `struct _pthread_cleanup_buffer` of glibc, which has four words; musl's has three.
type Handler = UnsafeCell<[*mut c_void; 4]>;

unsafe extern "C" {
    /// Puts `routine` before the handlers of this thread, which `pthread_exit` runs before it unwinds the stack,
    /// if `handler` is not on it. In glibc, and in musl.
    fn _pthread_cleanup_push(
        handler: *mut c_void,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );

    /// Takes the handler out.
    fn _pthread_cleanup_pop(handler: *mut c_void, execute: c_int);
}

/// A handler of this thread.
struct Parked(Box<Handler>);

impl Parked {
    fn new() -> Self {
        let handler = Box::new(Handler::new([null_mut(); 4]));
        // SAFETY: the memory is large enough, stays where it is, and is only freed once it was taken out.
        unsafe { _pthread_cleanup_push(handler.get().cast(), park, null_mut()) };
        Self(handler)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        // SAFETY: it was put in by this thread, which owns it, and is not run.
        unsafe { _pthread_cleanup_pop(self.0.get().cast(), 0) };
    }
}

extern "C" fn park(_: *mut c_void) {
    // Until then, another library may end the thread.
    while is_over() {
        std::thread::park();
    }
}

/// Has this thread park if the interpreter ends while it runs. Call it before code of the caller may run.
pub(crate) fn at_end() {
    thread_local!(static PARKED: Parked = Parked::new());
    // While the thread ends, no code of the caller runs.
    let _ = PARKED.try_with(|_| ());
}

/// A module whose code this thread may run.
pub(crate) fn module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    at_end();
    py.import(name)
}
