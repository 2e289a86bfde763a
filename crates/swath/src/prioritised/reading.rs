//! One worker of a read by classes: reads pieces of a file into memory.

use std::io;

use swath_os::memory::{Pages, WriteLease};
use swath_plan::classes::{ClassLease, ClassPiece};
use swath_plan::schedule::Way;

use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, worker};
use crate::error::{Error, Operation, Reason};
use crate::failures::caught;
use crate::prioritised::shared::{SharedReading, Step};
use crate::timeline::Activity;

/// Works as `slot`. The first worker starts more workers as the source demands; they end before it
/// does.
pub(super) fn work(shared: &SharedReading, slot: usize) {
    let _leave = ReaderExit(shared);
    if slot > 0 {
        return work_on(shared, slot);
    }
    let more = |slot: usize| {
        let _leave = (slot > 0).then(|| {
            shared.join(1);
            ReaderExit(shared)
        });
        work_on(shared, slot);
    };
    worker::with_crew(&shared.running, &more, slot);
}

/// Carries out the steps of the state machine until nothing is left for `slot`. If a callback
/// panics, the read keeps the panic and ends; it resumes in the thread that waits for the end.
fn work_on(shared: &SharedReading, slot: usize) {
    let here = std::thread::current().id();
    shared.workers().push(here);
    let worked = caught(|| {
        let Some(mut reader) = ClassReader::new(shared) else { return };
        let _priority = shared.running.set_io_priority(slot == 0);
        while let Some(step) = shared.running.next(slot) {
            reader.hands.recorder.waited();
            match step {
                Step::Read(lease) => reader.read(lease),
                Step::Announce => {
                    shared.announce();
                    reader.hands.recorder.lap(Activity::Compute, 0, 0);
                }
            }
        }
        reader.hands.recorder.waited();
        // The crew may have dismissed this worker before it announced completed classes.
        shared.announce();
        shared.running.count(reader.hands.tally);
    });
    if let Err(panic) = worked {
        let (name, _) = shared.running.place();
        let error = io::Error::other("a worker or a callback panicked");
        shared.running.fail(Error::io(Operation::Read, name, error));
        shared.running.panicked(slot as u64, panic);
    }
    shared.workers().retain(|&id| id != here);
}

struct ClassReader<'s> {
    shared: &'s SharedReading,
    hands: Hands<'s>,
    /// Memory for direct reads that do not consist of whole units.
    wide: Option<Pages>,
    lines: Vec<usize>,
}

impl<'s> ClassReader<'s> {
    /// Returns a reader of the first file; `None` if there is no file.
    fn new(shared: &'s SharedReading) -> Option<Self> {
        let first = shared.inputs.first()?;
        let recorder = shared.running.observer.recorder(first.source.name());
        let hands = Hands::of(&first.source, Some(shared.chunk_size), recorder);
        let hands = hands.watched_by(shared.running.watch.as_ref());
        Some(Self { shared, hands, wide: None, lines: Vec::new() })
    }

    fn read(&mut self, lease: ClassLease) {
        let shared = self.shared;
        let input = &shared.inputs[lease.file];
        self.hands.turn_to(&input.source);
        let (mut done, mut bytes, mut trouble) = (0, 0, None);
        for place in lease.places.clone() {
            let piece = shared.layout.arranged.piece(place);
            if let Err(failed) = self.read_piece(lease.way, piece) {
                trouble = Some(failed);
                break;
            }
            if let Some(drop_behind) = &input.drop_behind {
                drop_behind.drop(&input.source, piece.extent);
            }
            shared.call_chunks(shared.layout.arranged.index_of(place), &mut self.lines);
            done += 1;
            bytes += piece.extent.len();
        }
        shared.take_back(&lease, done, bytes, trouble);
    }

    fn read_piece(&mut self, way: Way, piece: &ClassPiece) -> Result<(), LeaseTrouble> {
        let shared = self.shared;
        let mut memory = lend(shared, piece)?;
        self.hands.prepare(&memory, piece.extent.offset())?;
        match way {
            Way::Direct => self.fill_directly(piece, &mut memory)?,
            Way::Buffered => self.hands.fill(way, piece.extent.offset(), &mut memory)?,
        }
        memory.freeze();
        Ok(())
    }

    /// Reads directly, bypassing the page cache; a piece that does not consist of whole units of the
    /// device is read together with its surroundings.
    fn fill_directly(
        &mut self,
        piece: &ClassPiece,
        target: &mut [u8],
    ) -> Result<(), LeaseTrouble> {
        let shared = self.shared;
        let direct = shared.inputs[piece.file].source.direct();
        let unit = direct.map_or(1, |direct| direct.unit.get());
        let (offset, len) = (piece.extent.offset(), piece.extent.len());
        if offset.is_multiple_of(unit) && len.is_multiple_of(unit) {
            return self.hands.fill(Way::Direct, offset, target);
        }
        let wanted = target.len() + 2 * usize::try_from(unit).unwrap_or(0);
        if self.wide.as_ref().is_none_or(|pages| pages.len() < wanted) {
            let pages = Pages::map(wanted);
            let source = &shared.inputs[piece.file].source;
            let no_memory = |error| LeaseTrouble::fatal(source.no_memory(piece.extent, error));
            self.wide = Some(pages.map_err(no_memory)?);
        }
        let Some(wide) = &mut self.wide else { return Ok(()) };
        let skip = self.hands.fill_units(piece.extent, wide)?;
        target.copy_from_slice(&wide[skip..][..target.len()]);
        Ok(())
    }
}

fn lend<'s>(
    shared: &'s SharedReading,
    piece: &ClassPiece,
) -> Result<WriteLease<'s>, LeaseTrouble> {
    let place = usize::try_from(piece.place).unwrap_or(usize::MAX);
    let len = usize::try_from(piece.extent.len()).unwrap_or(usize::MAX);
    shared.memory.write(place, len).ok_or_else(|| {
        let name = shared.inputs[piece.file].source.name();
        let error = Error::new(Operation::Read, Reason::Io, name);
        LeaseTrouble::fatal(error.at(piece.extent).detail("these bytes are already being read"))
    })
}

/// Records the end of a worker when dropped, even by a panic.
struct ReaderExit<'s>(&'s SharedReading);

impl Drop for ReaderExit<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
