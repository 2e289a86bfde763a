//! Populated pages of earlier reads, kept for the next read.

use std::fmt;
use std::io;
use std::process;
use std::sync::{Arc, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use swath_os::machine::{memory_at_hand, memory_total};
use swath_os::memory::Pages;

use crate::locks::{Mutex, lock_cache};

/// The idle memory that the default pool keeps for ever: 64 MiB.
const DEFAULT_CAP: usize = 64 << 20;
/// How long it keeps more than that, up to an eighth of the memory.
const WHILE: Duration = Duration::from_secs(5);

/// A bounded store of populated memory; buffers take pages from it and return them to it.
///
/// Reusing memory beats every other way to get it: its pages are populated. [`swath::read`] and
/// [`ReadOptions::new`] share one pool in the process, which keeps up to 64 MiB of idle memory,
/// and for 5 seconds up to an eighth of the memory that the machine or the control group has:
/// where a host takes free memory back, populating it again takes longer than the read. Pass
/// another pool to [`ReadOptions::with_pool`] to keep more, for longer, or less.
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
    /// How long more than that is kept, if at all.
    period: Option<Duration>,
    /// What is kept for that long: an eighth of the memory, asked for when it matters.
    most: OnceLock<usize>,
    idle: Mutex<Idle>,
}

/// Memory that is not used, and since when. The oldest comes first.
#[derive(Default)]
struct Idle {
    pages: Vec<(Pages, Instant)>,
    /// The process that has a thread to give back what is too old: a child of fork(2) has none.
    keeper: Option<u32>,
}

impl Idle {
    fn bytes(&self) -> usize {
        self.pages.iter().map(|(pages, _)| pages.len()).sum()
    }

    /// Takes the oldest out until `most` bytes are left, or all that are left came after `since`.
    fn shrink(&mut self, most: usize, since: Option<Instant>) -> Vec<Pages> {
        let mut bytes = self.bytes();
        let taken = self.pages.iter().take_while(|(pages, at)| {
            let is_taken = bytes > most && since.is_none_or(|since| *at <= since);
            bytes -= if is_taken { pages.len() } else { 0 };
            is_taken
        });
        let count = taken.count();
        self.pages.drain(..count).map(|(pages, _)| pages).collect()
    }
}

impl BufferPool {
    /// Returns a pool that keeps at most `cap` bytes of idle memory; 0 keeps none.
    pub fn new(cap: usize) -> Self {
        Self::with(cap, None)
    }

    fn with(cap: usize, period: Option<Duration>) -> Self {
        let (most, idle) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Shared { cap, period, most, idle }))
    }

    /// The pool of the process.
    pub(crate) fn shared() -> Self {
        static SHARED: OnceLock<BufferPool> = OnceLock::new();
        SHARED.get_or_init(|| Self::with(DEFAULT_CAP, Some(WHILE))).clone()
    }

    /// Returns how many bytes of memory are at hand. If that is less than is `wanted`, idle memory goes first.
    pub(crate) fn at_hand_for(wanted: u64) -> u64 {
        let at_hand = || memory_at_hand().unwrap_or(u64::MAX);
        let left = at_hand();
        if left >= wanted || Self::shared().idle_bytes() == 0 {
            return left;
        }
        Self::shared().trim();
        at_hand()
    }

    /// Returns all idle memory to the kernel.
    pub fn trim(&self) {
        let idle = self.idle().map(|mut idle| std::mem::take(&mut idle.pages));
        drop(idle);
    }

    /// Bytes of idle memory that it keeps.
    pub fn idle_bytes(&self) -> usize {
        self.idle().map_or(0, |idle| idle.bytes())
    }

    /// Pages of at least `len` bytes: the smallest idle ones that are at most twice that size,
    /// otherwise fresh ones that are advised to use huge pages.
    pub(crate) fn take(&self, len: usize) -> io::Result<Pages> {
        let fits = |pages: &Pages| pages.len() >= len && pages.len() / 2 <= len.max(1 << 20);
        let found = self.idle().and_then(|mut idle| {
            let fitting = (0..idle.pages.len()).filter(|&index| fits(&idle.pages[index].0));
            let best = fitting.min_by_key(|&index| idle.pages[index].0.len())?;
            Some(idle.pages.remove(best).0)
        });
        if let Some(pages) = found {
            return Ok(pages);
        }
        if len > self.0.cap {
            // What does not fit is not kept beside memory that is as large.
            drop(self.idle().map(|mut idle| idle.shrink(self.0.cap, None)));
        }
        let pages = Pages::map(len)?;
        // Kernels without huge pages refuse it: slower, not wrong.
        let _ = pages.advise_huge();
        Ok(pages)
    }

    /// Keeps `pages` if that is allowed, and drops older ones to make room.
    pub(crate) fn put(&self, pages: Pages) {
        let Some(mut idle) = self.idle() else { return };
        let bytes = idle.bytes().saturating_add(pages.len());
        let Shared { cap, period, most, .. } = &*self.0;
        let most = match (bytes <= *cap || period.is_none(), most.get()) {
            (true, _) => *cap,
            (false, Some(&most)) => most,
            (false, None) => {
                drop(idle);
                // To ask takes half a millisecond.
                let eighth = memory_total().map_or(0, |bytes| bytes / 8);
                most.get_or_init(|| usize::try_from(eighth).unwrap_or(0).max(*cap));
                return self.put(pages);
            }
        };
        if pages.len() > most {
            return;
        }
        let mut dropped = idle.shrink(most - pages.len(), None);
        idle.pages.push((pages, Instant::now()));
        if idle.bytes() > self.0.cap && !self.is_looked_after(&mut idle) {
            dropped.extend(idle.shrink(self.0.cap, None));
        }
        // Unmapping takes long: do it without the lock.
        drop(idle);
    }

    /// Whether there is a thread that gives back what is older than the period; begins it.
    fn is_looked_after(&self, idle: &mut Idle) -> bool {
        let Some(period) = self.0.period else { return false };
        let process = process::id();
        if idle.keeper != Some(process) {
            let pool = self.clone();
            let keep = move || while pool.keep(period) {};
            let begun = thread::Builder::new().name("swath-pool".into()).spawn(keep);
            idle.keeper = begun.is_ok().then_some(process);
        }
        idle.keeper.is_some()
    }

    /// Waits, and gives back what is too old; returns whether there is more to look after.
    fn keep(&self, period: Duration) -> bool {
        thread::sleep(period);
        let Some(mut idle) = self.idle() else { return true };
        let since = Instant::now().checked_sub(period);
        let dropped = since.map_or_else(Vec::new, |since| idle.shrink(self.0.cap, Some(since)));
        let is_more = idle.bytes() > self.0.cap;
        if !is_more {
            idle.keeper = None;
        }
        drop(idle);
        drop(dropped);
        is_more
    }

    fn idle(&self) -> Option<MutexGuard<'_, Idle>> {
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
        let idle = pool.idle().expect("free");
        assert!(idle.pages.iter().all(|(pages, _)| pages.as_ptr() != oldest));
        drop(idle);
        pool.put(Pages::map(8193).expect("memory"));
        assert_eq!(pool.idle_bytes(), 8192, "larger than the cap: not kept");
        pool.trim();
        assert_eq!(pool.idle_bytes(), 0);
    }

    #[test]
    fn more_is_kept_for_a_while() {
        let pool = BufferPool::with(8192, Some(Duration::from_millis(20)));
        let pages = [16384, 4096, 8192].map(|len| pool.take(len).expect("memory"));
        let last = pages[2].as_ptr();
        pages.into_iter().for_each(|pages| pool.put(pages));
        assert_eq!(pool.idle_bytes(), 28672);
        // However slow this machine is: until the thread has ended.
        while pool.idle().is_none_or(|idle| idle.keeper.is_some()) {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(pool.idle_bytes(), 8192);
        assert_eq!(pool.take(8192).expect("memory").as_ptr(), last);
    }

    #[test]
    fn a_much_larger_buffer_is_not_given_for_a_small_read() {
        let pool = BufferPool::new(64 << 20);
        pool.put(Pages::map(32 << 20).expect("memory"));
        assert!(pool.take(1 << 20).expect("memory").len() < 4 << 20);
        assert_eq!(pool.idle_bytes(), 32 << 20);
    }
}
