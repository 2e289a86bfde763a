//! The requests of a caller, and their words on a command line.

use crate::words;

/// The engine that moves the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The fastest for this file right now.
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

/// How to use the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageCache {
    /// `Keep`, but `Bypass` for files above a quarter of the available memory, or read once.
    #[default]
    Auto,
    /// Reads warm it: the next read of the file is fast.
    Keep,
    /// Reads go through it, and the pages that they brought in are dropped after reading.
    Drop,
    /// Reads bypass it with `O_DIRECT`; cached pages may still be taken from it.
    Bypass,
}

/// How chunks are assigned to workers.
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
    /// Unknown.
    #[default]
    Unknown,
    /// No: warming the page cache would be a waste.
    Once,
}

words!(Engine { Auto = "auto", Serial = "serial", Pool = "pool", Ring = "ring", Map = "map" });
words!(PageCache { Auto = "auto", Keep = "keep", Drop = "drop", Bypass = "bypass" });
words!(Schedule { Dynamic = "dynamic", Static = "static" });

/// The options of the caller; 0 means "choose for me".
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// The engine that moves the bytes.
    pub engine: Engine,
    /// How to use the page cache.
    pub page_cache: PageCache,
    /// How chunks are assigned to workers.
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
    /// Whether a read of `len` bytes bypasses the page cache if possible, with `memory` bytes
    /// available.
    pub fn may_bypass(&self, len: u64, memory: u64) -> bool {
        match self.page_cache {
            PageCache::Bypass => true,
            PageCache::Auto => self.reuse == Reuse::Once || len > memory / 4,
            PageCache::Keep | PageCache::Drop => false,
        }
    }

    /// Whether a read of `len` bytes is one call without any thread; `small` is the limit for that.
    pub fn take_one_read(&self, len: u64, small: u64) -> bool {
        len <= small && self.engine == Engine::Auto
    }
}
