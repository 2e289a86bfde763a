//! One worker of a read by classes: pieces from a file into memory.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use swath_os::memory::{Pages, WriteLease};
use swath_os::priority::set_thread_io_priority;
use swath_plan::classes::{Lease, Piece};
use swath_plan::fallback::Fallback;
use swath_plan::schedule::Way;

use crate::engine::Trouble;
use crate::engine::fill::Hands;
use crate::error::{Error, Operation, Reason};
use crate::prioritised::shared::{Ended, Shared, Turn};
use crate::timeline::Activity;

/// Does the work of the first worker, and beside it has as many more as the source is worth.
pub(super) fn lead(shared: &Shared) {
    let Some(watch) = &shared.watch else { return work(shared, 0) };
    std::thread::scope(|scope| {
        let _ends = watch.ends();
        let start = |slot: usize| {
            let thread = std::thread::Builder::new().name(format!("swath-class-{slot}"));
            shared.join(1);
            let started = thread.spawn_scoped(scope, move || help(shared, slot)).map(drop);
            started.inspect_err(|_| shared.leave())
        };
        let foreman = std::thread::Builder::new().name(String::from("swath-crew"));
        if let Err(error) =
            foreman.spawn_scoped(scope, move || watch.lead(&mut |slot| start(slot)))
        {
            shared.fell_back(Fallback::NoMoreWorkers { why: error.to_string() });
        }
        work(shared, 0);
    });
    shared.helpers.panics.resume();
}

/// Works beside the first worker, which goes on with a panic of a callback.
fn help(shared: &Shared, slot: usize) {
    shared.helpers.add(std::thread::current().id());
    let worked = catch_unwind(AssertUnwindSafe(|| work(shared, slot)));
    if let Err(panic) = worked {
        shared.helpers.panics.panicked(slot as u64, panic);
    }
}

/// Does what the state machine says until nothing is left for `slot`.
pub(super) fn work(shared: &Shared, slot: usize) {
    let _leave = Leave(shared);
    let mut guard = None;
    if let Some(priority) = shared.io_priority {
        match set_thread_io_priority(priority) {
            Ok(set) => guard = Some(set),
            Err(error) if slot == 0 => {
                shared.fell_back(Fallback::PriorityNotSet { why: error.to_string() })
            }
            Err(_) => {}
        }
    }
    let Some(first) = shared.inputs.first() else { return };
    let recorder = shared.observer.recorder(first.source.name());
    let hands = Hands::of(&first.source, Some(shared.chunk_size), recorder);
    let hands = hands.watched_by(shared.watch.as_ref());
    let mut reader = Reader { shared, hands, wide: None, lines: Vec::new() };
    let mut ended = None;
    loop {
        let turn = shared.turn(slot, ended.take());
        reader.hands.recorder.waited();
        match turn {
            Turn::Read(lease) => ended = Some(reader.read(lease)),
            Turn::Announce => {
                shared.announce();
                reader.hands.recorder.lap(Activity::Compute, 0, 0);
            }
            Turn::Over => break,
        }
    }
    // Classes that became complete while somebody else was announcing are that one's.
    shared.count(reader.hands.tally);
    drop(guard);
}

struct Reader<'s> {
    shared: &'s Shared,
    hands: Hands<'s>,
    /// What direct reads of other than whole units go through.
    wide: Option<Pages>,
    lines: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self, lease: Lease) -> Ended {
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
            if let Some(behind) = &input.drop_behind {
                behind.drop(&input.source, piece.extent);
            }
            shared.call_chunks(shared.layout.arranged.index_of(place), &mut self.lines);
            done += 1;
            bytes += piece.extent.len();
        }
        shared.observer.delivered(bytes);
        Ended { lease, done, bytes, trouble }
    }

    fn read_piece(&mut self, way: Way, piece: &Piece) -> Result<(), Trouble> {
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

    /// Reads past the page cache; what is not whole units of the device, with what is around it.
    fn fill_directly(&mut self, piece: &Piece, target: &mut [u8]) -> Result<(), Trouble> {
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
            let no_memory = |error| Trouble::fatal(source.no_memory(piece.extent, error));
            self.wide = Some(pages.map_err(no_memory)?);
        }
        let Some(wide) = &mut self.wide else { return Ok(()) };
        let skip = self.hands.fill_widened(piece.extent, wide)?;
        target.copy_from_slice(&wide[skip..][..target.len()]);
        Ok(())
    }
}

fn lend<'s>(shared: &'s Shared, piece: &Piece) -> Result<WriteLease<'s>, Trouble> {
    let place = usize::try_from(piece.place).unwrap_or(usize::MAX);
    let len = usize::try_from(piece.extent.len()).unwrap_or(usize::MAX);
    shared.memory.write(place, len).ok_or_else(|| {
        let name = shared.inputs[piece.file].source.name();
        let error = Error::new(Operation::Read, Reason::Io, name);
        Trouble::fatal(error.at(piece.extent).detail("these bytes are being read already"))
    })
}

/// Says that a worker ends. Others must not wait for one that panicked, in a callback or here.
struct Leave<'s>(&'s Shared);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (name, _) = self.0.place_of_all();
            let error = io::Error::other("a worker or a callback panicked");
            self.0.fail(Error::io(Operation::Read, name, error));
        }
        self.0.leave();
    }
}
