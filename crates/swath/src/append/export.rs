//! A folder of segments as one plain file.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use swath_plan::extent::Extent;

use crate::append::opened::Opened;
use crate::append::options::AppendOptions;
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Hooks;
use crate::sink::{Draft, FsFile, Preallocation, move_range, write_all_at};
use crate::timeline::Activity;
use crate::together::together;

/// What one worker copies at one time.
struct Piece {
    /// The extent it belongs to.
    at: usize,
    skip: u64,
    len: u64,
}

/// What is copied at one time: enough for every worker to have some.
const PIECE: u64 = 16 << 20;
/// Stays in the cache of one core.
const BUFFER: usize = 256 << 10;

impl Opened {
    /// Leaves the output as one plain file at `path`, copied in parallel, by the rayon pool
    /// this runs on or by threads of its own, and committed like any other; returns its length. Of the options, those about the
    /// target count. Extents with a checksum are compared with it on the way; others share their
    /// blocks where file system and alignment allow.
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`](crate::Reason::Corrupt) for bytes that do not match their checksum:
    /// there is no file then. What reading, writing and committing fail with.
    pub fn export(&self, path: impl AsRef<Path>, options: &AppendOptions) -> Result<u64> {
        let path = path.as_ref();
        if self.holds(path) {
            return Err(Error::new(Operation::Create, Reason::Invalid, path)
                .detail("it belongs to what is exported")
                .hint("choose a name outside of the folder"));
        }
        let draft = Draft::begin(path, &options.draft)?;
        let file = &**draft.file();
        Preallocation::new().reach(file, self.len());
        let pieces: Vec<Piece> = (0..self.extents()).flat_map(|at| self.pieces(at)).collect();
        let crcs: Vec<AtomicU32> = pieces.iter().map(|_| AtomicU32::new(0)).collect();
        let copy = |buffer: &mut Vec<u8>, at: usize| {
            let crc = self.copy(path, file, &pieces[at], (buffer, &options.hooks))?;
            // Relaxed: read when all workers are done.
            crcs[at].store(crc, Ordering::Relaxed);
            Ok(())
        };
        together(pieces.len(), || vec![0; BUFFER], copy)?;
        let crcs: Vec<u32> = crcs.into_iter().map(AtomicU32::into_inner).collect();
        self.compare(&pieces, &crcs)?;
        let (hooks, len) = (&options.hooks, self.len());
        hooks.record((Activity::Commit, path), (0, len), || draft.commit(len))?;
        Ok(self.len())
    }

    fn pieces(&self, at: usize) -> Vec<Piece> {
        let len = self.extent(at).len;
        let starts = (0..len.div_ceil(PIECE)).map(|index| index * PIECE);
        starts.map(|skip| Piece { at, skip, len: PIECE.min(len - skip) }).collect()
    }

    fn copy(
        &self,
        path: &Path,
        file: &dyn FsFile,
        piece: &Piece,
        (buffer, hooks): (&mut [u8], &Hooks),
    ) -> Result<u32> {
        let mut recorder = hooks.recorder(path);
        let extent = self.extent(piece.at);
        let start = extent.start + piece.skip;
        let failed = |error| {
            let bytes = Extent::between(start, start + piece.len);
            Error::io(Operation::Write, path, error).at(bytes)
        };
        if extent.crc32c.is_none() {
            let from = self.file_of(piece.at);
            let offsets = (extent.offset + piece.skip, start);
            let moved = move_range(file, from, offsets, piece.len);
            recorder.lap_if(&moved, Activity::Copy, (start, piece.len));
            moved.map_err(failed)?;
            return Ok(0);
        }
        let (mut done, mut crc) = (0, 0);
        while done < piece.len {
            let left = usize::try_from(piece.len - done).unwrap_or(usize::MAX);
            let want = buffer.len().min(left);
            let at = start + done;
            let read = self.read_at(&mut buffer[..want], at)?;
            recorder.lap(Activity::Read, at, read as u64);
            crc = crc32c::crc32c_append(crc, &buffer[..read]);
            recorder.lap(Activity::Compute, at, read as u64);
            let written = write_all_at(file, &buffer[..read], at);
            recorder.lap_if(&written, Activity::Write, (at, read as u64));
            written.map_err(failed)?;
            done += read as u64;
        }
        Ok(crc)
    }

    /// Compares the checksums of whole extents, put together from those of their pieces.
    fn compare(&self, pieces: &[Piece], crcs: &[u32]) -> Result<()> {
        let mut crc = 0;
        for (piece, &piece_crc) in pieces.iter().zip(crcs) {
            crc = if piece.skip == 0 {
                piece_crc
            } else {
                swath_simd::crc32c_combine(crc, piece_crc, piece.len)
            };
            let extent = self.extent(piece.at);
            let is_last = piece.skip + piece.len == extent.len;
            if is_last && extent.crc32c.is_some_and(|expected| expected != crc) {
                return Err(self.corrupt(piece.at));
            }
        }
        Ok(())
    }
}
