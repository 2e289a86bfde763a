//! The threads of one call, and those that outlive it: named, started in one place, and fewer of
//! them if the machine has no more.
//!
//! Nothing here is generic: code that starts threads would be compiled again for every closure
//! that runs on one. For the same reason a [`Work`] has one method, where a `dyn Fn` has three;
//! each of them adds to the start-up time of the command.

use std::io;
use std::ops::Range;
use std::thread::{Builder, JoinHandle, Scope};

use swath_os::descriptors::spawn_separated;

/// The work of several threads.
pub(crate) trait Work: Sync {
    /// Does the share of the thread with this number.
    fn run(&self, slot: usize);
}

impl<F: Fn(usize) + Sync> Work for F {
    fn run(&self, slot: usize) {
        self(slot);
    }
}

/// Runs `work` for slots `0..count`, that of slot 0 on this thread, and waits until all have
/// ended. Returns the first slot for which no thread could be started, and why.
pub(crate) fn run(count: usize, work: &dyn Work) -> Option<(usize, io::Error)> {
    let mut refused = None;
    beside(1..count, work, &mut |slot, error| {
        refused = error.map(|error| (slot, error));
        work.run(0);
    });
    refused
}

/// Runs `work` for each of `slots` on a thread of its own, and `here` on this one, which
/// receives the first slot without a thread, and why. Returns when all have ended.
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

/// The work of threads that open everything they read, and start other threads of their kind.
pub(crate) trait Separate: Sync {
    /// Does the share of the thread with this number.
    fn run<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, slot: usize);
}

/// Starts the thread of one slot, with a descriptor table of its own, so that opening and
/// closing does not contend with other threads.
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

/// Starts a thread that may outlive the call together with what it works on.
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
