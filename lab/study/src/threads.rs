//! Threads for one piece of work, without a panic if a thread cannot be started.
//!
//! A measurement with fewer threads than it claims is wrong, and therefore an error; preparations and
//! checks continue with fewer threads.
//!
//! ```
//! use swath_study::threads::{available, each};
//!
//! let threads = available(4);
//! assert!((1..=4).contains(&threads));
//! let done = each(vec![1, 2, 3], |number| number * 2);
//! assert_eq!(done.results, [2, 4, 6]);
//! ```

use std::io;
use std::sync::mpsc;
use std::thread::{self, Builder};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use swath_os::locks::Mutex;

/// The result of [`each`].
#[derive(Debug)]
pub struct ThreadResults<R> {
    /// The results of `work`, in the order of the parts.
    pub results: Vec<R>,
    /// The reason why some parts did not have their own thread, if so.
    pub refused: Option<io::Error>,
}

impl<R> ThreadResults<R> {
    /// Returns the results, if each part had its own thread.
    ///
    /// # Errors
    ///
    /// If a thread could not be started.
    pub fn all(self) -> io::Result<Vec<R>> {
        self.refused.map_or(Ok(self.results), Err)
    }
}

/// Runs `work` on each of `parts` at the same time: the last part on the caller's thread, each other part
/// on a new one. If no more threads can be started, the caller does the rest.
///
/// # Panics
///
/// If `work` panics.
pub fn each<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> ThreadResults<R> {
    let count = parts.len();
    let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let run = |part: &Mutex<Option<P>>| {
        let part = part.lock().take();
        work(part.expect("each part is taken once"))
    };
    thread::scope(|scope| {
        let (mut threads, mut refused) = (Vec::new(), None);
        for part in &parts[..count.saturating_sub(1)] {
            match Builder::new().spawn_scoped(scope, || run(part)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    refused = Some(not_started(&error, threads.len() + 2, count));
                    break;
                }
            }
        }
        let here: Vec<R> = parts[threads.len()..].iter().map(run).collect();
        let there = threads.into_iter().map(|thread| thread.join());
        let there =
            there.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ThreadResults { results: there.chain(here).collect(), refused }
    })
}

/// Returns a function that hands out the items one by one, to any thread.
pub(crate) fn one_by_one<I: Iterator>(items: I) -> impl Fn() -> Option<I::Item> {
    let items = Mutex::new(items);
    move || items.lock().next()
}

/// Returns the number of threads that can run at the same time, including the caller's, at most `wanted`.
/// It starts threads to find out, because limits of users and control groups cannot be read.
pub fn available(wanted: usize) -> usize {
    thread::scope(|scope| {
        let mut ends = Vec::new();
        while ends.len() + 1 < wanted {
            let (end, ended) = mpsc::channel::<()>();
            let waits = move || _ = ended.recv();
            if Builder::new().spawn_scoped(scope, waits).is_err() {
                break;
            }
            ends.push(end);
        }
        ends.len() + 1
    })
}

/// Returns a pool of `workers` threads that fork and join; 0 for one each core. If they cannot be started,
/// the pool has fewer, at worst this thread alone, and the returned text reports it.
///
/// # Errors
///
/// If no thread can be started, and this thread is already in a pool.
pub fn pool(workers: usize) -> Result<(ThreadPool, Option<String>), ThreadPoolBuildError> {
    let built = ThreadPoolBuilder::new().num_threads(workers).build();
    let Err(error) = built else { return built.map(|pool| (pool, None)) };
    let wanted = match workers {
        0 => thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    // This thread waits for the pool, so it does not count.
    let there = available(wanted) - 1;
    let fewer = match there {
        0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()?,
        there => ThreadPoolBuilder::new().num_threads(there).build()?,
    };
    let instead = format!("{} of {wanted} workers: {error}", there.max(1));
    Ok((fewer, Some(instead)))
}

/// Returns the error for a thread that cannot be started.
pub(crate) fn not_started(error: &io::Error, thread: usize, wanted: usize) -> io::Error {
    let text = format!(
        "cannot start thread {thread} of {wanted}: {error}; \
         try: use fewer threads, or raise their limit (`ulimit -u`, pids.max)"
    );
    io::Error::new(error.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_done_once_and_results_are_in_order() {
        for count in [0, 1, 2, 9] {
            let done = each((0..count).collect(), |part: u32| part + 1);
            assert!(done.refused.is_none());
            assert_eq!(done.results, (1..=count).collect::<Vec<_>>());
        }
        assert_eq!((available(0), available(1), available(3)), (1, 1, 3));
    }

    #[test]
    fn a_pool_has_the_threads_that_were_asked_for() {
        for workers in [1, 3] {
            let (pool, instead) = pool(workers).expect("threads are there");
            assert_eq!((pool.current_num_threads(), instead), (workers, None));
        }
    }

    #[test]
    fn a_panic_is_the_callers() {
        let caught = std::panic::catch_unwind(|| {
            each(vec![0, 1], |part: i32| assert!(part > 0, "on purpose")).results.len()
        });
        let panic = caught.expect_err("one panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
