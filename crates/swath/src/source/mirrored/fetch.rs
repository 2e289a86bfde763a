//! Reads one chunk after the other, each from a copy that has it.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use swath_plan::checksums::CHUNK_SIZE;
use swath_plan::extent::Extent;
use swath_plan::mirror::{CopyOutcome, MirrorStep, Request, Standing};
use swath_plan::schedule::Nanos;
use twox_hash::XxHash3_64;

use super::group::{Group, Member, SharedGroup};
use super::steps::{room_for, sum_in_steps};
use super::{Checksums, Verify};
use crate::source::{Growth, OpenSource, SourceTrouble};

/// Maximum bytes of one read.
const PIECE: u64 = 1 << 20;
/// The longest single wait: the awaited read may hang.
pub(super) const NAP: Duration = Duration::from_millis(50);

/// The part of a copy that is read at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyPiece {
    /// The extent that is compared as a whole.
    pub(super) chunk: Extent,
    /// The part of the chunk that is wanted.
    pub(super) want: Extent,
}

/// The reason why a copy did not provide a chunk.
pub(super) struct CopyTrouble {
    pub(super) outcome: CopyOutcome,
    pub(super) error: io::Error,
}

impl Group {
    /// Fills `target` from `offset`, less only at the end of the file; returns the number of bytes.
    pub(super) fn read_from(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let end = offset.saturating_add(target.len() as u64).min(self.len);
        let mut at = offset;
        while at < end {
            let chunk = self.chunk(at, end);
            let want = chunk.intersect(Extent::between(at, end));
            let part = &mut target[to_usize(at - offset)..to_usize(want.end() - offset)];
            match &self.shared.verify {
                Verify::Vote => self.vote(CopyPiece { chunk, want }, part)?,
                _ if self.hedged => self.race(CopyPiece { chunk, want }, part)?,
                _ => self.fail_over(CopyPiece { chunk, want }, part)?,
            }
            at = want.end();
        }
        Ok(to_usize(at.saturating_sub(offset)))
    }

    /// Returns the extent that is compared for the byte at `at`.
    fn chunk(&self, at: u64, end: u64) -> Extent {
        match &self.shared.verify {
            Verify::Manifest(sums) => {
                sums.chunk_at(at).map_or(Extent::between(at, end), |(chunk, _)| chunk)
            }
            // Cut as in `heal`, so that both agree on which copy is outvoted.
            Verify::Vote => {
                let start = at - at % CHUNK_SIZE;
                Extent::between(start, self.len.min(start.saturating_add(CHUNK_SIZE)))
            }
            Verify::None => Extent::between(at, end.min(at.saturating_add(PIECE))),
        }
    }

    /// Reads a piece from the first copy that has it.
    fn fail_over(&self, piece: CopyPiece, target: &mut [u8]) -> io::Result<()> {
        self.first_good(piece.chunk, &mut |shared, copy| shared.fill(copy, piece, target))
    }

    /// Passes a chunk to `each` in steps that fit into `room`, from the first copy that has it.
    /// Begins again if a step that was already passed proves to be wrong.
    pub(super) fn compare_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()> {
        self.first_good(chunk, &mut |shared, copy| shared.compare(copy, chunk, room, each))
    }

    fn first_good(
        &self,
        chunk: Extent,
        read: &mut dyn FnMut(&SharedGroup, usize) -> Result<(), CopyTrouble>,
    ) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(chunk), Vec::new());
        while let Some(copy) = shared.next(&mut request) {
            let ended = shared.landing(copy, chunk, |shared| read(shared, copy));
            match shared.judge(&mut request, copy, ended) {
                None => return Ok(()),
                Some(trouble) => troubles.push((copy, trouble)),
            }
        }
        Err(shared.nobody(&troubles))
    }

    /// Reads a piece by a vote: reads its whole chunk, which is short, until enough copies agree.
    fn vote(&self, CopyPiece { chunk, want }: CopyPiece, target: &mut [u8]) -> io::Result<()> {
        let shared = &self.shared;
        let (mut request, mut troubles) = (shared.mirrors().begin(chunk), Vec::new());
        let whole = CopyPiece { chunk, want: chunk };
        // Different bytes, and the copies that have them.
        let mut parties: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        while let Some(copy) = shared.next(&mut request) {
            let mut bytes = shared.take_bounce(to_usize(chunk.len()))?;
            let ended =
                shared.landing(copy, chunk, |shared| shared.fill(copy, whole, &mut bytes));
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
                let skip = to_usize(want.offset() - chunk.offset());
                target.copy_from_slice(&bytes[skip..skip + target.len()]);
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
}

const DIFFERS: &str = "its bytes differ from those of most copies";

impl SharedGroup {
    /// Waits for a copy to read; `None` if no copy is left. The read counts as in flight.
    pub(super) fn next(&self, request: &mut Request) -> Option<usize> {
        let mut mirrors = self.mirrors();
        loop {
            let now = self.now();
            match mirrors.next(request, now) {
                MirrorStep::Read { copy, .. } => return Some(copy),
                MirrorStep::Failed => return None,
                MirrorStep::Wait(until) => {
                    let wait = until.map_or(NAP, |at| nap(at, now));
                    let woken = self.woken.wait_timeout(mirrors, wait);
                    mirrors = woken.0;
                }
            }
        }
    }

    /// Reads a chunk of `copy`, and frees its slot afterwards.
    fn landing(
        &self,
        copy: usize,
        chunk: Extent,
        read: impl FnOnce(&Self) -> Result<(), CopyTrouble>,
    ) -> Result<(), CopyTrouble> {
        let since = self.now();
        let _landing = Landing { shared: self, copy, len: chunk.len(), since };
        read(self)
    }

    /// Fills `target` with the wanted part of a chunk of `copy`, and checks the whole chunk.
    pub(super) fn fill(
        &self,
        copy: usize,
        CopyPiece { chunk, want }: CopyPiece,
        target: &mut [u8],
    ) -> Result<(), CopyTrouble> {
        if want == chunk {
            let opened = self.opened(copy)?;
            self.read_all(opened, target, chunk.offset())?;
            return self.look_at(copy, chunk, target);
        }
        let failed = |error| CopyTrouble { outcome: CopyOutcome::Failed, error };
        let mut room = self.take_bounce(room_for(chunk)).map_err(failed)?;
        let compared = self.compare(copy, chunk, &mut room, &mut |step, at| {
            let both = want.intersect(Extent::between(at, at + step.len() as u64));
            if !both.is_empty() {
                let (from, to) = (to_usize(both.offset() - at), to_usize(both.len()));
                let place = to_usize(both.offset() - want.offset());
                target[place..place + to].copy_from_slice(&step[from..from + to]);
            }
        });
        self.put_bounce(room);
        compared
    }

    /// Compares a chunk of `copy` with the manifest, in steps that fit into `room`; passes each
    /// to `each`.
    fn compare(
        &self,
        copy: usize,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), CopyTrouble> {
        let opened = self.opened(copy)?;
        let sum = sum_in_steps(chunk, room, |step, at| {
            self.read_all(opened, step, at)?;
            each(step, at);
            Ok(())
        })?;
        match &self.verify {
            Verify::Manifest(sums) => is_known(sums, chunk, sum),
            Verify::Vote | Verify::None => Ok(()),
        }
    }

    fn opened(&self, copy: usize) -> Result<&OpenSource, CopyTrouble> {
        self.members[copy].opened.as_deref().ok_or_else(|| CopyTrouble {
            outcome: CopyOutcome::Changed,
            error: io::ErrorKind::NotFound.into(),
        })
    }

    fn look_at(&self, copy: usize, extent: Extent, bytes: &[u8]) -> Result<(), CopyTrouble> {
        let changed = |why: String| {
            let error = SourceTrouble::Changed.because(why);
            CopyTrouble { outcome: CopyOutcome::Changed, error }
        };
        match &self.verify {
            Verify::Manifest(sums) => is_known(sums, extent, XxHash3_64::oneshot(bytes)),
            Verify::Vote => Ok(()),
            // Another read has found that it changed.
            Verify::None if self.mirrors().standing(copy) == Standing::Gone => {
                Err(changed(self.members[copy].trouble().unwrap_or_default()))
            }
            // Earlier steps were also read from the file that was opened, as this check shows.
            Verify::None => self
                .opened(copy)?
                .check_unchanged(extent, Growth::Refused)
                .map_err(|error| changed(error.to_string())),
        }
    }

    /// Fills all of `target`.
    fn read_all(
        &self,
        opened: &OpenSource,
        target: &mut [u8],
        offset: u64,
    ) -> Result<(), CopyTrouble> {
        let failed = |outcome, error| CopyTrouble { outcome, error };
        let mut filled = 0;
        while filled < target.len() {
            let at = offset + filled as u64;
            // Relaxed: a count.
            self.calls.fetch_add(1, Ordering::Relaxed);
            match opened.read_at(&mut target[filled..], at) {
                Ok(0) => {
                    let text = format!("it ends at byte {at}");
                    let error = io::Error::new(io::ErrorKind::UnexpectedEof, text);
                    return Err(failed(CopyOutcome::EndsAt(at), error));
                }
                Ok(more) => filled += more.min(target.len() - filled),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let outcome = match SourceTrouble::of(&error) {
                        Some(SourceTrouble::Changed) => CopyOutcome::Changed,
                        _ => CopyOutcome::Failed,
                    };
                    return Err(failed(outcome, error));
                }
            }
        }
        Ok(())
    }

    /// Ends a read: its slot is free for a waiting thread.
    pub(super) fn landed(&self, copy: usize, len: u64, since: Nanos) {
        let now = self.now();
        self.mirrors().landed(copy, len, since, now);
        self.woken.notify_all();
    }

    /// Records how a read ended; returns its error.
    pub(super) fn judge(
        &self,
        request: &mut Request,
        copy: usize,
        ended: Result<(), CopyTrouble>,
    ) -> Option<io::Error> {
        let (outcome, error) = match ended {
            Ok(()) => (CopyOutcome::Complete, None),
            Err(trouble) => (trouble.outcome, Some(trouble.error)),
        };
        self.mirrors().completed(request, copy, outcome);
        let member = &self.members[copy];
        if outcome == CopyOutcome::Changed && member.opened.is_some() {
            // Relaxed: threads that read the flag learned of the change by the channel or the lock.
            member.has_changed.store(true, Ordering::Relaxed);
        }
        if let Some(error) = &error {
            self.members[copy].is_in_trouble(error.to_string());
        }
        error
    }

    /// Returns the trouble on which all copies agree: that it passes, and when at the earliest, or that
    /// the copy has changed since it was opened.
    fn said_by_all(&self, troubles: &[(usize, io::Error)]) -> Option<SourceTrouble> {
        let has_changed = |member: &Member| member.has_changed.load(Ordering::Relaxed);
        let mirrors = self.mirrors();
        let mut standing = (0..self.members.len()).map(|copy| mirrors.standing(copy));
        if standing.all(|it| it == Standing::Gone) && self.members.iter().any(has_changed) {
            return Some(SourceTrouble::Changed);
        }
        drop(mirrors);
        let passes = |(_, error): &(usize, io::Error)| match SourceTrouble::of(error) {
            Some(SourceTrouble::Passing(after)) => Some(after),
            _ => None,
        };
        let after: Option<Vec<Duration>> = troubles.iter().map(passes).collect();
        after?.into_iter().max().map(SourceTrouble::Passing)
    }

    /// Returns the error for a chunk that no copy has.
    pub(super) fn nobody(&self, troubles: &[(usize, io::Error)]) -> io::Error {
        let all =
            |kind| !troubles.is_empty() && troubles.iter().all(|(_, it)| it.kind() == kind);
        let kind = match troubles.first() {
            // Transient: it will be retried.
            _ if all(io::ErrorKind::TimedOut) => io::ErrorKind::TimedOut,
            _ if all(io::ErrorKind::WouldBlock) => io::ErrorKind::WouldBlock,
            _ if all(io::ErrorKind::InvalidData) => io::ErrorKind::InvalidData,
            // All copies were read, and differ.
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
            let trouble =
                member.trouble().unwrap_or_else(|| String::from("it ends before these bytes"));
            format!("{}: {trouble}", member.name.display())
        }));
        let needed = match (&self.verify, self.quorum) {
            (Verify::Vote, quorum) => format!("no {quorum} copies agree on"),
            _ => String::from("no copy has"),
        };
        let text = format!("{needed} these bytes: {}", told.join("; "));
        match self.said_by_all(troubles) {
            Some(trouble) => trouble.because(text),
            None => io::Error::new(kind, text),
        }
    }
}

/// Fails unless `sum` is the manifest's for a chunk.
fn is_known(sums: &Checksums, chunk: Extent, sum: u64) -> Result<(), CopyTrouble> {
    if sums.chunk_at(chunk.offset()) == Some((chunk, sum)) {
        return Ok(());
    }
    let text = "its checksum differs from the manifest";
    let error = io::Error::new(io::ErrorKind::InvalidData, text);
    Err(CopyTrouble { outcome: CopyOutcome::Wrong, error })
}

/// Frees the slot of a read, even if the source panics.
struct Landing<'s> {
    shared: &'s SharedGroup,
    copy: usize,
    len: u64,
    since: Nanos,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.shared.landed(self.copy, self.len, self.since);
    }
}

pub(super) fn nap(until: Nanos, now: Nanos) -> Duration {
    Duration::from_nanos(until.saturating_sub(now)).min(NAP)
}

fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
