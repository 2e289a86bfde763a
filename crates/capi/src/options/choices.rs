//! Choices that a report returns, each value with a fixed number. Those that options take are words: `rows.rs`.

use crate::number::numbers;

/// The engine that moves the bytes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The best engine for this file at this moment.
    Auto = 0,
    /// One thread, chunk by chunk.
    Serial = 1,
    /// Several threads, each at its own position.
    Pool = 2,
    /// One thread with many reads in flight through io_uring; threads if io_uring is refused.
    Ring = 3,
    /// Several threads that copy from a map; see `swath_options_promise_frozen`.
    Map = 4,
}
numbers!(Engine, "swath_engine", [Auto, Serial, Pool, Ring, Map] <- swath::Engine);

/// How a read treats the page cache.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCache {
    /// Keep; but bypass for files larger than a quarter of the available memory, or read once.
    Auto = 0,
    /// Reads fill it, so the next read of the file is fast.
    Keep = 1,
    /// Reads go through it, and drop the pages that they added once these are read.
    Drop = 2,
    /// Reads bypass it (O_DIRECT); bytes that are already cached may still be taken from it.
    Bypass = 3,
}
numbers!(PageCache, "swath_page_cache", [Auto, Keep, Drop, Bypass] <- swath::PageCache);
