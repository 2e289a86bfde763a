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
numbers!(Engine, "swath_engine", [Auto, Serial, Pool, Ring, Map]);

impl From<Engine> for swath::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Auto => Self::Auto,
            Engine::Serial => Self::Serial,
            Engine::Pool => Self::Pool,
            Engine::Ring => Self::Ring,
            Engine::Map => Self::Map,
        }
    }
}

impl From<swath::Engine> for Engine {
    fn from(engine: swath::Engine) -> Self {
        match engine {
            swath::Engine::Auto => Self::Auto,
            swath::Engine::Serial => Self::Serial,
            swath::Engine::Pool => Self::Pool,
            swath::Engine::Ring => Self::Ring,
            swath::Engine::Map => Self::Map,
        }
    }
}

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
numbers!(PageCache, "swath_page_cache", [Auto, Keep, Drop, Bypass]);

impl From<PageCache> for swath::PageCache {
    fn from(page_cache: PageCache) -> Self {
        match page_cache {
            PageCache::Auto => Self::Auto,
            PageCache::Keep => Self::Keep,
            PageCache::Drop => Self::Drop,
            PageCache::Bypass => Self::Bypass,
        }
    }
}

impl From<swath::PageCache> for PageCache {
    fn from(page_cache: swath::PageCache) -> Self {
        match page_cache {
            swath::PageCache::Auto => Self::Auto,
            swath::PageCache::Keep => Self::Keep,
            swath::PageCache::Drop => Self::Drop,
            swath::PageCache::Bypass => Self::Bypass,
        }
    }
}

/// Whether the file will be read again.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Not known: reads warm the page cache.
    Unknown = 0,
    /// No: warming the page cache would be waste.
    Once = 1,
}
numbers!(Reuse, "swath_reuse", [Unknown, Once]);

impl From<Reuse> for swath::reading::Reuse {
    fn from(reuse: Reuse) -> Self {
        match reuse {
            Reuse::Unknown => Self::Unknown,
            Reuse::Once => Self::Once,
        }
    }
}

/// What a file may do while it is read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Stay as it is; growth is an error, as any other change.
    Refused = 0,
    /// Grow: the length seen first is read. For logs that are being written.
    Ignored = 1,
}
numbers!(Growth, "swath_growth", [Refused, Ignored]);

impl From<Growth> for swath::reading::Growth {
    fn from(growth: Growth) -> Self {
        match growth {
            Growth::Refused => Self::Refused,
            Growth::Ignored => Self::Ignored,
        }
    }
}

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
