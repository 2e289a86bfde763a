//! A child and the programs that it starts: a process group, which signals reach as a whole.
//!
//! ```text
//! this process ── start ──▶ child, leader of its group ── starts ──▶ programs of the group
//!              ── send(SIGTERM) ────────▶ all of them
//!              ── try_wait ──▶ its exit status; after that, nothing is sent
//! ```
//!
//! Until the child has been waited for, its number belongs to the group, even if the child has
//! ended and other programs of the group have not. So a signal never reaches a group of another
//! process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};

use libc::c_int;

use crate::ending::unblocked_in_children;
use crate::limits::restore_file_size_signal;

/// The process group of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Its own, in the session of this process, and without its terminal: a terminal sends its
    /// signals only to this process, and the child cannot open `/dev/tty`, where it would be
    /// stopped and wait forever.
    Own,
    /// That of this process.
    Shared,
}

/// A child, and the programs of its group.
///
/// ```
/// use std::os::unix::process::ExitStatusExt;
/// use swath_os::group::{Group, Grouping};
///
/// let mut command = std::process::Command::new("sh");
/// let mut group = Group::start(command.args(["-c", "sleep 60; true"]), Grouping::Own)?;
/// group.send(15)?; // `sh` and `sleep`
/// let status = loop {
///     if let Some(status) = group.try_wait()? {
///         break status;
///     }
/// };
/// assert_eq!(status.signal(), Some(15));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    child: Child,
    grouping: Grouping,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a child that reacts to signals as this process did at its start: signals that
    /// [`EndingSignals`](crate::ending::EndingSignals) holds are not blocked there, and `SIGXFSZ`
    /// is ignored only if it was ignored before
    /// [`ignore_file_size_signal`](crate::limits::ignore_file_size_signal). `SIGPIPE` ends it.
    ///
    /// # Errors
    ///
    /// The errors of [`Command::spawn`].
    pub fn start(command: &mut Command, grouping: Grouping) -> io::Result<Self> {
        if grouping == Grouping::Own {
            command.process_group(0);
        }
        let unblock = unblocked_in_children();
        // SAFETY: the closure makes only calls that signal-safety(7) lists, or that are system calls: it
        // takes no lock and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                if grouping == Grouping::Own {
                    leave_terminal();
                }
                restore_file_size_signal();
                unblock.apply()
            });
        }
        Ok(Self { child: command.spawn()?, grouping, status: None })
    }

    /// Takes our end of its standard input; `None` if it is not a pipe, or taken.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes our end of its standard output; `None` if it is not a pipe, or taken.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Sends a signal to the child and to the programs of its own group. Sends nothing once
    /// [`try_wait`](Self::try_wait) has returned a status.
    ///
    /// # Errors
    ///
    /// The errors of kill(2): `PermissionDenied` if all of them run as another user.
    pub fn send(&self, signal: i32) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        let id = i32::try_from(self.child.id()).map_err(io::Error::other)?;
        let target = if self.grouping == Grouping::Own { -id } else { id };
        // SAFETY: takes integers. The number is that of our child and its group until we wait for it.
        match unsafe { libc::kill(target, signal) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Ends the child and the programs of its own group at once, by the rules of
    /// [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn kill(&self) -> io::Result<()> {
        self.send(libc::SIGKILL)
    }

    /// Returns the exit status of the child if it has ended. Programs that it started may still
    /// run.
    ///
    /// # Errors
    ///
    /// The errors of waitpid(2).
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }
}

/// Gives up the terminal of a process that has just been forked; does nothing without one.
fn leave_terminal() {
    const FLAGS: c_int = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero.
    let terminal = unsafe { libc::open(c"/dev/tty".as_ptr(), FLAGS) };
    if terminal >= 0 {
        // SAFETY: the request has no argument. The process does not lead its session: it has just
        // been forked. So no other process loses the terminal.
        unsafe { libc::ioctl(terminal, libc::TIOCNOTTY) };
        // SAFETY: it was opened here, and is not used again.
        unsafe { libc::close(terminal) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::EndingSignals;
    use std::io::Read;
    use std::process::Stdio;

    fn status_of(group: &mut Group) -> ExitStatus {
        loop {
            if let Some(status) = group.try_wait().expect("ours") {
                return status;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_signal_reaches_programs_whose_starter_has_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & exit 0"]).stdout(Stdio::piped());
        let mut group = Group::start(&mut command, Grouping::Own).expect("a shell");
        let mut stdout = group.take_stdout().expect("piped");
        let id = group.child.id();
        // The shell has ended, but has not been waited for.
        while !std::fs::read_to_string(format!("/proc/{id}/stat"))
            .expect("a zombie is listed")
            .contains(") Z ")
        {
            std::thread::yield_now();
        }
        group.kill().expect("ours");
        // `sleep` held the pipe.
        assert_eq!(stdout.read(&mut [0]).expect("a pipe"), 0);
        assert!(status_of(&mut group).success());
        group.kill().expect("nothing is sent");
    }

    #[test]
    fn a_child_reacts_to_signals_as_if_none_had_been_held() {
        let held = EndingSignals::hold_all().expect("these can be blocked");
        for grouping in [Grouping::Own, Grouping::Shared] {
            let mut command = Command::new("grep");
            command.args(["-E", "Sig(Blk|Ign)", "/proc/self/status"]).stdout(Stdio::piped());
            let mut group = Group::start(&mut command, grouping).expect("grep");
            let mut stdout = group.take_stdout().expect("piped");
            let text = io::read_to_string(&mut stdout).expect("text");
            assert!(status_of(&mut group).success());
            for line in text.lines() {
                let bits = line.split_whitespace().last().expect("a mask");
                let bits = u64::from_str_radix(bits, 16).expect("a mask");
                for signal in [libc::SIGINT, libc::SIGUSR1, libc::SIGTSTP, libc::SIGPIPE] {
                    assert_eq!(bits >> (signal - 1) & 1, 0, "{signal}: {text}");
                }
            }
        }
        held.release().expect("these can be unblocked");
    }
}
