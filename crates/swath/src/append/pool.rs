//! Where forks run: the pool of the caller, or the global one; on this thread alone where neither
//! can be had.

use std::error::Error;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Sees to it that this thread can fork. Outside of pools rayon makes the global one at the first
/// fork, and panics where its threads cannot be started: then this thread becomes a pool of one.
#[inline]
pub(super) fn enter() {
    if rayon::current_thread_index().is_none() && !has_global() {
        alone();
    }
}

/// Whether the global pool is there. Tried once, for rayon tries it once.
fn has_global() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // One that was made before is no error of the kernel's.
        Err(error) => error.source().is_none(),
    })
}

#[cold]
fn alone() {
    let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    // For as long as the thread lives. Refused only to a thread that is in a pool.
    std::mem::forget(pool);
}
