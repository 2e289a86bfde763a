//! What a C program wants its callbacks to be told.

use std::ffi::c_void;

/// A pointer that goes with a callback to whatever thread calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: it is handed back to C and never followed here. The header says from how many threads
// each callback is called; what it leads to must stand that.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer. A method, so that closures capture all of it.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}
