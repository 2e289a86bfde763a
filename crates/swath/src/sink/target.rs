//! The target of chunks whose place is known: a file without a name yet, or a stream.
//!
//! ```text
//! in serial order, under the caller's lock    Target::place   carried bytes, space ahead
//! by any worker, in any order                 Target::write   the bytes
//! once, after all                             Target::finish  the last unit; a flush
//! ```

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::fallback::{DirectUse, Fallback};
use swath_plan::units::UnitCut;

use crate::locks::Mutex;
use crate::sink::direct::{DirectFile, DirectProgress};
use crate::sink::existing::Durability;
use crate::sink::fs::FsFile;
use crate::sink::place::write_all_at;
use crate::sink::writeback;
use crate::sink::zeros::{Sparse, write_data};

/// See the [module](self).
pub(crate) enum Target {
    File {
        file: Arc<dyn FsFile>,
        direct: Option<DirectFile>,
        durability: Durability,
        sparse: Sparse,
    },
    /// Written to by one worker at a time, as the caller ensures, so no thread waits for the lock.
    Stream(Mutex<Box<dyn Write + Send>>),
}

/// The state after the chunks placed until now.
#[derive(Debug, Default)]
pub(crate) struct PlacementState {
    /// Length of the file, with space for it; 0 if nothing was reserved.
    reserved: u64,
    /// The file system cannot reserve space, or has none beyond the written bytes.
    exhausted: bool,
    /// Bytes of the last unit, which is incomplete.
    carry: Vec<u8>,
}

/// The data to write one chunk.
#[derive(Debug)]
pub(crate) struct ChunkWrite {
    extent: Extent,
    carried: Vec<u8>,
    past_cache: bool,
    /// Whether space was reserved for the chunk.
    is_reserved: bool,
}

/// Returns the fallback for a refused `O_DIRECT`.
pub(crate) fn refused(why: impl fmt::Display) -> Fallback {
    Fallback::DirectRefused { at: DirectUse::Write, why: why.to_string() }
}

impl Target {
    /// Returns the target `file`, with direct writes if `direct` is given. `durability` is that of the
    /// commit. Direct writes leave out no zeros.
    pub(crate) fn file(
        file: Arc<dyn FsFile>,
        direct: Option<DirectFile>,
        durability: Durability,
        sparse: Sparse,
    ) -> Self {
        Self::File { file, direct, durability, sparse }
    }

    pub(crate) fn stream(writer: Box<dyn Write + Send>) -> Self {
        Self::Stream(Mutex::new(writer))
    }

    /// Whether only one chunk at a time may be written, in serial order.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Whether direct writes were requested and refused by the file system.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::File { direct: Some(direct), .. } if direct.is_refused())
    }

    /// Bytes of room that a chunk needs after its bytes, so that they need not be moved elsewhere.
    pub(crate) fn room(&self) -> usize {
        match self {
            Self::File { direct: Some(direct), .. } => direct.room(),
            Self::File { .. } | Self::Stream(_) => 0,
        }
    }

    /// Records the next chunk in serial order.
    pub(crate) fn place(
        &self,
        layout: &mut PlacementState,
        extent: Extent,
        bytes: &[u8],
    ) -> ChunkWrite {
        let place =
            ChunkWrite { extent, carried: Vec::new(), past_cache: false, is_reserved: false };
        let Self::File { file, direct, .. } = self else { return place };
        layout.reserve(&**file, extent, direct.is_some());
        let is_reserved = extent.offset() < layout.reserved;
        let Some(direct) = direct else { return ChunkWrite { is_reserved, ..place } };
        let carried = layout.carry_on(UnitCut::of(extent, direct.unit()), bytes);
        // Exceeding the file size limit kills the process. Direct writes bypass the trait that checks
        // it, so they stay inside the length that the trait has given the file.
        let past_cache = extent.end() <= layout.reserved && !direct.is_refused();
        ChunkWrite { extent, carried, past_cache, is_reserved }
    }

    /// Writes one chunk; returns how many bytes bypassed the page cache.
    pub(crate) fn write(&self, place: &ChunkWrite, bytes: &mut Vec<u8>) -> io::Result<u64> {
        match self {
            Self::Stream(writer) => {
                let mut writer = writer.lock();
                writer.write_all(bytes)?;
                Ok(0)
            }
            Self::File { file, direct: None, durability, sparse } => {
                let offset = place.extent.offset();
                match sparse {
                    Sparse::Never => write_all_at(&**file, bytes, offset)?,
                    Sparse::Auto => write_data(&**file, bytes, offset, place.is_reserved)?,
                }
                writeback::written(&**file, place.extent, *durability);
                Ok(0)
            }
            Self::File { file, direct: Some(direct), .. } => {
                write_units(&**file, direct, place, bytes)
            }
        }
    }

    /// Writes the rest of the last unit, or flushes the stream.
    pub(crate) fn finish(&self, layout: &PlacementState, len: u64) -> io::Result<()> {
        match self {
            Self::Stream(writer) => writer.lock().flush(),
            Self::File { file, direct, .. } => {
                // On FUSE, each descriptor has errors of its own.
                direct.as_ref().map_or(Ok(()), DirectFile::flush)?;
                write_all_at(&**file, &layout.carry, len - layout.carry.len() as u64)
            }
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, direct, .. } => {
                f.debug_struct("File").field("file", file).field("direct", direct).finish()
            }
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl PlacementState {
    /// Reserves space for `extent` and some more: on ext4 a write into reserved space takes
    /// about two thirds of the time, and direct writes past the end of a file are serialised.
    ///
    /// Also extends the file, so that the commit cuts it and frees unused space. All placed chunks
    /// end below the new length, so none is cut off.
    fn reserve(&mut self, file: &dyn FsFile, extent: Extent, direct: bool) {
        /// Smaller files are finished before it pays off.
        const FIRST: u64 = 2 << 20;
        const LEAST: u64 = 16 << 20;
        const MOST: u64 = 128 << 20;
        let end = extent.end();
        if end <= self.reserved || self.exhausted || (end < FIRST && !direct) {
            return;
        }
        let goal = end.saturating_add(end.clamp(LEAST, MOST));
        let reserved = file.allocate(self.reserved, goal - self.reserved);
        // Direct writes need the length, with or without the space.
        if (reserved.is_ok() || direct) && file.set_len(goal).is_ok() {
            self.reserved = goal;
        } else {
            // A write will report a lack of space.
            self.exhausted = true;
        }
    }

    /// Keeps the chunk's bytes of an incomplete unit; returns the bytes carried to the chunk.
    fn carry_on(&mut self, cut: UnitCut, bytes: &[u8]) -> Vec<u8> {
        debug_assert_eq!(self.carry.len() as u64, cut.carried);
        if cut.whole.is_empty() {
            self.carry.extend_from_slice(bytes);
            return Vec::new();
        }
        let rest = usize::try_from(cut.rest).unwrap_or(usize::MAX);
        let carry = bytes[bytes.len() - rest..].to_vec();
        std::mem::replace(&mut self.carry, carry)
    }
}

fn write_units(
    file: &dyn FsFile,
    direct: &DirectFile,
    place: &ChunkWrite,
    bytes: &mut Vec<u8>,
) -> io::Result<u64> {
    let whole = UnitCut::of(place.extent, direct.unit()).whole;
    if whole.is_empty() {
        return Ok(0);
    }
    let start = direct.prepend(bytes, &place.carried)?;
    let len = usize::try_from(whole.len()).unwrap_or(usize::MAX);
    let units = &bytes[start..start + len];
    let done = match place.past_cache {
        true => direct.write_all(units, whole.offset())?,
        false => DirectProgress::Refused(0),
    };
    match done {
        DirectProgress::All => Ok(whole.len()),
        DirectProgress::Refused(done) => {
            write_all_at(file, &units[done..], whole.offset() + done as u64)?;
            Ok(done as u64)
        }
    }
}
