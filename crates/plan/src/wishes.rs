//! What a caller can ask for, and the words for it on a command line.

use crate::words;

/// Who moves the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The best for this file right now.
    #[default]
    Auto,
    /// One thread, chunk by chunk: the reference and the baseline (study A's sequential loading).
    Serial,
    /// Several threads, each with its own position (study A's parallel chunks).
    Pool,
    /// One thread with many reads in flight through `io_uring`.
    Ring,
    /// Several threads copying from a map (study A's memory-mapped loading).
    Map,
}

/// What happens to the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageCache {
    /// `Keep`, but `Bypass` for files above a quarter of the memory at hand, or read once.
    #[default]
    Auto,
    /// Reads warm it: the next read of the file is fast.
    Keep,
    /// Reads go through it, and what they brought is dropped behind them.
    Drop,
    /// Reads go past it by `O_DIRECT`; what it holds already may still be taken from it.
    Bypass,
}

/// Who gets which chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// The next free worker takes the next chunks.
    #[default]
    Dynamic,
    /// Equal shares, fixed in advance, as in study A.
    Static,
}

/// Whether the caller will read the file again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Not known.
    #[default]
    Unknown,
    /// No: warming the page cache would be waste.
    Once,
}

words!(Engine { Auto = "auto", Serial = "serial", Pool = "pool", Ring = "ring", Map = "map" });
words!(PageCache { Auto = "auto", Keep = "keep", Drop = "drop", Bypass = "bypass" });
words!(Schedule { Dynamic = "dynamic", Static = "static" });

/// What the caller asked for; 0 means "choose for me".
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// Who moves the bytes.
    pub engine: Engine,
    /// What happens to the page cache.
    pub page_cache: PageCache,
    /// Who gets which chunks.
    pub schedule: Schedule,
    /// Whether the file will be read again.
    pub reuse: Reuse,
    /// Threads.
    pub workers: u64,
    /// Bytes of one read.
    pub chunk_size: u64,
    /// Direct reads in flight.
    pub queue_depth: u64,
}

impl Wishes {
    /// Whether a read of `len` bytes passes the page cache by where it can, with `memory` bytes at hand.
    #[must_use]
    pub fn may_bypass(&self, len: u64, memory: u64) -> bool {
        match self.page_cache {
            PageCache::Bypass => true,
            PageCache::Auto => self.reuse == Reuse::Once || len > memory / 4,
            PageCache::Keep | PageCache::Drop => false,
        }
    }

    /// Whether a read of `len` bytes is one call without any thread, where so few as `small` are.
    #[must_use]
    pub fn take_one_read(&self, len: u64, small: u64) -> bool {
        len <= small && self.engine == Engine::Auto
    }
}
