//! A round of a stream, parsed by a thread of its own while the caller does other work.

use std::path::PathBuf;
use std::process;
use std::sync::mpsc::{SendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use swath::CancelToken;

use super::rounds::{Made, Rounds};
use crate::error::{Error, FormatReason, Result};

/// The rounds, and the result of the parsed one.
type RoundOutcome = (Box<Rounds>, Result<Option<Vec<Made>>>);

/// A thread that parses the next round.
pub(in crate::table) struct RoundAhead {
    thread: Option<JoinHandle<Option<RoundOutcome>>>,
    token: CancelToken,
    /// Whether the thread may wait for a pipe, which cannot be interrupted.
    may_wait: bool,
    /// The process that has the thread: a child of `fork` does not have it.
    process: u32,
    path: PathBuf,
}

impl RoundAhead {
    /// Starts parsing the next round. Returns the rounds if no thread can be started, or if a
    /// callback could run after the stream is dropped.
    pub(in crate::table) fn start(
        rounds: Box<Rounds>,
    ) -> std::result::Result<Self, Box<Rounds>> {
        let (token, path) = (rounds.token().clone(), rounds.path().to_owned());
        let may_wait = rounds.may_wait();
        if may_wait && rounds.has_progress() {
            return Err(rounds);
        }
        // Sent after the start: a failed spawn would drop `rounds`.
        let (give, taken) = sync_channel::<Box<Rounds>>(1);
        let work = move || {
            let mut rounds = taken.recv().ok()?;
            let made = rounds.round();
            Some((rounds, made))
        };
        let Ok(thread) = Builder::new().name(String::from("swath-ahead")).spawn(work) else {
            return Err(rounds);
        };
        give.send(rounds).map_err(|SendError(rounds)| rounds)?;
        let thread = Some(thread);
        Ok(Self { thread, token, may_wait, process: process::id(), path })
    }

    /// Waits for the round. Resumes a panic of the thread in the caller.
    pub(in crate::table) fn wait(mut self) -> Result<RoundOutcome> {
        let thread = self.thread.take().filter(|_| self.process == process::id());
        match thread.map(JoinHandle::join) {
            Some(Ok(Some(done))) => Ok(done),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            Some(Ok(None)) | None => {
                let detail = "this process was forked from the one that reads it";
                let error = Error::reading(&self.path, FormatReason::Invalid, detail);
                Err(error.hint("open the stream in this process"))
            }
        }
    }
}

impl Drop for RoundAhead {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.process != process::id() {
            std::mem::forget(thread);
            return;
        }
        self.token.cancel();
        if !self.may_wait {
            // The stream is gone: a panic of the thread is ignored.
            drop(thread.join());
        }
    }
}
