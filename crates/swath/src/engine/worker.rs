//! Blocking workers: Swath's own threads, and the caller's.

use swath_plan::fallback::Fallback;

use super::fill::Hands;
use super::running::{Running, Schedule};
use super::{ReadJob, Visit};
use crate::failures::caught;
use crate::threads::{self, Work};

/// Runs slots `0 .. workers` of `job`. This thread is one of the workers, unless it runs `beside`
/// instead.
///
/// If threads cannot be started, this thread runs their slots afterwards; that is not a failure.
///
/// # Panics
///
/// If the caller's code panics, in any of the threads: with its panic, once all have ended.
pub(crate) fn run<V: Visit>(
    job: &ReadJob<'_>,
    visit: &V,
    workers: usize,
    beside: Option<&mut (dyn FnMut() + '_)>,
) {
    run_all(job, &|slot| work(job, visit, slot), workers, beside);
}

fn run_all(
    job: &ReadJob<'_>,
    work: &dyn Work,
    workers: usize,
    mut beside: Option<&mut (dyn FnMut() + '_)>,
) {
    let watch = job.running.watch.as_ref();
    let workers = watch.map_or(workers, |watch| watch.first().min(workers));
    let here = usize::from(beside.is_none()).min(workers);
    // This thread comes first, also in a timeline.
    let _lane = job.running.observer.recorder(job.source.name());
    let refused = threads::beside(here..workers, work, &mut || match &mut beside {
        Some(beside) => {
            if let Err(panic) = caught(beside) {
                job.running.panicked(u64::MAX, panic);
            }
        }
        None if here > 0 => with_crew(&job.running, work, 0),
        None => {}
    });
    if let Some((started, error)) = refused {
        job.running.fell_back(Fallback::not_started(started, &error));
        job.running.has_workers(started.max(1));
    }
    job.running.resume_panic();
}

/// Runs `slot` on this thread, and as many further workers as the crew of `running` wants.
pub(crate) fn with_crew<S: Schedule>(running: &Running<S>, work: &dyn Work, slot: usize) {
    let Some(watch) = &running.watch else { return work.run(slot) };
    std::thread::scope(|scope| {
        let _ends = watch.ends();
        let lead = move || watch.lead(&mut |slot| threads::start(scope, slot, work));
        if let Err(error) = threads::start_foreman(scope, Box::new(lead)) {
            running.fell_back(Fallback::NoMoreWorkers { why: error.to_string() });
        }
        work.run(slot);
    });
}

/// Runs one slot of `job` on as many threads as a ring would have had reads in flight.
pub(crate) fn run_slot<V: Visit>(job: &ReadJob<'_>, visit: &V, slot: usize, threads: u32) {
    // If a thread cannot be started, the others do its work.
    let _ = threads::run(usize::try_from(threads).unwrap_or(1), &|_| work(job, visit, slot));
}

/// Works on the leases of `slot` until none is left. If the caller's code panics, the job keeps the
/// panic and stops; the caller resumes it when all workers have ended.
pub(crate) fn work<V: Visit>(job: &ReadJob<'_>, visit: &V, slot: usize) {
    let mut offset = 0;
    // Unwind-safe: state is not used after a panic.
    let worked = caught(|| work_on(job, visit, slot, &mut offset));
    if let Err(panic) = worked {
        job.running.panicked(offset, panic);
    }
}

/// As [`work`], without catching panics; `offset` is that of the current lease.
fn work_on<V: Visit>(job: &ReadJob<'_>, visit: &V, slot: usize, offset: &mut u64) {
    let _priority = job.running.set_io_priority(slot == 0);
    let mut hands = Hands::new(job);
    if let Some(mut lease) = job.running.next(slot) {
        // Only a worker with something to do takes memory.
        let mut scratch = match visit.scratch() {
            Ok(scratch) => scratch,
            Err(error) => return job.running.fail(error),
        };
        loop {
            *offset = lease.extent.offset();
            hands.recorder.waited();
            let ended = visit.visit(&mut hands, &mut scratch, &lease);
            job.completed(lease, ended);
            match job.running.next(slot) {
                Some(next) => lease = next,
                None => break,
            }
        }
    }
    hands.recorder.waited();
    job.running.count(hands.tally);
}
