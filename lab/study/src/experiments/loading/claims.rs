//! Study A's claims about loading, and the rules that judge them.

use super::super::shape::{
    asked, fastest_of, medians, of_limit, quoted, read, switches_by_threads, voluntary_switches,
};
use super::{LIMIT, MAPPED, MIRRORED, PARALLEL, SEQUENTIAL, SWATH, UNREAD_MAP};
use crate::experiment::{Claim, Point, all_of};
use crate::page::size;
use crate::results::{Finding, Key, Selected, SpeedUp, State};
use swath_profile::stats::{Bound, Interval};

/// The section of its charts of loading.
const CHARTS: &str = "§5.1 to 5.6";

const EIGHT: &str = "Eight threads that read chunks in parallel load a file faster than one.";
const EIGHT_RULE: &str = "Eight threads are at least 1.1 × as fast as sequential loading.";
const BEST: &str = "Eight threads are the best number.";
const BEST_RULE: &str = "No other number of threads is more than 1 / 0.95 × as fast as eight.";
const SWITCHES: &str = "How many context switches does a number of threads cost? Study A concludes \
    with them; the wording was not recorded.";

pub(super) const THREADS: &[Claim] = &[
    read("a-threads", EIGHT, CHARTS, EIGHT_RULE, judge_threads),
    read("a-threads-best", BEST, CHARTS, BEST_RULE, judge_best),
    asked("a-threads-switches", SWITCHES, switches),
];

pub(super) const THREADS_LARGE: &[Claim] = &[
    read("a-threads-large", EIGHT, CHARTS, EIGHT_RULE, judge_threads),
    read("a-threads-large-best", BEST, CHARTS, BEST_RULE, judge_best),
    asked("a-threads-large-switches", SWITCHES, switches),
];

pub(super) const SIZES: &[Claim] = &[read(
    "a-file-size",
    "The larger the file, the more parallel chunks gain over one thread.",
    CHARTS,
    "Eight threads gain at least as much over one with the largest file as with the smallest.",
    judge_sizes,
)];

pub(super) const CHUNKS: &[Claim] = &[read(
    "a-chunk-size",
    "Of chunks of 512, 1,024 and 2,048 bytes, those of 1,024 miss the cache least.",
    CHARTS,
    "Eight threads miss the cache with chunks of 1,024 bytes at most as often as with 512, and as \
     with 2,048.",
    judge_chunks,
)];

pub(super) const COPIES: &[Claim] = &[
    read(
        "a-copies",
        "Threads that read from several copies of a file load it faster than from one.",
        CHARTS,
        "The best number of copies is at least 1.05 × as fast as one.",
        judge_copies,
    ),
    read(
        "a-copies-four",
        "Four copies are the best number, six are worse.",
        CHARTS,
        "No other number of copies is more than 1 / 0.95 × as fast as four, and six are at most as \
         fast as four.",
        judge_four,
    ),
];

pub(super) const WAYS: &[Claim] = &[
    quoted(
        "a-engines",
        "we do not need to write data … reading and storing of the data is not necessary",
        "",
        "Mapping the file, without reading what is mapped, is at least as fast as the best of \
         sequential, parallel and mirrored loading. Nothing is loaded by it.",
        judge_unread,
    ),
    read(
        "a-engines-copied",
        "A memory map is the fastest way to load.",
        CHARTS,
        "With the same bytes in the same memory at the end, a map is at least as fast as the best of \
         sequential, parallel and mirrored loading.",
        judge_mapped,
    ),
    asked(
        "a-engines-memory",
        "How much memory does each way take beside what it loads into? Study A concludes with it; in \
         which words is not noted.",
        |runs, state| {
            let bytes = |count: f64| size(count.max(0.0));
            medians(runs, "Most memory beyond the target", "peak_bytes", &ways(state), bytes)
        },
    ),
    asked(
        "a-engines-switches",
        "How many context switches does each way cost? Study A concludes with them; in which words is \
         not noted.",
        |runs, state| voluntary_switches(runs, &ways(state)),
    ),
];

fn ways(state: State) -> Vec<(String, Key<'static>)> {
    let all =
        [(SEQUENTIAL, 0.0), (PARALLEL, 1.0), (MIRRORED, 2.0), (MAPPED, 3.0), (SWATH, 4.0)];
    all.map(|(series, x)| (series.to_owned(), Key { series, x, state })).into()
}

fn judge_threads(runs: &Selected<'_>, state: State) -> Finding {
    let key = |series, x| Key { series, x, state };
    let most = runs.places(PARALLEL, state).into_iter().filter(|&x| x <= 8.0);
    let most = most.fold(1.0, f64::max);
    let ratio = runs.speed_up(key(PARALLEL, most), key(SEQUENTIAL, 1.0));
    let sentence = format!("{most} threads are {{}} as fast as one");
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.1))])
        .with_limit(of_limit(runs, SWATH, LIMIT, state))
}

/// A count of something, beside the best other count.
fn beside_others(runs: &Selected<'_>, own: Key<'_>, what: &str) -> Point {
    let Key { series, x: count, state } = own;
    let other = fastest_of(runs, series, state, |x| x != count);
    let sentence =
        format!("{count} {what} are {{}} as fast as the best other number, {}", other.x);
    Point::new(sentence, runs.speed_up(own, other), Bound::AtLeast(0.95))
}

fn judge_best(runs: &Selected<'_>, state: State) -> Finding {
    all_of(runs, &[beside_others(runs, Key { series: PARALLEL, x: 8.0, state }, "threads")])
}

fn switches(runs: &Selected<'_>, state: State) -> Finding {
    switches_by_threads(runs, PARALLEL, state)
}

fn judge_sizes(runs: &Selected<'_>, state: State) -> Finding {
    let sizes = runs.places(PARALLEL, state);
    let (Some(&least), Some(&most)) = (sizes.first(), sizes.last()) else {
        return Finding::default();
    };
    let key = |series, x| Key { series, x, state };
    let gain = |x| SpeedUp { key: key(PARALLEL, x), other: key(SEQUENTIAL, x) };
    let grown = runs.growth(gain(most), gain(least));
    let sentence = format!("eight threads gain at {most} MB {{}} what they gain at {least} MB");
    all_of(runs, &[Point::new(sentence, grown, Bound::AtLeast(1.0))])
        .with_limit(runs.speed_up(key(SWATH, most), key(LIMIT, most)))
}

fn judge_chunks(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let misses = |other| runs.metric_ratio("cache_misses", key(1024.0), key(other));
    let point = |(other, name)| {
        let sentence =
            format!("with 1,024 bytes they miss the cache {{}} as often as with {name}");
        Point::new(sentence, misses(other), Bound::AtMost(1.0))
    };
    let speed = |other| -> Option<Interval> { runs.speed_up(key(1024.0), key(other)) };
    let best = runs.best(PARALLEL, state).unwrap_or(1024.0);
    let points = [
        point((512.0, "512")),
        point((2048.0, "2,048")),
        Point::told("by the clock 1,024 bytes are {} as fast as 512", speed(512.0)),
        Point::told("they are {} as fast as 2,048", speed(2048.0)),
        Point::told(
            format!(
                "they are {{}} as fast as {}, the fastest of all that were tried",
                size(best)
            ),
            speed(best),
        ),
    ];
    all_of(runs, &points).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

fn judge_copies(runs: &Selected<'_>, state: State) -> Finding {
    let best = fastest_of(runs, MIRRORED, state, |x| x > 1.0);
    let ratio = runs.speed_up(best, Key { x: 1.0, ..best });
    let sentence = format!("{} copies are {{}} as fast as one", best.x);
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.05))])
        .with_limit(of_limit(runs, SWATH, LIMIT, state))
}

fn judge_four(runs: &Selected<'_>, state: State) -> Finding {
    let four = Key { series: MIRRORED, x: 4.0, state };
    let six = runs.speed_up(Key { x: 6.0, ..four }, four);
    let points = [
        beside_others(runs, four, "copies"),
        Point::new("6 copies are {} as fast as 4", six, Bound::AtMost(1.0)),
    ];
    all_of(runs, &points)
}

/// The fastest of the ways without a map.
fn best_other(runs: &Selected<'_>, state: State) -> Option<Key<'static>> {
    let others = [(SEQUENTIAL, 0.0), (PARALLEL, 1.0), (MIRRORED, 2.0)];
    let timed = others.into_iter().filter_map(|(series, x)| {
        let key = Key { series, x, state };
        Some((key, runs.time(key)?.estimate))
    });
    timed.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(key, _)| key)
}

fn against_others(runs: &Selected<'_>, map: Key<'_>, what: &str) -> Point {
    let best = best_other(runs, map.state);
    let ratio = best.and_then(|best| runs.speed_up(map, best));
    let name = best.map_or("the others", |best| best.series);
    Point::new(format!("{what} is {{}} as fast as {name}"), ratio, Bound::AtLeast(1.0))
}

fn judge_unread(runs: &Selected<'_>, state: State) -> Finding {
    let map = Key { series: UNREAD_MAP, x: 6.0, state };
    all_of(runs, &[against_others(runs, map, "mapping and not reading")])
}

fn judge_mapped(runs: &Selected<'_>, state: State) -> Finding {
    let map = Key { series: MAPPED, x: 3.0, state };
    all_of(runs, &[against_others(runs, map, "a map that is copied")])
        .with_limit(of_limit(runs, SWATH, LIMIT, state))
}
