//! Study A's claims about loading by priority, and the rules that judge them.

use super::super::shape::{fastest, switches_by_threads};
use super::{ALONE, BARRIER, PLAIN, RANGES, WINDOW, curve, range};
use crate::experiment::{Claim, Point, all_of};
use crate::results::{Finding, Key, Selected, SpeedUp, State};
use swath_profile::stats::{Bound, Interval};

pub(super) const THREADS: &[Claim] = &[
    Claim::new("a-priorities-threads", |runs, state| {
        let most = runs.places(BARRIER, state).last().copied().unwrap_or(2.0);
        let ratio = runs.speed_up(key(BARRIER, 2.0, state), key(BARRIER, most, state));
        let sentence = format!("{most} threads take {{}} as long as two");
        let ratio = ratio.filter(|_| most > 2.0);
        let mut points = vec![Point::new(sentence, ratio, Bound::AtLeast(1.05))];
        points.extend(with_window(runs, most, state));
        all_of(runs, &points)
    }),
    Claim::new("a-priorities-threads-idle", |runs, state| {
        let most = runs.places(BARRIER, state).last().copied().unwrap_or(1.0);
        let best = fastest(runs, BARRIER, state);
        let ratio = runs.speed_up(best, key(BARRIER, most, state));
        let sentence = format!("{most} threads take {{}} as long as {}", best.x);
        all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.05))])
    }),
    Claim::new("a-priorities-threads-switches", |runs, state| {
        switches_by_threads(runs, BARRIER, state)
    }),
];

pub(super) const RANGE: &[Claim] = &[
    Claim::new("a-priorities-range", judge_range),
    Claim::new("a-priorities-range-gain", judge_gain),
];

pub(super) const FAMILY: &[Claim] = &[
    Claim::new("a-priorities-family", |runs, state| {
        let (ratio, sentence) = by_threads(runs, state, false);
        all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.1))])
    }),
    Claim::new("a-priorities-family-low", |runs, state| {
        let (ratio, sentence) = by_threads(runs, state, true);
        all_of(runs, &[Point::within(sentence, ratio, 0.8, 1.25)])
    }),
];

/// The study makes the first two claims, which contradict each other.
pub(super) const CHUNKS: &[Claim] = &[
    Claim::new("a-priorities-chunks", |runs, state| {
        let mut points: Vec<Point> = faster(runs, state);
        points.push(diminishing(runs, state));
        points
            .extend(ends(runs, WINDOW, state).map(|(_, most)| with_barrier(runs, most, state)));
        all_of(runs, &points)
    }),
    Claim::new("a-priorities-chunks-linear", |runs, state| {
        let points = RANGES.iter().filter_map(|&classes| {
            let (small, large) = chunks(runs, classes, state)?;
            let name = range(classes);
            let ratio = runs.speed_up(key(&name, small, state), key(&name, large, state));
            let sentence = format!("with {classes} priorities large chunks take {{}} as long");
            Some(Point::new(sentence, ratio, Bound::AtLeast(1.1)))
        });
        all_of(runs, &points.collect::<Vec<_>>())
    }),
    Claim::new("a-priorities-chunks-diminishing", |runs, state| {
        all_of(runs, &[diminishing(runs, state)])
    }),
    Claim::new("a-priorities-chunks-speed", |runs, state| all_of(runs, &faster(runs, state))),
];

fn key(series: &str, x: f64, state: State) -> Key<'_> {
    Key { series, x, state }
}

/// Returns the smallest and the largest place of a series.
fn ends(runs: &Selected<'_>, series: &str, state: State) -> Option<(f64, f64)> {
    let places = runs.places(series, state);
    places.first().copied().zip(places.last().copied()).filter(|(least, most)| least < most)
}

/// Returns the time at the largest place, as a multiple of that at the smallest.
fn longer(runs: &Selected<'_>, series: &str, state: State) -> Option<Interval> {
    let (least, most) = ends(runs, series, state)?;
    runs.speed_up(key(series, least, state), key(series, most, state))
}

fn judge_range(runs: &Selected<'_>, state: State) -> Finding {
    let Some((least, most)) = ends(runs, BARRIER, state) else { return Finding::default() };
    let sentence = format!("{most} priorities take {{}} as long as {least}");
    let mut points =
        vec![Point::new(sentence, longer(runs, BARRIER, state), Bound::AtLeast(1.1))];
    let between = runs.places(BARRIER, state).into_iter().find(|&x| x > least && x < most);
    let off = between.and_then(|x| runs.off_the_line(key(BARRIER, x, state), least, most));
    let line = format!(
        "{} take {{}} what the straight line between them says",
        between.unwrap_or(0.0)
    );
    points.push(Point::within(line, off, 0.8, 1.25));
    points.extend(with_window(runs, most, state));
    all_of(runs, &points)
}

fn judge_gain(runs: &Selected<'_>, state: State) -> Finding {
    let Some((least, most)) = ends(runs, BARRIER, state) else { return Finding::default() };
    let gain = |x| SpeedUp { key: key(BARRIER, x, state), other: key(ALONE, x, state) };
    let mut points: Vec<Point> = [least, most]
        .map(|x| {
            let sentence = format!("with {x} priorities threads are {{}} as fast as one");
            let SpeedUp { key, other } = gain(x);
            Point::new(sentence, runs.speed_up(key, other), Bound::AtLeast(1.1))
        })
        .into();
    let grown = runs.growth(gain(least), gain(most));
    let sentence = format!("{least} priorities gain {{}} what {most} gain");
    points.push(Point::new(sentence, grown, Bound::AtLeast(1.0)));
    all_of(runs, &points)
}

/// Returns the time with the most threads, as a multiple of that with the fewest above one, and its
/// sentence: with the fewest priorities if `is_low`, else with the most.
fn by_threads(runs: &Selected<'_>, state: State, is_low: bool) -> (Option<Interval>, String) {
    let counts: Vec<usize> =
        (2..=64).filter(|&threads| ends(runs, &curve(threads), state).is_some()).collect();
    let (few, many) =
        (counts.first().copied().unwrap_or(2), counts.last().copied().unwrap_or(2));
    let (few, many) = (curve(few), curve(many));
    let place = ends(runs, &few, state).map(|(least, most)| if is_low { least } else { most });
    let x = place.unwrap_or_default();
    let ratio = runs.speed_up(key(&few, x, state), key(&many, x, state));
    let sentence = format!("with {x} priorities “{many}” takes {{}} as long as “{few}”");
    (ratio.filter(|_| few != many), sentence)
}

/// Returns the largest and the smallest number of chunks with a range of priorities.
fn chunks(runs: &Selected<'_>, classes: u32, state: State) -> Option<(f64, f64)> {
    ends(runs, &range(classes), state).map(|(fewest, most)| (most, fewest))
}

/// Compares the fewest chunks with the most, for each range of priorities.
fn faster(runs: &Selected<'_>, state: State) -> Vec<Point> {
    let points = RANGES.iter().filter_map(|&classes| {
        let (small, large) = chunks(runs, classes, state)?;
        let name = range(classes);
        let ratio = runs.speed_up(key(&name, large, state), key(&name, small, state));
        let sentence =
            format!("with {classes} priorities large chunks are {{}} as fast as small ones");
        Some(Point::new(sentence, ratio, Bound::AtLeast(1.1)))
    });
    points.collect()
}

/// Compares the gain of large chunks with the fewest priorities and with the most.
fn diminishing(runs: &Selected<'_>, state: State) -> Point {
    let [low, high] = [RANGES[0], RANGES[2]].map(range);
    let grown = ends(runs, &low, state).and_then(|(large, small)| {
        let gain =
            |name| SpeedUp { key: key(name, large, state), other: key(name, small, state) };
        runs.growth(gain(&low), gain(&high))
    });
    let sentence = format!("{} priorities gain {{}} what {} gain", RANGES[0], RANGES[2]);
    Point::new(sentence, grown, Bound::AtLeast(1.0))
}

/// Compares Swath's window with the barriers.
fn with_barrier(runs: &Selected<'_>, x: f64, state: State) -> Point {
    let name = range(RANGES[1]);
    let ratio = runs.speed_up(key(WINDOW, x, state), key(&name, x, state));
    Point::told("swath's window of classes is {} as fast as the barriers", ratio)
}

/// Compares Swath with the barriers, and reports the cost of its classes.
fn with_window(runs: &Selected<'_>, x: f64, state: State) -> [Point; 2] {
    let compared = |other| runs.speed_up(key(WINDOW, x, state), key(other, x, state));
    [
        Point::told(
            "swath's window of classes is {} as fast as the barriers",
            compared(BARRIER),
        ),
        Point::told("it is {} as fast as a read without classes", compared(PLAIN)),
    ]
}
