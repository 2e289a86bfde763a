//! Many descriptors at once: their limit, and closing them in few calls.
//!
//! A thread that opens thousands of files pays for each call that closes one: [`close_all`]
//! closes adjacent numbers with one call.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::thread::{Builder, Scope};

use rustix::fs::{OFlags, fcntl_getfl, fsync};

use crate::file_system::is_remote;
use crate::limits::soft_limit;

/// Returns how many descriptors the process may have open (`ulimit -n`); `usize::MAX` if a sandbox
/// refuses the call.
///
/// ```
/// assert!(swath_os::descriptors::limit() > 0);
/// ```
pub fn limit() -> usize {
    soft_limit!(RLIMIT_NOFILE).and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX)
}

/// Returns the error of writes that the file system makes late, as FUSE and NFS do: the error of
/// close(2). If no further descriptor can be opened, syncs the file instead.
///
/// ```
/// let file = tempfile::tempfile()?;
/// swath_os::descriptors::flush(&file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of close(2), or of fsync(2).
pub fn flush(file: impl AsFd) -> io::Result<()> {
    let Ok(copy) = file.as_fd().try_clone_to_owned() else { return Ok(fsync(file)?) };
    // SAFETY: only this copy owns the number, which is not used again.
    let closed = unsafe { libc::close(copy.into_raw_fd()) };
    let error = io::Error::last_os_error();
    // It is closed even if a signal interrupted the call.
    if closed == 0 || error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

/// Starts a thread with its own descriptor table that contains only standard error, and runs `work`
/// with `given` there. Signals that may be sent to any thread are blocked in it: a handler that
/// writes to a pipe of the program would not find the pipe there.
///
/// Threads that open and close many files delay each other at the table they share, and get
/// interleaved numbers. Threads started by such a thread share its table. Except for standard
/// error, it does not keep files open that others close in the meantime. The thread shares its
/// starter's table if the kernel refuses a separate one (before Linux 5.9, or by seccomp), or if a
/// file of FUSE or of a file server is open for writing: closing a copy of it would take its late
/// errors.
///
/// A descriptor is a number in one table, so none may be passed from one of these threads to
/// another. The types ensure this as far as they can: `work` captures nothing, `given` is `Copy`
/// and so owns no descriptor, the thread begins without descriptors of its own, and nothing comes
/// back from it. No type can express that `work` uses no file opened elsewhere and lends none that
/// it opened: `work` must open everything it uses, and close it.
///
/// ```
/// use std::fs::File;
/// use std::os::fd::AsRawFd;
/// use std::sync::atomic::{AtomicI32, Ordering};
/// use std::thread::{Builder, scope};
///
/// let _ours = File::open("/etc/passwd")?;
/// let theirs = AtomicI32::new(-1);
/// scope(|scope| {
///     let work = |theirs: &AtomicI32| {
///         let number = File::open("/etc/group").map_or(-1, |file| file.as_raw_fd());
///         theirs.store(number, Ordering::Relaxed);
///     };
///     swath_os::descriptors::spawn_separated(scope, Builder::new(), &theirs, work)
/// })?;
/// assert_eq!(theirs.into_inner(), 3, "the first number that is free there");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A file cannot be given, nor captured:
///
/// ```compile_fail
/// let file = std::fs::File::open("/etc/passwd").unwrap();
/// std::thread::scope(|scope| {
///     let builder = std::thread::Builder::new();
///     swath_os::descriptors::spawn_separated(scope, builder, file, drop)
/// });
/// ```
///
/// # Errors
///
/// If no thread can be started.
pub fn spawn_separated<'s, G: Copy + Send + 's>(
    scope: &'s Scope<'s, '_>,
    builder: Builder,
    given: G,
    work: fn(G),
) -> io::Result<()> {
    let thread = move || {
        // SAFETY: this thread has just begun: it has opened nothing, and owns nothing that is
        // open. The one that started it shares its table; or was of this kind, and has ended.
        let separated = unsafe { separate() };
        // Without a separate table the thread is a little slower.
        drop(separated);
        work(given);
    };
    builder.spawn_scoped(scope, thread).map(drop)
}

/// Gives this thread its own descriptor table, which contains only standard error.
///
/// # Safety
///
/// The thread owns no descriptor; from now on it opens everything that it uses itself, and
/// passes no descriptor to another thread. If no other thread shares its table, then the
/// descriptors in it have no owner.
unsafe fn separate() -> io::Result<()> {
    block_signals();
    if has_remote_output() {
        // Closing a copy would take an error that belongs to the file's owner.
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: it closes copies, in a table that no other thread has seen; or, if no other thread
    // is left that shares this one's table, what ended threads left there, as the caller
    // vouches.
    let status = unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // The thread must not keep the program's input and output open, and a gap below 2 would split
    // every run of adjacent numbers in two.
    for number in [0, 1] {
        // SAFETY: as above; everything else in the table was closed there.
        if unsafe { libc::dup2(2, number) } < 0 {
            // SAFETY: as above.
            unsafe { libc::close(number) };
        }
    }
    Ok(())
}

/// Whether a file of a server or of a user-space program is open for writing, with a number that
/// the kernel copies into a new table before it closes the copies there.
fn has_remote_output() -> bool {
    const COPIED: RawFd = 64;
    (0..COPIED).any(|number| {
        // SAFETY: it is only queried; if it is not open, that is an error.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let flags = fcntl_getfl(file).unwrap_or(OFlags::PATH);
        let is_written = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        is_written && !flags.contains(OFlags::PATH) && is_remote(file)
    })
}

/// Blocks all signals except those that the thread itself causes.
fn block_signals() {
    const OWN: [libc::c_int; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
    // SAFETY: a set of signals is numbers, for which all zeroes are fine.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours.
    unsafe { libc::sigfillset(&raw mut set) };
    for signal in OWN {
        // SAFETY: as above.
        unsafe { libc::sigdelset(&raw mut set, signal) };
    }
    // SAFETY: the set is ours; the previous mask is not needed.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Closes all of `files`, with one call for each run of adjacent numbers; returns the number of
/// calls.
///
/// For files that were only read, the result of close(2) means nothing, so it is ignored.
///
/// ```
/// use std::os::fd::OwnedFd;
///
/// let open = || std::fs::File::open("/etc/passwd").map(OwnedFd::from);
/// let mut files = vec![open()?, open()?, open()?];
/// assert!((1..=3).contains(&swath_os::descriptors::close_all(&mut files)));
/// assert!(files.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn close_all(files: &mut Vec<OwnedFd>) -> u64 {
    files.sort_unstable_by_key(AsRawFd::as_raw_fd);
    let mut calls = 0;
    let mut run: Option<(RawFd, RawFd)> = None;
    for file in files.drain(..) {
        let next = file.into_raw_fd();
        run = Some(match run {
            Some((first, last)) if last + 1 == next => (first, next),
            Some((first, last)) => {
                calls += close_run(first, last);
                (next, next)
            }
            None => (next, next),
        });
    }
    calls + run.map_or(0, |(first, last)| close_run(first, last))
}

/// Closes `first ..= last`, every one of which the caller owned.
fn close_run(first: RawFd, last: RawFd) -> u64 {
    let number = |fd: RawFd| libc::c_long::from(fd);
    // SAFETY: `close_all` took every number of the run out of an `OwnedFd` of its own.
    let status =
        unsafe { libc::syscall(libc::SYS_close_range, number(first), number(last), 0) };
    if status == 0 {
        return 1;
    }
    // Before Linux 5.9, or refused.
    let mut calls = 1;
    for fd in first..=last {
        // SAFETY: as above; nothing has been closed yet.
        unsafe { libc::close(fd) };
        calls += 1;
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Mutex;
    use std::fs::File;
    use std::sync::Barrier;

    fn open() -> OwnedFd {
        File::open("/etc/passwd").expect("readable by all").into()
    }

    /// A check in a thread with its own table, and its result.
    struct Look {
        /// A descriptor of the starting thread.
        number: RawFd,
        seen: Mutex<Option<Seen>>,
        told: Barrier,
        end: Barrier,
    }

    #[derive(Clone, Copy)]
    struct Seen {
        blocks_alarm: bool,
        blocks_fault: bool,
        flags: i32,
        own: RawFd,
    }

    fn look(it: &Look) {
        // SAFETY: a set of signals is numbers, for which all zeroes are fine.
        let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: only queries the mask of this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
        }
        // SAFETY: only queries the set that was filled.
        let blocks = |signal| unsafe { libc::sigismember(&raw const mask, signal) } == 1;
        // SAFETY: only queries a number.
        let flags = unsafe { libc::fcntl(it.number, libc::F_GETFD) };
        let own = open();
        let seen = Seen {
            blocks_alarm: blocks(libc::SIGALRM),
            blocks_fault: blocks(libc::SIGBUS),
            flags,
            own: own.as_raw_fd(),
        };
        *it.seen.lock() = Some(seen);
        it.told.wait();
        it.end.wait();
        File::from(own).metadata().expect("still open");
    }

    #[test]
    fn a_separate_table_sees_and_keeps_nothing_of_the_others() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let number = writer.as_raw_fd();
        let (told, end) = (Barrier::new(2), Barrier::new(2));
        let it = Look { number, seen: Mutex::new(None), told, end };
        std::thread::scope(|scope| {
            spawn_separated(scope, Builder::new(), &it, look).expect("a thread");
            it.told.wait();
            let seen = it.seen.lock().expect("it has looked");
            assert_eq!((seen.blocks_alarm, seen.blocks_fault), (true, false));
            if seen.flags != -1 {
                it.end.wait();
                return swath_reference::skip("close-range", "the thread shares the table");
            }
            assert_eq!(seen.own, 3);
            drop(writer);
            let read =
                std::io::Read::read(&mut reader, &mut [0]).expect("there is no other writer");
            assert_eq!(read, 0, "the thread kept it open");
            it.end.wait();
        });
    }

    #[test]
    fn what_the_starting_thread_has_open_stays_its_own() {
        fn open_many(_: ()) {
            let files: Vec<OwnedFd> = (0..50).map(|_| open()).collect();
            drop(files);
        }
        let mut ours = File::open("/etc/passwd").expect("readable by all");
        let expected = std::fs::read("/etc/passwd").expect("readable by all");
        std::thread::scope(|scope| {
            spawn_separated(scope, Builder::new(), (), open_many).expect("a thread");
        });
        let _others: Vec<File> =
            (0..50).map(|_| File::open("/etc/group").expect("as above")).collect();
        let mut read = Vec::new();
        std::io::Read::read_to_end(&mut ours, &mut read).expect("it is open");
        assert_eq!(read, expected);
    }

    #[test]
    fn only_what_was_handed_in_is_closed() {
        let mut files: Vec<OwnedFd> = (0..20).map(|_| open()).collect();
        let kept = files.swap_remove(7);
        let calls = close_all(&mut files);
        assert!((1..=19).contains(&calls), "{calls}");
        File::from(kept).metadata().expect("still open");
        assert_eq!(close_all(&mut files), 0);
    }
}
