//! Turns a fault in a mapped file into a message and exit code 2, for a whole program.
//!
//! If a file is truncated while it is mapped, or its device fails, it can no longer be read: the
//! kernel sends `SIGBUS`, which ends a program without a message. A command with a [`Guard`] prints
//! which file and which bytes, and exits with 2. Only the program itself may decide to exit like
//! this; a library requires a promise from its caller instead ([`Frozen`](crate::map::Frozen)).
//!
//! ```text
//! touch ──SIGBUS──▶ handler ── in a map made with a guard? ── yes ──▶ message, exit 2
//!                                                         └── no ───▶ as without a guard
//! ```
//!
//! A signal sent by another process is not a fault: it is handled as without a guard, and the guard
//! stays. The handler allocates nothing, takes no lock, makes only calls that signal-safety(7)
//! allows, and does not wait for a reader of the message.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use libc::{c_int, c_void, siginfo_t};

use crate::fault_table::{FaultTable, Found};
use crate::locks::Mutex;
use crate::map::Permit;

const EXIT_NOT_DONE: c_int = 2;
/// `<asm-generic/siginfo.h>`: memory has failed, but has not been read yet.
const BUS_MCEERR_AO: c_int = 5;
const REASON: &[u8] = b": the file was truncated or its device failed while it was mapped; \
    read it again, or with --engine pool\n";

/// The previous action for `SIGBUS`; set before the handler is installed.
static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

/// The right to map one file, because a fault in it ends the program with a message.
///
/// The handler is never removed. A file is watched as long as one of its maps exists, even after
/// the guard itself is gone.
#[derive(Clone, Debug)]
pub struct Guard<'f> {
    file: &'f File,
    message: Arc<[u8]>,
}

impl<'f> Guard<'f> {
    /// Installs the handler, unless it is already installed, and prepares the message for `path`.
    ///
    /// # Errors
    ///
    /// The errors of sigaction(2), which does not fail for `SIGBUS`.
    pub fn install(file: &'f File, path: &Path) -> io::Result<Guard<'f>> {
        install_once()?;
        let path = path.as_os_str().as_bytes();
        let message = [b"swath: cannot read ", path, b" at bytes "].concat();
        Ok(Guard { file, message: message.into() })
    }
}

impl<'f> From<&Guard<'f>> for Permit<'f> {
    fn from(guard: &Guard<'f>) -> Permit<'f> {
        Permit::guarded(guard.file, Arc::clone(&guard.message))
    }
}

impl<'f> From<Guard<'f>> for Permit<'f> {
    fn from(guard: Guard<'f>) -> Permit<'f> {
        Permit::from(&guard)
    }
}

fn install_once() -> io::Result<()> {
    static INSTALLED: Mutex<bool> = Mutex::new(false);
    let mut installed = INSTALLED.lock();
    if !*installed {
        let former = change_action(None)?;
        FORMER.get_or_init(|| former);
        // The page size is read now, so that the handler has it.
        rustix::param::page_size();
        change_action(Some(&handler_action()))?;
        *installed = true;
    }
    Ok(())
}

/// Sets the action for `SIGBUS`, if given; returns the previous one.
fn change_action(action: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut former = empty_action();
    let new = action.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `new` is null or a whole `sigaction` whose handler is async-signal-safe (ours) or
    // was in force before; `former` has room for one.
    let status = unsafe { libc::sigaction(libc::SIGBUS, new, &raw mut former) };
    if status == 0 { Ok(former) } else { Err(io::Error::last_os_error()) }
}

fn empty_action() -> libc::sigaction {
    // SAFETY: all zeros is a `sigaction`: the default action, no flags, an empty mask.
    unsafe { std::mem::zeroed() }
}

fn handler_action() -> libc::sigaction {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_fault;
    let mut action = empty_action();
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    action
}

/// Async-signal-safe, like everything that it calls.
extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: with `SA_SIGINFO` the kernel passes a complete `siginfo_t`, valid for this thread
    // during the call.
    let told = unsafe { &*info };
    // 0 and below are signals from processes, and `BUS_MCEERR_AO` is about memory that no thread
    // touched: neither stopped a thread in a map.
    let is_fault = told.si_code > 0 && told.si_code != BUS_MCEERR_AO;
    if is_fault {
        // SAFETY: the kernel's own `SIGBUS` always carries an address.
        let address = unsafe { told.si_addr() }.addr();
        if let Some(found) = FaultTable::global().find(address) {
            end_with_message(&found, address);
        }
    }
    as_without_guard(is_fault, signal, info, context);
}

/// Takes the previous action, and keeps the guard if the program continues.
fn as_without_guard(is_fault: bool, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let former = FORMER.get().copied().unwrap_or_else(empty_action);
    match former.sa_sigaction {
        // The kernel does not let a fault be ignored.
        libc::SIG_IGN if !is_fault => return,
        libc::SIG_DFL | libc::SIG_IGN => end_by_default(),
        handler => call(handler, former.sa_flags, signal, info, context),
    }
    if is_fault {
        // The fault recurs on return, unless the previous handler has repaired it.
        return;
    }
    let left = change_action(None).map_or(libc::SIG_DFL, |left| left.sa_sigaction);
    if left == libc::SIG_DFL {
        // The next signal was to end the program, as Rust's own handler leaves it. This is the
        // next one.
        // SAFETY: takes an integer; the signal is blocked until this handler returns.
        unsafe { libc::raise(libc::SIGBUS) };
    } else if left != handler_action().sa_sigaction {
        let _ = change_action(Some(&handler_action()));
    }
}

/// Restores the default action. A failure cannot be reported; the fault then returns to this
/// handler.
fn end_by_default() {
    let _ = change_action(Some(&empty_action()));
}

/// Calls the previous handler.
fn call(
    handler: libc::sighandler_t,
    flags: c_int,
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    let handler = handler as *const ();
    if flags & libc::SA_SIGINFO != 0 {
        type Long = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        // SAFETY: the flag with which the handler was installed says that it is such a function.
        let handler: Long = unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        type Short = extern "C" fn(c_int);
        // SAFETY: as above, without the flag.
        let handler: Short = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}

fn end_with_message(found: &Found, address: usize) -> ! {
    static SPOKEN: AtomicBool = AtomicBool::new(false);
    // If several threads fault, one prints the message; the others wait for the exit.
    while SPOKEN.swap(true, SeqCst) {
        // SAFETY: takes nothing and returns after the next signal.
        unsafe { libc::pause() };
    }
    // SAFETY: the map that owns the message's memory is in use by this thread, which stopped in it,
    // so neither has been dropped; the message is shared, and not written after it was made.
    let message = unsafe { std::slice::from_raw_parts(found.message, found.message_len) };
    let (first, end) = page_extent(found, address, rustix::param::page_size());
    write_all(message);
    write_all(Decimal::new(first).as_bytes());
    write_all(b"..");
    write_all(Decimal::new(end).as_bytes());
    write_all(REASON);
    // SAFETY: ends the process at once, without running any more of its code.
    unsafe { libc::_exit(EXIT_NOT_DONE) }
}

/// Returns the file bytes in the page of `address`, within the map.
fn page_extent(found: &Found, address: usize, page_size: usize) -> (u64, u64) {
    let page = address - address % page_size;
    let in_file = |address: usize| found.offset + (address - found.start) as u64;
    let end = page.saturating_add(page_size).min(found.end);
    (in_file(page.max(found.start)), in_file(end))
}

/// Writes the bytes that standard error accepts soon: it may have no reader.
fn write_all(mut bytes: &[u8]) {
    /// The bytes that a writable pipe accepts at once: POSIX's `PIPE_BUF`.
    const AT_ONCE: usize = 512;
    const PATIENCE_MS: c_int = 500;
    while !bytes.is_empty() {
        let mut stderr =
            libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one `pollfd`, which is ours.
        let ready = unsafe { libc::poll(&raw mut stderr, 1, PATIENCE_MS) };
        if ready <= 0 {
            return;
        }
        let len = bytes.len().min(AT_ONCE);
        // SAFETY: `bytes` can be read for `len` bytes.
        let status = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), len) };
        match usize::try_from(status) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// A number in decimal digits, without the formatting machinery.
struct Decimal {
    digits: [u8; Decimal::LONGEST],
    first: usize,
}

impl Decimal {
    /// Digits of `u64::MAX`.
    const LONGEST: usize = 20;

    fn new(mut number: u64) -> Decimal {
        let mut decimal = Decimal { digits: [b'0'; Decimal::LONGEST], first: Decimal::LONGEST };
        loop {
            decimal.first -= 1;
            decimal.digits[decimal.first] = b'0' + (number % 10).to_le_bytes()[0];
            number /= 10;
            if number == 0 {
                return decimal;
            }
        }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.digits[self.first..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Frozen, Map, MapFlags};
    use std::ffi::OsStr;
    use std::os::fd::AsRawFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output, Stdio};
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    const CHILD: &str = "SWATH_OS_GUARD_TEST_CHILD";

    /// Runs one test of this file again, in a child that gets `path`.
    fn run_child(test: &str, path: &Path) -> Output {
        child(test, path).output().expect("a child")
    }

    fn child(test: &str, path: &Path) -> Command {
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        child
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .arg(format!("guard::tests::{test}"))
            .env(CHILD, path)
            // The folder for a core dump.
            .current_dir(path.parent().expect("the test's folder"));
        child
    }

    fn child_path() -> Option<std::path::PathBuf> {
        std::env::var_os(CHILD).map(std::path::PathBuf::from)
    }

    fn four_pages(folder: &Path, name: &OsStr) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, vec![1; 4 * rustix::param::page_size()]).expect("written");
        path
    }

    fn open(path: &Path) -> File {
        File::options().read(true).write(true).open(path).expect("made by the parent")
    }

    #[test]
    fn a_truncated_file_ends_the_program_with_a_message() {
        let page = rustix::param::page_size();
        if let Some(path) = child_path() {
            let file = open(&path);
            let guard = Guard::install(&file, &path).expect("a guard");
            let map = Map::new(&guard, 10, 3 * page, MapFlags::default()).expect("a map");
            drop(guard);
            file.set_len(page as u64).expect("truncated");
            assert_eq!(map.cells().load(0), 1, "the first page is still there");
            map.copy_to(2 * page, &mut [0; 1]);
            unreachable!("the third page is gone");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::from_bytes(b"not \xff UTF-8"));
        let test = "a_truncated_file_ends_the_program_with_a_message";
        let output = run_child(test, &path);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let mut wanted = b"swath: cannot read ".to_vec();
        wanted.extend_from_slice(path.as_os_str().as_bytes());
        wanted.extend_from_slice(
            format!(
                " at bytes {}..{}: the file was truncated or its device failed while it was \
                 mapped; read it again, or with --engine pool\n",
                2 * page,
                3 * page
            )
            .as_bytes(),
        );
        assert!(
            output.stderr.ends_with(&wanted),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    #[test]
    fn a_fault_outside_the_guarded_maps_still_kills() {
        if let Some(path) = child_path() {
            let file = open(&path);
            let guard = Guard::install(&file, &path).expect("a guard");
            let guarded = Map::new(&guard, 0, 1, MapFlags::default()).expect("a map");
            // SAFETY: none: this test breaks the promise to see what happens.
            let frozen = unsafe { Frozen::promise(&file) };
            let map = Map::new(frozen, 0, 1, MapFlags::default()).expect("a map");
            file.set_len(0).expect("truncated");
            let seen = map.cells().load(0);
            unreachable!("read {seen} with {} byte guarded", guarded.len());
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::new("plain"));
        let output = run_child("a_fault_outside_the_guarded_maps_still_kills", &path);
        assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
    }

    #[test]
    fn a_signal_that_another_process_sends_still_kills() {
        if let Some(path) = child_path() {
            let file = open(&path);
            let _guard = Guard::install(&file, &path).expect("a guard");
            // SAFETY: takes an integer.
            unsafe { libc::raise(libc::SIGBUS) };
            unreachable!("killed by now");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::new("plain"));
        let output = run_child("a_signal_that_another_process_sends_still_kills", &path);
        assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
    }

    static HANDLED: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn count(_: c_int) {
        if HANDLED.fetch_add(1, SeqCst) > 100 {
            // A fault that the guard misses would recur forever.
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(9) };
        }
    }

    /// In a child: sends itself signals that the previous action survives, and then faults.
    fn sent_and_then_fault(path: &Path, former: libc::sighandler_t) -> ! {
        // SAFETY: a handler that counts, or none.
        unsafe { libc::signal(libc::SIGBUS, former) };
        let file = open(path);
        let guard = Guard::install(&file, path).expect("a guard");
        let map = Map::new(&guard, 0, 1, MapFlags::default()).expect("a map");
        for _ in 0..2 {
            // SAFETY: takes an integer.
            unsafe { libc::raise(libc::SIGBUS) };
        }
        let expected = if former == libc::SIG_IGN { 0 } else { 2 };
        assert_eq!(HANDLED.load(SeqCst), expected);
        file.set_len(0).expect("truncated");
        unreachable!("read {}", map.cells().load(0));
    }

    #[test]
    fn the_guard_stays_after_signals_that_are_ignored() {
        if let Some(path) = child_path() {
            sent_and_then_fault(&path, libc::SIG_IGN);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::new("plain"));
        let output = run_child("the_guard_stays_after_signals_that_are_ignored", &path);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }

    #[test]
    fn the_guard_stays_after_signals_that_are_handled() {
        if let Some(path) = child_path() {
            sent_and_then_fault(&path, count as *const () as libc::sighandler_t);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::new("plain"));
        let output = run_child("the_guard_stays_after_signals_that_are_handled", &path);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }

    #[test]
    fn a_full_pipe_that_nobody_reads_does_not_keep_the_program() {
        if let Some(path) = child_path() {
            let file = open(&path);
            let guard = Guard::install(&file, &path).expect("a guard");
            let map = Map::new(&guard, 0, 1, MapFlags::default()).expect("a map");
            file.set_len(0).expect("truncated");
            unreachable!("read {}", map.cells().load(0));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = four_pages(folder.path(), OsStr::new("plain"));
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        // SAFETY: queries the capacity of the pipe.
        let size = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETPIPE_SZ) };
        let size = usize::try_from(size).expect("a pipe");
        std::io::Write::write_all(&mut writer, &vec![0; size]).expect("it has room");
        let test = "a_full_pipe_that_nobody_reads_does_not_keep_the_program";
        let mut child = child(test, &path);
        let mut child = child.stdout(Stdio::null()).stderr(writer).spawn().expect("a child");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if began.elapsed() > Duration::from_secs(60) {
                child.kill().expect("it runs");
                child.wait().expect("killed");
                panic!("it waits for a reader");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(2));
        drop(reader);
    }

    #[test]
    fn the_message_names_the_faulting_page_within_the_map() {
        let found = Found {
            start: 0x1_0010,
            end: 0x1_2800,
            offset: 0x5010,
            message: ptr::null(),
            message_len: 0,
        };
        assert_eq!(page_extent(&found, 0x1_0010, 0x1000), (0x5010, 0x6000));
        assert_eq!(page_extent(&found, 0x1_0fff, 0x1000), (0x5010, 0x6000));
        assert_eq!(page_extent(&found, 0x1_1000, 0x1000), (0x6000, 0x7000));
        assert_eq!(page_extent(&found, 0x1_27ff, 0x1000), (0x7000, 0x7800));
    }

    #[test]
    fn decimal_digits_are_those_of_the_number() {
        for number in [0, 9, 10, 4096, u64::MAX - 1, u64::MAX] {
            assert_eq!(Decimal::new(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
