//! One chunk after the other, each from whichever copy has it.

use std::io;
use std::sync::PoisonError;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use swath_plan::checksums::CHUNK_SIZE;
use swath_plan::extent::Extent;
use swath_plan::mirror::{Outcome, Request, Step};
use swath_plan::schedule::Nanos;
use xxhash_rust::xxh3::xxh3_64;

use super::Verify;
use super::group::{Group, Shared};
use super::readers::{Answer, Order, submit};
use crate::source::{Growth, Opened};

/// Bytes of one read where nothing else cuts them.
const PIECE: u64 = 1 << 20;
/// Waits are no longer than this: what they wait for may hang.
const NAP: Duration = Duration::from_millis(50);

/// Why a copy did not give a chunk.
pub(super) struct Trouble {
    pub(super) outcome: Outcome,
    pub(super) error: io::Error,
}

impl Group {
    /// Fills `target` from `offset` on; less only at the end of the file.
    pub(crate) fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let end = offset.saturating_add(target.len() as u64).min(self.len);
        let mut at = offset;
        while at < end {
            let piece = self.piece(at, end);
            let want = piece.intersect(Extent::between(at, end));
            let part = &mut target[to_usize(at - offset)..to_usize(want.end() - offset)];
            if want == piece {
                self.fetch(piece, part)?;
            } else {
                // A chunk can only be compared whole.
                let mut whole = self.shared.take_bounce(to_usize(piece.len()))?;
                let fetched = self.fetch(piece, &mut whole);
                let skip = to_usize(want.offset() - piece.offset());
                part.copy_from_slice(&whole[skip..skip + part.len()]);
                self.shared.put_bounce(whole);
                fetched?;
            }
            at = want.end();
        }
        Ok(to_usize(at.saturating_sub(offset)))
    }

    /// What is read at one time for the byte at `at`.
    fn piece(&self, at: u64, end: u64) -> Extent {
        match &self.shared.verify {
            Verify::Manifest(sums) => {
                sums.chunk_at(at).map_or(Extent::between(at, end), |(chunk, _)| chunk)
            }
            // Cut as `heal` cuts it, so that both agree on who is outvoted.
            Verify::Vote => {
                let start = at - at % CHUNK_SIZE;
                Extent::between(start, self.len.min(start.saturating_add(CHUNK_SIZE)))
            }
            Verify::None => Extent::between(at, end.min(at.saturating_add(PIECE))),
        }
    }

    fn fetch(&self, extent: Extent, target: &mut [u8]) -> io::Result<()> {
        match &self.shared.verify {
            Verify::Vote => self.vote(extent, target),
            _ if self.hedged => self.race(extent, target),
            _ => self.fail_over(extent, target),
        }
    }

    /// From the first copy that has it.
    fn fail_over(&self, extent: Extent, target: &mut [u8]) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(extent), Vec::new());
        while let Some(copy) = shared.next(&mut request) {
            let ended = shared.read(copy, extent, target);
            match shared.judge(&mut request, copy, ended) {
                None => return Ok(()),
                Some(trouble) => troubles.push((copy, trouble)),
            }
        }
        Err(shared.nobody(&troubles))
    }

    /// From as many copies as must agree.
    fn vote(&self, extent: Extent, target: &mut [u8]) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(extent), Vec::new());
        // Different bytes, and the copies that have them.
        let mut parties: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        while let Some(copy) = shared.next(&mut request) {
            let mut bytes = shared.take_bounce(target.len())?;
            let ended = shared.read(copy, extent, &mut bytes);
            if let Some(trouble) = shared.judge(&mut request, copy, ended) {
                troubles.push((copy, trouble));
                shared.put_bounce(bytes);
                continue;
            }
            let party = match parties.iter().position(|(other, _)| *other == bytes) {
                Some(party) => {
                    shared.put_bounce(bytes);
                    party
                }
                None => {
                    parties.push((bytes, Vec::new()));
                    parties.len() - 1
                }
            };
            parties[party].1.push(copy);
            if parties[party].1.len() >= shared.quorum {
                let (bytes, _) = parties.swap_remove(party);
                target.copy_from_slice(&bytes);
                shared.put_bounce(bytes);
                self.outvote(&mut request, parties);
                return Ok(());
            }
        }
        for (bytes, copies) in parties {
            let differs = |copy| (copy, io::Error::new(io::ErrorKind::InvalidData, DIFFERS));
            troubles.extend(copies.into_iter().map(differs));
            shared.put_bounce(bytes);
        }
        Err(shared.nobody(&troubles))
    }

    fn outvote(&self, request: &mut Request, parties: Vec<(Vec<u8>, Vec<usize>)>) {
        for (bytes, copies) in parties {
            for copy in copies {
                self.shared.mirrors().outvoted(request, copy);
                self.shared.members[copy].is_in_trouble(String::from(DIFFERS));
            }
            self.shared.put_bounce(bytes);
        }
    }

    /// From one copy, and if that takes long from another one too.
    fn race(&self, extent: Extent, target: &mut [u8]) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(extent), Vec::new());
        let (reply, answers) = mpsc::channel();
        let len = target.len();
        let order = |copy| {
            let buffer = shared.take_bounce(len)?;
            let (since, reply) = (shared.now(), reply.clone());
            submit(shared, copy, Order { extent, buffer, since, reply });
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
                Step::Read { copy, .. } => {
                    order(copy)?;
                    continue;
                }
                Step::Wait(until) => until.map_or(NAP, |at| nap(at, now)),
                Step::Failed => NAP,
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
                // `reply` is held here, so nobody can hang up.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

const DIFFERS: &str = "its bytes are not those of most copies";

impl Shared {
    /// The copy to read, waited for; none if there is none left. It counts as in flight.
    fn next(&self, request: &mut Request) -> Option<usize> {
        let mut mirrors = self.mirrors();
        loop {
            let now = self.now();
            match mirrors.next(request, now) {
                Step::Read { copy, .. } => return Some(copy),
                Step::Failed => return None,
                Step::Wait(until) => {
                    let wait = until.map_or(NAP, |at| nap(at, now));
                    let woken = self.woken.wait_timeout(mirrors, wait);
                    mirrors = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Reads a chunk of `copy` and looks at it; its slot is free afterwards.
    fn read(&self, copy: usize, extent: Extent, target: &mut [u8]) -> Result<(), Trouble> {
        let since = self.now();
        let _landing = Landing { shared: self, copy, len: extent.len(), since };
        self.fill(copy, extent, target)
    }

    /// Fills `target` with a chunk of `copy` and looks at it.
    pub(super) fn fill(
        &self,
        copy: usize,
        extent: Extent,
        target: &mut [u8],
    ) -> Result<(), Trouble> {
        let failed = |outcome, error| Trouble { outcome, error };
        let Some(opened) = &self.members[copy].opened else {
            return Err(failed(Outcome::Changed, io::ErrorKind::NotFound.into()));
        };
        let mut filled = 0;
        while filled < target.len() {
            let at = extent.offset() + filled as u64;
            match opened.read_at(&mut target[filled..], at) {
                Ok(0) => {
                    let error = io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        format!("it ends at byte {at}"),
                    );
                    return Err(failed(Outcome::EndsAt(at), error));
                }
                Ok(more) => filled += more.min(target.len() - filled),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(Outcome::Failed, error)),
            }
        }
        self.look_at(opened, extent, target)
    }

    fn look_at(&self, opened: &Opened, extent: Extent, bytes: &[u8]) -> Result<(), Trouble> {
        match &self.verify {
            Verify::Manifest(sums) => {
                let wanted = sums.chunk_at(extent.offset());
                if wanted == Some((extent, xxh3_64(bytes))) {
                    return Ok(());
                }
                let text = "its checksum is not that of the manifest";
                let error = io::Error::new(io::ErrorKind::InvalidData, text);
                Err(Trouble { outcome: Outcome::Wrong, error })
            }
            Verify::Vote => Ok(()),
            // What came before was read from the file that was opened: it was looked at, too.
            Verify::None => opened.check_unchanged(extent, Growth::Refused).map_err(|error| {
                let error = io::Error::other(error.to_string());
                Trouble { outcome: Outcome::Changed, error }
            }),
        }
    }

    /// A read has ended: its slot is free for whoever waits.
    pub(super) fn landed(&self, copy: usize, len: u64, since: Nanos) {
        let now = self.now();
        self.mirrors().landed(copy, len, (since, now));
        self.woken.notify_all();
    }

    /// Tells how a read ended; what was wrong with it comes back.
    fn judge(
        &self,
        request: &mut Request,
        copy: usize,
        ended: Result<(), Trouble>,
    ) -> Option<io::Error> {
        let (outcome, error) = match ended {
            Ok(()) => (Outcome::Complete, None),
            Err(trouble) => (trouble.outcome, Some(trouble.error)),
        };
        self.mirrors().completed(request, copy, outcome);
        if let Some(error) = &error {
            self.members[copy].is_in_trouble(error.to_string());
        }
        error
    }

    /// The error of a chunk that no copy has.
    fn nobody(&self, troubles: &[(usize, io::Error)]) -> io::Error {
        let all =
            |kind| !troubles.is_empty() && troubles.iter().all(|(_, it)| it.kind() == kind);
        let kind = match troubles.first() {
            // Passing: it will be tried again.
            _ if all(io::ErrorKind::TimedOut) => io::ErrorKind::TimedOut,
            _ if all(io::ErrorKind::WouldBlock) => io::ErrorKind::WouldBlock,
            _ if all(io::ErrorKind::InvalidData) => io::ErrorKind::InvalidData,
            // All were read, and differ.
            None if matches!(self.verify, Verify::Vote) => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        let told = |(copy, error): &(usize, io::Error)| {
            format!("{}: {error}", self.members[*copy].name.display())
        };
        let mut told: Vec<String> = troubles.iter().map(told).collect();
        let asked = |copy: &usize| troubles.iter().any(|(other, _)| other == copy);
        let rest = (0..self.members.len()).filter(|copy| !asked(copy));
        told.extend(rest.map(|copy| {
            let member = &self.members[copy];
            let trouble = member.trouble().unwrap_or_else(|| String::from("it ends before"));
            format!("{}: {trouble}", member.name.display())
        }));
        let needed = match (&self.verify, self.quorum) {
            (Verify::Vote, quorum) => format!("no {quorum} copies agree on"),
            _ => String::from("no copy has"),
        };
        io::Error::new(kind, format!("{needed} these bytes: {}", told.join("; ")))
    }
}

/// Frees the slot of a read, also if the source panics.
struct Landing<'s> {
    shared: &'s Shared,
    copy: usize,
    len: u64,
    since: Nanos,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.shared.landed(self.copy, self.len, self.since);
    }
}

fn nap(until: Nanos, now: Nanos) -> Duration {
    Duration::from_nanos(until.saturating_sub(now)).min(NAP)
}

fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
