//! Examines every chunk of every copy.

use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::machine;
use swath_plan::checksums::{CHUNK_SIZE, Checksums};
use swath_plan::extent::Extent;
use swath_plan::extents::merged;
use swath_plan::mirror::{Agreed, agree};
use swath_plan::schedule::{Lease, LeaseCut, Pause, Run, ScheduleSetup, Scheduler, Way};

use crate::engine::fill::{Hands, read_buffered};
use crate::engine::{LeaseTrouble, Manner, ReadJob, Visit, worker};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::options::ReadOptions;
use crate::sink::{Facts, LocalFs};
use crate::source::mirrored::{lengths, room_for, sum_in_steps};
use crate::source::{OpenSource, Source, SourceLength, Verify};
use crate::timeline::Activity;

/// One copy to be examined, or the error of opening it.
pub(crate) struct Copy(std::result::Result<(Arc<OpenSource>, u64), Error>);

impl Copy {
    pub(crate) fn open(source: Source) -> Self {
        Self(OpenSource::open_copy(source).and_then(|opened| match opened.kind() {
            SourceLength::Sized(len) => Ok((opened, len)),
            SourceLength::Made | SourceLength::Stream => {
                let error = Error::new(Operation::Read, Reason::Invalid, opened.name());
                Err(error.detail("it cannot be read by position").hint("pass regular files"))
            }
        }))
    }

    pub(crate) fn len(&self) -> Option<u64> {
        self.0.as_ref().ok().map(|(_, len)| *len)
    }

    /// Returns the state in which the copy is examined, if it has a descriptor.
    pub(crate) fn facts(&self) -> Option<Facts> {
        let file = self.0.as_ref().ok()?.0.file()?.try_clone().ok()?;
        LocalFs::readable(file).facts().ok()
    }

    pub(crate) fn error(&self) -> Option<Error> {
        self.0.as_ref().err().map(Error::again)
    }

    /// Returns its name, and why it cannot be opened.
    fn cause(&self) -> String {
        let Err(error) = &self.0 else { return String::new() };
        format!("{}: {}", error.path().display(), lengths::cause(error))
    }

    /// Whether nothing exists under its name: only then may it be created.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.as_ref().is_err_and(|error| error.io_kind() == io::ErrorKind::NotFound)
    }

    /// Whether a limit of this process, not the copy, prevents opening it.
    pub(crate) fn lacks_resources(&self) -> bool {
        let number = self.0.as_ref().err().and_then(Error::raw_os_error);
        let lacking = [Errno::NOMEM, Errno::NFILE, Errno::MFILE].map(Errno::raw_os_error);
        number.is_some_and(|number| lacking.contains(&number))
    }

    fn opened(&self) -> Option<&Arc<OpenSource>> {
        self.0.as_ref().ok().map(|(opened, _)| opened)
    }
}

/// The result of an examination.
pub(crate) struct Examination {
    /// Length that the file should have, in bytes.
    pub(crate) len: u64,
    /// The bad chunks of each copy, adjacent ones merged.
    pub(crate) bad: Vec<Vec<Extent>>,
    chunk_size: u64,
    /// The sum of each chunk; `None` where it is unknown.
    sums: Vec<Option<u64>>,
    /// Chunks that no copy has, or that no majority agrees on.
    lost: Vec<Extent>,
}

impl Examination {
    /// Examines all chunks of all copies.
    ///
    /// # Errors
    ///
    /// If no copy can be opened, the length of the file is unknown, or the call was cancelled.
    pub(crate) fn run(
        copies: &[Copy],
        against: &Verify,
        options: &ReadOptions,
    ) -> Result<Self> {
        let Some(first) = copies.iter().find_map(Copy::opened) else {
            let error = copies.first().and_then(Copy::error);
            let nothing = || Error::new(Operation::Open, Reason::Invalid, Path::new(""));
            return Err(error.unwrap_or_else(nothing));
        };
        refuse_twins(copies)?;
        let (quorum, len, chunk_size) = measure(copies, against, first)?;
        let extent = Extent::between(0, len);
        let count = usize::try_from(len.div_ceil(chunk_size.get())).unwrap_or(usize::MAX);
        let mut sums = Vec::new();
        // A sparse file may be arbitrarily long.
        if sums.try_reserve_exact(count).is_err() {
            return Err(Error::new(Operation::Allocate, Reason::OutOfMemory, first.name()));
        }
        sums.resize(count, None);
        let bad = copies.iter().map(|_| Vec::new()).collect();
        let found = CopyDamage { bad, sums, lost: Vec::new() };
        let visit = Look { copies, against, quorum, chunk_size, found: Mutex::new(found) };
        let scheduler = chunks(vec![extent], chunk_size, workers(options, copies.len()));
        let observer = options.observer(extent);
        let slots = scheduler.slots();
        let job =
            ReadJob::new(Arc::clone(first), extent, scheduler, Manner::default(), observer);
        worker::run(&job, &visit, slots, None);
        if let Some(error) = job.running.failure() {
            return Err(error);
        }
        let found = visit.found.into_inner();
        Ok(Self {
            len,
            bad: found.bad.into_iter().map(merged).collect(),
            chunk_size: chunk_size.get(),
            sums: found.sums,
            lost: merged(found.lost),
        })
    }

    /// Returns the error for chunks that cannot be healed.
    pub(crate) fn hopeless(&self, path: &Path) -> Option<Error> {
        let first = self.lost.first()?;
        let more = match self.lost.len() {
            1 => String::new(),
            places => format!(", and in {} more places", places - 1),
        };
        let error = Error::new(Operation::Read, Reason::Corrupt, path).at(*first);
        Some(
            error
                .detail(format!("no copy is known to be right here{more}; nothing was changed"))
                .hint("pass more copies, or a manifest of the right file"),
        )
    }

    /// Returns the sums of all chunks, if none is lost.
    pub(crate) fn into_sums(self, path: &Path) -> Result<Arc<Checksums>> {
        let sums: Option<Vec<u64>> = self.sums.into_iter().collect();
        let sums = sums.and_then(|sums| Checksums::new(self.len, self.chunk_size, sums).ok());
        sums.map(Arc::new).ok_or_else(|| {
            let error = Error::new(Operation::Read, Reason::Corrupt, path);
            error.detail("not every chunk was examined")
        })
    }
}

/// Returns a scheduler that hands out `extents` chunk by chunk.
pub(crate) fn chunks(extents: Vec<Extent>, size: NonZeroU64, workers: usize) -> Scheduler {
    let runs = extents.into_iter().map(|extent| Run { extent, way: Way::Buffered });
    Scheduler::new(ScheduleSetup {
        queues: vec![runs.collect()],
        slots: vec![vec![0]; workers.max(1)],
        cut: LeaseCut { base: 0, size },
        retries: 0,
        pause: Pause::default(),
        ahead: None,
        rate_bytes_per_s: None,
    })
}

/// Returns the number of threads to examine this many copies: a thread that waits for a device does not compare.
pub(crate) fn workers(options: &ReadOptions, copies: usize) -> usize {
    match usize::try_from(options.wishes.workers).unwrap_or(usize::MAX) {
        0 => machine::usable_cpus().max(copies.min(8)),
        wish => wish.min(1024),
    }
}

/// Refuses one file under two names: it would vote twice, and cannot be healed from itself.
fn refuse_twins(copies: &[Copy]) -> Result<()> {
    for (index, copy) in copies.iter().enumerate() {
        let Some(opened) = copy.opened() else { continue };
        let mut before = copies[..index].iter().filter_map(Copy::opened);
        if let Some(twin) = before.find(|other| other.is_same_file(opened)) {
            let error = Error::new(Operation::Open, Reason::Invalid, opened.name());
            let detail = format!("it is the same file as {}", twin.name().display());
            return Err(error.detail(detail).hint("pass each copy once"));
        }
    }
    Ok(())
}

/// Returns how many copies must agree, the length of the file, and its chunk size.
fn measure(
    copies: &[Copy],
    against: &Verify,
    first: &OpenSource,
) -> Result<(usize, u64, NonZeroU64)> {
    let quorum = copies.len() / 2 + 1;
    let usual = NonZeroU64::new(CHUNK_SIZE).unwrap_or(NonZeroU64::MIN);
    if let Verify::Manifest(sums) = against {
        return Ok((1, sums.len(), sums.chunk_size()));
    }
    let refused = |reason, detail: String| {
        let error = Error::new(Operation::Open, reason, first.name()).detail(detail);
        error.hint("pass a manifest of the right file (`--verify-against manifest=FILE`)")
    };
    if copies.len() < 2 {
        let error = refused(Reason::Invalid, String::from("one copy cannot vote"));
        return Err(error.hint(
            "name more copies, or pass a manifest of the right file (`--verify-against manifest=FILE`)",
        ));
    }
    let lens: Vec<Option<u64>> = copies.iter().map(Copy::len).collect();
    let len = agree(&lens, Agreed::Quorum(quorum)).ok_or_else(|| {
        let told = |copy: &Copy| (copy.len(), copy.cause());
        refused(Reason::Corrupt, lengths::differ(quorum, copies.iter().map(told)))
    })?;
    Ok((quorum, len, usual))
}

struct CopyDamage {
    bad: Vec<Vec<Extent>>,
    sums: Vec<Option<u64>>,
    lost: Vec<Extent>,
}

/// Reads a chunk from every copy.
struct Look<'l> {
    copies: &'l [Copy],
    against: &'l Verify,
    quorum: usize,
    chunk_size: NonZeroU64,
    found: Mutex<CopyDamage>,
}

impl Visit for Look<'_> {
    /// The chunk of each copy if copies vote, whose chunks are short; otherwise only the first is
    /// used.
    type Scratch = Vec<Vec<u8>>;

    fn scratch(&self) -> Result<Self::Scratch> {
        Ok(vec![Vec::new(); self.copies.len()])
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        scratch: &mut Self::Scratch,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let votes = !matches!(self.against, Verify::Manifest(_));
        let mut sums = Vec::with_capacity(self.copies.len());
        for (index, copy) in self.copies.iter().enumerate() {
            let bytes = &mut scratch[if votes { index } else { 0 }];
            sums.push(sum(copy, hands, bytes, lease.extent).map_err(LeaseTrouble::fatal)?);
        }
        let (right, good): (_, Vec<bool>) = match self.against {
            Verify::Manifest(known) => {
                let right = known.chunk_at(lease.extent.offset()).map(|it| it.1);
                (right, sums.iter().map(|sum| sum.is_some() && *sum == right).collect())
            }
            Verify::Vote | Verify::None => self.voted(&sums, scratch),
        };
        self.note(lease.extent, &good, right);
        Ok(())
    }
}

/// Returns the sum of a chunk of a copy; `None` if the copy lacks it. A chunk that extends past the
/// end of the copy is not read: a wrong length may be huge.
fn sum(
    copy: &Copy,
    hands: &mut Hands<'_>,
    bytes: &mut Vec<u8>,
    chunk: Extent,
) -> Result<Option<u64>> {
    let Some(opened) = copy.opened() else { return Ok(None) };
    if copy.len().is_none_or(|len| len < chunk.end()) {
        return Ok(None);
    }
    let room = room_for(chunk);
    if bytes.try_reserve_exact(room.saturating_sub(bytes.len())).is_err() {
        let error = Error::new(Operation::Allocate, Reason::OutOfMemory, opened.name());
        return Err(error.at(chunk));
    }
    bytes.resize(room, 0);
    hands.recorder.turn_to_path(opened.name());
    let (recorder, tally) = (&mut hands.recorder, &mut hands.tally);
    let sum = sum_in_steps(chunk, bytes, |step, at| {
        let read = read_buffered(opened, at, step, tally);
        recorder.lap_if(&read, Activity::Read, at, step.len() as u64);
        read
    });
    recorder.lap_if(&sum, Activity::Compute, chunk.offset(), chunk.len());
    Ok(sum.ok())
}

impl Look<'_> {
    /// Returns the sum of the bytes that enough copies have, and which copies have them. Compares the bytes, not
    /// only their sums.
    fn voted(&self, sums: &[Option<u64>], bytes: &[Vec<u8>]) -> (Option<u64>, Vec<bool>) {
        let like = |one: usize| -> Vec<bool> {
            let is_same = |other: usize| {
                sums[one].is_some() && sums[one] == sums[other] && bytes[one] == bytes[other]
            };
            (0..sums.len()).map(is_same).collect()
        };
        let wins = |good: &Vec<bool>| good.iter().filter(|it| **it).count() >= self.quorum;
        let won = (0..sums.len()).map(|one| (sums[one], like(one))).find(|(_, it)| wins(it));
        won.unwrap_or_else(|| (None, vec![false; sums.len()]))
    }

    fn note(&self, extent: Extent, good: &[bool], right: Option<u64>) {
        let mut found = self.found.lock();
        if !good.contains(&true) {
            found.lost.push(extent);
        }
        for (bad, _) in found.bad.iter_mut().zip(good).filter(|(_, is_good)| !**is_good) {
            bad.push(extent);
        }
        let index = usize::try_from(extent.offset() / self.chunk_size).unwrap_or(usize::MAX);
        if let Some(sum) = found.sums.get_mut(index) {
            *sum = right;
        }
    }
}
