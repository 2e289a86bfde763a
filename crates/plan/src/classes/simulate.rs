//! An executor with a virtual clock, scripted latencies and faults, and a model that is independent
//! of the state machine's decisions: which units of 4 KiB have been read.

use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use alloc::{borrow::ToOwned, format};
use core::cmp::Reverse;

use super::{
    Action, Arranged, ClassLease, ClassSetup, Classes, Item, Outcome, Pause, Shape, Verdict,
    Way,
};
use crate::extent::Extent;
use crate::random::next_word;

pub(super) const UNIT: u64 = 4096;

/// Random numbers from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        next_word(&mut self.0) % below.max(1)
    }

    pub(super) fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.roll(below as u64)).expect("below a length")
    }
}

/// The script of a run.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) seed: u64,
    pub(super) items: Vec<Item>,
    pub(super) shape: Shape,
    /// The window that the checker expects.
    pub(super) promised: usize,
    /// Percentage of pieces that fail for a transient reason, if they may.
    pub(super) faults: u64,
    /// Percentage of steps at which another class is promoted.
    pub(super) promotions: u64,
    pub(super) way: Way,
}

impl Script {
    /// Draws small plans of every kind: holes, overlaps, duplicates, several files, empty lines.
    pub(super) fn random(seed: u64, window: usize) -> Self {
        let mut dice = Dice(seed);
        let (files, classes) = (1 + dice.index(2), 1 + dice.roll(9));
        let (count, units) = (1 + dice.index(30), 1 + dice.roll(200));
        let neat = dice.roll(3);
        let item = |index: usize, dice: &mut Dice| {
            // Three kinds of plans: adjacent, strided, and arbitrary.
            let len = if neat == 0 { 8 } else { dice.roll(1 + units / 4) };
            let offset = if neat == 0 { index as u64 * 8 } else { dice.roll(units) };
            let class = if neat == 1 { index as u64 % classes } else { dice.roll(classes) };
            Item {
                file: dice.index(files),
                extent: Extent::between(offset * UNIT, (offset + len) * UNIT),
                class: u32::try_from(class * 7).expect("small"),
            }
        };
        let items = (0..count).map(|index| item(index, &mut dice)).collect();
        let shape = Shape { window, slots: 1 + dice.index(16) };
        let way = if dice.roll(4) == 0 { Way::Direct } else { Way::Buffered };
        let (faults, promotions) = ([0, 20][dice.index(2)], [0, 10][dice.index(2)]);
        Self { seed, items, shape, promised: window, faults, promotions, way }
    }
}

/// The observations of a run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) violations: Vec<String>,
    /// Class indices in the order in which they were announced.
    pub(super) announced: Vec<usize>,
    pub(super) max_skew: usize,
    pub(super) parked: usize,
}

/// The units that have been read.
struct Model {
    arrived: Vec<Vec<u8>>,
    items: Vec<Item>,
    begun: Vec<usize>,
}

impl Model {
    fn units(extent: Extent) -> core::ops::Range<usize> {
        let unit = |offset: u64| usize::try_from(offset / UNIT).expect("small");
        unit(extent.offset())..unit(extent.end())
    }

    fn is_complete(&self, number: u32) -> bool {
        let of = self.items.iter().filter(|item| item.class == number);
        of.into_iter().all(|item| {
            self.arrived[item.file][Self::units(item.extent)].iter().all(|&times| times > 0)
        })
    }
}

pub(super) struct SimulatedRun {
    script: Script,
    dice: Dice,
    machine: Classes,
    arranged: Arc<Arranged>,
    model: Model,
    pub(super) seen: Seen,
    now: u64,
    flights: BinaryHeap<Reverse<(u64, usize)>>,
    leases: Vec<Option<ClassLease>>,
    parked: Vec<usize>,
    over: usize,
}

impl SimulatedRun {
    pub(super) fn new(script: Script) -> Self {
        let arranged = Arc::new(Arranged::new(&script.items, script.shape));
        let machine = Classes::new(ClassSetup {
            arranged: Arc::clone(&arranged),
            ways: vec![script.way; arranged.files()],
            retries: 3,
            pause: Pause::default(),
            rate_bytes_per_s: None,
        });
        let files = arranged.files();
        let end = script.items.iter().map(|item| item.extent.end()).max().unwrap_or(0);
        let units = usize::try_from(end / UNIT).expect("small");
        let model = Model {
            arrived: vec![vec![0; units]; files],
            items: script.items.clone(),
            begun: Vec::new(),
        };
        let slots = script.shape.slots;
        Self {
            dice: Dice(script.seed ^ 0xD1CE),
            script,
            machine,
            arranged,
            model,
            seen: Seen::default(),
            now: 0,
            flights: BinaryHeap::new(),
            leases: vec![None; slots],
            parked: Vec::new(),
            over: 0,
        }
    }

    /// Runs until all slots are done, or no progress is possible.
    pub(super) fn go(mut self) -> Seen {
        let slots = self.leases.len();
        self.announce();
        for slot in 0..slots {
            self.ask(slot);
        }
        while let Some(Reverse((at, slot))) = self.flights.pop() {
            self.now = at;
            self.land(slot);
            self.announce();
            self.ask(slot);
        }
        // The last slot to end wakes all, as in an executor.
        let waiting = core::mem::take(&mut self.parked);
        if !self.machine.all_complete() || self.over + waiting.len() != slots {
            self.complain(format!("hangs with {waiting:?} parked"));
        }
        self.check_end();
        self.seen.max_skew = self.machine.max_skew();
        self.seen
    }

    fn complain(&mut self, what: String) {
        self.seen.violations.push(what);
    }

    fn ask(&mut self, slot: usize) {
        if self.dice.roll(100) < self.script.promotions {
            let class = self.dice.index(self.arranged.classes());
            self.machine.promote(class);
        }
        match self.machine.next(self.now) {
            Action::Read(lease) => {
                self.check_begin(&lease);
                let latency = 1 + self.dice.roll(if self.dice.0 & 7 == 0 { 1000 } else { 10 });
                self.leases[slot] = Some(lease);
                self.flights.push(Reverse((self.now + latency, slot)));
            }
            Action::Park => {
                self.seen.parked += 1;
                self.parked.push(slot);
            }
            Action::Done | Action::Stop => self.over += 1,
            Action::WaitUntil(_) => self.complain("waits without a rate".to_owned()),
        }
        // A slot that gets a lease wakes one more if there is another.
        if self.machine.has_more(self.now)
            && let Some(next) = self.parked.pop()
        {
            self.ask(next);
        }
    }

    fn check_begin(&mut self, lease: &ClassLease) {
        if self.model.begun.contains(&lease.class) {
            return;
        }
        self.model.begun.push(lease.class);
        let number = |class: usize| self.arranged.number(class);
        let order = self.machine.order().to_vec();
        let position = order.iter().position(|&class| class == lease.class);
        let position = position.expect("every class has a position");
        let promised = (position + 1).saturating_sub(self.script.promised);
        let missing: Vec<_> = order[..promised]
            .iter()
            .filter(|&&class| !self.model.is_complete(number(class)))
            .copied()
            .collect();
        let begun = self.model.begun.iter();
        let in_flight = begun.filter(|&&class| !self.model.is_complete(number(class))).count();
        if !missing.is_empty() || in_flight > self.script.promised {
            self.complain(format!("{} began before {missing:?}: {in_flight}", lease.class));
        }
    }

    fn land(&mut self, slot: usize) {
        let lease = self.leases[slot].take().expect("a slot in flight has a lease");
        let count = lease.places.len();
        let (done, outcome) = match lease.way {
            Way::Direct if self.dice.roll(8) == 0 => (self.dice.index(count), Outcome::Refused),
            _ if lease.tried < 3 && self.dice.roll(100) < self.script.faults => {
                (self.dice.index(count), Outcome::Passing { after: 0 })
            }
            _ => (count, Outcome::Complete),
        };
        for place in lease.places.clone().take(done) {
            let piece = self.arranged.piece(place);
            for times in &mut self.model.arrived[piece.file][Model::units(piece.extent)] {
                *times += 1;
            }
        }
        let verdict = self.machine.completed(&lease, done, outcome, self.now);
        let expected = match outcome {
            Outcome::Complete => Verdict::Continue,
            Outcome::Passing { .. } => Verdict::Retry,
            Outcome::Refused => Verdict::FellBack,
            Outcome::Fatal => Verdict::Failed,
        };
        if verdict != expected {
            self.complain(format!("{outcome:?} came to {verdict:?}"));
        }
    }

    fn announce(&mut self) {
        while let Some(class) = self.machine.next_complete() {
            if !self.model.is_complete(self.arranged.number(class)) {
                self.complain(format!("class {class} is announced too early"));
            }
            self.seen.announced.push(class);
        }
    }

    fn check_end(&mut self) {
        let mut classes = self.seen.announced.clone();
        classes.sort_unstable();
        if classes != (0..self.arranged.classes()).collect::<Vec<_>>() {
            self.complain(format!("announced: {classes:?}"));
        }
        for (file, arrived) in self.model.arrived.clone().iter().enumerate() {
            for (unit, &times) in arrived.iter().enumerate() {
                let wanted =
                    self.model.items.iter().any(|item| {
                        item.file == file && Model::units(item.extent).contains(&unit)
                    });
                if times != u8::from(wanted) {
                    self.complain(format!("unit {unit} of file {file} came {times} times"));
                }
            }
        }
    }
}
