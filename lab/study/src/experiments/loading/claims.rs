//! Study A's claims about loading, and the rules that judge them.

use super::super::shape::{fastest_of, medians, of_limit, switches_by_threads};
use super::{LIMIT, MANY_THREADS, MAPPED, MIRRORED, PARALLEL, SEQUENTIAL, SWATH, UNREAD_MAP};
use crate::experiment::{Claim, Point, all_of, told};
use crate::page::size;
use crate::results::{Finding, Key, Selected, SpeedUp, State};
use swath_profile::stats::{Bound, Interval};

pub(super) const THREADS: &[Claim] = &[
    Claim::new("a-threads", judge_threads),
    Claim::new("a-threads-one", |runs, state| {
        let one = Key { series: PARALLEL, x: 1.0, state };
        all_of(runs, &[dip(runs, one)])
    }),
    Claim::new("a-threads-map", |runs, state| {
        let most = runs.places(UNREAD_MAP, state).last().copied().unwrap_or(1.0);
        let key = |x| Key { series: UNREAD_MAP, x, state };
        let sentence = format!("mapped by {most} threads it takes {{}} as long as by one");
        let ratio = runs.speed_up(key(1.0), key(most)).filter(|_| most > 1.0);
        all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.0))])
    }),
    Claim::new("a-threads-speed-up", judge_speed_up),
    Claim::new("a-threads-efficiency", judge_efficiency),
    Claim::new("a-threads-contention", judge_contention),
    Claim::new("a-threads-switches", |runs, state| switches_by_threads(runs, PARALLEL, state)),
];

pub(super) const THREADS_LARGE: &[Claim] = &[
    Claim::new("a-threads-large", judge_threads),
    Claim::new("a-threads-large-map", |runs, state| {
        let [map, chunks] =
            [MAPPED, PARALLEL].map(|series| fastest_of(runs, series, state, |_| true));
        let sentence = "a map that is copied is {} as fast as chunks";
        let point = Point::new(sentence, runs.speed_up(map, chunks), Bound::AtLeast(1.1));
        all_of(runs, &[point]).with_limit(of_limit(runs, SWATH, LIMIT, state))
    }),
];

pub(super) const SIZES: &[Claim] = &[
    Claim::new("a-file-size", judge_sizes),
    Claim::new("a-file-size-beyond", judge_beyond),
    Claim::new("a-file-size-mirrors", |runs, state| {
        all_of(
            runs,
            &mirrors(runs, state)
                .map(|(name, ratio)| Point::new(name, ratio, Bound::AtMost(1.0))),
        )
    }),
    Claim::new("a-file-size-par", |runs, state| {
        all_of(
            runs,
            &mirrors(runs, state).map(|(name, ratio)| Point::within(name, ratio, 0.9, 1.1)),
        )
    }),
];

pub(super) const CHUNKS: &[Claim] = &[
    Claim::new("a-chunk-size", judge_chunks),
    Claim::new("a-chunk-size-time", judge_chunk_times),
];

pub(super) const COPIES: &[Claim] =
    &[Claim::new("a-copies", judge_copies), Claim::new("a-copies-four", judge_four)];

pub(super) const WAYS: &[Claim] = &[
    Claim::new("a-engines", |runs, state| {
        let others = [(SEQUENTIAL, 0.0), (PARALLEL, 1.0), (MIRRORED, 2.0)];
        all_of(runs, &[unread(runs, state, &others, 1.0)])
    }),
    Claim::new("a-engines-map", |runs, state| {
        all_of(runs, &[unread(runs, state, &MODELS, 1.5)])
    }),
    Claim::new("a-engines-copied", |runs, state| {
        let others = [(SEQUENTIAL, 0.0), (PARALLEL, 1.0), (MIRRORED, 2.0)];
        let map = Key { series: MAPPED, x: 3.0, state };
        let (name, ratio) = against(runs, map, &others);
        told(&[Point::told(format!("a map that is copied is {{}} as fast as {name}"), ratio)])
            .with_limit(of_limit(runs, SWATH, LIMIT, state))
    }),
    Claim::new("a-engines-conclusion", |runs, state| {
        let map = Key { series: UNREAD_MAP, x: 6.0, state };
        let points = [
            fewer_switches(runs, map, model(0, state)),
            in_memory(runs, map),
            unread(runs, state, &MODELS, 1.0),
        ];
        all_of(runs, &points)
    }),
    Claim::new("a-engines-memory", judge_memory),
    Claim::new("a-engines-switches", |runs, state| {
        let [chunks, mirrors] = MODELS.map(|(series, x)| Key { series, x, state });
        let ratio = runs.count_ratio(SWITCHES, mirrors, chunks);
        let sentence = "mirrors make {} as many context switches as chunks";
        all_of(runs, &[Point::within(sentence, ratio, 0.7, 1.0)])
    }),
    Claim::new("a-engines-few-switches", |runs, state| {
        let map = Key { series: UNREAD_MAP, x: 6.0, state };
        all_of(runs, &[fewer_switches(runs, map, model(0, state))])
    }),
    Claim::new("a-engines-solved", |runs, state| {
        let map = Key { series: MAPPED, x: 3.0, state };
        all_of(runs, &[0, 1].map(|other| fewer_switches(runs, map, model(other, state))))
    }),
];

/// The study's models beside the map, and their places.
const MODELS: [(&str, f64); 2] = [(PARALLEL, 1.0), (MIRRORED, 2.0)];

/// Returns the key of one of [`MODELS`].
fn model(index: usize, state: State) -> Key<'static> {
    let (series, x) = MODELS[index];
    Key { series, x, state }
}

const SWITCHES: &str = "voluntary_switches";
const MISSES: &str = "l1_load_misses";

fn judge_threads(runs: &Selected<'_>, state: State) -> Finding {
    let points = [PARALLEL, MIRRORED].map(|series| {
        let key = |x| Key { series, x, state };
        let sentence = format!("by {series}, eight threads are {{}} as fast as one");
        let ratio = runs.speed_up(key(8.0), key(1.0));
        let best = beside_others(runs, key(8.0), &format!("threads by {series}"));
        [Point::new(sentence, ratio, Bound::AtLeast(1.1)), best.from_cores(runs, 8)]
    });
    all_of(runs, points.as_flattened()).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

/// Compares one thread of the parallel program with the sequential program.
fn dip(runs: &Selected<'_>, one: Key<'_>) -> Point {
    let ratio = runs.speed_up(one, Key { series: SEQUENTIAL, ..one });
    let sentence = "the parallel program with one thread is {} as fast as the sequential one";
    Point::new(sentence, ratio, Bound::AtMost(1.0))
}

fn judge_speed_up(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let most = runs.places(PARALLEL, state).last().copied().unwrap_or(8.0);
    let beyond = runs.speed_up(key(most), key(8.0)).filter(|_| most > 8.0);
    let sentence = format!("{most} threads are {{}} as fast as eight");
    let points = [
        dip(runs, key(1.0)),
        Point::new(sentence, beyond, Bound::AtMost(1.0)),
        beside_others(runs, key(8.0), "threads").from_cores(runs, 8),
    ];
    all_of(runs, &points)
}

fn judge_efficiency(runs: &Selected<'_>, state: State) -> Finding {
    let places = runs.places(PARALLEL, state);
    let points = places.windows(2).map(|pair| {
        let [few, more] = [pair[0], pair[1]].map(|x| Key { series: PARALLEL, x, state });
        let sentence = format!("{} threads are {{}} as fast as {}", more.x, few.x);
        Point::new(sentence, runs.speed_up(more, few), Bound::AtMost(more.x / few.x))
    });
    all_of(runs, &points.collect::<Vec<_>>())
}

fn judge_contention(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let most = runs.places(PARALLEL, state).last().copied().unwrap_or(1.0);
    let switches = runs.count_ratio(SWITCHES, key(most), key(1.0));
    let points = [
        Point::new(
            format!("{most} threads make {{}} as many context switches as one"),
            switches,
            Bound::AtLeast(1.1),
        ),
        Point::new(
            "they are {} as fast as one",
            runs.speed_up(key(most), key(1.0)),
            Bound::AtMost(0.95),
        ),
    ];
    all_of(runs, &points)
}

/// Compares a count of `what` with the best other count.
fn beside_others(runs: &Selected<'_>, own: Key<'_>, what: &str) -> Point {
    let Key { series, x: count, state } = own;
    let other = fastest_of(runs, series, state, |x| x != count);
    let sentence =
        format!("{count} {what} are {{}} as fast as the best other number, {}", other.x);
    Point::new(sentence, runs.speed_up(own, other), Bound::AtLeast(0.95))
}

/// Returns the sizes of the smallest and the largest file, in MB.
fn sizes(runs: &Selected<'_>, state: State) -> [f64; 2] {
    let sizes = runs.places(PARALLEL, state);
    [sizes.first(), sizes.last()].map(|size| size.copied().unwrap_or_default())
}

fn judge_sizes(runs: &Selected<'_>, state: State) -> Finding {
    let [least, most] = sizes(runs, state);
    let key = |series, x| Key { series, x, state };
    let gain = |x| SpeedUp { key: key(PARALLEL, x), other: key(SEQUENTIAL, x) };
    let grown = runs.growth(gain(most), gain(least)).filter(|_| least < most);
    let sentence = format!("eight threads gain at {most} MB {{}} what they gain at {least} MB");
    all_of(runs, &[Point::new(sentence, grown, Bound::AtLeast(1.0))])
        .with_limit(runs.speed_up(key(SWATH, most), key(LIMIT, most)))
}

fn judge_beyond(runs: &Selected<'_>, state: State) -> Finding {
    let [least, most] = sizes(runs, state);
    let key = |series, x| Key { series, x, state };
    let loss = |x| SpeedUp { key: key(MANY_THREADS, x), other: key(PARALLEL, x) };
    let small = runs.speed_up(key(MANY_THREADS, least), key(PARALLEL, least));
    let grown = runs.growth(loss(most), loss(least)).filter(|_| least < most);
    let points = [
        Point::new(
            format!("32 threads are {{}} as fast as eight at {least} MB"),
            small,
            Bound::AtMost(1.0),
        ),
        Point::new(
            format!("at {most} MB the same ratio is {{}} of that"),
            grown,
            Bound::AtLeast(1.0),
        ),
    ];
    all_of(runs, &points)
}

/// Compares mirrors with chunks, on the smallest file and on the largest.
fn mirrors(runs: &Selected<'_>, state: State) -> [(String, Option<Interval>); 2] {
    sizes(runs, state).map(|x| {
        let key = |series| Key { series, x, state };
        let ratio = runs.speed_up(key(MIRRORED), key(PARALLEL));
        (format!("at {x} MB, four mirrors are {{}} as fast as chunks"), ratio)
    })
}

/// Returns `point` about cache misses, or the reason why they are not counted.
fn missed(runs: &Selected<'_>, point: impl FnOnce() -> Point) -> Point {
    match runs.has(MISSES) {
        true => point(),
        false => Point::elsewhere("the processor's counters cannot be read here"),
    }
}

fn judge_chunks(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let point = |(other, name)| {
        let sentence =
            format!("with 1,024 bytes they miss the cache {{}} as often as with {name}");
        let misses = runs.metric_ratio(MISSES, key(1024.0), key(other));
        missed(runs, || Point::new(sentence, misses, Bound::AtMost(1.0)))
    };
    let best = runs.best(PARALLEL, state).unwrap_or(1024.0);
    let points = [
        point((512.0, "512")),
        point((2048.0, "2,048")),
        Point::told(
            format!(
                "by the clock they are {{}} as fast as {}, the fastest of all that were tried",
                size(best)
            ),
            runs.speed_up(key(1024.0), key(best)),
        ),
    ];
    all_of(runs, &points).with_limit(of_limit(runs, SWATH, LIMIT, state))
}

fn judge_chunk_times(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let misses = runs.metric_ratio(MISSES, key(512.0), key(1024.0));
    let sentence = "512 bytes miss the cache {} as often as 1,024";
    let points = [
        missed(runs, || Point::new(sentence, misses, Bound::AtLeast(1.0))),
        Point::new(
            "they take {} as long",
            runs.speed_up(key(1024.0), key(512.0)),
            Bound::AtLeast(1.0),
        ),
    ];
    all_of(runs, &points)
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

/// Compares a way with the fastest of `others`; returns the name of that one, and the ratio.
fn against(
    runs: &Selected<'_>,
    way: Key<'_>,
    others: &[(&'static str, f64)],
) -> (&'static str, Option<Interval>) {
    let timed = others.iter().filter_map(|&(series, x)| {
        let key = Key { series, x, state: way.state };
        Some((key, runs.time(key)?.estimate))
    });
    match timed.min_by(|left, right| left.1.total_cmp(&right.1)) {
        Some((best, _)) => (best.series, runs.speed_up(way, best)),
        None => ("the others", None),
    }
}

fn unread(
    runs: &Selected<'_>,
    state: State,
    others: &[(&'static str, f64)],
    least: f64,
) -> Point {
    let (name, ratio) = against(runs, Key { series: UNREAD_MAP, x: 6.0, state }, others);
    let sentence = format!("mapping and not reading is {{}} as fast as {name}");
    Point::new(sentence, ratio, Bound::AtLeast(least))
}

fn fewer_switches(runs: &Selected<'_>, map: Key<'_>, other: Key<'_>) -> Point {
    let ratio = runs.count_ratio(SWITCHES, map, other);
    let sentence =
        format!("{} makes {{}} as many context switches as {}", map.series, other.series);
    Point::new(sentence, ratio, Bound::AtMost(0.5))
}

/// Judges the memory of a way beside its target, as a share of the file.
fn in_memory(runs: &Selected<'_>, way: Key<'_>) -> Point {
    let share = runs.value(way, "peak_bytes", runs.bytes(way).max(1.0));
    let sentence = format!("{} takes {{}} beside what it loads into", way.series);
    Point::new(sentence, share, Bound::AtMost(0.1)).in_unit("of the file")
}

fn judge_memory(runs: &Selected<'_>, state: State) -> Finding {
    let ways = [(SEQUENTIAL, 0.0), (PARALLEL, 1.0), (MIRRORED, 2.0), (UNREAD_MAP, 6.0)];
    let mut points: Vec<Point> =
        ways.map(|(series, x)| in_memory(runs, Key { series, x, state })).into();
    let copied = [(MAPPED.to_owned(), Key { series: MAPPED, x: 3.0, state })];
    let bytes = |count: f64| size(count.max(0.0));
    let map = medians(runs, "A map that is copied", "peak_bytes", &copied, bytes);
    points.push(Point::words(map.because));
    all_of(runs, &points)
}
