//! Whether standard output was there when this program began.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of a stream that is closed, so
//! that no file gets its number. From then on nothing tells it from output that is meant to go
//! there: who starts services or children opens `/dev/null` for reading and writing too. So one
//! call looks before the standard library does.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard output was closed when this program began, or, in a library that a
/// program loads later, when it was loaded.
///
/// ```
/// assert!(!swath_os::streams::stdout_was_closed());
/// ```
#[must_use]
pub fn stdout_was_closed() -> bool {
    // Relaxed: what was stored before `main`, every thread sees.
    WAS_CLOSED.load(Ordering::Relaxed)
}

// SAFETY: the loader takes what is in this section for functions of C, and calls each once, on one
// thread: `look` is one, and needs nothing that the standard library sets up before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: any number may be asked about; nothing is changed.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}
