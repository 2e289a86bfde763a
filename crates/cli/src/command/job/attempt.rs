//! One attempt to do a part by a command.
//!
//! ```text
//! pieces of the inputs → (a thread) → standard input | command | standard output → segment
//! ```
//!
//! The input is closed only after its last byte, or after the command is dead. So a command never
//! takes a failed read for the end of its input.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use swath::ReadOptions;
use swath::job::{Done, PartPiece, Plan, SegmentWriter};

use super::child::{Pipes, Running};
use crate::failure::Refused;
use crate::signal::let_it_end;

/// Bytes that are taken from a pipe at one time.
const BUFFER: usize = 256 << 10;

/// `SIGHUP`, `SIGINT` and `SIGTERM`.
const ENDING: [i32; 3] = [1, 2, 15];
/// A Ctrl-C reaches the command at the same time. Within this time it ends this program too.
const GRACE: Duration = Duration::from_millis(100);

/// What a part is done by.
pub(super) struct Work<'w> {
    pub(super) plan: &'w Plan,
    pub(super) command: &'w [OsString],
    /// Exit statuses of a command that has succeeded, besides 0.
    pub(super) accepted: &'w [i32],
    /// How to read the part's records.
    pub(super) read: ReadOptions,
}

/// A part that is done.
pub(super) struct Finished {
    pub(super) done: Done,
    /// Bytes that the command was given.
    pub(super) bytes_in: u64,
}

/// Why a part is not done.
pub(super) enum Trouble {
    /// The process, or the machine, has too little for another command at this moment.
    Shortage(anyhow::Error),
    /// Others may succeed.
    Part(anyhow::Error),
    /// None would.
    All(anyhow::Error),
}

/// `EAGAIN`, `ENOMEM`, `ENFILE` and `EMFILE`: what fewer commands at the same time need less of.
const SHORTAGES: [i32; 4] = [11, 12, 23, 24];

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
            let folder = self.plan.folder().display();
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
        let pieces = self.plan.contents(index)?;
        let feed = Feed::prepare(pieces, self.read.clone())?;
        let mut command = self.command(index);
        command.stdin(feed.stdin()?);
        let (running, pipes) = Running::start(&mut command).map_err(|error| {
            let program = self.program();
            let what = format!("cannot start {program}");
            let hint = "check the name of the command, and its permissions";
            let is_short = error.raw_os_error().is_some_and(|it| SHORTAGES.contains(&it));
            let error = Refused::new(what, hint).with_source(error).into();
            if is_short { Trouble::Shortage(error) } else { Trouble::All(error) }
        })?;
        // It may hold a copy of the input.
        drop(command);
        let Pipes { stdin, stdout } = pipes;
        let fed = feed.begin(stdin, &running);
        if let Err(error) = keep(stdout, &mut out) {
            running.kill();
            let _ = running.wait();
            return Err(error.into());
        }
        let status = running.wait().context("cannot wait for the command")?;
        if !self.is_success(status) {
            return Err(self.failed(status, &fed).into());
        }
        Ok(Finished { done: out.finish()?, bytes_in: fed.bytes.load(Ordering::Relaxed) })
    }

    fn program(&self) -> String {
        self.command.first().map_or_else(String::new, |name| name.display().to_string())
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

    /// The error of a command that has not succeeded. If its input could not be read, that is why.
    fn failed(&self, status: ExitStatus, fed: &Fed) -> anyhow::Error {
        if let Some(error) = fed.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return error;
        }
        let ended = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exited with {code}"),
            (None, Some(signal)) => {
                if ENDING.contains(&signal) {
                    thread::sleep(GRACE);
                    let_it_end();
                }
                format!("was ended by signal {signal}")
            }
            (None, None) => String::from("did not end well"),
        };
        let what = format!("{} {ended}, so its output was not kept", self.program());
        let hint = match status.code() {
            Some(1) => {
                "run the part again when the command is right; \
                 for one that exits with 1 if it finds nothing, as grep does, pass --accept 1"
            }
            _ => "run the part again when the command is right",
        };
        Refused::new(what, hint).into()
    }
}

/// Keeps what a command writes, up to the end.
fn keep(mut stdout: impl Read, out: &mut SegmentWriter) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => out.write_all(&buffer[..len])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is known of a command's input while it is read.
#[derive(Default)]
struct Fed {
    bytes: AtomicU64,
    failure: Mutex<Option<anyhow::Error>>,
}

/// A pipe to fill, and the command that reads from it.
type Filled = (ChildStdin, Running);

/// The input of a command.
enum Feed {
    /// There are no bytes.
    Empty(Arc<Fed>),
    /// A thread waits for the pipe.
    Thread(Arc<Fed>, Sender<Filled>),
    /// No thread can be started: all bytes are in a file without a name.
    Spooled(Arc<Fed>, File),
}

impl Feed {
    fn prepare(pieces: Vec<PartPiece>, read: ReadOptions) -> Result<Self> {
        let fed = Arc::<Fed>::default();
        if pieces.iter().all(|piece| piece.len == 0) {
            return Ok(Self::Empty(fed));
        }
        let (sender, receiver) = channel::<Filled>();
        let (shared, to_feed) = (Arc::clone(&fed), (pieces.clone(), read.clone()));
        let thread = thread::Builder::new().name(String::from("swath-feed")).spawn(move || {
            // Without a pipe, the command was not started.
            if let Ok((mut stdin, running)) = receiver.recv()
                && let Err(error) = feed(&to_feed.0, &to_feed.1, &mut stdin, &shared.bytes)
            {
                *shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                running.kill();
            }
        });
        if thread.is_ok() {
            return Ok(Self::Thread(fed, sender));
        }
        let mut file = tempfile::tempfile()
            .context("cannot make a temporary file for the input of the command")?;
        feed(&pieces, &read, &mut file, &fed.bytes)?;
        file.rewind()?;
        Ok(Self::Spooled(fed, file))
    }

    /// What the command is started with.
    fn stdin(&self) -> io::Result<Stdio> {
        Ok(match self {
            Self::Empty(_) => Stdio::null(),
            Self::Thread(..) => Stdio::piped(),
            Self::Spooled(_, file) => file.try_clone()?.into(),
        })
    }

    fn begin(self, stdin: Option<ChildStdin>, running: &Running) -> Arc<Fed> {
        match (self, stdin) {
            (Self::Thread(fed, sender), Some(stdin)) => {
                // The thread waits for it.
                let _ = sender.send((stdin, running.clone()));
                fed
            }
            (Self::Empty(fed) | Self::Thread(fed, _) | Self::Spooled(fed, _), _) => fed,
        }
    }
}

/// Writes the bytes of pieces to a pipe. A reader that closes its end has read enough.
fn feed(
    pieces: &[PartPiece],
    read: &ReadOptions,
    to: &mut impl Write,
    bytes: &AtomicU64,
) -> Result<()> {
    for piece in pieces.iter().filter(|piece| piece.len > 0) {
        let mut reader = super::stream::reader(piece, read)?;
        loop {
            let block = reader.fill_buf()?;
            if block.is_empty() {
                break;
            }
            match to.write(block) {
                Ok(len) => {
                    // Relaxed: a count for the report, read after the command has ended.
                    bytes.fetch_add(len as u64, Ordering::Relaxed);
                    reader.consume(len);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(error).context("cannot write to the command"),
            }
        }
    }
    Ok(())
}
