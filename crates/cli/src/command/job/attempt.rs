//! One attempt to do a part by a command.
//!
//! ```text
//! pieces of the inputs → (a thread) → standard input | command | standard output → segment
//! ```
//!
//! Like a shell for a pipe, it waits until both ends are closed and the command has ended: a program that the
//! command has left running keeps the part from ending as long as it holds one end.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use swath::ReadOptions;
use swath::job::{Done, Plan, SegmentWriter};
use swath_os::ending::signal_name;

use super::child::{Pipes, Running};
use super::feed::Feed;
use crate::failure::Refused;
use crate::report::ReportName;
use crate::signal::let_it_end;

/// Bytes read from a pipe at one time.
const BUFFER: usize = 256 << 10;

/// Time to wait for a signal: a batch system may signal all processes of a task, this program too.
const GRACE: Duration = Duration::from_millis(100);

/// The work of a part: the command that does it, and how.
pub(super) struct Work<'w> {
    pub(super) plan: &'w Plan,
    pub(super) command: &'w [OsString],
    /// Exit statuses, besides 0, of a successful command.
    pub(super) accepted: &'w [i32],
    /// How to read the part's records.
    pub(super) read: ReadOptions,
}

/// A part that is done.
pub(super) struct Finished {
    pub(super) done: Done,
    /// Bytes that the command received.
    pub(super) bytes_in: u64,
}

/// The reason why a part is not done.
pub(super) enum Trouble {
    /// The process or the machine lacks resources for another command at this moment.
    Shortage(anyhow::Error),
    /// Other parts may succeed.
    Part(anyhow::Error),
    /// No part would succeed.
    All(anyhow::Error),
}

/// `EAGAIN`, `ENOMEM`, `ENFILE` and `EMFILE`: shortages of resources that fewer concurrent commands need less of.
const SHORTAGES: [i32; 4] = [EAGAIN, 12, 23, 24];
const EAGAIN: i32 = 11;

impl<E: Into<anyhow::Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        let error = error.into();
        if is_shortage(&error) { Self::Shortage(error) } else { Self::Part(error) }
    }
}

fn is_shortage(error: &anyhow::Error) -> bool {
    let number = |cause: &(dyn std::error::Error + 'static)| {
        let number = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        number.or_else(|| cause.downcast_ref::<swath::Error>()?.raw_os_error())
    };
    error.chain().filter_map(number).any(|number| SHORTAGES.contains(&number))
}

impl Work<'_> {
    /// Does part `index`.
    pub(super) fn attempt(&self, index: usize) -> Result<Finished, Trouble> {
        let named = |error: anyhow::Error| {
            let folder = self.plan.folder().shown();
            error.context(format!("cannot do part {index} of {folder}"))
        };
        self.done(index).map_err(|trouble| match trouble {
            Trouble::Shortage(error) => Trouble::Shortage(named(error)),
            Trouble::Part(error) => Trouble::Part(named(error)),
            Trouble::All(error) => Trouble::All(error),
        })
    }

    fn done(&self, index: usize) -> Result<Finished, Trouble> {
        let part = self.plan.part(index).context("there is no such part")?;
        let mut out = part.writer()?;
        let pieces = part.contents()?;
        let feed = Feed::prepare(pieces.to_vec(), self.read.clone())?;
        let mut command = self.command(index);
        command.stdin(feed.stdin()?);
        let (running, pipes) =
            Running::start(&mut command).map_err(|error| self.not_started(error))?;
        // `command` may hold a copy of the input.
        drop(command);
        let Pipes { stdin, mut stdout } = pipes;
        let fed = feed.begin(stdin, &running);
        if let Err(error) = keep(&mut stdout, &mut out) {
            // Before the pipe is closed.
            running.kill();
            let _ = running.wait();
            return Err(error.into());
        }
        let fed = fed.finish();
        let status = running.wait().context("cannot wait for the command")?;
        // A command that handles the signal and exits with 0 has not done its part.
        let_it_end();
        // A command that has exited with 0 may have left programs that did not get all of the input.
        let bytes_in = fed?;
        if !self.is_success(status) {
            return Err(self.failed(status).into());
        }
        Ok(Finished { done: out.finish()?, bytes_in })
    }

    fn not_started(&self, error: io::Error) -> Trouble {
        let what = format!("cannot start {}", self.program());
        let (hint, is_short) = match error.raw_os_error() {
            Some(EAGAIN) => {
                ("raise the limit on processes (`ulimit -u`), or pass fewer --workers", true)
            }
            Some(number) if SHORTAGES.contains(&number) => ("pass fewer --workers", true),
            _ => ("check the name of the command, and its permissions", false),
        };
        let error = Refused::new(what, hint).with_source(error).into();
        if is_short { Trouble::Shortage(error) } else { Trouble::All(error) }
    }

    fn program(&self) -> String {
        match self.command.first() {
            Some(name) if !name.is_empty() => name.shown(),
            _ => String::from("a command without a name"),
        }
    }

    fn command(&self, index: usize) -> Command {
        let mut words = self.command.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words).stdout(Stdio::piped());
        command.env("SWATH_JOB", self.plan.folder());
        command.env("SWATH_PART", index.to_string());
        command.env("SWATH_PARTS", self.plan.parts().len().to_string());
        command
    }

    fn is_success(&self, status: ExitStatus) -> bool {
        status.success() || status.code().is_some_and(|code| self.accepted.contains(&code))
    }

    /// Returns the error of a command that has not succeeded.
    fn failed(&self, status: ExitStatus) -> anyhow::Error {
        // A shell exits with this if a signal has ended its command.
        let of_shell = status.code().and_then(|code| signal_name(code - 128));
        let ended = match (status.code(), status.signal()) {
            (Some(code), _) => {
                let name = of_shell.map(|name| format!(" (128 + {name})"));
                format!("exited with {code}{}", name.unwrap_or_default())
            }
            (None, Some(signal)) => {
                thread::sleep(GRACE);
                let_it_end();
                let name = signal_name(signal).map(|name| format!(" ({name})"));
                format!("was ended by signal {signal}{}", name.unwrap_or_default())
            }
            (None, None) => String::from("did not end well"),
        };
        let what = format!("{} {ended}, so its output was not kept", self.program());
        let hint = match (status.code(), status.signal().and_then(signal_name)) {
            (Some(1), _) => {
                "run the part again when the command is right; \
                 for one that exits with 1 if it finds nothing, as grep does, pass --accept 1"
            }
            (Some(_), None) if of_shell.is_some() => after_signal(of_shell),
            (None, name) => after_signal(name),
            _ => "run the part again when the command is right",
        };
        Refused::new(what, hint).into()
    }
}

/// Returns the hint for a command that a signal has ended.
fn after_signal(name: Option<&str>) -> &'static str {
    match name {
        Some("SIGKILL") => {
            "check whether the machine or the job had too little memory, pass fewer --workers, \
             then run the part again"
        }
        Some("SIGSEGV" | "SIGBUS" | "SIGILL" | "SIGFPE" | "SIGABRT" | "SIGTRAP" | "SIGSYS") => {
            "run the command alone on what `swath job read` gives for this part: it has a fault"
        }
        Some("SIGPIPE") => {
            "let the programs of the command read to the end, then run the part again"
        }
        Some("SIGXCPU") => "raise the limit of CPU time (`ulimit -t`), then run the part again",
        Some("SIGXFSZ") => {
            "raise the limit of file sizes (`ulimit -f`), then run the part again"
        }
        _ => "run the part again",
    }
}

/// Keeps the output of a command, up to its end.
fn keep(stdout: &mut impl Read, out: &mut SegmentWriter) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => out.write_all(&buffer[..len])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("cannot read what the command writes"),
        }
    }
}
