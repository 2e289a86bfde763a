//! The end of writing: bytes to their places, then the name.

use std::convert::Infallible;
use std::sync::Mutex;

use swath_plan::segment::rope::Piece;

use crate::append::manifest::{Entries, names};
use crate::append::origin::Origin;
use crate::append::part::Part;
use crate::append::sequence::{End, Sequence};
use crate::append::shared::{Counters, Shared, Target, dropped, lock, lost};
use crate::append::strand::{Parts, Strand};
use crate::error::{Error, Operation, Reason, Result};
use crate::together::together;

/// What was left, and how it got there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// Bytes of the output.
    pub bytes: u64,
    /// Extents that it consists of; 1 for a file.
    pub extents: u64,
    /// Logs that were written: segments of a folder, or nameless files that spilled bytes went
    /// to.
    pub logs: u64,
    /// Forks: joins, spawns and owned forks.
    pub forks: u64,
    /// Forks whose branch ran beside the other, on another worker.
    pub steals: u64,
    /// Bytes written at their place at once.
    pub in_place: u64,
    /// Bytes written to logs.
    pub logged: u64,
    /// Bytes moved from logs to their place by sharing blocks.
    pub cloned: u64,
    /// Bytes moved from logs to their place by copying.
    pub copied: u64,
}

/// What comes next in the serial order, after everything that was written.
pub(super) struct Root {
    pub(super) strand: Box<Strand>,
    pub(super) sequence: Sequence<Infallible>,
    /// Extents of what was there before, and of earlier checkpoints.
    pub(super) entries: Entries,
}

fn report(shared: &Shared, bytes: u64, extents: usize) -> Committed {
    let counters = &shared.counters;
    Committed {
        bytes,
        extents: extents as u64,
        logs: shared.log_files().len() as u64,
        forks: Counters::get(&counters.forks),
        steals: Counters::get(&counters.steals),
        in_place: Counters::get(&counters.in_place),
        logged: Counters::get(&counters.logged),
        cloned: Counters::get(&counters.cloned),
        copied: Counters::get(&counters.copied),
    }
}

/// Makes one strand of everything that was written, and leaves an empty one.
fn take_strand(shared: &Shared, root: &mut Root) -> Result<Box<Strand>> {
    if let Some(error) = shared.failure() {
        return Err(error);
    }
    let stand_in = Strand::stand_in(shared);
    let last = std::mem::replace(&mut root.strand, stand_in);
    let (strand, end) = root.sequence.close(shared, last)?;
    match end {
        End::Well => Ok(strand),
        End::Failed(never) => match never {},
        End::Panicked(_) | End::Dropped => Err(shared.fail(dropped(shared))),
    }
}

pub(super) fn commit(shared: &Shared, root: &mut Root) -> Result<Committed> {
    let strand = take_strand(shared, root)?;
    let base = strand.origin().known().ok_or_else(|| shared.fail(lost(shared)))?;
    let taken = strand.into_parts(shared)?;
    if let Some(error) = shared.failure() {
        return Err(error);
    }
    let target = shared.target().take();
    match target {
        Some(Target::File(draft)) => {
            let len = base + taken.len;
            land(shared, taken, base)?;
            named(shared, len, || draft.commit(len))?;
            let report = report(shared, len, 1);
            shared.release_logs();
            Ok(report)
        }
        Some(Target::Folder(mut folder)) => {
            root.entries.push(shared, taken.parts)?;
            let manifest = root.entries.manifest(shared)?;
            named(shared, manifest.len(), || {
                folder.commit(&manifest.encode(crc32c::crc32c_append), &names(&manifest))
            })?;
            folder.finish();
            Ok(report(shared, manifest.len(), manifest.extents().len()))
        }
        None => Err(Error::new(Operation::Commit, Reason::Invalid, &shared.path)),
    }
}

/// The step that gives `len` bytes their name.
fn named<T>(shared: &Shared, len: u64, commit: impl FnOnce() -> Result<T>) -> Result<T> {
    shared.observer.hooks().commit(&shared.path, len, commit)
}

/// Moves all to their places, several parts at one time if that is much.
fn land(shared: &Shared, taken: Parts, base: u64) -> Result<()> {
    const MUCH: u64 = 4 << 20;
    shared.place(&taken.tail, base + taken.len - taken.tail.len() as u64)?;
    let len: u64 = taken.parts.iter().map(Piece::len).sum();
    let places = taken.parts.into_iter().scan(base + taken.landed, |offset, part| {
        let here = *offset;
        *offset += part.len();
        Some((part, here))
    });
    if len < MUCH {
        return places.into_iter().try_for_each(|(part, offset)| shared.land(part, offset));
    }
    // Blocks are shared without being touched: one call for all of an extent.
    let mut pieces = Vec::new();
    for (part, offset) in places {
        if !shared.share(&part, offset)? {
            pieces.extend(cut(part, offset));
        }
    }
    let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
    let land = |(): &mut (), at: usize| match lock(&pieces[at]).take() {
        Some((part, offset)) => shared.land(part, offset),
        None => Ok(()),
    };
    together(pieces.len(), || (), land)
}

/// Cuts a long extent of a log, so that several workers can move it.
fn cut(part: Part, offset: u64) -> Vec<(Part, u64)> {
    const MOST: u64 = 64 << 20;
    match part {
        Part::Log { extent, crc } if extent.len > MOST => (0..extent.len.div_ceil(MOST))
            .map(|index| {
                let skip = index * MOST;
                let mut piece = extent;
                piece.offset += skip;
                piece.len = MOST.min(extent.len - skip);
                (Part::Log { extent: piece, crc }, offset + skip)
            })
            .collect(),
        part => vec![(part, offset)],
    }
}

pub(super) fn checkpoint(shared: &Shared, root: &mut Root) -> Result<Committed> {
    let strand = take_strand(shared, root)?;
    let base = strand.origin().known().ok_or_else(|| shared.fail(lost(shared)))?;
    let taken = strand.into_parts(shared)?;
    let len = base + taken.len;
    let extents = match &mut *shared.target() {
        Some(Target::File(draft)) => {
            land(shared, taken, base)?;
            let named = named(shared, len, || draft.checkpoint(len));
            named.map_err(|error| shared.fail(error))?;
            1
        }
        Some(Target::Folder(folder)) => {
            root.entries.push(shared, taken.parts)?;
            let manifest = root.entries.manifest(shared)?;
            let named = named(shared, manifest.len(), || {
                folder.commit(&manifest.encode(crc32c::crc32c_append), &names(&manifest))
            });
            named.map_err(|error| shared.fail(error))?;
            manifest.extents().len()
        }
        None => return Err(Error::new(Operation::Commit, Reason::Invalid, &shared.path)),
    };
    root.strand = Strand::new(shared, Origin::at(len));
    Ok(report(shared, len, extents))
}
