//! Parts of one piece of work, shared by some threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// As many threads as are asked for, or as there are cores.
pub(crate) fn workers(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    }
}

/// Calls `f` for each part on so many threads, the caller's among them, and returns what it made,
/// in order. Where threads cannot be started, there are fewer.
pub(crate) fn share<P: Send, R: Send>(
    parts: impl IntoIterator<Item = P>,
    workers: usize,
    f: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    share_with(parts, workers, |(): &mut (), part| f(part))
}

/// As [`share`], with something that each thread keeps from part to part.
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
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.1 = slot.0.take().map(|part| f(&mut kept, part));
        }
    };
    run(workers.min(parts.len()), &work);
    let done = parts.into_iter().map(|slot| slot.into_inner());
    done.filter_map(|slot| slot.unwrap_or_else(PoisonError::into_inner).1).collect()
}

/// Does `work` on so many threads. It is not generic, so that starting threads is compiled once.
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
    fn results_are_in_the_order_of_the_parts() {
        for workers in [1, 2, 3, 64] {
            for count in [0, 1, 2, 100] {
                let squares = share(0..count, workers, |part: u64| part * part);
                assert_eq!(squares, (0..count).map(|part| part * part).collect::<Vec<_>>());
            }
        }
    }
}
