//! Starts the threads of one call, and those that outlive it: all named, and fewer if the machine
//! has no more.
//!
//! Nothing here is generic: code that starts threads would be compiled again for every closure
//! that runs on one. For the same reason a [`Work`] has one method, where a `dyn Fn` has three;
//! each of them adds to the start-up time of the command.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, Scope};

use swath_os::descriptors::spawn_separated;

use crate::locks::{AtomicUsize, Mutex};

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

/// Threads that a thread starts before its own share, if more are wanted. So 64 threads run after six
/// steps, and short work is over before most are started.
const EACH: usize = 2;

/// Runs `work` for slots `0..count`, slot 0 on this thread, and waits until all have ended. If a
/// thread could not be started, returns the number of threads, including this one, and the error.
pub(crate) fn run(count: usize, work: &dyn Work) -> Option<(usize, io::Error)> {
    beside(1..count, work, &mut || work.run(0))
}

/// Runs `work` for each of `slots`, and `here` on this thread, and waits until all have ended. If a thread
/// could not be started, returns the start of `slots` plus the number of other threads, and the error.
///
/// The threads start each other. A slot without a thread, because none could be started or because
/// another thread was done first, is run by a thread that is done with its own.
pub(crate) fn beside(
    slots: Range<usize>,
    work: &dyn Work,
    here: &mut dyn FnMut(),
) -> Option<(usize, io::Error)> {
    let team = ThreadTeam {
        work,
        next: AtomicUsize::new(slots.start),
        end: slots.end,
        started: AtomicUsize::new(0),
        is_refused: AtomicBool::new(false),
        refused: Mutex::default(),
    };
    std::thread::scope(|scope| team.take_part(scope, here));
    let refused = team.refused.into_inner();
    // Relaxed: all threads have been joined.
    refused.map(|why| (slots.start + team.started.load(Ordering::Relaxed), why))
}

/// Threads that start each other.
struct ThreadTeam<'w> {
    work: &'w dyn Work,
    /// The next free slot, and the end of the slots.
    next: AtomicUsize,
    end: usize,
    /// Threads that were started.
    started: AtomicUsize,
    /// A thread could not be started, so no more are tried.
    is_refused: AtomicBool,
    /// The error of the first thread that could not be started.
    refused: Mutex<Option<io::Error>>,
}

impl ThreadTeam<'_> {
    /// Starts some other threads, does this thread's share, then the shares of slots without a thread.
    fn take_part<'s>(&'s self, scope: &'s Scope<'s, '_>, share: &mut dyn FnMut()) {
        let without = (0..EACH).find_map(|_| self.start_one(scope));
        share();
        without.into_iter().for_each(|slot| self.work.run(slot));
        while let Some(slot) = self.taken() {
            self.work.run(slot);
        }
    }

    /// Starts one more thread, if a slot is left. Returns the slot if that failed.
    fn start_one<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Option<usize> {
        if self.is_refused.load(Ordering::Relaxed) {
            return None;
        }
        let slot = self.taken()?;
        let share = move || self.take_part(scope, &mut || self.work.run(slot));
        let Err(error) = named(slot).spawn_scoped(scope, share) else {
            self.started.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        // Relaxed: a thread that does not see it yet is refused too.
        self.is_refused.store(true, Ordering::Relaxed);
        let mut refused = self.refused.lock();
        refused.get_or_insert(error);
        Some(slot)
    }

    /// Takes a free slot.
    fn taken(&self) -> Option<usize> {
        // Relaxed: only gives each slot to one thread. Most threads come when all are taken, and
        // change nothing.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let slot = self.next.fetch_add(1, Ordering::Relaxed);
        (slot < self.end).then_some(slot)
    }
}

/// Starts the thread of one slot.
///
/// # Errors
///
/// The errors of starting a thread.
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
/// The errors of starting a thread; `lead` is dropped then.
pub(crate) fn start_foreman<'scope>(
    scope: &'scope Scope<'scope, '_>,
    lead: Box<dyn FnOnce() + Send + 'scope>,
) -> io::Result<()> {
    Builder::new().name(String::from("swath-crew")).spawn_scoped(scope, lead).map(drop)
}

/// The work of threads that open all their files themselves, and start other threads of their kind.
pub(crate) trait Separate: Sync {
    /// Does the share of the thread with this number.
    fn run<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, slot: usize);
}

/// Starts the thread of one slot, with a descriptor table of its own, so that opening and closing do
/// not contend with other threads.
///
/// # Errors
///
/// The errors of starting a thread.
pub(crate) fn start_separate<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    slot: usize,
    work: &'env dyn Separate,
) -> io::Result<()> {
    spawn_separated(scope, named(slot), (scope, slot, work), |(scope, slot, work)| {
        work.run(scope, slot);
    })
}

/// Starts a thread that may outlive the call, with all data of its work.
///
/// # Errors
///
/// The errors of starting a thread; `work` is dropped then.
pub(crate) fn start_for_good(
    slot: usize,
    work: Box<dyn FnOnce() + Send>,
) -> io::Result<JoinHandle<()>> {
    named(slot).spawn(work)
}

fn named(slot: usize) -> Builder {
    Builder::new().name(format!("swath-{slot}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    use super::*;

    #[test]
    fn each_slot_runs_once_however_many_there_are() {
        for count in [1, 2, 3, 4, 7, 8, 64, 200] {
            let runs: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let refused = run(count, &|slot: usize| {
                runs[slot].fetch_add(1, Ordering::Relaxed);
            });
            assert!(refused.is_none(), "{count} threads: {refused:?}");
            assert!(
                runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1),
                "{count}: {runs:?}"
            );
        }
    }

    #[test]
    fn all_of_them_run_at_a_time_if_each_waits_for_the_others() {
        for count in [2, 3, 8, 33] {
            let all = Barrier::new(count);
            let threads = Mutex::new(BTreeSet::new());
            let refused = run(count, &|_| {
                all.wait();
                let name = std::thread::current().name().map(str::to_owned);
                threads.lock().insert(name);
            });
            assert!(refused.is_none(), "{count} threads: {refused:?}");
            assert_eq!(threads.into_inner().len(), count);
        }
    }

    #[test]
    fn what_runs_here_is_not_one_of_the_slots() {
        let (slots, mut here) = (Mutex::new(BTreeSet::new()), 0);
        let work = |slot: usize| {
            slots.lock().insert(slot);
        };
        let refused = beside(0..5, &work, &mut || here += 1);
        assert!(refused.is_none(), "{refused:?}");
        assert_eq!((slots.into_inner(), here), ((0..5).collect(), 1));
    }

    #[test]
    fn a_thread_that_can_start_no_other_does_all_slots_itself() {
        let refusing = || {
            let clone3 = (435, Vec::new());
            #[cfg(target_arch = "x86_64")]
            let (clone, arch) = ((56, Vec::new()), TargetArch::x86_64);
            #[cfg(target_arch = "aarch64")]
            let (clone, arch) = ((220, Vec::new()), TargetArch::aarch64);
            let refused = SeccompAction::Errno(11); // EAGAIN: too many threads
            let rules = [clone, clone3].into();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch);
            let filter = BpfProgram::try_from(filter.expect("two calls")).expect("a program");
            if let Err(error) = seccompiler::apply_filter(&filter) {
                swath_reference::skip("seccomp", error);
                return;
            }
            let slots = Mutex::new(Vec::new());
            let refused = run(5, &|slot: usize| slots.lock().push(slot));
            assert!(refused.is_some_and(|(slot, _)| slot == 1));
            let slots = slots.into_inner();
            assert_eq!(slots, [0, 1, 2, 3, 4], "its own first");
        };
        std::thread::spawn(refusing).join().expect("no panic");
    }
}
