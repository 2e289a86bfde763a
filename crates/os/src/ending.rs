//! The signals that end or stop a program, received by a thread that waits for them.
//!
//! ```text
//! main     hold ── start the thread ── work ───────────────────── release
//! thread              wait ──SIGINT──▶ remove temporary state ── end_by(SIGINT)
//!                     wait ──SIGTSTP─▶ stop others ── stop ──SIGCONT──▶ resume them
//! ```
//!
//! For commands: it changes how the whole process reacts. No handler is installed, no descriptor is
//! used, and the thread's work is not restricted to signal-safety(7). A signal that the process
//! ignores (nohup(1)), or that was blocked before, is left alone.

use std::mem::MaybeUninit;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, ptr};

use libc::{c_int, sigset_t};

/// The signals by which a user or a terminal ends a program.
const ENDING: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Further signals that end a program, or stop and resume it. Some of them are also raised by a
/// fault: that ends the process at once, because the kernel does not hold back a signal of its own
/// fault. `SIGSEGV` and `SIGBUS` are not among them: Rust's runtime, and the guard of maps, handle
/// them.
const FURTHER: [c_int; 18] = [
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGSYS,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// A bit for each signal that this process has held: 1 << (number - 1).
static HELD: AtomicU64 = AtomicU64::new(0);

/// Held signals: `SIGHUP`, `SIGINT` and `SIGTERM`, unless they would not end the program; or all
/// that would end or stop it.
#[derive(Clone, Copy)]
pub struct EndingSignals {
    held: sigset_t,
}

impl EndingSignals {
    /// Ctrl-Z: call [`stop`] when it arrives.
    pub const STOP: i32 = libc::SIGTSTP;
    /// The signal that resumes a stopped process.
    pub const GO_ON: i32 = libc::SIGCONT;

    /// Blocks `SIGHUP`, `SIGINT` and `SIGTERM` in this thread, and in threads that it starts later.
    ///
    /// Existing threads are not changed: one of them may still receive a signal.
    ///
    /// # Errors
    ///
    /// The errors of sigaction(2) and sigprocmask(2), which do not fail for these signals.
    pub fn hold() -> io::Result<Self> {
        Self::hold_some([])
    }

    /// Like [`hold`](Self::hold), but blocks every signal that would end this process, and also
    /// `SIGTSTP` and `SIGCONT`. Leaves alone `SIGSEGV`, `SIGBUS`, and those that the process
    /// handles in its own way. A fault of this process still ends it at once.
    ///
    /// # Errors
    ///
    /// As [`hold`](Self::hold).
    pub fn hold_all() -> io::Result<Self> {
        let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
        Self::hold_some(FURTHER.into_iter().chain(real_time))
    }

    fn hold_some(further: impl IntoIterator<Item = c_int>) -> io::Result<Self> {
        let before = change(libc::SIG_BLOCK, None)?;
        let mut held = empty();
        for signal in ENDING {
            if !contains(&before, signal) && disposition(signal)? != libc::SIG_IGN {
                add(&mut held, signal);
            }
        }
        for signal in further {
            if !contains(&before, signal) && disposition(signal)? == libc::SIG_DFL {
                add(&mut held, signal);
            }
        }
        // Relaxed: it guards nothing.
        HELD.fetch_or(bits(&held), Ordering::Relaxed);
        change(libc::SIG_BLOCK, Some(&held))?;
        Ok(Self { held })
    }

    /// Releases all but `SIGHUP`, `SIGINT` and `SIGTERM` as long as this thread runs, and returns
    /// these.
    ///
    /// # Errors
    ///
    /// The errors of sigprocmask(2), which does not fail.
    pub fn narrowed(self) -> io::Result<Self> {
        let (mut held, mut others) = (empty(), empty());
        for signal in 1..=LAST {
            if contains(&self.held, signal) {
                let is_kept = ENDING.contains(&signal);
                add(if is_kept { &mut held } else { &mut others }, signal);
            }
        }
        change(libc::SIG_UNBLOCK, Some(&others))?;
        Ok(Self { held })
    }

    /// Waits for a held signal, and returns its number.
    ///
    /// # Errors
    ///
    /// The errors of sigwait(3), which does not fail for these signals.
    pub fn wait(&self) -> io::Result<i32> {
        let mut signal = 0;
        // SAFETY: both are valid during the call, and the set is initialised.
        match unsafe { libc::sigwait(&raw const self.held, &raw mut signal) } {
            0 => Ok(signal),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Lets the held signals end the program again, as long as this thread runs.
    ///
    /// # Errors
    ///
    /// The errors of sigprocmask(2), which does not fail.
    pub fn release(&self) -> io::Result<()> {
        change(libc::SIG_UNBLOCK, Some(&self.held)).map(drop)
    }
}

impl std::fmt::Debug for EndingSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndingSignals").finish_non_exhaustive()
    }
}

/// The signals with a name, except real-time signals.
const NAMES: [(c_int, &str); 31] = [
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGSTKFLT, "SIGSTKFLT"),
    (libc::SIGCHLD, "SIGCHLD"),
    (libc::SIGCONT, "SIGCONT"),
    (libc::SIGSTOP, "SIGSTOP"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
    (libc::SIGURG, "SIGURG"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGWINCH, "SIGWINCH"),
    (libc::SIGIO, "SIGIO"),
    (libc::SIGPWR, "SIGPWR"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Returns the name of a signal, such as "SIGKILL"; `None` for real-time signals, and for numbers
/// that are not signals.
///
/// ```
/// assert_eq!(swath_os::ending::signal_name(9), Some("SIGKILL"));
/// assert_eq!(swath_os::ending::signal_name(0), None);
/// ```
pub fn signal_name(signal: i32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

/// Ends the program by a signal, so that its parent sees which one.
pub fn end_by(signal: i32) -> ! {
    // SAFETY: the default action runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let mut only = empty();
    add(&mut only, signal);
    // A signal that cannot be unblocked cannot be raised either; the program ends below anyway.
    let _ = change(libc::SIG_UNBLOCK, Some(&only));
    // SAFETY: takes an integer.
    unsafe { libc::raise(signal) };
    // Not reached for a signal that ends programs.
    std::process::exit(128 + signal)
}

/// Stops this process as Ctrl-Z does, and returns when it is resumed. The kernel does not stop a
/// process that no shell could resume: then it returns at once.
///
/// # Errors
///
/// The errors of sigprocmask(2) and raise(3), which do not fail for `SIGTSTP`.
pub fn stop() -> io::Result<()> {
    let mut only = empty();
    add(&mut only, libc::SIGTSTP);
    let before = change(libc::SIG_UNBLOCK, Some(&only))?;
    // SAFETY: takes an integer.
    let raised = unsafe { libc::raise(libc::SIGTSTP) };
    change(libc::SIG_SETMASK, Some(&before))?;
    if raised == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts a process that these signals end, as if none had been held: a child inherits the signals
/// that the starting thread blocks.
///
/// While the child is started, a signal may end this process at once.
///
/// # Errors
///
/// The errors of [`Command::spawn`].
///
/// ```
/// let mut child = swath_os::ending::spawn(&mut std::process::Command::new("true"))?;
/// assert!(child.wait()?.success());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    let before = change(libc::SIG_UNBLOCK, Some(&unblocked_in_children().0))?;
    let started = command.spawn();
    change(libc::SIG_SETMASK, Some(&before))?;
    started
}

/// The signals that a child must not inherit as blocked.
#[derive(Clone, Copy)]
pub(crate) struct Unblocked(sigset_t);

impl Unblocked {
    /// Unblocks the signals. Takes no lock and allocates nothing.
    pub(crate) fn apply(&self) -> io::Result<()> {
        change(libc::SIG_UNBLOCK, Some(&self.0)).map(drop)
    }
}

/// Returns the signals that this process has held.
pub(crate) fn unblocked_in_children() -> Unblocked {
    let mut held = empty();
    // Relaxed: as above.
    let bits = HELD.load(Ordering::Relaxed);
    for signal in (1..=LAST).filter(|signal| bits >> (signal - 1) & 1 == 1) {
        add(&mut held, signal);
    }
    Unblocked(held)
}

/// The highest number of a signal.
const LAST: c_int = 64;

fn contains(set: &sigset_t, signal: c_int) -> bool {
    // SAFETY: `set` is initialised; a number that is not a signal is refused.
    unsafe { libc::sigismember(ptr::from_ref(set), signal) == 1 }
}

fn add(set: &mut sigset_t, signal: c_int) {
    // SAFETY: `set` is initialised; a number that is not a signal is refused.
    unsafe { libc::sigaddset(ptr::from_mut(set), signal) };
}

fn bits(set: &sigset_t) -> u64 {
    let all = (1..=LAST).filter(|&signal| contains(set, signal));
    all.fold(0, |bits, signal| bits | 1 << (signal - 1))
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

fn disposition(signal: c_int) -> io::Result<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed, and `action` has room for one.
    let status = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: sigaction(2) has initialised it.
    Ok(unsafe { action.assume_init() }.sa_sigaction)
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
        // A child holds no signals, but this thread still does.
        let mut grep = Command::new("grep");
        grep.args(["SigBlk", "/proc/self/status"]).stdout(std::process::Stdio::piped());
        let output = spawn(&mut grep).and_then(Child::wait_with_output).expect("grep starts");
        let blocked = String::from_utf8_lossy(&output.stdout).into_owned();
        let bits = blocked.split_whitespace().last().expect("a mask");
        let bits = u64::from_str_radix(bits, 16).expect("a mask");
        assert!(ENDING.iter().all(|signal| bits >> (signal - 1) & 1 == 0), "{blocked}");
        // Signals that are already blocked are left alone.
        let again = EndingSignals::hold().expect("these can be blocked");
        again.release().expect("nothing is released");
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGTERM) };
        assert_eq!(signals.wait().expect("one is pending"), libc::SIGTERM);
        signals.release().expect("these can be unblocked");
        // Holds all of them; a thread that needs only the three releases the others.
        let all = EndingSignals::hold_all().expect("these can be blocked");
        let faults = [libc::SIGILL, libc::SIGTRAP, libc::SIGFPE, libc::SIGSYS];
        let others = [libc::SIGUSR1, libc::SIGXCPU, libc::SIGCONT, libc::SIGRTMAX()];
        for signal in faults.into_iter().chain(others) {
            // SAFETY: as above.
            unsafe { libc::raise(signal) };
            assert_eq!(all.wait().expect("one is pending"), signal);
        }
        let three = all.narrowed().expect("the others can be unblocked");
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(three.wait().expect("one is pending"), libc::SIGINT);
        assert!(!ENDING.iter().any(|&signal| !contains(&three.held, signal)));
        assert!(!contains(&three.held, libc::SIGUSR1));
        three.release().expect("these can be unblocked");
    }

    #[test]
    fn every_signal_has_its_own_name() {
        for signal in 1..=31 {
            let name = signal_name(signal).expect("it has a name");
            assert!(NAMES.iter().filter(|it| it.1 == name).count() == 1, "{signal}: {name}");
        }
        assert_eq!(signal_name(libc::SIGRTMIN()), None);
    }
}
