//! Many descriptors at once: how many there may be, and closing them in few calls.
//!
//! A thread that opens thousands of files pays for each call that closes one: [`close_all`] closes
//! neighbouring numbers with one call.

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

use rustix::process::{Resource, getrlimit};

/// Returns how many descriptors the process may have open (`ulimit -n`).
///
/// ```
/// assert!(swath_os::descriptors::limit() > 0);
/// ```
#[must_use]
pub fn limit() -> usize {
    getrlimit(Resource::Nofile)
        .current
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(usize::MAX)
}

/// Gives this thread a table of descriptors of its own, with nothing in it but standard error,
/// and blocks the signals that may be sent to any thread: a handler that writes to a pipe of the
/// program would not find it here.
///
/// Threads that open and close many files hold each other up at the table they share, and get
/// numbers that are all mixed up. For threads that were started for such work and do nothing else:
/// they open everything they use themselves, and hand no descriptor to another thread, nor take
/// one from there: its number would be another file's. What such a thread starts shares its table.
///
/// But for standard error, it does not keep anything open that others close meanwhile.
///
/// ```
/// use std::fs::File;
/// use std::os::fd::AsRawFd;
///
/// let _ours = File::open("/etc/passwd")?;
/// let theirs = std::thread::spawn(|| {
///     swath_os::descriptors::separate()?;
///     Ok::<_, std::io::Error>(File::open("/etc/group")?.as_raw_fd())
/// });
/// assert_eq!(theirs.join().unwrap()?, 3, "the first number that is free there");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// `ENOSYS` before Linux 5.9, `EPERM` where it is forbidden, `ENOMEM`: then it shares the table as
/// before.
pub fn separate() -> io::Result<()> {
    block_signals();
    // SAFETY: it closes copies, in a table that nobody else has seen; or, where no other thread is
    // left that shares this one's table, what ended threads left there.
    let status = unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // Nothing may keep the program's input and output open, and a gap below 2 would cut every run
    // of neighbouring numbers in two.
    for number in [0, 1] {
        // SAFETY: as above; what else is in the table was closed there.
        if unsafe { libc::dup2(2, number) } < 0 {
            // SAFETY: as above.
            unsafe { libc::close(number) };
        }
    }
    Ok(())
}

/// Those that are about what a thread does itself stay as they are.
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
    // SAFETY: the set is ours; nobody asks what the mask was.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Closes all of `files`, a call for each run of neighbouring numbers; the number of calls.
///
/// What close(2) answers for files that were only read says nothing, so it is not looked at.
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
            Some(ended) => {
                calls += close_run(ended);
                (next, next)
            }
            None => (next, next),
        });
    }
    calls + run.map_or(0, close_run)
}

/// Closes `first ..= last`, every one of which the caller owned.
fn close_run((first, last): (RawFd, RawFd)) -> u64 {
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
    use std::fs::File;

    fn open() -> OwnedFd {
        File::open("/etc/passwd").expect("everybody may read it").into()
    }

    #[test]
    fn a_separate_table_sees_and_keeps_nothing_of_the_others() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let number = writer.as_raw_fd();
        let (tell, told) = std::sync::mpsc::channel();
        let (done, end) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let separated = separate();
            // SAFETY: a set of signals is numbers, for which all zeroes are fine.
            let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
            // SAFETY: asks for the mask of this thread.
            unsafe {
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
            }
            // SAFETY: asks about the set that was filled.
            let blocks = |signal| unsafe { libc::sigismember(&raw const mask, signal) };
            let (alarm, fault) = (blocks(libc::SIGALRM), blocks(libc::SIGBUS));
            assert_eq!((alarm, fault), (1, 0));
            // SAFETY: asks about a number.
            let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
            let own = open();
            tell.send((separated, flags, own.as_raw_fd())).expect("somebody listens");
            end.recv().expect_err("until the test is over");
            File::from(own).metadata().expect("still open");
        });
        let (separated, flags, own) = told.recv().expect("an answer");
        if let Err(refused) = separated {
            return swath_reference::skip("close-range", refused);
        }
        assert_eq!((flags, own), (-1, 3));
        drop(writer);
        let read = std::io::Read::read(&mut { reader }, &mut [0]).expect("nobody else writes");
        assert_eq!(read, 0, "the thread kept it open");
        drop(done);
        thread.join().expect("no panic");
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
