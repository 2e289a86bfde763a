//! The threads of one call, and those that outlive it: named, started in one place, and done with fewer
//! of them where the machine has no more.
//!
//! Nothing here is generic: what starts threads would be compiled again for every closure that runs on
//! one. For the same reason a [`Work`] has one method, where a `dyn Fn` has three: each of them costs
//! the command time at its start.

use std::io;
use std::ops::Range;
use std::thread::{Builder, JoinHandle, Scope};

use swath_os::descriptors::spawn_separated;

/// What is done on each of several threads.
pub(crate) trait Work: Sync {
    /// Does the share of the thread with this number.
    fn run(&self, slot: usize);
}

impl<F: Fn(usize) + Sync> Work for F {
    fn run(&self, slot: usize) {
        self(slot);
    }
}

/// Runs `work` for slots `0..count`, that of slot 0 on this thread, and returns when all have ended:
/// the first slot for which there was no thread, and why.
pub(crate) fn run(count: usize, work: &dyn Work) -> Option<(usize, io::Error)> {
    let mut refused = None;
    beside(1..count, work, &mut |slot, error| {
        refused = error.map(|error| (slot, error));
        work.run(0);
    });
    refused
}

/// Runs `work` for each of `slots` on a thread of its own, and `here` on this one, which hears which
/// slot is the first without a thread, and why. Returns when all have ended.
pub(crate) fn beside(
    slots: Range<usize>,
    work: &dyn Work,
    here: &mut dyn FnMut(usize, Option<io::Error>),
) {
    std::thread::scope(|scope| {
        let mut refused = None;
        let mut started = slots.start;
        while started < slots.end {
            if let Err(error) = start(scope, started, work) {
                refused = Some(error);
                break;
            }
            started += 1;
        }
        here(started, refused);
    });
}

/// Starts the thread of one slot.
///
/// # Errors
///
/// Those of starting a thread.
pub(crate) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    slot: usize,
    work: &'scope dyn Work,
) -> io::Result<()> {
    named(slot).spawn_scoped(scope, move || work.run(slot)).map(drop)
}

/// Starts a thread that starts others.
///
/// # Errors
///
/// Those of starting a thread; `lead` is dropped then.
pub(crate) fn start_foreman<'scope>(
    scope: &'scope Scope<'scope, '_>,
    lead: Box<dyn FnOnce() + Send + 'scope>,
) -> io::Result<()> {
    Builder::new().name(String::from("swath-crew")).spawn_scoped(scope, lead).map(drop)
}

/// What is done on threads that open all that they read, and start others of their kind.
pub(crate) trait Separate: Sync {
    /// Does the share of the thread with this number.
    fn run<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, slot: usize);
}

/// Starts the thread of one slot, with a table of descriptors of its own: opening and closing is then
/// nobody else's business.
///
/// # Errors
///
/// Those of starting a thread.
pub(crate) fn start_separate<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    slot: usize,
    work: &'env dyn Separate,
) -> io::Result<()> {
    spawn_separated(scope, named(slot), (scope, slot, work), |(scope, slot, work)| {
        work.run(scope, slot);
    })
}

/// Starts a thread that may outlive the call, and whatever it works on.
///
/// # Errors
///
/// Those of starting a thread; `work` is dropped then.
pub(crate) fn start_for_good(
    slot: usize,
    work: Box<dyn FnOnce() + Send>,
) -> io::Result<JoinHandle<()>> {
    named(slot).spawn(work)
}

fn named(slot: usize) -> Builder {
    Builder::new().name(format!("swath-{slot}"))
}
