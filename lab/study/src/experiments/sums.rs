//! Study D: summing the bytes of a mapped file, by advice, mapping flags and size of the blocks.

use anyhow::Result;
use swath::ReadOptions;
use swath::reading::{Advice, MapPages, PageSize, Schedule};

use super::limit::{MEMORY, memory};
use super::shape::{charts, fastest, metric, named_charts, states};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of};
use crate::fields::file::{FileField, FileScan};
use crate::measure::{Entrants, Stage};
use crate::page::size;
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::workload::FileContent;
use swath_profile::stats::{Bound, Interval};

const SERIAL: &str = "one thread";
const PARALLEL: &str = "all cores";
const BUFFERS: &str = "swath sum, small buffers";
const STREAM: &str = "buffered stream, one thread";
/// The series of blocks without advice.
const BARE: &str = "without advice";

/// Sets advice to the kernel.
type AdviceWay = fn(ReadOptions) -> ReadOptions;

/// The kinds of advice, in the order of their places.
const ADVICE: [(&str, AdviceWay); 7] = [
    ("none", |options| options.with_advice(Advice::None)),
    ("sequential", |options| options.with_advice(Advice::Sequential)),
    ("random", |options| options.with_advice(Advice::Random)),
    ("will need, early", |options| options.with_advice(Advice::WillNeed)),
    ("map ahead", |options| options.with_advice(Advice::MapAhead)),
    ("MAP_POPULATE", |options| {
        options.with_advice(Advice::None).with_map_pages(MapPages::WhenMade)
    }),
    ("huge pages", |options| {
        options.with_advice(Advice::HugePage).with_map_page_size(PageSize::Huge)
    }),
];

/// Varies the advice to the kernel.
pub(super) const BY_ADVICE: Experiment = Experiment {
    id: "d-advice",
    study: Study::D,
    figure: "bandwidth of a byte sum by advice and flags of the map, serial and parallel",
    claims: &[
        Claim::new("d-advice", judge_parallel),
        Claim::new("d-advice-map", |runs, state| {
            let stream = Key { series: STREAM, x: 0.0, state };
            let ratio = runs.speed_up(fastest(runs, SERIAL, state), stream);
            let sentence = "a map is {} as fast as a stream";
            all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.05))])
        }),
        Claim::new("d-advice-ahead", judge_ahead),
    ],
    scale: Scale { study: "graphs of gigabytes, 64 threads", other: "1 GB", minutes: 4 },
    least_rounds: 5,
    charts: || {
        let all = [
            ("bandwidth", Measure::Rate),
            ("page faults", metric("minor_faults")),
            ("misses of the address cache", metric("tlb_misses")),
        ];
        named_charts("advice", &ADVICE.map(|(name, _)| name), all)
    },
    entrants: by_advice,
};

/// Varies the size of the blocks.
pub(super) const BY_BLOCK: Experiment = Experiment {
    id: "d-block-size",
    figure: "bandwidth of a mapped byte sum by block size, blocks taken as they come or shared out",
    claims: &[
        Claim::new("d-block-size", judge_block),
        Claim::new("d-block-size-4096", |runs, state| {
            let own = Key { series: DYNAMIC, x: f64::from(1 << 18), state };
            let bare = Key { series: BARE, x: 4096.0, state };
            let sentence =
                "256 KiB with early will-need are {} as fast as 4,096 bytes without advice";
            all_of(runs, &[Point::new(sentence, runs.speed_up(own, bare), Bound::AtLeast(1.1))])
        }),
    ],
    scale: Scale { study: "graphs of gigabytes, 64 threads", other: "1 GB", minutes: 3 },
    charts: || charts("bytes a block", [("bandwidth by block size", Measure::Rate)]),
    entrants: by_block,
    ..BY_ADVICE
};

fn file(stage: &Stage) -> Result<FileField> {
    let size = stage.pick(1 << 18, 64 << 20, 1_000_000_000);
    Ok(FileField::of(stage, &stage.file(FileContent::Bytes, size)?))
}

/// The default buffer size of the standard library's stream reader.
const STREAM_BUFFER: usize = 8 << 10;

fn by_advice(stage: &Stage) -> Result<Entrants> {
    let file = file(stage)?;
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for (x, (_, way)) in (0_u8..).zip(ADVICE) {
            let options = way(ReadOptions::new());
            let (file, one) = (file.at(f64::from(x), state), options.clone().with_workers(1));
            entrants.here.push(file.scanned(SERIAL, FileScan::SumMapped, one));
            entrants.here.push(file.scanned(PARALLEL, FileScan::SumMapped, options));
        }
        let file = file.at(0.0, state);
        entrants.here.push(file.scanned(BUFFERS, FileScan::Sum, ReadOptions::new()));
        entrants.here.push(file.buf_reader(STREAM, STREAM_BUFFER));
    }
    entrants.here.push(memory(stage, &file.input, 0.0, State::Warm)?);
    Ok(entrants)
}

fn judge_parallel(runs: &Selected<'_>, state: State) -> Finding {
    let [all, one] = [PARALLEL, SERIAL].map(|series| fastest(runs, series, state));
    let of_memory = of_memory(runs, state);
    let cached = match state {
        State::Cold => Point::told("they are {} as fast as a sum of memory", of_memory),
        _ => {
            Point::new("they are {} as fast as a sum of memory", of_memory, Bound::AtLeast(0.5))
        }
    };
    let faster = Point::new(
        "all cores are {} as fast as one thread",
        runs.speed_up(all, one),
        Bound::AtLeast(1.1),
    );
    all_of(runs, &[faster.from_cores(runs, 2), cached]).with_limit(of_memory)
}

fn judge_ahead(runs: &Selected<'_>, state: State) -> Finding {
    let key = |x| Key { series: PARALLEL, x, state };
    let (none, ahead) = (key(0.0), key(4.0));
    let points = [
        Point::new(
            "mapped ahead it is {} as fast",
            runs.speed_up(ahead, none),
            Bound::AtLeast(1.1),
        ),
        Point::new(
            "with {} the page faults",
            runs.count_ratio("minor_faults", ahead, none),
            Bound::AtMost(0.5),
        ),
    ];
    all_of(runs, &points)
}

/// Returns the speed of all cores as a share of summing memory.
fn of_memory(runs: &Selected<'_>, state: State) -> Option<Interval> {
    let all = fastest(runs, PARALLEL, state);
    runs.speed_up(all, Key { series: MEMORY, x: 0.0, state: State::Warm })
}

fn by_block(stage: &Stage) -> Result<Entrants> {
    let file = file(stage)?;
    let shifts: Vec<u32> =
        stage.pick(vec![14, 18], vec![14, 16, 18, 20, 22], (12..=26).step_by(2).collect());
    let mut entrants = Entrants::default();
    let schedules = [(DYNAMIC, Schedule::Dynamic), (STATIC, Schedule::Static)];
    for &state in states(stage) {
        for &shift in &shifts {
            let (size, file) = (1_u64 << shift, file.at(f64::from(1_u32 << shift), state));
            for (name, schedule) in schedules {
                let options = ReadOptions::new()
                    .with_chunk_size(size)
                    .with_schedule(schedule)
                    .with_advice(Advice::WillNeed);
                entrants.here.push(file.scanned(name, FileScan::SumMapped, options));
            }
        }
    }
    for &state in states(stage) {
        let bare = ReadOptions::new().with_chunk_size(4096).with_advice(Advice::None);
        let file = file.at(4096.0, state);
        entrants.here.push(file.scanned(BARE, FileScan::SumMapped, bare));
    }
    entrants.here.push(memory(stage, &file.input, f64::from(1 << 18), State::Warm)?);
    Ok(entrants)
}

const DYNAMIC: &str = "taken as they come";
const STATIC: &str = "shared out";

fn judge_block(runs: &Selected<'_>, state: State) -> Finding {
    let own = Key { series: DYNAMIC, x: f64::from(1 << 18), state };
    let best = [DYNAMIC, STATIC].into_iter().filter_map(|series| {
        let key = Key { series, x: runs.best(series, state)?, state };
        Some((runs.time(key)?.estimate, key))
    });
    let best = best.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, key)| key);
    let ratio = best.and_then(|best| runs.speed_up(own, best));
    let name =
        best.map_or_else(String::new, |best| format!("{}, {}", size(best.x), best.series));
    let sentence = format!("256 KiB are {{}} as fast as the best, {name}");
    let memory = Key { series: MEMORY, x: f64::from(1 << 18), state: State::Warm };
    let of_limit = best.and_then(|best| runs.speed_up(best, memory));
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(0.95))]).with_limit(of_limit)
}
