//! Whether the standard streams were open when this program began.
//!
//! Before `main`, the standard library opens `/dev/null` in place of a closed stream, so that no
//! file gets its number, and it drops output to a stream that is not open for writing. From then on
//! this looks the same as an intentional redirection: programs that start services or children also
//! open `/dev/null` for reading and writing. So this module checks before the standard library
//! runs.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static STDIN_WAS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard input was closed when this program began (for a library that a program loads
/// later: when it was loaded) and is only `/dev/null` now.
///
/// ```
/// assert!(!swath_os::streams::stdin_was_closed());
/// ```
pub fn stdin_was_closed() -> bool {
    // Relaxed: every thread sees what was stored before `main`.
    STDIN_WAS_CLOSED.load(Ordering::Relaxed)
        && rustix::fs::fstat(io::stdin()).is_ok_and(|facts| {
            (rustix::fs::major(facts.st_rdev), rustix::fs::minor(facts.st_rdev)) == NULL
        })
}

/// The device numbers of `/dev/null`.
const NULL: (u32, u32) = (1, 3);

/// Whether standard output was closed, or open for reading only, when this program began (for a
/// library that a program loads later: when it was loaded).
///
/// ```
/// assert!(!swath_os::streams::stdout_was_closed());
/// ```
pub fn stdout_was_closed() -> bool {
    // Relaxed: as above.
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

// SAFETY: the loader takes the contents of this section as C functions, and calls each once, on
// one thread: `look` is one, and needs nothing that the standard library sets up before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // Miri does not support the modes of standard streams.
    if cfg!(miri) {
        return;
    }
    STDIN_WAS_CLOSED.store(mode(libc::STDIN_FILENO).is_none(), Ordering::Relaxed);
    let output = mode(libc::STDOUT_FILENO);
    STDOUT_WAS_CLOSED.store(matches!(output, None | Some(libc::O_RDONLY)), Ordering::Relaxed);
}

/// Returns the mode in which a descriptor is open.
fn mode(descriptor: libc::c_int) -> Option<libc::c_int> {
    // SAFETY: any number may be queried; nothing is changed.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    (flags != -1).then_some(flags & libc::O_ACCMODE)
}
