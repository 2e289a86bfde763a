//! What may be chosen, each value with a number that stays.

use crate::number::numbers;

/// Who moves the bytes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The best for this file right now.
    Auto = 0,
    /// One thread, chunk by chunk.
    Serial = 1,
    /// Several threads, each with its own position.
    Pool = 2,
    /// One thread with many reads in flight through io_uring; where that is refused, threads.
    Ring = 3,
    /// Several threads copying from a map; see `swath_read_options_promise_frozen`.
    Map = 4,
}
numbers!(Engine, "swath_engine", [Auto, Serial, Pool, Ring, Map] <-> swath::Engine);

/// What happens to the page cache.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCache {
    /// Keep, but bypass for files above a quarter of the memory at hand, or read once.
    Auto = 0,
    /// Reads warm it: the next read of the file is fast.
    Keep = 1,
    /// Reads go through it, and what they brought is dropped behind them.
    Drop = 2,
    /// Reads go past it (O_DIRECT); what it holds already may still be taken from it.
    Bypass = 3,
}
numbers!(PageCache, "swath_page_cache", [Auto, Keep, Drop, Bypass] <-> swath::PageCache);

/// Whether the file will be read again.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Not known: reads warm the page cache.
    Unknown = 0,
    /// No: warming the page cache would be waste.
    Once = 1,
}
numbers!(Reuse, "swath_reuse", [Unknown, Once] -> swath::reading::Reuse);

/// What a file may do while it is read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Stay as it is; growth is an error, as any other change.
    Refused = 0,
    /// Grow: the length seen first is read. For logs that are being written.
    Ignored = 1,
}
numbers!(Growth, "swath_growth", [Refused, Ignored] -> swath::reading::Growth);

/// Whose measurements count.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nobody's: the defaults.
    #[default]
    None = 0,
    /// The user's: what `swath tune` has kept for the file system that the file is on, if it has.
    /// It is looked for with every call; one that is damaged is left aside, and a fall-back of the
    /// report says so. It changes how bytes come, never which.
    OfUser = 1,
}
numbers!(Profile, "swath_profile", [None, OfUser]);
