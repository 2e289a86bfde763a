//! Study A's claims about loading by priority, and the rules that judge them.

use super::super::shape::{asked, quoted, read, switches_by_threads};
use super::{ALONE, BARRIER, PLAIN, WINDOW, curve};
use crate::experiment::{Claim, Point, all_of};
use crate::results::{Finding, Key, Selected, State};
use swath_profile::stats::{Bound, Interval};

/// The section of its charts of priorities.
const SECTION: &str = "§5.7";

pub(super) const THREADS: &[Claim] = &[
    read(
        "a-priorities-threads",
        "Threads that load batch after batch, by priority, are faster than one thread.",
        SECTION,
        "The most threads that were tried, up to 16, are at least 1.1 × as fast as one.",
        judge_threads,
    ),
    asked(
        "a-priorities-threads-switches",
        "How many context switches do barriers cost? Study A concludes with them; in which words is \
         not noted.",
        |runs, state| switches_by_threads(runs, BARRIER, state),
    ),
];

pub(super) const RANGE: &[Claim] = &[quoted(
    "a-priorities-range",
    "Linear dependency of range of priorities with time",
    SECTION,
    "The most priorities take at least 1.1 × as long as the fewest, and a number between them takes \
     between 0.8 and 1.25 of what the straight line says.",
    judge_range,
)];

pub(super) const FAMILY: &[Claim] = &[quoted(
    "a-priorities-family",
    "at higher priority levels, a significant increase in execution time",
    SECTION,
    "With each number of threads from 2 on, the most priorities take at least 1.1 × as long as the \
     fewest.",
    judge_family,
)];

/// It says both. One of them cannot hold.
pub(super) const CHUNKS: &[Claim] = &[
    quoted(
        "a-priorities-chunks",
        "increasing chunk sizes generally leads to faster execution times",
        "",
        "The largest chunks, which are the fewest, are at least 1.1 × as fast as the smallest.",
        |runs, state| judge_chunks(runs, state, true),
    ),
    quoted(
        "a-priorities-chunks-linear",
        "a linear relationship between chunk size and execution time across all priorities",
        "",
        "To the letter: the largest chunks take at least 1.1 × as long as the smallest, the contrary \
         of the sentence before. Read as the number of chunks it says the same as that.",
        |runs, state| judge_chunks(runs, state, false),
    ),
];

fn key(series: &str, x: f64, state: State) -> Key<'_> {
    Key { series, x, state }
}

/// The smallest and the largest place of a series.
fn ends(runs: &Selected<'_>, series: &str, state: State) -> Option<(f64, f64)> {
    let places = runs.places(series, state);
    places.first().copied().zip(places.last().copied()).filter(|(least, most)| least < most)
}

fn judge_threads(runs: &Selected<'_>, state: State) -> Finding {
    let places = runs.places(BARRIER, state).into_iter().filter(|&x| x <= 16.0);
    let most = places.fold(1.0, f64::max);
    let ratio = runs.speed_up(key(BARRIER, most, state), key(ALONE, most, state));
    let sentence = format!("{most} threads with barriers are {{}} as fast as one thread");
    let mut points = vec![Point::new(sentence, ratio, Bound::AtLeast(1.1))];
    points.extend(with_window(runs, most, state));
    all_of(runs, &points)
}

/// How many times as long the largest place takes as the smallest.
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

fn judge_family(runs: &Selected<'_>, state: State) -> Finding {
    let counts: Vec<usize> =
        (2..=64).filter(|&threads| ends(runs, &curve(threads), state).is_some()).collect();
    let points: Vec<Point> = counts
        .into_iter()
        .map(|threads| {
            let sentence =
                format!("with {threads} threads the most take {{}} as long as the fewest");
            let ratio = longer(runs, &curve(threads), state);
            Point::new(sentence, ratio, Bound::AtLeast(1.1))
        })
        .collect();
    all_of(runs, &points)
}

fn judge_chunks(runs: &Selected<'_>, state: State, is_faster: bool) -> Finding {
    let Some((fewest, most)) = ends(runs, BARRIER, state) else { return Finding::default() };
    let [large, small] = [fewest, most].map(|x| key(BARRIER, x, state));
    let point = if is_faster {
        let sentence = format!("{fewest} large chunks are {{}} as fast as {most} small ones");
        Point::new(sentence, runs.speed_up(large, small), Bound::AtLeast(1.1))
    } else {
        let sentence = format!("{fewest} large chunks take {{}} as long as {most} small ones");
        Point::new(sentence, runs.speed_up(small, large), Bound::AtLeast(1.1))
    };
    let mut points = vec![point];
    points.extend(with_window(runs, most, state));
    all_of(runs, &points)
}

/// Swath on the same work, and the cost of its classes.
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
