//! Limits that tests impose on themselves, without privileges.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// The timeout for events.
const PATIENCE: Duration = Duration::from_secs(100);

/// Runs `work` on a thread that can start processes, but no threads, like at a full `pids.max` or
/// `ulimit -u`. Its processes cannot start threads either. `None`, with a skip, if no filter can be
/// set.
///
/// # Panics
///
/// If `work` panics, or has not ended after 100 seconds.
pub fn without_threads<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    let (tell, told) = channel();
    let thread = thread::spawn(move || {
        let refused = refuse_threads();
        let done = refused.map(|()| work());
        // The other end may have timed out.
        let _ = tell.send(());
        done
    });
    if told.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        panic!("without threads it hangs");
    }
    match thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
        Ok(done) => Some(done),
        Err(error) => {
            crate::skip("seccomp", error);
            None
        }
    }
}

/// Makes `clone` of a thread fail like with too many threads, and `clone3`, whose flags a filter
/// cannot read, like a missing call, so that `clone` is called instead.
fn refuse_threads() -> Result<(), Error> {
    const CLONE_THREAD: u64 = libc::CLONE_THREAD as u64;
    let of_thread = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(CLONE_THREAD),
        CLONE_THREAD,
    )?;
    let of_thread = vec![SeccompRule::new(vec![of_thread])?];
    for (call, rules, number) in [
        (libc::SYS_clone3, Vec::new(), libc::ENOSYS),
        (libc::SYS_clone, of_thread, libc::EAGAIN),
    ] {
        let refuse = SeccompAction::Errno(number.unsigned_abs());
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let filter =
            SeccompFilter::new([(call, rules)].into(), SeccompAction::Allow, refuse, arch)?;
        let program: BpfProgram = filter.try_into()?;
        apply_filter(&program)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_can_be_started_and_threads_cannot() {
        without_threads(|| {
            let refused = thread::Builder::new().spawn(|| ()).map(drop).expect_err("a thread");
            assert_eq!(refused.raw_os_error(), Some(libc::EAGAIN));
            let status = std::process::Command::new("true").status().expect("a process");
            assert!(status.success());
        });
    }
}
