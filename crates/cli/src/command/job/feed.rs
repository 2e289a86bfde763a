//! The input of a command: the bytes of a part.
//!
//! ```text
//! pieces of the inputs → a thread → pipe | command
//! pieces of the inputs → a file without a name, if no thread can be started | command
//! ```
//!
//! The pipe is closed after its last byte, or once the command and its programs are dead. So none of them takes
//! a failed read for the end of the input.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Seek, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use swath::ReadOptions;
use swath::job::PartPiece;

use super::child::Running;

/// A pipe to fill, and the command that reads from it.
type Filled = (ChildStdin, Running);

/// An input that no command reads yet.
pub(super) struct Feed {
    supply: Supply,
    bytes: Arc<AtomicU64>,
}

enum Supply {
    /// No bytes.
    Nothing,
    /// A thread waits for the pipe.
    Thread(JoinHandle<Result<()>>, Sender<Filled>),
    /// All bytes are in a file.
    Spooled(File),
}

/// An input that a command reads.
pub(super) struct Fed {
    thread: Option<JoinHandle<Result<()>>>,
    bytes: Arc<AtomicU64>,
}

impl Feed {
    pub(super) fn prepare(pieces: Vec<PartPiece>, read: ReadOptions) -> Result<Self> {
        let bytes = Arc::<AtomicU64>::default();
        if pieces.iter().all(|piece| piece.len == 0) {
            return Ok(Self { supply: Supply::Nothing, bytes });
        }
        let (sender, receiver) = channel::<Filled>();
        let (count, to_feed) = (Arc::clone(&bytes), (pieces.clone(), read.clone()));
        let thread = Builder::new().name(String::from("swath-feed")).spawn(move || {
            // If no pipe comes, the command was not started.
            let Ok((mut stdin, running)) = receiver.recv() else { return Ok(()) };
            let fed = feed(&to_feed.0, &to_feed.1, &mut stdin, &count);
            if fed.is_err() {
                // Before the pipe is closed.
                running.kill();
            }
            drop(stdin);
            fed
        });
        if let Ok(thread) = thread {
            return Ok(Self { supply: Supply::Thread(thread, sender), bytes });
        }
        let mut file = tempfile::tempfile()
            .context("cannot make a temporary file for the input of the command")?;
        feed(&pieces, &read, &mut file, &bytes)?;
        file.rewind()?;
        Ok(Self { supply: Supply::Spooled(file), bytes })
    }

    /// Returns the standard input for the command.
    pub(super) fn stdin(&self) -> io::Result<Stdio> {
        Ok(match &self.supply {
            Supply::Nothing => Stdio::null(),
            Supply::Thread(..) => Stdio::piped(),
            Supply::Spooled(file) => file.try_clone()?.into(),
        })
    }

    /// Begins to fill the pipe of a command, if there is one.
    pub(super) fn begin(self, stdin: Option<ChildStdin>, running: &Running) -> Fed {
        let thread = match (self.supply, stdin) {
            (Supply::Thread(thread, sender), Some(stdin)) => {
                // The thread waits for it.
                let _ = sender.send((stdin, running.clone()));
                Some(thread)
            }
            _ => None,
        };
        Fed { thread, bytes: self.bytes }
    }
}

impl Fed {
    /// Waits until the pipe has been filled or no program can read from it; returns the bytes that it took. Call
    /// it before waiting for the command, which is killed if an input cannot be read.
    ///
    /// # Errors
    ///
    /// The errors of reading the inputs, and of the pipe. The command then did not get the whole input.
    pub(super) fn finish(self) -> Result<u64> {
        match self.thread.map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(self.bytes.load(Ordering::Relaxed)),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => {
                Err(anyhow::anyhow!("the thread that reads the input has panicked"))
            }
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
                    // Relaxed: a count for the report, read after the thread has ended.
                    bytes.fetch_add(len as u64, Ordering::Relaxed);
                    reader.consume(len);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => {
                    return Err(error).context("cannot write the input of the command");
                }
            }
        }
    }
    Ok(())
}
