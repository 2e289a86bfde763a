//! Many descriptors at once: how many there may be, and closing them in few calls.
//!
//! A thread that opens thousands of files pays for each call that closes one, and, where several
//! threads share one table of descriptors, for the lock on it. [`close_all`] closes neighbouring
//! numbers with one call; a thread that called [`leave_table`] has a table of its own, where they
//! are all neighbours.

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

/// Gives the calling thread a table of descriptors of its own, with nothing in it but the three
/// standard ones.
///
/// # Errors
///
/// `ENOSYS` before Linux 5.9, `EPERM` where a filter forbids it: then nothing has changed.
///
/// # Safety
///
/// From now on the thread neither uses a descriptor that was opened before, by whomever, nor lets
/// one that it opens out to another thread: the same number means another file there. That goes
/// for everything it calls, too.
pub unsafe fn leave_table() -> io::Result<()> {
    let (first, last) = (3 as libc::c_long, libc::c_long::from(i32::MAX));
    // SAFETY: descriptors of other threads stay as they are, for theirs is another table now; this
    // one's are not used any more, as the caller promises.
    let status =
        unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_UNSHARE) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn open() -> OwnedFd {
        File::open("/etc/passwd").expect("everybody may read it").into()
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

    #[test]
    fn a_table_of_its_own_leaves_those_of_others_alone() {
        let ours = File::open("/etc/passwd").expect("everybody may read it");
        let number = ours.as_raw_fd();
        let there = std::thread::spawn(move || {
            // SAFETY: this thread opens, uses and closes descriptors of its own alone.
            match unsafe { leave_table() } {
                Ok(()) => {
                    let mut files: Vec<OwnedFd> = (0..40).map(|_| open()).collect();
                    assert!(files.iter().any(|file| file.as_raw_fd() == number));
                    assert_eq!(close_all(&mut files), 1, "all of them neighbours");
                }
                Err(refused) => swath_reference::skip("close-range", refused),
            }
        });
        there.join().expect("no panic");
        ours.metadata().expect("still open here");
    }
}
