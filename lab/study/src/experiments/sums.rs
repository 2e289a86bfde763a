//! Study D: summing the bytes of a mapped file, by advice, flags and blocks.

use std::rc::Rc;

use anyhow::Result;
use swath::reading::{Advice, MapPages, PageSize, Schedule};
use swath::{ReadOptions, Scanned};

use super::limit::{MEMORY, memory};
use super::shape::{charts, fastest, metric, named_charts, read, states};
use crate::experiment::{Experiment, Point, Scale, Study, all_of, any_of};
use crate::fields::sums::mapped;
use crate::measure::{Entrant, Entrants, Input, Outcome, Stage};
use crate::page::size;
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::workload::Kind;
use swath_profile::stats::{Bound, Interval};

const SERIAL: &str = "one thread";
const PARALLEL: &str = "all cores";
const BUFFERS: &str = "swath sum, small buffers";

/// A way to advise the kernel.
type Way = fn(ReadOptions) -> ReadOptions;

/// All of them, by their place on the axis.
const ADVICE: [(&str, Way); 7] = [
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

/// By the advice to the kernel.
pub(super) const BY_ADVICE: Experiment = Experiment {
    id: "d-advice",
    study: Study::D,
    figure: "bandwidth of a byte sum by advice and flags of the map, serial and parallel",
    claims: &[
        read(
            "d-advice",
            "Telling the kernel early that the file will be needed makes a mapped sum faster.",
            "",
            "With one thread or with all, early will-need is at least 1.05 × as fast as no advice.",
            judge_advice,
        ),
        read(
            "d-advice-parallel",
            "All threads sum a mapped file faster than one, 35 against 6 GB/s.",
            "",
            "Each with its best advice, all cores are at least 1.1 × as fast as one thread.",
            judge_parallel,
        ),
    ],
    scale: Scale { study: "files of gigabytes", other: "1 GB", minutes: 4 },
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

/// By the size of the blocks.
pub(super) const BY_BLOCK: Experiment = Experiment {
    id: "d-block-size",
    figure: "bandwidth of a mapped byte sum by block size, blocks taken as they come or shared out",
    claims: &[read(
        "d-block-size",
        "Blocks of 256 KiB that threads take as they come are the best choice.",
        "",
        "They are at least 0.95 × as fast as the best of all sizes, taken as they come or shared out.",
        judge_block,
    )],
    scale: Scale { study: "files of gigabytes", other: "1 GB", minutes: 3 },
    charts: || charts("bytes a block", [("bandwidth by block size", Measure::Rate)]),
    entrants: by_block,
    ..BY_ADVICE
};

/// A file, and an entrant that sums it.
struct Summing(Rc<Input>);

impl Summing {
    fn new(stage: &Stage) -> Result<Self> {
        let size = stage.pick(1 << 18, 64 << 20, 1_000_000_000);
        Ok(Self(stage.file(Kind::Bytes, size)?))
    }

    fn entrant(
        &self,
        series: &str,
        x: f64,
        state: State,
        sum: impl Fn(&Input) -> Result<Scanned<u64>> + 'static,
    ) -> Entrant {
        let entrant = self.0.entrant(series, state, move |input, meter| {
            let scanned = meter.count(|| sum(input))??;
            Ok(Outcome { bytes: scanned.report.bytes, checksum: scanned.value })
        });
        entrant.at(x, state)
    }

    fn mapped(&self, series: &str, x: f64, state: State, options: ReadOptions) -> Entrant {
        self.entrant(series, x, state, move |input| mapped(&options, &input.path))
    }
}

fn by_advice(stage: &Stage) -> Result<Entrants> {
    let summing = Summing::new(stage)?;
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for (x, (_, way)) in (0_u8..).zip(ADVICE) {
            let x = f64::from(x);
            let options = way(ReadOptions::new());
            let one = options.clone().with_workers(1);
            entrants.here.push(summing.mapped(SERIAL, x, state, one));
            entrants.here.push(summing.mapped(PARALLEL, x, state, options));
        }
        let sum = |input: &Input| Ok(ReadOptions::new().sum(input.path.as_path())?);
        entrants.here.push(summing.entrant(BUFFERS, 0.0, state, sum));
    }
    entrants.here.push(memory(stage, &summing.0, 0.0, State::Warm)?);
    Ok(entrants)
}

fn judge_advice(runs: &Selected<'_>, state: State) -> Finding {
    let points = [(SERIAL, "one thread"), (PARALLEL, "all cores")].map(|(series, word)| {
        let key = |x| Key { series, x, state };
        let ratio = runs.speed_up(key(3.0), key(0.0));
        let sentence = format!("told early, {word} are {{}} as fast as without advice");
        Point::new(sentence.replace("thread are", "thread is"), ratio, Bound::AtLeast(1.05))
    });
    any_of(runs, &points).with_limit(of_memory(runs, state))
}

fn judge_parallel(runs: &Selected<'_>, state: State) -> Finding {
    let ratio = runs.speed_up(fastest(runs, PARALLEL, state), fastest(runs, SERIAL, state));
    let sentence = "all cores are {} as fast as one thread";
    all_of(runs, &[Point::new(sentence, ratio, Bound::AtLeast(1.1))])
        .with_limit(of_memory(runs, state))
}

/// All cores as a share of summing memory, which is warm.
fn of_memory(runs: &Selected<'_>, state: State) -> Option<Interval> {
    let all = fastest(runs, PARALLEL, state);
    runs.speed_up(all, Key { series: MEMORY, x: 0.0, state: State::Warm })
}

fn by_block(stage: &Stage) -> Result<Entrants> {
    let summing = Summing::new(stage)?;
    let shifts: Vec<u32> =
        stage.pick(vec![14, 18], vec![14, 16, 18, 20, 22], (12..=26).step_by(2).collect());
    let mut entrants = Entrants::default();
    let schedules = [(DYNAMIC, Schedule::Dynamic), (STATIC, Schedule::Static)];
    for &state in states(stage) {
        for &shift in &shifts {
            let (size, x) = (1_u64 << shift, f64::from(1_u32 << shift));
            for (name, schedule) in schedules {
                let options = ReadOptions::new().with_chunk_size(size).with_schedule(schedule);
                entrants.here.push(summing.mapped(name, x, state, options));
            }
        }
    }
    entrants.here.push(memory(stage, &summing.0, f64::from(1 << 18), State::Warm)?);
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
