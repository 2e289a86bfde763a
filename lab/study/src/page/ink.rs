//! The colour and the shape of a series.
//!
//! A series that is in many experiments has the same slot in all, so that a reader learns it once. Slots
//! cycle through eight colours and seven shapes, so the shapes alone also distinguish series.

use std::collections::BTreeMap;

use crate::results::{Measured, Results};

/// The number of colours in the style sheet.
pub(super) const COLORS: u8 = 8;
/// The number of slots: all pairs of colour and shape.
const SLOTS: u8 = COLORS * 7;

/// The corners of each shape around a point; the first shape, without corners, is a disc.
const SHAPES: [&[(i32, i32)]; 7] = [
    &[],
    &[(-7, -7), (7, -7), (7, 7), (-7, 7)],
    &[(0, -10), (9, 6), (-9, 6)],
    &[(0, -10), (10, 0), (0, 10), (-10, 0)],
    &[(0, 10), (9, -6), (-9, -6)],
    &[
        (-3, -10),
        (3, -10),
        (3, -3),
        (10, -3),
        (10, 3),
        (3, 3),
        (3, 10),
        (-3, 10),
        (-3, 3),
        (-10, 3),
        (-10, -3),
        (-3, -3),
    ],
    &[(0, -10), (9, -3), (6, 8), (-6, 8), (-9, -3)],
];

/// The radius of the disc.
pub(super) const RADIUS: u8 = 8;

/// Returns the corners of a slot's shape around a point; a disc has none.
pub(super) fn shape(slot: u8) -> &'static [(i32, i32)] {
    SHAPES[usize::from(slot) % SHAPES.len()]
}

/// The rank of each series, by the number of experiments that it is in.
pub(super) struct Ranks<'r>(BTreeMap<&'r str, usize>);

impl<'r> Ranks<'r> {
    /// Ranks the series of all results.
    pub(super) fn of(results: &'r Results) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for measured in &results.experiments {
            for name in names(measured) {
                *counts.entry(name).or_default() += 1;
            }
        }
        let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self(sorted.into_iter().enumerate().map(|(rank, (name, _))| (name, rank)).collect())
    }

    /// Returns the series of one experiment, with the slot of each.
    pub(super) fn slots(&self, measured: &'r Measured) -> Vec<(&'r str, u8)> {
        let mut named: Vec<(usize, &str)> = names(measured)
            .into_iter()
            .map(|name| (self.0.get(name).copied().unwrap_or_default(), name))
            .collect();
        named.sort_unstable();
        let mut taken = Vec::new();
        for (rank, name) in named {
            let slot = free_slot(rank, &taken);
            taken.push((name, slot));
        }
        taken
    }
}

/// Returns the slot of a rank, or the next free one; beyond [`SLOTS`] series, some share a slot.
fn free_slot(rank: usize, taken: &[(&str, u8)]) -> u8 {
    let is_free = |slot: &u8| taken.iter().all(|(_, other)| other != slot);
    let first = u8::try_from(rank % usize::from(COLORS)).unwrap_or_default();
    let near = (0..COLORS).map(|step| (first + step) % COLORS);
    near.chain(COLORS..SLOTS).find(is_free).unwrap_or(first)
}

fn names(measured: &Measured) -> Vec<&str> {
    let mut names: Vec<&str> = measured.runs.iter().map(|run| run.series.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{measured, run};

    fn with(series: &[&str]) -> Measured {
        let runs = series.iter().map(|name| run(name, 1.0, 0, 1.0)).collect();
        measured("a", runs)
    }

    #[test]
    fn who_is_in_many_experiments_has_one_slot_in_all() {
        let results = Results {
            experiments: vec![
                with(&["zeta", "pool"]),
                with(&["map", "pool", "java"]),
                with(&["map", "pool"]),
            ],
            ..Results::default()
        };
        let ranks = Ranks::of(&results);
        assert_eq!(ranks.slots(&results.experiments[0]), [("pool", 0), ("zeta", 3)]);
        assert_eq!(
            ranks.slots(&results.experiments[1]),
            [("pool", 0), ("map", 1), ("java", 2)]
        );
    }

    #[test]
    fn no_two_of_many_series_look_the_same() {
        let names: Vec<String> = (0..50).map(|index| format!("series {index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let results = Results { experiments: vec![with(&names)], ..Results::default() };
        let slots = Ranks::of(&results).slots(&results.experiments[0]);
        let looks: std::collections::BTreeSet<(u8, usize)> = slots
            .iter()
            .map(|(_, slot)| (slot % COLORS, usize::from(*slot) % SHAPES.len()))
            .collect();
        assert_eq!(looks.len(), 50);
    }
}
