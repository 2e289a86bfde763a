//! The offset of a strand's first byte in the file, once it is known.
//!
//! The leftmost strand begins at 0. Every other strand begins where its predecessor in serial
//! order ends. So its place is known once the predecessor has ended well and the predecessor's
//! place is known.
//!
//! ```text
//! root ──follows── a ──follows── b      known(b) = known(root) + len(root) + len(a)
//! ```
//!
//! No thread waits for it. A strand checks before it writes bytes: if its place is known, they go
//! there directly; if not, they are kept or spilled, and moved later.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::locks::{AtomicU64, Mutex};

const UNKNOWN: u64 = u64::MAX;

/// The offset of one strand's first byte.
#[derive(Debug)]
pub(super) struct StartOffset {
    /// The offset in the file, or [`UNKNOWN`].
    base: AtomicU64,
    /// Start and length of the strand that ends where this one begins. `None` once `base` is known.
    before: Mutex<Option<(Arc<StartOffset>, u64)>>,
}

impl StartOffset {
    /// Returns a start at `offset`.
    pub(super) fn at(offset: u64) -> Arc<Self> {
        Arc::new(Self { base: AtomicU64::new(offset), before: Mutex::new(None) })
    }

    /// Returns a start that becomes known later, or never.
    pub(super) fn unknown() -> Arc<Self> {
        Self::at(UNKNOWN)
    }

    /// Declares that this begins `len` bytes after `before`. Called once, when the strand that ends
    /// here has ended well, so that `len` is final.
    pub(super) fn follow(&self, before: &Arc<StartOffset>, len: u64) {
        *self.lock() = Some((Arc::clone(before), len));
    }

    /// Returns the offset, if the lengths of all strands before it are known.
    pub(super) fn known(&self) -> Option<u64> {
        match self.base() {
            Some(base) => Some(base),
            None => self.resolve(),
        }
    }

    fn base(&self) -> Option<u64> {
        // Relaxed: only the offset itself is published.
        Some(self.base.load(Ordering::Relaxed)).filter(|&base| base != UNKNOWN)
    }

    /// Walks to the left until an offset is known. A loop, not a recursion: a parallel iterator
    /// makes a chain as long as it has parts.
    fn resolve(&self) -> Option<u64> {
        let mut chain: Vec<Arc<StartOffset>> = Vec::new();
        let mut step = self.lock().clone()?;
        let mut lens = vec![step.1];
        let mut base = loop {
            let (before, _) = step;
            if let Some(base) = before.base() {
                break base;
            }
            let next = before.lock().clone()?;
            lens.push(next.1);
            chain.push(before);
            step = next;
        };
        for start in chain.iter().rev() {
            base += lens.pop().unwrap_or(0);
            start.settle(base);
        }
        base += lens.pop().unwrap_or(0);
        self.settle(base);
        Some(base)
    }

    fn settle(&self, base: u64) {
        self.base.store(base, Ordering::Relaxed);
        let done = self.lock().take();
        drop(done);
    }

    fn lock(&self) -> crate::locks::MutexGuard<'_, Option<(Arc<StartOffset>, u64)>> {
        self.before.lock()
    }
}

/// Without recursion, for the same reason.
impl Drop for StartOffset {
    fn drop(&mut self) {
        let mut next = self.lock().take();
        while let Some((before, _)) = next {
            next = Arc::into_inner(before).and_then(|start| start.lock().take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_known_once_all_before_it_are() {
        let root = StartOffset::at(100);
        let (a, b, c) =
            (StartOffset::unknown(), StartOffset::unknown(), StartOffset::unknown());
        c.follow(&b, 3);
        assert_eq!((a.known(), b.known(), c.known()), (None, None, None));
        b.follow(&a, 2);
        assert_eq!(c.known(), None);
        a.follow(&root, 1);
        assert_eq!(c.known(), Some(106));
        assert_eq!((a.known(), b.known()), (Some(101), Some(103)));
    }

    #[test]
    fn a_chain_of_a_million_is_resolved_and_dropped() {
        for resolve in [true, false] {
            let mut last = StartOffset::at(0);
            for step in 0..1_000_000 {
                let next = StartOffset::unknown();
                if resolve || step > 0 {
                    next.follow(&last, 2);
                }
                last = next;
            }
            assert_eq!(last.known(), resolve.then_some(2_000_000));
        }
    }
}
