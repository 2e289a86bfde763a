//! The end of writing: moves bytes to their places, then gives the file its name.

use std::convert::Infallible;

use swath_plan::segment::manifest::Manifest;
use swath_plan::segment::rope::RopePiece;

use crate::append::manifest::{Entries, names};
use crate::append::output::{AppendOutput, AppendTarget, Counters, dropped, lost};
use crate::append::sequence::{End, Sequence};
use crate::append::start_offset::StartOffset;
use crate::append::strand::{Strand, StrandBytes};
use crate::append::unplaced::Unplaced;
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::sink::Folder;
use crate::together::together;

/// The report of a commit: the length, and how the bytes reached their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// Bytes of the output.
    pub bytes: u64,
    /// Extents it consists of; 1 for a file.
    pub extents: u64,
    /// Logs that were written: segments of a folder, or unnamed files for spilled bytes.
    pub logs: u64,
    /// Forks: joins, spawns and owned forks.
    pub forks: u64,
    /// Forks whose branch ran in parallel, on another worker.
    pub steals: u64,
    /// Bytes written to their place directly.
    pub in_place: u64,
    /// Bytes written to logs.
    pub logged: u64,
    /// Bytes moved from logs to their place by sharing blocks.
    pub cloned: u64,
    /// Bytes moved from logs to their place by copying.
    pub copied: u64,
}

/// The end of the serial order: the place of the next byte.
pub(super) struct Root {
    pub(super) strand: Box<Strand>,
    pub(super) sequence: Sequence<Infallible>,
    /// Extents of the previous output, and of earlier checkpoints.
    pub(super) entries: Entries,
}

fn report(output: &AppendOutput, bytes: u64, extents: usize) -> Committed {
    let counters = &output.counters;
    Committed {
        bytes,
        extents: extents as u64,
        logs: output.log_files().len() as u64,
        forks: Counters::get(&counters.forks),
        steals: Counters::get(&counters.steals),
        in_place: Counters::get(&counters.in_place),
        logged: Counters::get(&counters.logged),
        cloned: Counters::get(&counters.cloned),
        copied: Counters::get(&counters.copied),
    }
}

/// Takes the strand of all written bytes, leaving an empty one.
fn take_strand(output: &AppendOutput, root: &mut Root) -> Result<Box<Strand>> {
    if let Some(error) = output.failure() {
        return Err(error);
    }
    let stand_in = Strand::stand_in(output);
    let last = std::mem::replace(&mut root.strand, stand_in);
    let (strand, end) = root.sequence.close(output, last)?;
    match end {
        End::Well => Ok(strand),
        End::Failed(never) => match never {},
        End::Panicked(_) | End::Dropped => Err(output.fail(dropped(output))),
    }
}

/// Takes out all written bytes; returns their offset in the file too.
fn written(output: &AppendOutput, root: &mut Root) -> Result<(u64, StrandBytes)> {
    let strand = take_strand(output, root)?;
    let base = strand.start().known().ok_or_else(|| output.fail(lost(output)))?;
    Ok((base, strand.into_written(output)?))
}

/// Returns the offset of the end of the written bytes.
pub(super) fn end(output: &AppendOutput, root: &Root) -> Result<u64> {
    let start = root.strand.start().known();
    let unknown = || output.failure().unwrap_or_else(|| lost(output));
    Ok(start.ok_or_else(unknown)? + root.strand.len())
}

pub(super) fn commit(output: &AppendOutput, root: &mut Root) -> Result<Committed> {
    let (base, taken) = written(output, root)?;
    if let Some(error) = output.failure() {
        return Err(error);
    }
    let target = output.target().take();
    match target {
        Some(AppendTarget::File(draft)) => {
            let len = base + taken.len;
            land(output, taken, base)?;
            named(output, len, || draft.commit(len))?;
            let report = report(output, len, 1);
            output.release_logs();
            Ok(report)
        }
        Some(AppendTarget::Folder(mut folder)) => {
            root.entries.push(output, taken.pieces)?;
            let manifest = root.entries.manifest(output)?;
            let report = report(output, manifest.len(), manifest.extents().len());
            // Only the folder has them then, and closes each once it is stored.
            output.forget_logs();
            name_manifest(output, &mut folder, &manifest)?;
            folder.finish();
            Ok(report)
        }
        None => Err(Error::new(Operation::Commit, Reason::Invalid, &output.path)),
    }
}

/// Runs the step of the commit that gives `len` bytes their name.
fn named<T>(output: &AppendOutput, len: u64, commit: impl FnOnce() -> Result<T>) -> Result<T> {
    output.observer.hooks().commit(&output.path, len, commit)
}

/// Makes `manifest` the contents of the folder.
fn name_manifest(
    output: &AppendOutput,
    folder: &mut Folder,
    manifest: &Manifest,
) -> Result<()> {
    named(output, manifest.len(), || {
        folder.commit(&manifest.encode(crc32c::crc32c_append), &names(manifest))
    })
}

/// Moves everything to its place, several pieces in parallel if there is much.
fn land(output: &AppendOutput, taken: StrandBytes, base: u64) -> Result<()> {
    const MUCH: u64 = 4 << 20;
    output.place(&taken.tail, base + taken.len - taken.tail.len() as u64)?;
    let len: u64 = taken.pieces.iter().map(RopePiece::len).sum();
    let places = taken.pieces.into_iter().scan(base + taken.landed, |offset, piece| {
        let here = *offset;
        *offset += piece.len();
        Some((piece, here))
    });
    if len < MUCH {
        return places.into_iter().try_for_each(|(piece, offset)| output.land(piece, offset));
    }
    // Sharing blocks copies no bytes: one call for each whole extent.
    let mut pieces = Vec::new();
    for (piece, offset) in places {
        if !output.share(&piece, offset)? {
            pieces.extend(cut(piece, offset));
        }
    }
    let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
    let land = |(): &mut (), at: usize| match pieces[at].lock().take() {
        Some((piece, offset)) => output.land(piece, offset),
        None => Ok(()),
    };
    together(pieces.len(), || (), land)
}

/// Splits a long extent of a log, so that several workers can move it.
fn cut(piece: Unplaced, offset: u64) -> Vec<(Unplaced, u64)> {
    const MOST: u64 = 64 << 20;
    match piece {
        Unplaced::Log { extent, crc } if extent.len > MOST => (0..extent.len.div_ceil(MOST))
            .map(|index| {
                let skip = index * MOST;
                let mut piece = extent;
                piece.offset += skip;
                piece.len = MOST.min(extent.len - skip);
                (Unplaced::Log { extent: piece, crc }, offset + skip)
            })
            .collect(),
        piece => vec![(piece, offset)],
    }
}

pub(super) fn checkpoint(output: &AppendOutput, root: &mut Root) -> Result<Committed> {
    let (base, taken) = written(output, root)?;
    let len = base + taken.len;
    let extents = match &mut *output.target() {
        Some(AppendTarget::File(draft)) => {
            land(output, taken, base)?;
            let named = named(output, len, || draft.checkpoint(len));
            named.map_err(|error| output.fail(error))?;
            1
        }
        Some(AppendTarget::Folder(folder)) => {
            root.entries.push(output, taken.pieces)?;
            let manifest = root.entries.manifest(output)?;
            let named = name_manifest(output, folder, &manifest);
            named.map_err(|error| output.fail(error))?;
            manifest.extents().len()
        }
        None => return Err(Error::new(Operation::Commit, Reason::Invalid, &output.path)),
    };
    root.strand = Strand::new(output, StartOffset::at(len));
    Ok(report(output, len, extents))
}
