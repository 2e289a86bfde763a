//! Finds which of two ways to do the same work is faster here, while they do it.
//!
//! A mapped file is summed faster than a read one on some processors, and half as fast on others.
//! So both ways do a few megabytes each, of the bytes that are due anyway, and the faster one does
//! the rest:
//!
//! ```text
//! bytes    256 KiB  512 KiB   1 MiB       2 MiB              to 1 GiB         256 KiB …
//! way      |U|O|    |O |U |   |U   |O   | |O       |U      | the faster way   |U|O| …
//!          warm up  count     count       count
//! ```
//!
//! A [`Contest`] has no clock and no threads: it returns the next [`Heat`], and is passed its cost.
//! Any number of threads may run heats at once, in any order. Medians over parts of 256 KiB are
//! compared, so that an interrupted thread counts once. The contest is repeated in each GiB. Below
//! 256 MiB the last pair of windows is left out: it would cost more than 3 %.
//!
//! ```
//! use swath_plan::contest::{Contest, HeatCost, Contender};
//! use swath_plan::extent::Extent;
//!
//! let mut rest = Extent::between(0, 64 << 20);
//! let mut contest = Contest::new(rest);
//! while !rest.is_empty() {
//!     let heat = contest.next(rest);
//!     let wall = match heat.side {
//!         Contender::Usual => 30 * heat.extent.len() / 1000,
//!         Contender::Other => 20 * heat.extent.len() / 1000,
//!     };
//!     contest.took(&heat, HeatCost { wall, cpu: wall });
//!     rest = Extent::between(heat.extent.end(), rest.end());
//! }
//! assert_eq!(contest.choice(), Contender::Other);
//! ```

use alloc::vec::Vec;

use crate::extent::Extent;
use crate::schedule::Nanos;

/// Shorter extents are not worth a contest: the slower side costs more than the faster one saves.
pub const SHORTEST: u64 = 64 << 20;
/// Bytes after which the contest is repeated.
const AGAIN: u64 = 1 << 30;
/// Bytes of the first window of each side, and of a heat.
const HEAT: u64 = 256 << 10;
/// Windows of each side, each twice as long as the one before; the first does not count.
const WINDOWS: u32 = 4;
/// The length from which there are this many; below it, there is one fewer.
const LONG: u64 = 256 << 20;
/// Wall time decides if one side takes at least this percentage of the other's.
const CLEAR_WALL: u64 = 110;
/// Otherwise CPU time decides, if one side takes at least this percentage of the other's.
const CLEAR_CPU: u64 = 103;

/// One of two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The way taken without a clear winner.
    Usual,
    /// The other way.
    Other,
}

/// Bytes to do in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// The way.
    pub side: Contender,
    /// The bytes.
    pub extent: Extent,
    /// Whether its cost is needed.
    pub counts: bool,
    /// The counted window that ends with this heat, if any: state that the work left, such as
    /// mapped pages, is cleared now, at an extra cost.
    pub over: Option<Extent>,
}

/// The cost of a heat for the thread that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatCost {
    /// Nanoseconds from its beginning to its end.
    pub wall: Nanos,
    /// Nanoseconds of CPU time.
    pub cpu: Nanos,
}

impl Contender {
    fn index(self) -> usize {
        usize::from(self == Self::Other)
    }
}

impl HeatCost {
    fn per_mib(self, extent: Extent) -> Self {
        let of = |nanos: Nanos| nanos.saturating_mul(1 << 20) / extent.len().max(1);
        Self { wall: of(self.wall), cpu: of(self.cpu) }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Contest {
    start: u64,
    /// Windows of each side.
    windows: u32,
    choice: Contender,
    /// The GiB that the costs belong to.
    round: u64,
    /// The costs of each side, in nanoseconds per MiB.
    costs: [Vec<HeatCost>; 2],
    /// The costs of clearing, in the same units.
    clearing: [Vec<HeatCost>; 2],
    /// The medians of the last decided round.
    medians: Option<[HeatCost; 2]>,
}

impl Contest {
    /// Starts a contest over an extent.
    pub fn new(extent: Extent) -> Self {
        let (costs, clearing) = Default::default();
        let windows = if extent.len() < LONG { WINDOWS - 1 } else { WINDOWS };
        let start = extent.offset();
        Self {
            start,
            windows,
            choice: Contender::Usual,
            round: 0,
            costs,
            clearing,
            medians: None,
        }
    }

    /// Returns the first heat of `extent`, which must be nonempty and within the contest's extent.
    pub fn next(&self, extent: Extent) -> Heat {
        let in_round = (extent.offset() - self.start) % AGAIN;
        let round = extent.offset() - in_round;
        let until = |end: u64| {
            let end = round.saturating_add(end).min(extent.end());
            Extent::between(extent.offset(), end)
        };
        match window(in_round, self.windows) {
            None => Heat { side: self.choice, extent: until(AGAIN), counts: false, over: None },
            Some((side, [start, end])) => {
                let extent = until(end.min(in_round + HEAT));
                let counts = end - start > HEAT;
                let is_over = counts && extent.end() == round.saturating_add(end);
                let over = is_over.then(|| Extent::between(round + start, extent.end()));
                Heat { side, extent, counts, over }
            }
        }
    }

    /// Records the cost of a heat, without that of clearing its window.
    pub fn took(&mut self, heat: &Heat, cost: HeatCost) {
        if heat.counts && self.is_of_this_round(heat) {
            self.costs[heat.side.index()].push(cost.per_mib(heat.extent));
            self.decide();
        }
    }

    /// Records the cost of clearing the window that ended with a heat.
    pub fn cleared(&mut self, heat: &Heat, cost: HeatCost) {
        if let Some(window) = heat.over
            && self.is_of_this_round(heat)
        {
            self.clearing[heat.side.index()].push(cost.per_mib(window));
        }
    }

    /// Returns whether the heat is in the current round; a heat of a later round begins that one.
    fn is_of_this_round(&mut self, heat: &Heat) -> bool {
        let round = (heat.extent.offset() - self.start) / AGAIN;
        if round > self.round {
            self.round = round;
            (self.costs, self.clearing) = Default::default();
        }
        round == self.round
    }

    fn decide(&mut self) {
        // All but the first window.
        let counted = (1 << self.windows) - 2;
        if self.costs.iter().any(|costs| costs.len() < counted) {
            return;
        }
        let [usual, other] = [0, 1].map(|side| {
            let (heat, clearing) =
                (median(&mut self.costs[side]), median(&mut self.clearing[side]));
            HeatCost { wall: heat.wall + clearing.wall, cpu: heat.cpu + clearing.cpu }
        });
        self.choice = faster([usual, other]);
        self.medians = Some([usual, other]);
        (self.costs, self.clearing) = Default::default();
    }

    /// Returns the faster way, or the usual one.
    pub fn choice(&self) -> Contender {
        self.choice
    }

    /// Returns the cost of a MiB for each side in the last decided round, the usual one first.
    pub fn medians(&self) -> Option<[HeatCost; 2]> {
        self.medians
    }
}

/// Bytes of all windows of both sides.
const fn all_windows(windows: u32) -> u64 {
    2 * HEAT * ((1 << windows) - 1)
}

/// Returns the side of the window at `at` in a round, its start and its end; `None` after the
/// windows.
fn window(at: u64, windows: u32) -> Option<(Contender, [u64; 2])> {
    if at >= all_windows(windows) {
        return None;
    }
    // The pair of windows `n` begins at 2 × HEAT × (2^n − 1).
    let pair = (at / (2 * HEAT) + 1).ilog2();
    let len = HEAT << pair;
    let start = 2 * (len - HEAT);
    let (is_first, middle) = (at < start + len, start + len);
    // In turn, so that neither side always finds the caches warm.
    let side =
        if is_first == pair.is_multiple_of(2) { Contender::Usual } else { Contender::Other };
    Some((side, if is_first { [start, middle] } else { [middle, middle + len] }))
}

fn median(costs: &mut [HeatCost]) -> HeatCost {
    let mut of = |nanos: fn(&HeatCost) -> Nanos| {
        costs.sort_unstable_by_key(nanos);
        costs.get(costs.len() / 2).map_or(0, nanos)
    };
    HeatCost { wall: of(|cost| cost.wall), cpu: of(|cost| cost.cpu) }
}

fn faster([usual, other]: [HeatCost; 2]) -> Contender {
    let is_clear = |less: Nanos, more: Nanos, percent: u64| {
        u128::from(less) * u128::from(percent) <= u128::from(more) * 100
    };
    match () {
        () if is_clear(other.wall, usual.wall, CLEAR_WALL) => Contender::Other,
        () if is_clear(usual.wall, other.wall, CLEAR_WALL) => Contender::Usual,
        () if is_clear(other.cpu, usual.cpu, CLEAR_CPU) => Contender::Other,
        () => Contender::Usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::word;
    use alloc::vec;

    const MIB: u64 = 1 << 20;

    /// Runs a contest over `len` bytes in leases of 2 MiB by `workers` threads that take turns;
    /// returns it, and the bytes that each side did. `cost` returns the cost of a MiB at an offset.
    fn run(
        start: u64,
        len: u64,
        workers: usize,
        cost: &dyn Fn(Contender, u64) -> HeatCost,
    ) -> (Contest, [u64; 2]) {
        let mut contest = Contest::new(Extent::between(start, start + len));
        let mut done = [0; 2];
        let mut covered = Vec::new();
        let mut next = start;
        let mut leases = vec![Extent::between(0, 0); workers];
        while next < start + len || leases.iter().any(|lease| !lease.is_empty()) {
            for lease in &mut leases {
                if lease.is_empty() {
                    let end = (next + 2 * MIB).min(start + len);
                    *lease = Extent::between(next, end);
                    next = end;
                }
                if lease.is_empty() {
                    continue;
                }
                let heat = contest.next(*lease);
                assert!(!heat.extent.is_empty() && heat.extent.offset() == lease.offset());
                let of_mib = cost(heat.side, heat.extent.offset() - start);
                let of_heat = |nanos: Nanos| nanos * heat.extent.len() / MIB;
                let cost = HeatCost { wall: of_heat(of_mib.wall), cpu: of_heat(of_mib.cpu) };
                contest.took(&heat, cost);
                done[usize::from(heat.side == Contender::Other)] += heat.extent.len();
                covered.push(heat.extent);
                *lease = Extent::between(heat.extent.end(), lease.end());
            }
        }
        covered.sort_unstable_by_key(|extent: &Extent| extent.offset());
        let mut at = start;
        for extent in covered {
            assert_eq!(extent.offset(), at, "each byte once");
            at = extent.end();
        }
        assert_eq!(at, start + len);
        (contest, done)
    }

    fn both(usual: (u64, u64), other: (u64, u64)) -> impl Fn(Contender, u64) -> HeatCost {
        move |side, _| {
            let (wall, cpu) = if side == Contender::Usual { usual } else { other };
            HeatCost { wall, cpu }
        }
    }

    #[test]
    fn machines_of_other_kinds_get_the_way_that_is_faster_there() {
        // Nanoseconds per MiB, wall and CPU, of reading and of mapping.
        for (what, read, mapped, expected) in [
            ("slow faults", (90_000, 90_000), (190_000, 190_000), Contender::Usual),
            ("slow copies", (50_000, 50_000), (34_000, 34_000), Contender::Other),
            (
                "memory is the limit, copies cost CPU",
                (90_000, 80_000),
                (90_000, 60_000),
                Contender::Other,
            ),
            (
                "memory is the limit, faults cost CPU",
                (90_000, 60_000),
                (90_000, 80_000),
                Contender::Usual,
            ),
            ("as good", (90_000, 90_000), (89_000, 89_000), Contender::Usual),
            (
                "a little faster and cheaper",
                (90_000, 90_000),
                (85_000, 85_000),
                Contender::Other,
            ),
            ("faster for more CPU", (90_000, 50_000), (60_000, 70_000), Contender::Other),
        ] {
            for workers in [1, 2, 4, 64] {
                let cost = both(read, mapped);
                let (contest, done) = run(4096, 256 * MIB, workers, &cost);
                assert_eq!(contest.choice(), expected, "{what}, {workers} workers");
                let slower = done[usize::from(expected == Contender::Usual)];
                // Up to four workers stay within the windows until the decision.
                assert!(
                    workers > 4 || slower <= all_windows(WINDOWS),
                    "{what}, {workers}: {slower}"
                );
            }
        }
    }

    #[test]
    fn a_thread_that_warms_up_or_is_interrupted_does_not_decide() {
        let slow: Vec<u64> = (0..5).map(|index| word(1, index) % 30 * HEAT).collect();
        for workers in [1, 2] {
            let cost = |side: Contender, at: u64| {
                let wall = if side == Contender::Usual { 90_000 } else { 60_000 };
                let wall = if slow.contains(&at) { 100 * wall } else { wall };
                HeatCost { wall, cpu: wall }
            };
            let (contest, _) = run(0, LONG, workers, &cost);
            assert_eq!(
                contest.choice(),
                Contender::Other,
                "{workers} workers, slow at {slow:?}"
            );
        }
    }

    #[test]
    fn the_question_is_asked_again_in_each_gib() {
        let cost = |side: Contender, at: u64| {
            let is_slow = (side == Contender::Usual) == (at < AGAIN);
            let wall = if is_slow { 90_000 } else { 60_000 };
            HeatCost { wall, cpu: wall }
        };
        let (contest, done) = run(0, 2 * AGAIN, 2, &cost);
        assert_eq!(contest.choice(), Contender::Usual);
        assert!(
            done.iter().all(|&done| done.abs_diff(AGAIN) < 2 * all_windows(WINDOWS)),
            "{done:?}"
        );
        assert_eq!(
            contest.medians().map(|[usual, other]| [usual.wall, other.wall]),
            Some([60_000, 90_000])
        );
    }

    #[test]
    fn a_short_extent_is_done_whole_without_a_verdict() {
        for len in [1, HEAT - 1, HEAT + 1, 3 * MIB, all_windows(WINDOWS - 1) - HEAT] {
            let (contest, _) = run(17, len, 2, &both((9, 9), (1, 1)));
            assert_eq!(
                (contest.choice(), contest.medians()),
                (Contender::Usual, None),
                "{len}"
            );
        }
    }
}
