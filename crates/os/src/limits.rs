//! Limits of this process, among them that of file sizes, which the kernel enforces with a fatal
//! signal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the soft limit of this process on a resource; `None` without one, or if a sandbox
/// refuses the call, which `rustix` assumes to succeed. A macro, because the constants have
/// different types in each C library.
macro_rules! soft_limit {
    ($resource:ident) => {{
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
        // SAFETY: `limit` is one whole structure, and outlives the call.
        let status = unsafe { libc::getrlimit(libc::$resource, &raw mut limit) };
        (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    }};
}
pub(crate) use soft_limit;

/// Returns the length that no file of this process may exceed (`ulimit -f`); `None` if there is no
/// limit, or a sandbox refuses the call.
///
/// A caller that checks before each write, and returns `EFBIG` in the kernel's place, never raises
/// `SIGXFSZ`. Costs one system call.
///
/// ```
/// if let Some(limit) = swath_os::limits::file_size_limit() {
///     println!("no file may be longer than {limit} bytes");
/// }
/// ```
pub fn file_size_limit() -> Option<u64> {
    soft_limit!(RLIMIT_FSIZE)
}

/// Returns how many bytes of address space this process may have (`ulimit -v`); `None` if there is
/// no limit, or a sandbox refuses the call.
///
/// ```
/// assert_ne!(swath_os::limits::address_space_limit(), Some(0));
/// ```
pub fn address_space_limit() -> Option<u64> {
    soft_limit!(RLIMIT_AS)
}

/// Lets all threads of this process share one heap if its address space is limited: otherwise the
/// GNU C library takes 64 MiB of it for the heap of each thread. Call it before starting threads.
///
/// ```
/// swath_os::limits::share_heap_within_limit();
/// ```
pub fn share_heap_within_limit() {
    #[cfg(target_env = "gnu")]
    if address_space_limit().is_some() {
        // SAFETY: the call sets a number.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Returns how many of `len` bytes at `offset` the limit allows: a prefix.
///
/// # Errors
///
/// `EFBIG`, in the kernel's place, if the limit allows no byte.
///
/// ```
/// assert_eq!(swath_os::limits::within_file_size_limit(0, 0)?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn within_file_size_limit(offset: u64, len: u64) -> io::Result<u64> {
    within(file_size_limit(), offset, len)
}

fn within(limit: Option<u64>, offset: u64, len: u64) -> io::Result<u64> {
    match limit {
        Some(limit) if offset >= limit && len > 0 => {
            Err(io::Error::from_raw_os_error(libc::EFBIG))
        }
        Some(limit) => Ok(len.min(limit.saturating_sub(offset))),
        None => Ok(len),
    }
}

/// Makes the kernel return `EFBIG` at the file size limit instead of ending the process.
///
/// For commands, at their start: it changes how the whole process reacts to `SIGXFSZ`, and every
/// process that it starts, except a [`Group`](crate::group::Group). A library calls
/// [`file_size_limit`] instead.
///
/// # Errors
///
/// The errors of signal(2); it does not fail on Linux.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// swath_os::limits::ignore_file_size_signal()?; // first thing in `main`
/// # Ok(())
/// # }
/// ```
pub fn ignore_file_size_signal() -> io::Result<()> {
    // SAFETY: SIG_IGN runs no code of ours.
    let former = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    if former == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    if former == libc::SIG_DFL {
        // Relaxed: it guards nothing.
        WAS_FATAL.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether `SIGXFSZ` would have ended the process.
static WAS_FATAL: AtomicBool = AtomicBool::new(false);

/// Restores, in a process that has just been forked, the reaction to `SIGXFSZ` from before
/// [`ignore_file_size_signal`]. Takes no lock and allocates nothing.
pub(crate) fn restore_file_size_signal() {
    // Relaxed: as above.
    if WAS_FATAL.load(Ordering::Relaxed) {
        // SAFETY: SIG_DFL runs no code of ours. It does not fail for this signal.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Runs `body` again, in a child with a limit of 4,096 bytes.
    fn in_a_child_with_a_limit(test: &str, body: impl FnOnce()) {
        if std::env::var_os("SWATH_LIMITED").is_some() {
            return body();
        }
        let program = std::env::current_exe().expect("this program");
        // `ulimit -f` counts blocks of 512 bytes in POSIX shells. The output goes to pipes, because
        // the limit would hold for a file as well.
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -f 8 && exec \"$0\" --exact limits::tests::{test}"))
            .arg(program)
            .env("SWATH_LIMITED", "1")
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{output:?}");
    }

    #[test]
    fn a_prefix_is_left_up_to_the_limit() {
        let within = |offset, len| within(Some(100), offset, len).ok();
        assert_eq!(
            [within(0, 100), within(0, 101), within(99, 9)],
            [Some(100), Some(100), Some(1)]
        );
        assert_eq!(
            [within(100, 0), within(100, 1), within(u64::MAX, 1)],
            [Some(0), None, None]
        );
        assert_eq!(super::within(None, u64::MAX, u64::MAX).ok(), Some(u64::MAX));
    }

    #[test]
    fn the_limit_is_the_one_that_was_set() {
        in_a_child_with_a_limit("the_limit_is_the_one_that_was_set", || {
            let limit = file_size_limit().expect("set");
            assert!([4096, 8192].contains(&limit), "{limit}");
        });
    }

    #[test]
    fn an_ignored_signal_is_an_error_of_the_write() {
        use std::os::unix::fs::FileExt;
        in_a_child_with_a_limit("an_ignored_signal_is_an_error_of_the_write", || {
            ignore_file_size_signal().expect("ignored");
            let file = tempfile::tempfile().expect("a temporary file");
            let error = file.write_at(b"too far", 1 << 20).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFBIG));
        });
    }
}
