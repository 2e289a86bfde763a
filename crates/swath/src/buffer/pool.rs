//! Populated pages of earlier reads, kept for the next read.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use swath_os::machine::memory_total;
use swath_os::memory::{OfferedPages, Pages};

use crate::locks::{Mutex, MutexGuard, lock_cache};

/// Idle memory that the default pool keeps without a time limit: 64 MiB.
const DEFAULT_CAP: usize = 64 << 20;
/// How long it keeps further idle memory, up to an eighth of all memory.
const WHILE: Duration = Duration::from_secs(5);

/// A bounded store of populated memory; buffers take pages from it and return them to it.
///
/// Reusing memory is the fastest way to get it: its pages are populated. [`swath::read`] and
/// [`ReadOptions::new`] share one pool in the process, which keeps up to 64 MiB of idle memory. More, up to
/// an eighth of the memory of the machine or the control group, is offered to the kernel, which may take it
/// when memory is short; the first read that ends or begins after 5 seconds frees it. Pass another pool to
/// [`ReadOptions::with_pool`] to keep more or less.
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
pub struct BufferPool(Arc<SharedPool>);

/// Prints the limits, not the current contents, so that equal options print the same.
impl fmt::Debug for BufferPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BufferPool").field("cap", &self.0.cap).finish_non_exhaustive()
    }
}

struct SharedPool {
    cap: usize,
    /// How long further memory is kept, if at all.
    period: Option<Duration>,
    /// Maximum bytes kept for that long; determined when first needed.
    most: OnceLock<usize>,
    idle: Mutex<Idle>,
}

/// Unused memory: at most the cap that is ready, and memory offered to the kernel, with the time of the offer. The
/// oldest comes first.
#[derive(Default)]
struct Idle {
    ready: Vec<Pages>,
    offered: Vec<(OfferedPages, Instant)>,
}

impl Idle {
    fn ready_bytes(&self) -> usize {
        self.ready.iter().map(|pages| pages.len()).sum()
    }

    fn offered_bytes(&self) -> usize {
        self.offered.iter().map(|(pages, _)| pages.len()).sum()
    }

    /// Takes out memory that was offered at least `period` ago.
    fn expired(&mut self, period: Option<Duration>) -> Vec<(OfferedPages, Instant)> {
        let is_old = |at: &Instant| period.is_none_or(|period| at.elapsed() >= period);
        self.offered.extract_if(.., |(_, at)| is_old(at)).collect()
    }
}

impl BufferPool {
    /// Returns a pool that keeps at most `cap` bytes of idle memory; 0 keeps none.
    pub fn new(cap: usize) -> Self {
        Self::with(cap, None)
    }

    fn with(cap: usize, period: Option<Duration>) -> Self {
        let (most, idle) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(SharedPool { cap, period, most, idle }))
    }

    /// Returns the pool of the process.
    pub(crate) fn shared() -> Self {
        static SHARED: OnceLock<BufferPool> = OnceLock::new();
        SHARED.get_or_init(|| Self::with(DEFAULT_CAP, Some(WHILE))).clone()
    }

    /// Returns all idle memory to the kernel.
    pub fn trim(&self) {
        let idle = self.idle().map(|mut idle| std::mem::take(&mut *idle));
        drop(idle);
    }

    /// Bytes of idle memory that the pool keeps.
    pub fn idle_bytes(&self) -> usize {
        self.idle().map_or(0, |idle| idle.ready_bytes() + idle.offered_bytes())
    }

    /// Bytes of idle memory that is still populated: the kernel may have taken offered memory.
    pub(crate) fn ready_bytes(&self) -> usize {
        self.idle().map_or(0, |idle| idle.ready_bytes())
    }

    /// Returns pages of at least `len` bytes: the smallest idle ones of at most twice that size,
    /// otherwise fresh ones that are advised to use huge pages.
    pub(crate) fn take(&self, len: usize) -> io::Result<Pages> {
        let fits = |idle: usize| idle >= len && idle / 2 <= len.max(1 << 20);
        let ready = self.idle().and_then(|mut idle| {
            let best = best(idle.ready.iter().map(|pages| pages.len()), fits)?;
            Some(idle.ready.remove(best))
        });
        if let Some(pages) = ready.or_else(|| self.take_offered(len, fits)) {
            return Ok(pages);
        }
        let pages = Pages::map(len)?;
        // Kernels without huge pages refuse it: slower, not wrong.
        let _ = pages.advise_huge();
        Ok(pages)
    }

    fn take_offered(&self, len: usize, fits: impl Fn(usize) -> bool) -> Option<Pages> {
        let mut idle = self.idle().filter(|idle| !idle.offered.is_empty())?;
        let expired = idle.expired(self.0.period);
        let best = best(idle.offered.iter().map(|(pages, _)| pages.len()), fits);
        let found = best.map(|index| idle.offered.remove(index).0);
        // Memory that does not fit is not kept beside new memory of that size.
        let others =
            if found.is_none() && len > self.0.cap { idle.expired(None) } else { Vec::new() };
        // Without the lock: all of this takes long.
        drop(idle);
        drop((expired, others));
        found.and_then(|pages| pages.take_back().ok())
    }

    /// Keeps `pages`, in place of older ones beyond the cap; offers the rest to the kernel, if the pool does so.
    pub(crate) fn put(&self, pages: Pages) {
        let SharedPool { cap, period, .. } = &*self.0;
        let Some(mut idle) = self.idle() else { return };
        let expired = idle.expired(*period);
        let mut others = Vec::new();
        if pages.len() > *cap {
            others.push(pages);
        } else {
            let mut kept = idle.ready_bytes();
            while kept + pages.len() > *cap {
                let oldest = idle.ready.remove(0);
                kept -= oldest.len();
                others.push(oldest);
            }
            idle.ready.push(pages);
        }
        // Without the lock: all of this takes long.
        drop(idle);
        drop(expired);
        if period.is_some() {
            others.into_iter().for_each(|pages| self.offer(pages));
        }
    }

    fn offer(&self, pages: Pages) {
        let most = self.most();
        if pages.len() > most {
            return;
        }
        let Ok(pages) = pages.offer() else { return };
        let Some(mut idle) = self.idle() else { return };
        let mut bytes = idle.offered_bytes() + pages.len();
        let is_too_much = |(oldest, _): &mut (OfferedPages, Instant)| {
            let is_too_much = bytes > most;
            bytes -= if is_too_much { oldest.len() } else { 0 };
            is_too_much
        };
        let dropped: Vec<_> = idle.offered.extract_if(.., is_too_much).collect();
        idle.offered.push((pages, Instant::now()));
        drop(idle);
        drop(dropped);
    }

    /// Maximum bytes kept for a while: an eighth of the memory. Determining it takes half a millisecond.
    fn most(&self) -> usize {
        let eighth = || memory_total().map_or(0, |bytes| bytes / 8);
        *self.0.most.get_or_init(|| usize::try_from(eighth()).unwrap_or(0).max(self.0.cap))
    }

    fn idle(&self) -> Option<MutexGuard<'_, Idle>> {
        lock_cache(&self.0.idle)
    }
}

/// Returns the index of the smallest of these lengths that fits.
fn best(lens: impl Iterator<Item = usize>, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let fitting = lens.enumerate().filter(|&(_, len)| fits(len));
    fitting.min_by_key(|&(_, len)| len).map(|(index, _)| index)
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
        assert!(pool.idle().expect("free").ready.iter().all(|it| it.as_ptr() != oldest));
        pool.put(Pages::map(8193).expect("memory"));
        assert_eq!(pool.idle_bytes(), 8192, "larger than the cap: not kept");
        pool.trim();
        assert_eq!(pool.idle_bytes(), 0);
    }

    #[test]
    fn more_is_offered_to_the_kernel_and_given_back_after_a_while() {
        let pool = BufferPool::with(8192, Some(Duration::from_secs(3600)));
        let pages = [16384, 4096, 8192].map(|len| pool.take(len).expect("memory"));
        let large = pages[0].as_ptr();
        pages.into_iter().for_each(|pages| pool.put(pages));
        assert_eq!(pool.idle_bytes(), 28672);
        let mut again = pool.take(16384).expect("memory");
        assert_eq!(again.as_ptr(), large);
        again.fill(7);
        assert!(again.iter().all(|&byte| byte == 7));
        pool.put(again);
        // Nothing fits: offered memory is freed.
        pool.put(pool.take(1 << 20).expect("memory"));
        assert_eq!(pool.idle_bytes(), 8192 + (1 << 20));
        pool.trim();
        assert_eq!(pool.idle_bytes(), 0);
        let pool = BufferPool::with(8192, Some(Duration::ZERO));
        pool.put(pool.take(16384).expect("memory"));
        pool.put(pool.take(4096).expect("memory"));
        assert_eq!(pool.idle_bytes(), 4096);
    }

    #[test]
    fn a_much_larger_buffer_is_not_given_for_a_small_read() {
        let pool = BufferPool::new(64 << 20);
        pool.put(Pages::map(32 << 20).expect("memory"));
        assert!(pool.take(1 << 20).expect("memory").len() < 4 << 20);
        assert_eq!(pool.idle_bytes(), 32 << 20);
    }
}
