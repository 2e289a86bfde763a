//! The pointer that a C program passes to its callbacks.

use std::ffi::c_void;

/// A pointer that is passed with a callback to the thread that calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: it is passed back to C and never dereferenced here. The header says from how many threads
// each callback is called; the pointed-to data must allow that.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// Returns the pointer. A method, so that closures capture the whole value.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}
