//! A program that does a part, with all programs that it starts.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use swath_os::group::Group;
use swath_os::locks::{Mutex, MutexGuard};

use crate::signal::start;

/// The longest pause between two checks whether a program has ended.
const LONGEST: Duration = Duration::from_millis(10);

/// A running program, and those that it starts. Clones share it.
#[derive(Clone)]
pub(super) struct Running(Arc<Mutex<Group>>);

/// This process's ends of its pipes.
pub(super) struct Pipes {
    /// `None` if its input is not a pipe.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
}

impl Running {
    /// Starts a program; its output is a pipe.
    pub(super) fn start(command: &mut Command) -> io::Result<(Self, Pipes)> {
        let running = Self(start(command)?);
        let (stdin, stdout) = {
            let mut group = running.group();
            (group.take_stdin(), group.take_stdout())
        };
        let stdout = stdout.ok_or_else(|| io::Error::other("its output is not a pipe"))?;
        Ok((running, Pipes { stdin, stdout }))
    }

    fn group(&self) -> MutexGuard<'_, Group> {
        self.0.lock()
    }

    /// Kills all of them. Called before their input is closed, which they must not take for its end.
    pub(super) fn kill(&self) {
        // Programs that have ended need no signal.
        let _ = self.group().kill();
    }

    /// Waits until the program itself has ended; after that, [`kill`](Self::kill) does nothing. The lock is
    /// free between checks, so that a signal can be passed on.
    pub(super) fn wait(&self) -> io::Result<ExitStatus> {
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = self.group().try_wait()? {
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}
