//! A program that does a part, with the programs that it starts.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use swath_os::group::Group;
use swath_os::locks::{Mutex, MutexGuard};

use crate::signal::start;

/// The longest pause between two looks whether a program has ended.
const LONGEST: Duration = Duration::from_millis(10);

/// A program at work, and those that it starts. Clones are the same one.
#[derive(Clone)]
pub(super) struct Running(Arc<Mutex<Group>>);

/// Our ends of its pipes.
pub(super) struct Pipes {
    /// `None` if its input is not a pipe.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
}

impl Running {
    /// Starts it; its output is a pipe.
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

    /// Ends all of them at once. Before their input is closed: they must not take that for the end.
    pub(super) fn kill(&self) {
        // Those that have ended already need no signal.
        let _ = self.group().kill();
    }

    /// Waits until the program itself has ended; from then on, [`kill`](Self::kill) does nothing. The lock is
    /// free in between, for a signal that is passed on.
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
