//! Lets a writer fail, and lose power, at each of its calls, and inspects what is left.
//!
//! | After | A reader finds | Other files |
//! | --- | --- | --- |
//! | success | the new state, also after a crash | nothing |
//! | an error | the last state that was reported as durable | nothing |
//! | an error with an unknown outcome | the old or the new state, whole | nothing; in a folder, the segments of both |
//! | a crash at any call | one of the states, not older than the last durable one | nothing,
//! once another write has finished |

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::sink::Fs;
use swath_reference::battery::Battery;

use super::disk::{Call, Fault};
use super::simulated::{Abilities, SimulatedFs};
use super::world::{Node, World};

/// How a writer ended, if not well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The state is what it was.
    NotDone(String),
    /// The state is the old or the new one.
    Unknown(String),
}

impl From<swath::Error> for Failure {
    fn from(error: swath::Error) -> Self {
        match error.reason() {
            swath::Reason::OutcomeUnknown => Self::Unknown(format!("{error:?}")),
            _ => Self::NotDone(format!("{error:?}")),
        }
    }
}

impl From<std::io::Error> for Failure {
    /// Makes an error of a write: no commit has begun.
    fn from(error: std::io::Error) -> Self {
        Self::NotDone(format!("{error:?}"))
    }
}

/// The file that a reader finds: nothing, or bytes.
pub(crate) type State = Option<Vec<u8>>;

/// The latest state that the writer knows to be durable, as an index of [`Subject::states`].
#[derive(Debug, Default)]
pub(crate) struct Reached(Cell<usize>);

impl Reached {
    pub(crate) fn durable(&self, state: usize) {
        self.0.set(state);
    }
}

/// A writer, and how to read what it wrote.
pub(crate) trait Subject {
    /// The folder in which everything happens.
    fn folder(&self) -> PathBuf {
        PathBuf::from("/d")
    }

    /// Creates the first of the states, durably.
    fn prepare(&self, fs: &SimulatedFs);

    /// All states that a reader may ever find, in the order in which the writer creates them.
    fn states(&self) -> Vec<State>;

    /// Goes from the first state, or from any other, to the last.
    fn write(&self, fs: Arc<dyn Fs>, reached: &Reached) -> Result<(), Failure>;

    /// Reads as a user does; an error says how it is torn.
    fn read(&self, fs: &SimulatedFs) -> Result<State, String>;

    /// The names that may exist in the folder in this state.
    fn names(&self, state: &State) -> Vec<String>;

    /// Returns the names left over that belong neither to the state nor to another file.
    fn strays(&self, fs: &SimulatedFs, state: &State) -> Vec<String> {
        let allowed = self.names(state);
        let names = fs.names(&self.folder());
        names.into_iter().filter(|name| !allowed.contains(name)).collect()
    }

    /// Whether both states are kept completely while it is unknown which of them counts.
    fn keeps_both(&self) -> bool {
        false
    }

    /// Creates the last state from whatever a crash has left.
    fn write_again(&self, fs: Arc<dyn Fs>) -> Result<(), Failure> {
        self.write(fs, &Reached::default())
    }
}

/// One attempt: what was planned, and what happened.
struct Attempt<'s> {
    subject: &'s dyn Subject,
    fs: SimulatedFs,
    what: String,
    reached: usize,
    ended: Result<(), Failure>,
}

impl<'s> Attempt<'s> {
    fn new(subject: &'s dyn Subject, abilities: Abilities, faults: &[(usize, Fault)]) -> Self {
        let fs = SimulatedFs::new(abilities);
        fs.prepare_folder(&subject.folder());
        subject.prepare(&fs);
        fs.plan(faults);
        let reached = Reached::default();
        let ended = subject.write(Arc::new(fs.clone()), &reached);
        let calls = fs.calls();
        let each = faults.iter().map(|(index, fault)| {
            format!("{fault:?} at call {index} ({:?})", calls.get(*index))
        });
        let what = each.collect::<Vec<_>>().join(", then ");
        Self { subject, fs, what, reached: reached.0.get(), ended }
    }

    /// The states that may be found, as indices.
    fn allowed(&self) -> std::ops::RangeInclusive<usize> {
        let last = self.subject.states().len() - 1;
        match &self.ended {
            Ok(()) => last..=last,
            Err(Failure::NotDone(_)) => self.reached..=self.reached,
            // Only of a commit that was begun.
            Err(Failure::Unknown(_)) => self.reached..=(self.reached + 1).min(last),
        }
    }

    fn complain(&self, about: &str) -> String {
        let ended = match &self.ended {
            Ok(()) => String::from("well"),
            Err(Failure::NotDone(why)) => format!("without effect ({why})"),
            Err(Failure::Unknown(why)) => format!("in the unknown ({why})"),
        };
        format!("[{}] ended {ended}: {about}", self.what)
    }

    /// Checks what readers see now, without a crash.
    fn check_visible(&self, may_leave_strays: bool) -> Result<(), String> {
        let state = self.check_state(&self.fs, self.allowed())?;
        if !may_leave_strays {
            self.check_names(&self.fs, &state)?;
        }
        Ok(())
    }

    fn check_state(
        &self,
        fs: &SimulatedFs,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<State, String> {
        let state =
            self.subject.read(fs).map_err(|torn| self.complain(&format!("torn: {torn}")))?;
        let states = self.subject.states();
        if allowed.clone().any(|index| states[index] == state) {
            return Ok(state);
        }
        let found = match states.iter().position(|known| *known == state) {
            Some(index) => format!("state {index}"),
            None => format!("no state at all, {state:?}"),
        };
        Err(self.complain(&format!("a reader finds {found}, allowed are {allowed:?}")))
    }

    fn check_names(&self, fs: &SimulatedFs, state: &State) -> Result<(), String> {
        match self.subject.strays(fs, state).first() {
            Some(stray) => Err(self.complain(&format!("{stray} is left"))),
            None => Ok(()),
        }
    }

    /// Lets the power fail and the machine start again, with every disk that could be left.
    fn check_crash(&self, allowed: std::ops::RangeInclusive<usize>) -> Result<usize, String> {
        let mut seen = HashSet::new();
        for world in self.fs.world().after_a_crash() {
            if !seen.insert(fingerprint(&world)) {
                continue;
            }
            let fs = SimulatedFs::of(world, self.fs.abilities());
            self.check_state(&fs, allowed.clone())?;
            self.check_next_run(&fs)?;
        }
        Ok(seen.len())
    }

    /// As [`check_crash`](Self::check_crash), for a writer that was killed by it.
    fn check_killed(&self) -> Result<usize, String> {
        let last = self.subject.states().len() - 1;
        match self.ended {
            // The call that was not made was one whose failure does not matter.
            Ok(()) => self.check_crash(last..=last),
            // The commit that it was in may have been made; those before it were.
            Err(_) => self.check_crash(self.reached..=(self.reached + 1).min(last)),
        }
    }

    /// A writer must not report an unknown outcome before it has begun to give a name.
    fn check_knowledge(&self, index: usize, fault: Fault) -> Result<(), String> {
        let calls = self.fs.calls();
        let gives_names = |call: &Call| matches!(call, Call::Link | Call::Rename);
        let may = calls[..index].iter().any(gives_names)
            || calls.get(index).is_some_and(gives_names)
                && matches!(fault, Fault::ErrorAfter(_));
        match self.ended {
            Err(Failure::Unknown(_)) if !may => {
                Err(self.complain("it is known that nothing was named"))
            }
            _ => Ok(()),
        }
    }

    /// The next writer is not hindered by what was left, and removes it.
    fn check_next_run(&self, fs: &SimulatedFs) -> Result<(), String> {
        let ended = self.subject.write_again(Arc::new(fs.clone()));
        ended.map_err(|error| self.complain(&format!("then the next run: {error:?}")))?;
        let last = self.subject.states().len() - 1;
        let state = self.check_state(fs, last..=last)?;
        self.check_names(fs, &state)
    }
}

/// Returns the fingerprint of a disk: of everything that can be reached on it.
fn fingerprint(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut ways = vec![0];
    while let Some(inode) = ways.pop() {
        match &world.nodes[inode] {
            Node::File(file) => (inode, &file.bytes).hash(&mut hasher),
            Node::Folder(folder) => {
                (inode, &folder.names).hash(&mut hasher);
                ways.extend(folder.names.values());
            }
        }
    }
    hasher.finish()
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

/// Whether the reply to this call may be lost: it gives a name or makes something durable.
fn may_lose_its_answer(call: Call) -> bool {
    matches!(call, Call::Link | Call::Rename | Call::Sync | Call::SyncFolder)
}

/// Whether the result of a writer is inspected after a crash too, or only by readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Promised,
    NotPromised,
}

/// At about how many calls of one subject a push tries faults: at each of most subjects, whose calls are
/// fewer, at others of a job each time. In `torture` at each call of all.
const CALLS: usize = 48;

/// Runs `subject` with each fault at each call and returns how many attempts were made.
///
/// # Errors
///
/// With the first thing that is wrong.
pub(crate) fn fail_everywhere(
    subject: &dyn Subject,
    abilities: Abilities,
    durability: Durability,
) -> Result<usize, String> {
    let whole = Attempt::new(subject, abilities, &[]);
    whole.check_visible(false)?;
    let calls = whole.fs.calls();
    let mut attempts = 0;
    let some = Battery::of_list("power-cuts", CALLS, calls.iter().copied().enumerate());
    for (index, call) in some {
        let errors = [EIO, ENOSPC, EDQUOT].map(Fault::Error);
        let lost = may_lose_its_answer(call).then_some(Fault::ErrorAfter(EIO));
        for fault in errors.into_iter().chain(lost).chain([Fault::Short]) {
            let attempt = Attempt::new(subject, abilities, &[(index, fault)]);
            attempt.check_knowledge(index, fault)?;
            // What cannot be removed stays; the next run removes it.
            let failed = attempt.fs.calls().get(index).copied();
            let is_removing = matches!(failed, Some(Call::Remove | Call::List));
            let keeps_both =
                subject.keeps_both() && matches!(attempt.ended, Err(Failure::Unknown(_)));
            attempt.check_visible(is_removing || keeps_both)?;
            if durability == Durability::Promised {
                attempt.check_crash(attempt.allowed())?;
            }
            attempt.check_next_run(&attempt.fs)?;
            attempts += 1;
        }
    }
    Ok(attempts)
}

/// Lets the power fail at each call of `subject`, and after the last, and returns how many disks
/// could have been left. Repeats this after an error at each call: the clean-up is killed too.
///
/// # Errors
///
/// With the first thing that is wrong.
pub(crate) fn crash_everywhere(
    subject: &dyn Subject,
    abilities: Abilities,
) -> Result<usize, String> {
    let whole = Attempt::new(subject, abilities, &[]);
    let mut disks = whole.check_crash(whole.allowed())?;
    let count = whole.fs.calls().len();
    for crash in Battery::of_list("power-cuts", CALLS, 0..count) {
        disks += Attempt::new(subject, abilities, &[(crash, Fault::Crash)]).check_killed()?;
    }
    for error in Battery::of_list("power-cuts", CALLS / 4, 0..count) {
        // The clean-up makes few calls; writers that continue in spite of the error were checked
        // above.
        for crash in error + 1..error + 8 {
            let faults = [(error, Fault::Error(EIO)), (crash, Fault::Crash)];
            let attempt = Attempt::new(subject, abilities, &faults);
            if crash >= attempt.fs.calls().len() {
                break;
            }
            disks += attempt.check_killed()?;
        }
    }
    Ok(disks)
}

/// Lets the power fail at about `slice` calls of `subject`, in `torture` at each.
///
/// # Errors
///
/// With the first thing that is wrong.
pub(crate) fn crash_somewhere(
    subject: &dyn Subject,
    abilities: Abilities,
    slice: usize,
) -> Result<(), String> {
    let count = Attempt::new(subject, abilities, &[]).fs.calls().len();
    for crash in Battery::of_list("power-cuts", slice, 0..count) {
        Attempt::new(subject, abilities, &[(crash, Fault::Crash)]).check_killed()?;
    }
    Ok(())
}

/// Both.
///
/// # Errors
///
/// With the first thing that is wrong.
pub(crate) fn attack(subject: &dyn Subject, abilities: Abilities) -> Result<(), String> {
    let attempts = fail_everywhere(subject, abilities, Durability::Promised)?;
    let disks = crash_everywhere(subject, abilities)?;
    assert!(attempts > 10 && disks > 10, "{attempts} attempts, {disks} disks");
    Ok(())
}

/// A path in the folder of a [`Subject`].
pub(crate) fn target(name: &str) -> PathBuf {
    Path::new("/d").join(name)
}
