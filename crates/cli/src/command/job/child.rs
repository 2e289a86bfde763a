//! A program that does a part, and ends when the command does.

use std::io;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::signal::pass_on_to;

/// The longest pause between two looks whether a program has ended.
const LONGEST: Duration = Duration::from_millis(10);

/// A program at work. Clones are the same one.
#[derive(Clone)]
pub(super) struct Running(Arc<Mutex<Child>>);

/// Our ends of its pipes.
pub(super) struct Pipes {
    /// `None` if its input is not a pipe.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
}

impl Running {
    /// Starts it; its output is a pipe.
    pub(super) fn start(command: &mut Command) -> io::Result<(Self, Pipes)> {
        let mut child = swath::machine::spawn(command)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let running = Self(Arc::new(Mutex::new(child)));
        pass_on_to(&running.0);
        let stdout = stdout.ok_or_else(|| io::Error::other("its output is not a pipe"))?;
        Ok((running, Pipes { stdin, stdout }))
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it at once. Before its input is closed: it must not take that for the end.
    pub(super) fn kill(&self) {
        // One that has ended already needs no signal.
        let _ = self.child().kill();
    }

    /// Waits until it has ended. The lock is free in between, for a signal that is passed on.
    pub(super) fn wait(&self) -> io::Result<ExitStatus> {
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = self.child().try_wait()? {
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}
