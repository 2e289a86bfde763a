//! Detects reads of this process that overlap: a measurement beside another read says little.

use std::sync::atomic::{AtomicU64, Ordering};

/// Running reads, and all that have begun. A child of fork(2) may count reads of its parent for ever; it then is never
/// alone.
static RUNNING: AtomicU64 = AtomicU64::new(0);
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// A running read, until it is dropped.
#[derive(Debug)]
pub(crate) struct Presence {
    /// Number of reads that had begun, including this one; 0 if another one was running.
    begun: u64,
}

impl Presence {
    pub(crate) fn begin() -> Self {
        // Relaxed: a heuristic, and nothing else depends on it.
        let others = RUNNING.fetch_add(1, Ordering::Relaxed);
        let begun = BEGUN.fetch_add(1, Ordering::Relaxed) + 1;
        Self { begun: if others == 0 { begun } else { 0 } }
    }

    /// Whether no other read has run since it began.
    pub(crate) fn is_alone(&self) -> bool {
        BEGUN.load(Ordering::Relaxed) == self.begun
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}
