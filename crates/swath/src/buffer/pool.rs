//! Populated pages of earlier reads, kept for the next read.

use std::fmt;
use std::io;
use std::sync::{Arc, MutexGuard, OnceLock};

use swath_os::memory::Pages;

use crate::locks::{Mutex, lock_cache};

/// The most idle memory that the default pool keeps: 64 MiB.
const DEFAULT_CAP: usize = 64 << 20;

/// A bounded store of populated memory; buffers take pages from it and return them to it.
///
/// Reusing memory beats every other way to get it: its pages are populated. [`swath::read`] and
/// [`ReadOptions::new`] share one pool in the process, which keeps at most 64 MiB of idle
/// memory; pass a larger one to [`ReadOptions::with_pool`] to read large files repeatedly.
///
/// ```
/// let pool = swath::BufferPool::new(256 << 20);
/// let options = swath::ReadOptions::new().with_pool(pool.clone());
/// for path in ["/etc/passwd", "/etc/group"] {
///     let loaded = options.read(path)?;
///     assert!(!loaded.buffer.is_empty());
/// } // each buffer returns its pages here
/// pool.trim();
/// assert_eq!(pool.idle_bytes(), 0);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// [`swath::read`]: crate::read
/// [`ReadOptions::new`]: crate::ReadOptions::new
/// [`ReadOptions::with_pool`]: crate::ReadOptions::with_pool
#[derive(Clone)]
pub struct BufferPool(Arc<Shared>);

/// Prints what it is, not what it holds at the moment, so that equal options print the same.
impl fmt::Debug for BufferPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BufferPool").field("cap", &self.0.cap).finish_non_exhaustive()
    }
}

struct Shared {
    cap: usize,
    idle: Mutex<Vec<Pages>>,
}

impl BufferPool {
    /// Returns a pool that keeps at most `cap` bytes of idle memory; 0 keeps none.
    pub fn new(cap: usize) -> Self {
        Self(Arc::new(Shared { cap, idle: Mutex::default() }))
    }

    /// The pool of the process.
    pub(crate) fn shared() -> Self {
        static SHARED: OnceLock<BufferPool> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(DEFAULT_CAP)).clone()
    }

    /// Returns all idle memory to the kernel.
    pub fn trim(&self) {
        let idle = self.idle().map(|mut idle| std::mem::take(&mut *idle));
        drop(idle);
    }

    /// Bytes of idle memory that it keeps.
    pub fn idle_bytes(&self) -> usize {
        self.idle().map_or(0, |idle| idle.iter().map(|pages| pages.len()).sum())
    }

    /// Pages of at least `len` bytes: the smallest idle ones that are at most twice that size,
    /// otherwise fresh ones that are advised to use huge pages.
    pub(crate) fn take(&self, len: usize) -> io::Result<Pages> {
        let fits = |pages: &Pages| pages.len() >= len && pages.len() / 2 <= len.max(1 << 20);
        let found = self.idle().and_then(|mut idle| {
            let fitting = (0..idle.len()).filter(|&index| fits(&idle[index]));
            let best = fitting.min_by_key(|&index| idle[index].len())?;
            Some(idle.swap_remove(best))
        });
        if let Some(pages) = found {
            return Ok(pages);
        }
        let pages = Pages::map(len)?;
        // Kernels without huge pages refuse it: slower, not wrong.
        let _ = pages.advise_huge();
        Ok(pages)
    }

    /// Keeps `pages` if the cap allows it, and drops older ones to make room.
    pub(crate) fn put(&self, pages: Pages) {
        let mut dropped = Vec::new();
        if pages.len() > self.0.cap {
            return;
        }
        let Some(mut idle) = self.idle() else { return };
        let mut kept: usize = idle.iter().map(|pages| pages.len()).sum();
        while kept + pages.len() > self.0.cap {
            let oldest = idle.remove(0);
            kept -= oldest.len();
            dropped.push(oldest);
        }
        idle.push(pages);
        // Unmapping takes long: do it without the lock.
        drop(idle);
    }

    fn idle(&self) -> Option<MutexGuard<'_, Vec<Pages>>> {
        lock_cache(&self.0.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_and_are_given_out_again() {
        let pool = BufferPool::new(1 << 20);
        let pages = pool.take(300_000).expect("memory");
        let address = pages.as_ptr();
        pool.put(pages);
        assert!(pool.idle_bytes() >= 300_000);
        assert_eq!(pool.take(200_000).expect("memory").as_ptr(), address);
        assert_eq!(pool.idle_bytes(), 0);
    }

    #[test]
    fn the_cap_holds_and_the_oldest_go_first() {
        let pool = BufferPool::new(8192);
        let first = pool.take(4096).expect("memory");
        let oldest = first.as_ptr();
        let others = [pool.take(4096).expect("memory"), pool.take(4096).expect("memory")];
        pool.put(first);
        others.into_iter().for_each(|pages| pool.put(pages));
        assert_eq!(pool.idle_bytes(), 8192);
        assert!(pool.idle().expect("free").iter().all(|pages| pages.as_ptr() != oldest));
        pool.put(Pages::map(8193).expect("memory"));
        assert_eq!(pool.idle_bytes(), 8192, "larger than the cap: not kept");
        pool.trim();
        assert_eq!(pool.idle_bytes(), 0);
    }

    #[test]
    fn a_much_larger_buffer_is_not_given_for_a_small_read() {
        let pool = BufferPool::new(64 << 20);
        pool.put(Pages::map(32 << 20).expect("memory"));
        assert!(pool.take(1 << 20).expect("memory").len() < 4 << 20);
        assert_eq!(pool.idle_bytes(), 32 << 20);
    }
}
