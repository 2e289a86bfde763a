//! The signals that end a program, received by a thread that waits for them.
//!
//! ```text
//! main     hold ── start the thread ── work ───────────────────── release
//! thread              wait ──SIGINT──▶ undo what must not stay ── end_by(SIGINT)
//! ```
//!
//! For commands: it changes how the whole process reacts. No handler is installed, no descriptor is
//! used, and what the thread does is not restricted to signal-safety(7). A signal that the process
//! ignores (nohup(1)), or that was blocked before, is left alone.

use std::mem::MaybeUninit;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, ptr};

use libc::{c_int, sigset_t};

const ENDING: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// A bit for each signal that this process has held, by its number.
static HELD: AtomicU64 = AtomicU64::new(0);

/// `SIGHUP`, `SIGINT` and `SIGTERM`, as far as they would end the program.
#[derive(Clone, Copy)]
pub struct EndingSignals {
    held: sigset_t,
}

impl EndingSignals {
    /// Blocks them in this thread, and in threads that it starts from now on.
    ///
    /// Threads that exist already are not changed: one of them may still receive a signal.
    ///
    /// # Errors
    ///
    /// Those of sigaction(2) and sigprocmask(2), which do not fail for these signals.
    pub fn hold() -> io::Result<Self> {
        let before = change(libc::SIG_BLOCK, None)?;
        let mut held = empty();
        for signal in ENDING {
            // SAFETY: `before` is an initialised set.
            let is_blocked = unsafe { libc::sigismember(&raw const before, signal) } == 1;
            if !is_blocked && !is_ignored(signal)? {
                // SAFETY: `held` is an initialised set.
                unsafe { libc::sigaddset(&raw mut held, signal) };
                // Relaxed: it guards nothing.
                HELD.fetch_or(1 << signal, Ordering::Relaxed);
            }
        }
        change(libc::SIG_BLOCK, Some(&held))?;
        Ok(Self { held })
    }

    /// Waits for one of them, and returns its number.
    ///
    /// # Errors
    ///
    /// Those of sigwait(3), which does not fail for these signals.
    pub fn wait(&self) -> io::Result<i32> {
        let mut signal = 0;
        // SAFETY: both are valid during the call, and the set is initialised.
        match unsafe { libc::sigwait(&raw const self.held, &raw mut signal) } {
            0 => Ok(signal),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Lets them end the program again while this thread runs.
    ///
    /// # Errors
    ///
    /// Those of sigprocmask(2), which does not fail.
    pub fn release(&self) -> io::Result<()> {
        change(libc::SIG_UNBLOCK, Some(&self.held)).map(drop)
    }
}

impl std::fmt::Debug for EndingSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndingSignals").finish_non_exhaustive()
    }
}

/// Ends the program by a signal, so that its parent sees which one it was.
pub fn end_by(signal: i32) -> ! {
    // SAFETY: the default action runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let mut only = empty();
    // SAFETY: `only` is an initialised set; a number that is not a signal is refused.
    unsafe { libc::sigaddset(&raw mut only, signal) };
    // What cannot be unblocked cannot be raised either, and the program ends below anyway.
    let _ = change(libc::SIG_UNBLOCK, Some(&only));
    // SAFETY: takes an integer.
    unsafe { libc::raise(signal) };
    // Not reached for a signal that ends programs.
    std::process::exit(128 + signal)
}

/// Starts a process that these signals end, as if none had been held: a child inherits what the thread
/// that starts it blocks.
///
/// While the child is started, a signal may end this process at once.
///
/// # Errors
///
/// Those of [`Command::spawn`].
///
/// ```
/// let mut child = swath_os::ending::spawn(&mut std::process::Command::new("true"))?;
/// assert!(child.wait()?.success());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut held = empty();
    // Relaxed: as above.
    let bits = HELD.load(Ordering::Relaxed);
    for signal in ENDING.into_iter().filter(|signal| bits >> signal & 1 == 1) {
        // SAFETY: `held` is an initialised set.
        unsafe { libc::sigaddset(&raw mut held, signal) };
    }
    let before = change(libc::SIG_UNBLOCK, Some(&held))?;
    let started = command.spawn();
    change(libc::SIG_SETMASK, Some(&before))?;
    started
}

/// Sends a signal to a child, unless it has ended.
///
/// # Errors
///
/// Those of waitpid(2) and kill(2): `PermissionDenied` if the child has become another user.
///
/// ```
/// use std::os::unix::process::ExitStatusExt;
///
/// let mut child = std::process::Command::new("sleep").arg("60").spawn()?;
/// swath_os::ending::pass_on(15, &mut child)?;
/// assert_eq!(child.wait()?.signal(), Some(15));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn pass_on(signal: i32, child: &mut Child) -> io::Result<()> {
    // A child that has been waited for has no number any more.
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    let id = i32::try_from(child.id()).map_err(io::Error::other)?;
    // SAFETY: takes integers, and the number is that of our child until it is waited for.
    match unsafe { libc::kill(id, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn empty() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `set` has room for one.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: sigemptyset(3) has initialised it.
    unsafe { set.assume_init() }
}

/// Changes the signals that this thread blocks, if a set is given; returns the previous ones.
fn change(how: c_int, set: Option<&sigset_t>) -> io::Result<sigset_t> {
    let mut former = empty();
    let set = set.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `set` is null or an initialised set, and `former` has room for one.
    match unsafe { libc::pthread_sigmask(how, set, &raw mut former) } {
        0 => Ok(former),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn is_ignored(signal: c_int) -> io::Result<bool> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed, and `action` has room for one.
    let status = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: sigaction(2) has initialised it.
    Ok(unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_held_is_received_where_it_is_awaited() {
        let signals = EndingSignals::hold().expect("these can be blocked");
        for signal in [libc::SIGTERM, libc::SIGINT] {
            // SAFETY: takes an integer; it is sent to this thread, which blocks it.
            unsafe { libc::raise(signal) };
            assert_eq!(signals.wait().expect("one is pending"), signal);
        }
        // A child holds nothing, and this thread still does.
        let mut grep = Command::new("grep");
        grep.args(["SigBlk", "/proc/self/status"]).stdout(std::process::Stdio::piped());
        let output = spawn(&mut grep).and_then(Child::wait_with_output).expect("grep starts");
        let blocked = String::from_utf8_lossy(&output.stdout).into_owned();
        let bits = blocked.split_whitespace().last().expect("a mask");
        let bits = u64::from_str_radix(bits, 16).expect("a mask");
        assert!(ENDING.iter().all(|signal| bits >> (signal - 1) & 1 == 0), "{blocked}");
        // What is blocked already is left alone.
        let again = EndingSignals::hold().expect("these can be blocked");
        again.release().expect("nothing is released");
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGTERM) };
        assert_eq!(signals.wait().expect("one is pending"), libc::SIGTERM);
        signals.release().expect("these can be unblocked");
    }
}
