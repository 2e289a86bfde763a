//! Blocking workers: threads of our own, the caller's among them.

use swath_os::priority::{IoPriorityGuard, set_thread_io_priority};

use super::fill::Hands;
use super::{Job, Visit};
use crate::error::{Error, Operation};

/// Runs slots `0 .. workers` of `job`. This thread is one of the workers, unless there is
/// something for it to do `beside` them.
///
/// Threads that cannot be started are no failure: this thread does their slots afterwards.
pub(crate) fn run<V: Visit>(
    job: &Job<'_>,
    visit: &V,
    workers: usize,
    beside: Option<&mut (dyn FnMut() + '_)>,
) {
    let here = usize::from(beside.is_none()).min(workers);
    // This thread comes first, also in a timeline.
    let _lane = job.observer.recorder(job.source.name());
    std::thread::scope(|scope| {
        let mut started = here;
        while started < workers {
            let slot = started;
            let thread = std::thread::Builder::new().name(format!("swath-{slot}"));
            if let Err(error) = thread.spawn_scoped(scope, move || work(job, visit, slot)) {
                job.fell_back(format!("worker {slot} not started ({error})"));
                break;
            }
            started += 1;
        }
        match beside {
            Some(beside) => beside(),
            None => (0..here).for_each(|slot| work(job, visit, slot)),
        }
        (started..workers).for_each(|slot| work(job, visit, slot));
    });
}

/// Runs one slot of `job` on several threads at once: what a ring would have had in flight.
pub(crate) fn run_slot<V: Visit>(job: &Job<'_>, visit: &V, slot: usize, threads: u32) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let thread = std::thread::Builder::new().name(String::from("swath-direct"));
            if thread.spawn_scoped(scope, || work(job, visit, slot)).is_err() {
                break;
            }
        }
        work(job, visit, slot);
    });
}

/// Does what the scheduler says for `slot` until nothing is left.
pub(crate) fn work<V: Visit>(job: &Job<'_>, visit: &V, slot: usize) {
    let _stop = StopOnPanic(job);
    let _priority = set_io_priority(job, slot == 0);
    let mut scratch = match visit.scratch() {
        Ok(scratch) => scratch,
        Err(error) => return job.fail(error),
    };
    let mut hands = Hands::new(job);
    while let Some(lease) = job.next(slot) {
        hands.recorder.waited();
        let ended = visit.visit(&mut hands, &mut scratch, &lease);
        job.completed(lease, ended);
    }
    hands.recorder.waited();
    job.count(hands.tally);
}

/// Makes this thread's reads as urgent as was asked for, until the guard is dropped; a refusal is
/// reported once, by whoever is told to `say` it.
pub(super) fn set_io_priority(job: &Job<'_>, say: bool) -> Option<IoPriorityGuard> {
    let refused = match set_thread_io_priority(job.manner.io_priority?) {
        Ok(guard) => return Some(guard),
        Err(error) => error,
    };
    if say {
        job.fell_back(format!("I/O priority not set: {refused}"));
    }
    None
}

/// Other workers must not wait for one that panicked.
struct StopOnPanic<'j>(&'j Job<'j>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let name = self.0.source.name();
            self.0.fail(Error::io(
                Operation::Read,
                name,
                std::io::Error::other("a worker panicked"),
            ));
        }
    }
}
