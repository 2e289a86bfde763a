//! Study B's claims about many files, and the rules that judge them.

use super::super::shape::{asked, fastest, fastest_of, of_limit, quoted, read};
use super::{LIMIT, LINES, MANAGER, SWATH};
use crate::experiment::{Claim, Point, all_of, told};
use crate::results::{Finding, Key, Selected, State};
use swath_profile::stats::Bound;

/// The section of the study.
const SECTION: &str = "Conclusions";

const LARGER: &str = "For larger files, more threads does not equate to better performance … any more threads \
     heavily degrades";
const LARGER_RULE: &str = "The best number of threads above two is at most 1.1 × as fast as one, and \
    at most 0.9 × as fast as two.";

pub(super) const SMALL: &[Claim] = &[quoted(
    "b-small",
    "any more threads decreases performance",
    SECTION,
    "Of small files: no number of threads is more than 1 / 0.9 × as fast as that of the processor, and \
     the most that were tried are at most 0.9 × as fast.",
    judge_peak,
)];

pub(super) const MEDIUM: &[Claim] =
    &[quoted("b-medium", LARGER, SECTION, LARGER_RULE, judge_larger)];

pub(super) const LARGE: &[Claim] =
    &[quoted("b-large", LARGER, SECTION, LARGER_RULE, judge_larger)];

pub(super) const HUGE: &[Claim] = &[asked(
    "b-huge",
    "How do threads load files of 18 MB, which the study did not measure?",
    |runs, state| {
        let best = fastest_of(runs, MANAGER, state, |x| x > 1.0);
        let ratio = runs.speed_up(best, key(1.0, state));
        let sentence = format!("{} threads are {{}} as fast as one", best.x);
        let points = [Point::told(sentence, ratio), with_swath(runs, state)];
        told(&points).with_limit(of_limit(runs, SWATH, LIMIT, state))
    },
)];

pub(super) const BY_LINES: &[Claim] = &[
    read(
        "b-lines",
        "Large files take longer to load than small ones of the same bytes together.",
        "",
        "As the study reads, line by line, the largest files take at least as long as the smallest of \
         the same bytes together.",
        |runs, state| judge_lines(runs, LINES, state),
    ),
    read(
        "b-lines-whole",
        "Large files take longer to load than small ones of the same bytes together.",
        "",
        "Each read as a whole, the largest files take at least as long as the smallest of the same \
         bytes together.",
        |runs, state| judge_lines(runs, MANAGER, state),
    ),
];

fn key(x: f64, state: State) -> Key<'static> {
    Key { series: MANAGER, x, state }
}

/// Swath beside the best number of threads.
fn with_swath(runs: &Selected<'_>, state: State) -> Point {
    let best = fastest(runs, MANAGER, state);
    let own = Key { series: SWATH, x: 1.0, state };
    let sentence = format!("swath is {{}} as fast as the best, {} threads", best.x);
    Point::told(sentence, runs.speed_up(own, best))
}

fn judge_peak(runs: &Selected<'_>, state: State) -> Finding {
    // The limit is measured with as many threads as cores.
    let Some(&cores) = runs.places(LIMIT, State::Warm).first() else {
        return Finding::default();
    };
    let most = runs.places(MANAGER, state).last().copied().unwrap_or(cores);
    let other = fastest_of(runs, MANAGER, state, |x| x != cores);
    let at_peak = runs.speed_up(key(cores, state), other);
    let more = format!("{most} threads are {{}} as fast as {cores}");
    let beyond = runs.speed_up(key(most, state), key(cores, state)).filter(|_| most > cores);
    let points = [
        Point::new(
            format!(
                "{cores} threads, as the processor has, are {{}} as fast as the best other number, \
                 {}",
                other.x
            ),
            at_peak,
            Bound::AtLeast(0.9),
        ),
        Point::new(more, beyond, Bound::AtMost(0.9)),
        with_swath(runs, state),
    ];
    all_of(runs, &points).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

fn judge_larger(runs: &Selected<'_>, state: State) -> Finding {
    let best = fastest_of(runs, MANAGER, state, |x| x > 2.0);
    let against = |other| runs.speed_up(best, key(other, state));
    let sentence = format!("{} threads are {{}} as fast as one", best.x);
    let points = [
        Point::new(sentence, against(1.0), Bound::AtMost(1.1)),
        Point::new("they are {} as fast as two", against(2.0), Bound::AtMost(0.9)),
        with_swath(runs, state),
    ];
    all_of(runs, &points).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

fn judge_lines(runs: &Selected<'_>, series: &str, state: State) -> Finding {
    let sizes = runs.places(series, state);
    let (Some(&least), Some(&most)) = (sizes.first(), sizes.last()) else {
        return Finding::default();
    };
    let key = |x| Key { series, x, state };
    let ratio = runs.speed_up(key(least), key(most)).filter(|_| least < most);
    let sentence = format!("files of {most} kB take {{}} as long as files of {least} kB");
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.0))])
}
