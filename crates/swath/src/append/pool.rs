//! The pool for forks: the caller's, or the global one; this thread alone if neither is
//! available.

use std::error::Error;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Makes sure that this thread can fork. Outside of pools, rayon creates the global pool at the
/// first fork and panics if its threads cannot be started; in that case this thread becomes a
/// pool of one.
#[inline]
pub(super) fn enter() {
    if rayon::current_thread_index().is_none() && !has_global() {
        alone();
    }
}

/// Whether the global pool is available. Tried once, because rayon tries it once.
fn has_global() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Without a source, the pool already exists; with one, the kernel refused its threads.
        Err(error) => error.source().is_none(),
    })
}

#[cold]
fn alone() {
    let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    // For the life of the thread. Refused only to a thread that is in a pool.
    std::mem::forget(pool);
}
