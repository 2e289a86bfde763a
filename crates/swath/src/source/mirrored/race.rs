//! Reads one chunk from one copy and, if that takes long, from another one too.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};

use swath_plan::mirror::{CopyOutcome, MirrorStep};
use swath_plan::schedule::Nanos;

use super::fetch::{CopyPiece, CopyTrouble, NAP, nap};
use super::group::{Group, SharedGroup};
use crate::failures::caught;

/// A chunk to be read.
struct ChunkReading {
    piece: CopyPiece,
    buffer: Vec<u8>,
    since: Nanos,
    reply: Sender<Answer>,
}

/// The result of reading a chunk.
struct Answer {
    copy: usize,
    buffer: Vec<u8>,
    ended: Result<(), CopyTrouble>,
}

impl ChunkReading {
    /// Reads the chunk from `copy`, unless `there` says that no thread could be started, and sends the answer.
    fn carry_out(self, shared: &SharedGroup, copy: usize, there: io::Result<()>) {
        let Self { piece, mut buffer, since, reply } = self;
        let failed = |error| CopyTrouble { outcome: CopyOutcome::Failed, error };
        let read = || {
            there.map_err(failed)?;
            shared.fill(copy, piece, &mut buffer)
        };
        let ended = caught(read);
        let ended =
            ended.unwrap_or_else(|_| Err(failed(io::Error::other("the source panicked"))));
        shared.landed(copy, piece.chunk.len(), since);
        if let Err(unheard) = reply.send(Answer { copy, buffer, ended }) {
            shared.put_bounce(unheard.0.buffer);
        }
    }
}

impl Group {
    /// Reads a piece from one copy and, if that takes long, from another one too.
    pub(super) fn race(&self, piece: CopyPiece, target: &mut [u8]) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(piece.chunk), Vec::new());
        let (reply, answers) = mpsc::channel();
        let len = target.len();
        let order = |copy| {
            let buffer = shared.take_bounce(len)?;
            let reading =
                ChunkReading { piece, buffer, since: shared.now(), reply: reply.clone() };
            let theirs = Arc::clone(shared);
            let order = move |there| reading.carry_out(&theirs, copy, there);
            shared.pools[copy].submit(copy, Box::new(order));
            io::Result::Ok(())
        };
        loop {
            if !request.is_in_flight() {
                match shared.next(&mut request) {
                    Some(copy) => order(copy)?,
                    None => return Err(shared.nobody(&troubles)),
                }
            }
            let now = shared.now();
            let step = shared.mirrors().next(&mut request, now);
            let wait = match step {
                MirrorStep::Read { copy, .. } => {
                    order(copy)?;
                    continue;
                }
                MirrorStep::Wait(until) => until.map_or(NAP, |at| nap(at, now)),
                MirrorStep::Failed => NAP,
            };
            match answers.recv_timeout(wait) {
                Ok(Answer { copy, buffer, ended }) => {
                    let trouble = shared.judge(&mut request, copy, ended);
                    if trouble.is_none() {
                        target.copy_from_slice(&buffer);
                    }
                    shared.put_bounce(buffer);
                    match trouble {
                        None => return Ok(()),
                        Some(trouble) => troubles.push((copy, trouble)),
                    }
                }
                // This thread holds `reply`, so the channel cannot be disconnected.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}
