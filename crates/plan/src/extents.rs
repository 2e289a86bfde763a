//! Extents of one file, as a set of bytes.

use alloc::vec::Vec;

use crate::extent::Extent;

/// Returns the same bytes in file order; joins extents that touch or overlap, and drops empty ones.
pub fn merged(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.retain(|extent| !extent.is_empty());
    extents.sort_unstable();
    let mut merged: Vec<Extent> = Vec::new();
    for extent in extents {
        match merged.last_mut() {
            Some(last) if extent.offset() <= last.end() => {
                *last = Extent::between(last.offset(), last.end().max(extent.end()));
            }
            _ => merged.push(extent),
        }
    }
    merged
}

/// Returns the bytes of `within` that are in none of `extents`. These are in file order and do not
/// overlap, as [`merged`] returns them.
pub fn gaps(extents: &[Extent], within: Extent) -> Vec<Extent> {
    let mut gaps = Vec::new();
    let mut reached = within.offset();
    for extent in extents {
        let gap = Extent::between(reached, extent.offset().min(within.end()));
        gaps.extend((!gap.is_empty()).then_some(gap));
        reached = reached.max(extent.end());
    }
    let last = Extent::between(reached, within.end());
    gaps.extend((!last.is_empty()).then_some(last));
    gaps
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn extents(ends: &[(u64, u64)]) -> Vec<Extent> {
        ends.iter().map(|&(offset, end)| Extent::between(offset, end)).collect()
    }

    #[test]
    fn neighbours_and_overlapping_extents_are_one() {
        let all = extents(&[(10, 20), (0, 10), (30, 40), (32, 35), (50, 50), (39, 45)]);
        assert_eq!(merged(all), extents(&[(0, 20), (30, 45)]));
        assert_eq!(merged(vec![]), vec![]);
        assert_eq!(merged(extents(&[(5, u64::MAX), (0, 5)])), extents(&[(0, u64::MAX)]));
    }

    #[test]
    fn gaps_are_what_is_left() {
        let some = extents(&[(0, 10), (20, 30)]);
        let within = |offset, end| gaps(&some, Extent::between(offset, end));
        assert_eq!(within(0, 30), extents(&[(10, 20)]));
        assert_eq!(within(20, 30), vec![]);
        assert_eq!(within(0, 31), extents(&[(10, 20), (30, 31)]));
        assert_eq!(within(5, 15), extents(&[(10, 15)]));
        assert_eq!(within(12, 18), extents(&[(12, 18)]));
        assert_eq!(gaps(&[], Extent::between(0, 0)), vec![]);
        assert_eq!(gaps(&[], Extent::between(0, 7)), extents(&[(0, 7)]));
    }
}
