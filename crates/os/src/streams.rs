//! Whether the standard streams were there when this program began.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of a stream that is closed, so
//! that no file gets its number, and what it writes to one that is not open for writing, it drops.
//! From then on nothing tells that from a stream that is meant to go there: who starts services or
//! children opens `/dev/null` for reading and writing too. So this looks before the standard library
//! does.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static STDIN_WAS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard input was closed when this program began, or, in a library that a
/// program loads later, when it was loaded, and nothing but `/dev/null` is there now.
///
/// ```
/// assert!(!swath_os::streams::stdin_was_closed());
/// ```
#[must_use]
pub fn stdin_was_closed() -> bool {
    // Relaxed: what was stored before `main`, every thread sees.
    STDIN_WAS_CLOSED.load(Ordering::Relaxed)
        && rustix::fs::fstat(io::stdin()).is_ok_and(|facts| {
            (rustix::fs::major(facts.st_rdev), rustix::fs::minor(facts.st_rdev)) == NULL
        })
}

/// The numbers of `/dev/null`.
const NULL: (u32, u32) = (1, 3);

/// Returns whether standard output was closed, or open for reading only, when this program began, or,
/// in a library that a program loads later, when it was loaded.
///
/// ```
/// assert!(!swath_os::streams::stdout_was_closed());
/// ```
#[must_use]
pub fn stdout_was_closed() -> bool {
    // Relaxed: as above.
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

// SAFETY: the loader takes what is in this section for functions of C, and calls each once, on one
// thread: `look` is one, and needs nothing that the standard library sets up before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    STDIN_WAS_CLOSED.store(mode(libc::STDIN_FILENO).is_none(), Ordering::Relaxed);
    let output = mode(libc::STDOUT_FILENO);
    STDOUT_WAS_CLOSED.store(matches!(output, None | Some(libc::O_RDONLY)), Ordering::Relaxed);
}

/// What a descriptor is open for.
fn mode(descriptor: libc::c_int) -> Option<libc::c_int> {
    // SAFETY: any number may be asked about; nothing is changed.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    (flags != -1).then_some(flags & libc::O_ACCMODE)
}
