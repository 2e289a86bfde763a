//! The facts about the page cache, window by window.
//!
//! A file is seldom completely in the page cache or completely absent, so the way to read is
//! chosen for windows of [`WINDOW_SIZE`] bytes, cut at multiples of it in the file.
//!
//! ```text
//! file     |....####|########|....|      # resident
//! windows  |Partial |Resident|Absent|
//! ```

use alloc::vec::Vec;

use crate::extent::Extent;

/// Size of a window in bytes: large enough that inspecting it costs below 1 % of reading it.
pub const WINDOW_SIZE: u64 = 16 << 20;

/// The part of a window that the page cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residency {
    /// Every sample is resident.
    Resident,
    /// Some samples are.
    Partial,
    /// No sample is.
    Absent,
    /// The kernel does not tell, for example because the file belongs to another user.
    Unknown,
}

impl Residency {
    /// Returns the residency from the number of inspected pages, and of cached ones among them.
    pub const fn from_sample(cached: u64, seen: u64) -> Self {
        if seen == 0 {
            Self::Unknown
        } else if cached >= seen {
            Self::Resident
        } else if cached == 0 {
            Self::Absent
        } else {
            Self::Partial
        }
    }
}

/// Cuts `extent` at the multiples of [`WINDOW_SIZE`].
pub fn windows(extent: Extent) -> impl Iterator<Item = Extent> {
    let first = extent.offset() / WINDOW_SIZE;
    let end = extent.end().div_ceil(WINDOW_SIZE);
    (first..end.max(first)).map(move |index| {
        let offset = index * WINDOW_SIZE;
        extent.intersect(Extent::between(offset, offset.saturating_add(WINDOW_SIZE)))
    })
}

/// Returns the number of windows that [`windows`] returns.
pub fn count(extent: Extent) -> u64 {
    (extent.end().div_ceil(WINDOW_SIZE)).saturating_sub(extent.offset() / WINDOW_SIZE)
}

/// Returns the places to inspect in a window: up to four samples of 64 KiB, its start and end among
/// them.
pub fn samples(window: Extent) -> Vec<Extent> {
    const SAMPLE: u64 = 64 << 10;
    if window.len() <= 4 * SAMPLE {
        return alloc::vec![window];
    }
    let last = window.end() - SAMPLE;
    (0..4)
        .map(|third| window.offset() + (last - window.offset()) / 3 * third)
        .map(|offset| Extent::between(offset, offset + SAMPLE))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_tile_the_extent_at_multiples() {
        let extent = Extent::between(WINDOW_SIZE - 1, 3 * WINDOW_SIZE + 1);
        let cut: Vec<_> = windows(extent).collect();
        assert_eq!(cut.len(), 4);
        assert_eq!((cut[0].len(), cut[1].len(), cut[3].len()), (1, WINDOW_SIZE, 1));
        assert!(cut.windows(2).all(|pair| pair[0].end() == pair[1].offset()));
        assert_eq!(windows(Extent::between(7, 7)).map(Extent::len).sum::<u64>(), 0);
        assert_eq!(windows(Extent::between(0, WINDOW_SIZE)).count(), 1);
        for extent in [extent, Extent::between(7, 7), Extent::between(0, WINDOW_SIZE)] {
            assert_eq!(count(extent), windows(extent).count() as u64, "{extent}");
        }
    }

    #[test]
    fn samples_lie_inside_and_reach_both_ends() {
        for len in [1, 4096, (256 << 10) - 1, (256 << 10) + 1, WINDOW_SIZE] {
            let window = Extent::between(WINDOW_SIZE, WINDOW_SIZE + len);
            let looked_at = samples(window);
            assert!(looked_at.iter().all(|&at| at.intersect(window) == at), "{len}");
            assert_eq!(looked_at[0].offset(), window.offset());
            let reach = looked_at.iter().map(|at| at.end()).max();
            assert!(reach.is_some_and(|end| window.end() - end < 3), "{len}");
        }
    }

    #[test]
    fn a_sample_of_nothing_is_unknown() {
        assert_eq!(Residency::from_sample(0, 0), Residency::Unknown);
        assert_eq!(Residency::from_sample(0, 4), Residency::Absent);
        assert_eq!(Residency::from_sample(3, 4), Residency::Partial);
        assert_eq!(Residency::from_sample(4, 4), Residency::Resident);
    }
}
