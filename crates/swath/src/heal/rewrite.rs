//! Writes a copy with good chunks only, reads it back, and gives it its name.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath_os::advise::{FileAdvice, advise_file};
use swath_plan::checksums::Checksums;
use swath_plan::extent::Extent;
use swath_plan::schedule::{Lease, Way};

use super::examine::{chunks, workers};
use crate::buffer::Buffer;
use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, Manner, ReadJob, Visit, worker};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::observe::{Hooks, Observer};
use crate::options::ReadOptions;
use crate::sink::draft::Draft;
use crate::sink::{
    DraftBase, Durability, FsFile, OutputOptions, is_no_length, not_in_place, read_exact_at,
    share_range, write_all_at,
};
use crate::source::mirrored::{room_for, sum_in_steps};
use crate::source::{OpenSource, Source};
use crate::timeline::Activity;

/// How a copy was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// Bad bytes that were read from other copies.
    pub healed_bytes: u64,
    /// Good bytes whose blocks are shared with the old file.
    pub cloned_bytes: u64,
    /// Good bytes that were written again, because the file system cannot share them.
    pub copied_bytes: u64,
}

/// See the [module](self).
pub(crate) struct Rewrite<'r> {
    pub(crate) output: &'r OutputOptions,
    pub(crate) read: &'r ReadOptions,
    pub(crate) sums: &'r Arc<Checksums>,
    /// Bad extents of the existing file; `None` if there is no file.
    pub(crate) bad: Option<&'r [Extent]>,
    /// The examined file: one that another program puts there later is not replaced.
    pub(crate) judged: DraftBase,
}

impl Rewrite<'_> {
    /// Writes the file at `path` from `from`, which compares its bytes with the sums.
    ///
    /// # Errors
    ///
    /// The failure of reading, writing or reading back; `path` is then unchanged.
    pub(crate) fn run(&self, path: &Path, from: Source) -> Result<Rewritten> {
        let len = self.sums.len();
        self.output.draft.refuse_in_place(path, "a copy of a file")?;
        let mut draft = self.output.begin(path).map_err(not_in_place)?;
        draft.build_on(self.judged);
        let source = OpenSource::open(from)?;
        if let (Some(access), None) = (source.access()?, self.output.access) {
            draft.give_access(access)?;
        }
        let mut rewritten = Rewritten::default();
        let mut missing = Vec::new();
        let (good, bad) = self.parts();
        let old = self.old(&draft, good.is_empty())?;
        for part in good {
            let shared = match &old {
                Some(old) => {
                    let at = part.offset();
                    let mut recorder = self.read.hooks.recorder(path);
                    let shared = share_range(&**draft.file(), &**old, at, at, part.len());
                    if let Ok(Some(_)) = shared {
                        recorder.lap(Activity::Copy, part.offset(), part.len());
                    }
                    // Bytes that can no longer be read are read from another copy.
                    shared.ok().flatten()
                }
                None => None,
            };
            match shared {
                Some(moved) => {
                    rewritten.cloned_bytes += moved.cloned;
                    rewritten.copied_bytes += moved.copied;
                }
                None => {
                    rewritten.copied_bytes += part.len();
                    missing.push(part);
                }
            }
        }
        rewritten.healed_bytes = bad.iter().map(|part| part.len()).sum();
        missing.extend(bad);
        missing.sort_unstable();
        self.write(&draft, &source, missing)?;
        self.read_back(&draft, &source)?;
        // FUSE replaces an open file in two steps, and a server may die between them.
        drop((source, old));
        let hooks = &self.read.hooks;
        hooks.commit(path, len, || draft.commit(len)).map_err(not_in_place)?;
        Ok(rewritten)
    }

    /// Returns the good and the bad extents of the old file. Good ones end at chunk boundaries.
    fn parts(&self) -> (Vec<Extent>, Vec<Extent>) {
        let len = self.sums.len();
        let Some(bad) = self.bad else {
            return (Vec::new(), Vec::from_iter((len > 0).then(|| Extent::between(0, len))));
        };
        let (mut good, mut at) = (Vec::new(), 0);
        for part in bad {
            good.push(Extent::between(at, part.offset()));
            at = part.end();
        }
        good.push(Extent::between(at, len));
        good.retain(|part| !part.is_empty());
        (good, bad.to_vec())
    }

    /// Returns the old file, if a part of it can be used.
    fn old(&self, draft: &Draft, nothing: bool) -> Result<Option<Arc<dyn FsFile>>> {
        if nothing {
            return Ok(None);
        }
        let opened = draft.open_existing();
        opened.map(Some).map_err(|error| Error::io(Operation::Open, draft.path(), error))
    }

    fn write(&self, draft: &Draft, source: &Arc<OpenSource>, parts: Vec<Extent>) -> Result<()> {
        // If a copy has holes, this one gets them too.
        let has_holes = source.files().iter().any(|file| is_sparse(file));
        for part in parts.iter().filter(|_| !has_holes) {
            match draft.file().allocate(part.offset(), part.len()) {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::StorageFull
                            | ErrorKind::QuotaExceeded
                            | ErrorKind::FileTooLarge
                    ) =>
                {
                    return Err(Error::io(Operation::Write, draft.path(), error).at(*part));
                }
                // If space cannot be reserved, writing may still succeed.
                Ok(()) | Err(_) => {}
            }
        }
        let write = |bytes: &[u8], extent: Extent| {
            let step = if has_holes { HOLE } else { bytes.len().max(1) };
            for (piece, offset) in bytes.chunks(step).zip((extent.offset()..).step_by(step)) {
                if has_holes && piece.iter().all(|&byte| byte == 0) {
                    continue;
                }
                write_all_at(&**draft.file(), piece, offset).map_err(|error| {
                    Error::io(Operation::Write, draft.path(), error).at(extent)
                })?;
            }
            Ok(())
        };
        self.each(source, parts, &|hands: &mut Hands<'_>, room: &mut [u8], extent| {
            let mut written = Ok(());
            match usize::try_from(extent.len()).ok().and_then(|len| room.get_mut(..len)) {
                Some(bytes) => {
                    hands.fill_once(Way::Buffered, extent.offset(), bytes)?;
                    written = write(bytes, extent);
                }
                // If a part of a chunk proves to be wrong, the chunk is written again, from
                // another copy.
                None => hands.take_in_steps(extent, room, &mut |bytes, at| {
                    let step = Extent::between(at, at + bytes.len() as u64);
                    if written.is_ok() {
                        written = write(bytes, step);
                    }
                })?,
            }
            hands.recorder.lap_if(&written, Activity::Write, extent.offset(), extent.len());
            written.map_err(LeaseTrouble::fatal)
        })
    }

    /// Reads all of the draft, from the device if it is made durable, and compares it.
    fn read_back(&self, draft: &Draft, source: &Arc<OpenSource>) -> Result<()> {
        let file = draft.file();
        let whole = Extent::between(0, self.sums.len());
        let fault = |error| Error::io(Operation::Sync, draft.path(), error);
        // Bytes after the last one of a clone do not count.
        match file.set_len(whole.end()) {
            Err(error)
                if is_no_length(&error) && file.facts().map_err(fault)?.len == whole.end() => {}
            set => set.map_err(fault)?,
        }
        if self.output.draft.durability == Durability::Full {
            file.store(true).map_err(|(_, error)| fault(error))?;
            if let Some(descriptor) = file.descriptor() {
                // If the pages stay cached, the cached bytes are compared.
                let _ = advise_file(descriptor, 0, 0, FileAdvice::DontNeed);
            }
        }
        let wrong = AtomicU64::new(u64::MAX);
        let failed: Mutex<Option<io::Error>> = Mutex::default();
        self.each(source, vec![whole], &|hands: &mut Hands<'_>, room: &mut [u8], extent| {
            hands.recorder.turn_to_path(draft.path());
            let sum = sum_in_steps(extent, room, |step, at| {
                let read = read_exact_at(&**file, step, at);
                hands.recorder.lap_if(&read, Activity::Read, at, step.len() as u64);
                read
            });
            hands.recorder.lap_if(&sum, Activity::Compute, extent.offset(), extent.len());
            let known = self.sums.chunk_at(extent.offset());
            if !matches!(sum, Ok(sum) if known == Some((extent, sum))) {
                // Relaxed: read when all workers have ended.
                wrong.fetch_min(extent.offset(), Ordering::Relaxed);
                let mut failed = failed.lock();
                *failed = failed.take().or(sum.err());
            }
            Ok(())
        })?;
        let failed = failed.into_inner();
        match (wrong.into_inner(), failed) {
            (u64::MAX, _) => Ok(()),
            (at, Some(error)) => {
                let extent = Extent::between(at, whole.end());
                Err(Error::io(Operation::Read, draft.path(), error).at(extent))
            }
            (at, None) => {
                let error = Error::new(Operation::Write, Reason::Corrupt, draft.path());
                Err(error
                    .at(Extent::between(at, whole.end()))
                    .detail(
                        "what was read back differs from what was written; nothing was changed",
                    )
                    .hint("use another device: this one does not store what is written to it"))
            }
        }
    }

    /// Calls `each` for each chunk of `parts`, on all workers, each with memory for one step.
    fn each<F>(&self, source: &Arc<OpenSource>, parts: Vec<Extent>, each: &F) -> Result<()>
    where
        F: Fn(&mut Hands<'_>, &mut [u8], Extent) -> std::result::Result<(), LeaseTrouble>
            + Sync,
    {
        let size = self.sums.chunk_size();
        let count = workers(self.read, usize::try_from(source.copies()).unwrap_or(1));
        let scheduler = chunks(parts, size, count);
        let (slots, whole) = (scheduler.slots(), Extent::between(0, self.sums.len()));
        // Progress counts examined bytes; only cancellation matters here.
        let hooks = Hooks { progress: None, ..self.read.hooks.clone() };
        let observer = Observer::new(hooks, None);
        let job =
            ReadJob::new(Arc::clone(source), whole, scheduler, Manner::default(), observer);
        let room = room_for(Extent::between(0, size.get().min(whole.len())));
        let visit = RewriteVisit { rewrite: self, source, room, each };
        worker::run(&job, &visit, slots, None);
        job.running.failure().map_or(Ok(()), Err)
    }
}

struct RewriteVisit<'e, F> {
    rewrite: &'e Rewrite<'e>,
    source: &'e OpenSource,
    room: usize,
    each: &'e F,
}

impl<F> Visit for RewriteVisit<'_, F>
where
    F: Fn(&mut Hands<'_>, &mut [u8], Extent) -> std::result::Result<(), LeaseTrouble> + Sync,
{
    type Scratch = Buffer;

    fn scratch(&self) -> Result<Buffer> {
        self.source.block(&self.rewrite.read.pool, self.room)
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        scratch: &mut Buffer,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        (self.each)(hands, &mut scratch[..self.room], lease.extent)
    }
}

/// Holes of at least this length that begin at a multiple of it are kept.
const HOLE: usize = 64 << 10;

/// Whether some bytes of the file occupy no blocks.
fn is_sparse(file: &File) -> bool {
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.blocks() * 512 < facts.len())
}
