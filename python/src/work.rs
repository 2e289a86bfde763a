//! Runs work without the interpreter's lock, which Ctrl-C can end.
//!
//! ```text
//! main thread    detached ─ checks for signals 20 times a second ┬→ result
//! own thread     the call of the library ────────────────────────┘
//! ```
//!
//! Only the main thread of a process may check for signals. Other threads, and short work, make the call
//! directly.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;
use swath::CancelToken;
use swath::machine::Mutex;

use crate::callback::attached;
use crate::error::Failure;
use crate::park;

/// The longest delay of Ctrl-C.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Whether a call is over before a user can press a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Microseconds.
    NoTime,
    /// Unknown.
    Time,
}

/// Runs `call` without the lock. A signal whose handler raises cancels `token`, and is raised once the
/// call has ended: memory lent to the call is never released while it works.
pub(crate) fn run<T, E>(
    py: Python<'_>,
    takes: Takes,
    token: &CancelToken,
    call: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T>
where
    T: Send,
    E: Into<Failure> + Send,
{
    park::at_end();
    let ended = match takes {
        Takes::Time if is_main_thread() => py.detach(|| watched(token, call)),
        _ => py.detach(call).map_err(Into::into),
    };
    ended.map_err(|failure| failure.into_exception(py))
}

/// Runs `call`, which cannot be cancelled, without the lock.
pub(crate) fn detached<T, E>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T>
where
    T: Send,
    E: Into<Failure> + Send,
{
    park::at_end();
    py.detach(call).map_err(|error| error.into().into_exception(py))
}

/// Runs `call` without the lock, if this thread holds it: `call` waits for threads that may need it.
pub(crate) fn unlocked(call: impl FnOnce() + Send) {
    let mut call = Some(call);
    // At the interpreter's end there is no longer a lock.
    let _ = Python::try_attach(|py| {
        if let Some(call) = call.take() {
            py.detach(call);
        }
    });
    if let Some(call) = call {
        call();
    }
}

/// A value whose drop may wait for threads that need the lock.
pub(crate) struct Unlocked<T: Send>(Option<T>);

impl<T: Send> Unlocked<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    pub(crate) fn get(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is there until it is dropped")
    }
}

impl<T: Send> Drop for Unlocked<T> {
    fn drop(&mut self) {
        unlocked(|| drop(self.0.take()));
    }
}

fn watched<T, E>(
    token: &CancelToken,
    call: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, Failure>
where
    T: Send,
    E: Into<Failure> + Send,
{
    let waiting = Mutex::new(Some(call));
    let make = || waiting.lock().take().expect("it is made once")();
    std::thread::scope(|scope| {
        let (over, ended) = sync_channel::<()>(1);
        let worker =
            std::thread::Builder::new().name("swath".into()).spawn_scoped(scope, move || {
                let result = make();
                // There is no receiver if the interpreter ends the process.
                let _ = over.send(());
                result
            });
        let worker = match worker {
            Ok(worker) => worker,
            // No thread can be started: Ctrl-C acts when the call has ended.
            Err(_) => return make().map_err(Into::into),
        };
        let mut raised = None;
        while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none()
                && let Some(Err(error)) = attached(|py| py.check_signals())
            {
                token.cancel();
                raised = Some(error);
            }
        }
        let result = match worker.join() {
            Ok(result) => result.map_err(Into::into),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        match raised {
            Some(error) => Err(Failure::Python(error)),
            None => result,
        }
    })
}

/// Whether this is the main thread for the kernel: the first of a process, also after a fork.
pub(crate) fn is_main_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}
