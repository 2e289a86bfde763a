//! Random fork-join programs, and what a serial run of one writes.

/// A small generator: the same programs from the same seed, everywhere.
pub(crate) struct Random(Box<dyn FnMut() -> u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Box::new(swath_reference::splitmix(seed)))
    }

    pub(crate) fn word(&mut self) -> u64 {
        (self.0)()
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }
}

/// A step of one strand.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes `len` bytes that no other step writes.
    Write {
        id: u64,
        len: usize,
    },
    /// Lets others run: where steals happen.
    Yield,
    Join(Vec<Step>, Vec<Step>),
    /// Spawns and writes in turn.
    Scope(Vec<Spawned>),
    /// A parallel loop.
    Loop(Vec<Vec<Step>>),
    /// In another pool, entered from this one.
    OtherPool(Vec<Step>),
    /// Continues after a failure or panic inside.
    Catch(Vec<Step>),
    Fail,
    Panic,
}

#[derive(Clone, Debug)]
pub(crate) enum Spawned {
    Task(Vec<Step>),
    Here(Step),
}

/// Why a strand ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Failed,
    Panicked,
}

/// Makes programs of a bounded size.
pub(crate) struct Maker {
    pub(crate) random: Random,
    left: u32,
    next_id: u64,
    longest: u64,
}

impl Maker {
    pub(crate) fn program(seed: u64, size: u32, longest: u64) -> Vec<Step> {
        let random = Random::new(seed);
        let mut maker = Self { random, left: size, next_id: 0, longest };
        maker.steps(0)
    }

    fn steps(&mut self, depth: u32) -> Vec<Step> {
        let count = 1 + self.random.below(5);
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: u32) -> Step {
        self.left = self.left.saturating_sub(1);
        if depth >= 12 || self.left == 0 {
            return self.write();
        }
        match self.random.below(100) {
            0..40 => self.write(),
            40..48 => Step::Yield,
            48..74 => Step::Join(self.steps(depth + 1), self.steps(depth + 1)),
            74..82 => {
                let count = self.random.below(6);
                Step::Scope((0..count).map(|_| self.spawned(depth + 1)).collect())
            }
            82..90 => {
                let count = self.random.below(9);
                Step::Loop((0..count).map(|_| self.steps(depth + 4)).collect())
            }
            90..92 => Step::OtherPool(self.steps(depth + 1)),
            92..96 => Step::Catch(self.steps(depth + 1)),
            96..98 => Step::Fail,
            _ => Step::Panic,
        }
    }

    fn spawned(&mut self, depth: u32) -> Spawned {
        if self.random.below(2) == 0 {
            Spawned::Task(self.steps(depth))
        } else {
            Spawned::Here(self.step(depth))
        }
    }

    fn write(&mut self) -> Step {
        let id = self.next_id;
        self.next_id += 1;
        // Mostly short; sometimes nothing, or more than a buffer.
        let len = match self.random.below(10) {
            0 => 0,
            1 => self.random.below(self.longest),
            _ => 1 + self.random.below(24),
        };
        Step::Write { id, len: usize::try_from(len).expect("small") }
    }
}

/// The bytes of one write: its id over and over.
pub(crate) fn bytes_of(id: u64, len: usize) -> Vec<u8> {
    let name = format!("{id}.");
    name.bytes().cycle().take(len).collect()
}

/// The slow, obvious version: one strand does everything, in order, until something fails.
pub(crate) fn run_serially(steps: &[Step], out: &mut Vec<u8>) -> Result<(), Stop> {
    steps.iter().try_for_each(|step| match step {
        Step::Write { id, len } => {
            out.extend(bytes_of(*id, *len));
            Ok(())
        }
        Step::Yield => Ok(()),
        Step::Join(a, b) => {
            run_serially(a, out)?;
            run_serially(b, out)
        }
        Step::Scope(spawned) => spawned.iter().try_for_each(|it| match it {
            Spawned::Task(steps) => run_serially(steps, out),
            Spawned::Here(step) => run_serially(std::slice::from_ref(step), out),
        }),
        Step::Loop(items) => items.iter().try_for_each(|item| run_serially(item, out)),
        Step::OtherPool(steps) => run_serially(steps, out),
        Step::Catch(steps) => {
            let _ = run_serially(steps, out);
            Ok(())
        }
        Step::Fail => Err(Stop::Failed),
        Step::Panic => Err(Stop::Panicked),
    })
}
