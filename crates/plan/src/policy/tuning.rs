//! Settings measured to be faster than the defaults, on one file system of one machine.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{COLD_WORKERS, MOST_IN_FLIGHT, READ_SIZE, SMALL, keep_in_range};
use crate::fallback::Fallback;
use crate::wishes::{Engine, PageCache};

/// The smallest size of one read: a page.
pub(super) const LEAST_CHUNK: u64 = 4096;
/// The largest: beyond it, memory grows without gain.
pub(super) const MOST_CHUNK: u64 = 64 << 20;

/// Numbers that replace the defaults of [`decide`](super::decide). 0 and `Auto` mean "not
/// measured", so the default of this type changes no decision.
///
/// Requests of the caller take precedence, then these, then the defaults. A requested engine is
/// not tuned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Threads for files in the page cache.
    pub warm_workers: u64,
    /// Bytes of one read, for a file in the page cache.
    pub warm_chunk_size: u64,
    /// Threads for files that are not in it, read through it.
    pub cold_workers: u64,
    /// Bytes of one read, for a file that is not completely in it.
    pub cold_chunk_size: u64,
    /// Direct reads in flight.
    pub direct_depth: u64,
    /// Bytes of one direct read.
    pub direct_chunk_size: u64,
    /// The engine for direct reads: [`Engine::Ring`] if possible, or [`Engine::Pool`], one thread
    /// for each. Other values mean "not measured".
    pub direct_engine: Engine,
    /// The mode for a file that will not be read again: [`PageCache::Bypass`] if possible, or
    /// [`PageCache::Drop`]. Other values mean "not measured".
    pub once: PageCache,
    /// Up to this many bytes, one read without any thread is fastest.
    pub small: u64,
}

impl Tuning {
    /// Returns the settings for a caller whose threads also process the bytes: the best number of
    /// threads in flight at the device, but never fewer than the caller has anyway.
    ///
    /// ```
    /// use swath_plan::policy::Tuning;
    ///
    /// let few = Tuning { warm_workers: 2, cold_workers: 2, ..Tuning::default() };
    /// assert_eq!(few.beside_work(8), Tuning::default());
    /// let many = Tuning { cold_workers: 32, ..few };
    /// assert_eq!(many.beside_work(8).cold_workers, 32);
    /// ```
    pub fn beside_work(&self, cores: u64) -> Self {
        let more = self.cold_workers > cores.max(COLD_WORKERS);
        Self { cold_workers: if more { self.cold_workers } else { 0 }, ..Self::default() }
    }

    /// Clamps absurd values, and reports them.
    pub(super) fn bounded(&self, fallbacks: &mut Vec<Fallback>) -> Self {
        let mut tuning = *self;
        let sizes = (LEAST_CHUNK, MOST_CHUNK);
        let counts = (1, MOST_IN_FLIGHT);
        for (name, (least, most), number) in [
            ("warm workers", counts, &mut tuning.warm_workers),
            ("cold workers", counts, &mut tuning.cold_workers),
            ("direct depth", counts, &mut tuning.direct_depth),
            ("warm chunk size", sizes, &mut tuning.warm_chunk_size),
            ("cold chunk size", sizes, &mut tuning.cold_chunk_size),
            ("direct chunk size", sizes, &mut tuning.direct_chunk_size),
            ("small files", (1, READ_SIZE), &mut tuning.small),
        ] {
            fallbacks.extend(keep_in_range("profile", name, number, least..=most));
        }
        tuning
    }

    /// Returns the limit for reading in one call, clamped: for callers that need it before they
    /// decide.
    pub fn small_bytes(&self) -> u64 {
        if self.small == 0 { SMALL } else { self.small.min(READ_SIZE) }
    }

    /// Whether files that are read once bypass the page cache, if possible.
    pub fn bypasses(&self) -> bool {
        self.once != PageCache::Drop
    }
}

/// The settings of a [`Tuning`] that a decision has used, for its reason.
#[derive(Default)]
pub(super) struct Taken(Vec<&'static str>);

impl Taken {
    /// Returns the requested value, otherwise the measured one, otherwise 0.
    pub(super) fn pick(&mut self, name: &'static str, wish: u64, tuned: u64) -> u64 {
        if wish > 0 || tuned == 0 {
            return wish;
        }
        self.note(name);
        tuned
    }

    pub(super) fn note(&mut self, name: &'static str) {
        if !self.0.contains(&name) {
            self.0.push(name);
        }
    }

    /// Returns the end of the reason; empty if no setting was used.
    pub(super) fn words(&self) -> String {
        match self.0.as_slice() {
            [] => String::new(),
            names => format!("; as tuned: {}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn numbers_out_of_range_are_bounded_and_said() {
        let wild = Tuning {
            warm_workers: u64::MAX,
            cold_workers: 1025,
            direct_depth: 1024,
            warm_chunk_size: 1,
            cold_chunk_size: u64::MAX,
            direct_chunk_size: 4096,
            small: u64::MAX,
            ..Tuning::default()
        };
        let mut said = vec![];
        let bounded = wild.bounded(&mut said);
        assert_eq!((bounded.warm_workers, bounded.cold_workers), (1024, 1024));
        assert_eq!((bounded.warm_chunk_size, bounded.cold_chunk_size), (4096, 64 << 20));
        assert_eq!((bounded.direct_depth, bounded.direct_chunk_size), (1024, 4096));
        assert_eq!((bounded.small, wild.small_bytes()), (READ_SIZE, READ_SIZE));
        assert_eq!(said.len(), 5, "{said:?}");
        assert!(
            matches!(said[0], Fallback::OutOfRange { what: "warm workers", .. }),
            "{said:?}"
        );
        let mut said = vec![];
        assert_eq!(Tuning::default().bounded(&mut said), Tuning::default());
        assert!(said.is_empty());
    }

    #[test]
    fn a_wish_comes_first_and_is_not_called_tuned() {
        let mut taken = Taken::default();
        assert_eq!((taken.pick("workers", 3, 5), taken.pick("depth", 0, 0)), (3, 0));
        assert_eq!(taken.words(), "");
        assert_eq!((taken.pick("workers", 0, 5), taken.pick("workers", 0, 5)), (5, 5));
        taken.note("threads for direct reads");
        assert_eq!(taken.words(), "; as tuned: workers, threads for direct reads");
    }
}
