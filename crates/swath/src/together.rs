//! Independent jobs of one call, several at a time.

use std::sync::atomic::Ordering;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use swath_os::machine::usable_cpus;

use crate::failures::FailureLog;
use crate::locks::AtomicUsize;
use crate::threads;

/// Does `work` for each of `0..count`, each worker with a state of its own from `init`. After a
/// failure no further job begins. Returns one failure; on this call's own threads it is the first
/// in order.
///
/// On a worker of a rayon pool, the workers of that pool do it. Elsewhere this call's own
/// [`threads`] do, one for each core: the global pool would stay for the life of the process, does
/// not exist in a child of `fork`, and cannot be created where threads are forbidden.
pub(crate) fn together<S, E: Send>(
    count: usize,
    init: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync + Send,
) -> Result<(), E> {
    if rayon::current_thread_index().is_some() {
        return (0..count).into_par_iter().try_for_each_init(init, work);
    }
    threads(count, usable_cpus(), init, work)
}

/// Does the jobs on at most `most` threads, including the calling one, even in a rayon pool: for jobs
/// that wait for a device rather than compute. If no thread can be started, the existing ones do all
/// the work.
pub(crate) fn threads<S, E: Send>(
    count: usize,
    most: usize,
    init: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, failures) = (AtomicUsize::new(0), FailureLog::default());
    let run = || {
        // No state for a worker that comes after the last job.
        if next.load(Ordering::Relaxed) >= count {
            return;
        }
        let Some(mut state) = failures.attempt(0, || Ok(init())) else { return };
        loop {
            // Relaxed: only gives each job to one worker.
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if failures.attempt(index as u64, || work(&mut state, index)).is_none() {
                next.store(count, Ordering::Relaxed);
            }
        }
    };
    // If a thread cannot be started, the existing ones do its jobs.
    let _ = threads::run(count.min(most), &|_| run());
    failures.end()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::locks::Mutex;
    use std::sync::atomic::AtomicU64;

    /// Returns a bit for each job done, and the result.
    fn run(count: usize, most: usize, fails_at: Option<usize>) -> (u64, Result<(), usize>) {
        let done = AtomicU64::new(0);
        let ended = threads(
            count,
            most,
            || (),
            |(), index| {
                if fails_at.is_some_and(|at| index >= at) {
                    return Err(index);
                }
                done.fetch_add(1 << index, Ordering::Relaxed);
                Ok(())
            },
        );
        (done.into_inner(), ended)
    }

    #[test]
    fn each_job_is_done_once() {
        for count in [0, 1, 2, 7, 60] {
            for most in [0, 1, 2, 8, 100] {
                assert_eq!(
                    run(count, most, None),
                    ((1 << count) - 1, Ok(())),
                    "{count} {most}"
                );
            }
        }
    }

    #[test]
    fn a_pool_of_the_caller_does_it_if_the_caller_is_in_it() {
        let done = AtomicU64::new(0);
        let work = |(): &mut (), index: usize| {
            assert!(rayon::current_thread_index().is_some());
            done.fetch_add(1 << index, Ordering::Relaxed);
            Ok::<_, ()>(())
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
        assert_eq!(pool.install(|| together(60, || (), work)), Ok(()));
        assert_eq!(done.load(Ordering::Relaxed), (1 << 60) - 1);
        // Its own threads are not workers of the pool, in which few may wait for many syncs.
        let outside = AtomicU64::new(0);
        let look = |(): &mut (), _| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            outside.fetch_add(
                u64::from(rayon::current_thread_index().is_none()),
                Ordering::Relaxed,
            );
            Ok::<_, ()>(())
        };
        assert_eq!(pool.install(|| threads(50, 8, || (), look)), Ok(()));
        assert!(outside.into_inner() > 0);
    }

    #[test]
    fn a_failure_is_told_and_ends_what_is_left() {
        for most in [1, 2, 8] {
            let (done, ended) = run(60, most, Some(20));
            assert!(ended.is_err_and(|index| (20..20 + most).contains(&index)), "{ended:?}");
            assert_eq!(done, (1 << 20) - 1);
        }
    }

    #[test]
    fn nothing_of_the_global_pool_is_needed() {
        // Threads left by an earlier test must not be counted here: names distinguish them.
        let named = Mutex::new(Vec::new());
        threads(
            50,
            4,
            || (),
            |(), _| {
                thread::sleep(std::time::Duration::from_millis(1));
                named.lock().push(thread::current().name().map(str::to_owned));
                Ok::<_, ()>(())
            },
        )
        .expect("all is done");
        let named = named.into_inner();
        assert_eq!(named.len(), 50);
        assert!(named.iter().any(|name| name.as_deref() == Some("swath-1")), "{named:?}");
    }
}
