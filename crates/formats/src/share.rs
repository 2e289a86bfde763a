//! Divides work among threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use swath::Fallback;
use swath::machine::Mutex;

/// Returns `wanted`, or the number of cores if it is 0.
pub(crate) fn workers(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    }
}

/// Returns how many of the planned workers of an output ran: the first one that failed to start is
/// the last one tried.
pub(crate) fn started(planned: usize, fallbacks: &[Fallback]) -> usize {
    let first = |it: &Fallback| match it {
        Fallback::WorkerNotStarted { index: Some(index), .. } => usize::try_from(*index).ok(),
        _ => None,
    };
    fallbacks.iter().filter_map(first).fold(planned, usize::min)
}

/// Calls `f` for each part on up to `workers` threads, the caller's included, and returns the
/// results in order. Uses fewer threads if some cannot be started.
pub(crate) fn share<P: Send, R: Send>(
    parts: impl IntoIterator<Item = P>,
    workers: usize,
    f: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    share_with(parts, workers, |(): &mut (), part| f(part))
}

/// Like [`share`], with a value that each thread keeps from part to part.
pub(crate) fn share_with<P: Send, R: Send, S: Default>(
    parts: impl IntoIterator<Item = P>,
    workers: usize,
    f: impl Fn(&mut S, P) -> R + Sync,
) -> Vec<R> {
    let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new((Some(part), None))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut kept = S::default();
        // Relaxed: the parts have locks of their own.
        while let Some(slot) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut slot = slot.lock();
            slot.1 = slot.0.take().map(|part| f(&mut kept, part));
        }
    };
    run(workers.min(parts.len()), &work);
    let done = parts.into_iter().map(|slot| slot.into_inner());
    done.filter_map(|slot| slot.1).collect()
}

/// Runs `work` on this many threads. Not generic, so that the code to start threads is compiled
/// once.
fn run(workers: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for worker in 1..workers {
            let thread = std::thread::Builder::new().name(format!("swath-{worker}"));
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_were_not_started_do_not_count() {
        let refused = |index| Fallback::WorkerNotStarted { index, why: String::new() };
        assert_eq!(started(4, &[]), 4);
        assert_eq!(started(4, &[refused(None), refused(Some(3)), refused(Some(1))]), 1);
    }

    #[test]
    fn results_are_in_the_order_of_the_parts() {
        for workers in [1, 2, 3, 64] {
            for count in [0, 1, 2, 100] {
                let squares = share(0..count, workers, |part: u64| part * part);
                assert_eq!(squares, (0..count).map(|part| part * part).collect::<Vec<_>>());
            }
        }
    }
}
