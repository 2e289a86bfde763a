//! Study B's claims about many files, and the rules that judge them.

use super::super::shape::{fastest, fastest_of, of_limit};
use super::{LIMIT, LINES, MANAGER, SWATH};
use crate::experiment::{Claim, Point, all_of, told};
use crate::results::{Finding, Key, Selected, State};
use swath_profile::stats::Bound;

pub(super) const SMALL: &[Claim] = &[Claim::new("b-small", judge_peak)];

pub(super) const MEDIUM: &[Claim] = &[
    Claim::new("b-medium", judge_larger),
    Claim::new("b-medium-array", |runs, state| {
        of_device(runs, state, "whether these files lie on an array")
    }),
    Claim::new("b-medium-disk", |runs, state| {
        of_device(runs, state, "whether these files lie on one spinning disk")
    }),
];

pub(super) const LARGE: &[Claim] = &[
    Claim::new("b-large", judge_larger),
    Claim::new("b-large-unresponsive", |runs, state| {
        let most = runs.places(MANAGER, state).last().copied().unwrap_or(1.0);
        let late = runs.value(key(most, state), "late_most_seconds", 1e-3);
        let sentence = format!("beside {most} threads a timer fires {{}} late at most");
        all_of(runs, &[Point::new(sentence, late, Bound::AtLeast(1000.0)).in_unit("ms")])
    }),
];

pub(super) const HUGE: &[Claim] = &[Claim::new("b-huge", |runs, state| {
    let best = fastest_of(runs, MANAGER, state, |x| x > 1.0);
    let ratio = runs.speed_up(best, key(1.0, state));
    let sentence = format!("{} threads are {{}} as fast as one", best.x);
    let points = [Point::told(sentence, ratio), with_swath(runs, state)];
    told(&points).with_limit(of_limit(runs, SWATH, LIMIT, state))
})];

pub(super) const BY_LINES: &[Claim] = &[
    Claim::new("b-lines", |runs, state| judge_lines(runs, LINES, state, 2.0)),
    Claim::new("b-lines-whole", |runs, state| judge_lines(runs, MANAGER, state, 1.1)),
];

fn key(x: f64, state: State) -> Key<'static> {
    Key { series: MANAGER, x, state }
}

/// Compares Swath with the best number of threads.
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
    let boost = runs.speed_up(key(cores, state), key(1.0, state)).filter(|_| cores > 1.0);
    let sentence = format!("{cores} threads are {{}} as fast as one");
    let points = [
        Point::new(sentence, boost, Bound::AtLeast(1.5)).from_cores(runs, 2),
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
    let bump = runs.speed_up(key(2.0, state), key(1.0, state));
    let sentence = format!("{} threads are {{}} as fast as two", best.x);
    let points = [
        Point::within("two threads are {} as fast as one", bump, 1.0, 1.5).from_cores(runs, 2),
        Point::new(sentence, runs.speed_up(best, key(2.0, state)), Bound::AtMost(0.9)),
        with_swath(runs, state),
    ];
    all_of(runs, &points).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

/// Reports the gain of threads on a device of unknown kind.
fn of_device(runs: &Selected<'_>, state: State, unknown: &str) -> Finding {
    let best = fastest_of(runs, MANAGER, state, |x| x > 1.0);
    let sentence = format!("{} threads are {{}} as fast as one", best.x);
    let gain = Point::told(sentence, runs.speed_up(best, key(1.0, state)));
    all_of(runs, &[gain, Point::elsewhere(format!("{unknown} is not known"))])
}

fn judge_lines(runs: &Selected<'_>, series: &str, state: State, goal: f64) -> Finding {
    let sizes = runs.places(series, state);
    let (Some(&least), Some(&most)) = (sizes.first(), sizes.last()) else {
        return Finding::default();
    };
    let key = |x| Key { series, x, state };
    let ratio = runs.speed_up(key(least), key(most)).filter(|_| least < most);
    let sentence = format!("files of {most} kB take {{}} as long as files of {least} kB");
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(goal))])
}
