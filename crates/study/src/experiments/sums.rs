//! Study D: summing the bytes of a mapped file, by advice, flags and blocks.

use std::fs::File;
use std::rc::Rc;

use anyhow::Result;
use swath::{Advice, Guard, ReadOptions, Schedule};

use super::limit::{MEMORY, memory};
use super::shape::{chart, metric};
use crate::experiment::{
    Claim, Entrant, Entrants, Experiment, Input, Meter, Outcome, Stage, Study, all_of, any_of,
};
use crate::page::size;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use crate::stats::Bound;
use crate::workload::Kind;

const SERIAL: &str = "one thread";
const PARALLEL: &str = "all cores";
const BUFFERS: &str = "swath sum, small buffers";

/// Ways to tell the kernel, by their place on the axis.
const ADVICE: [(&str, Way); 7] = [
    ("none", Way { advice: Advice::None, populate: false, huge: false }),
    ("sequential", Way { advice: Advice::Sequential, populate: false, huge: false }),
    ("random", Way { advice: Advice::Random, populate: false, huge: false }),
    ("will need, early", Way { advice: Advice::WillNeed, populate: false, huge: false }),
    ("map ahead", Way { advice: Advice::MapAhead, populate: false, huge: false }),
    ("MAP_POPULATE", Way { advice: Advice::None, populate: true, huge: false }),
    ("huge pages", Way { advice: Advice::HugePage, populate: false, huge: true }),
];

#[derive(Clone, Copy)]
struct Way {
    advice: Advice,
    populate: bool,
    huge: bool,
}

impl Way {
    fn options(self) -> ReadOptions {
        ReadOptions::new()
            .with_advice(self.advice)
            .with_map_populate(self.populate)
            .with_map_huge_page(self.huge)
    }
}

/// By what the kernel is told.
pub(super) const BY_ADVICE: Experiment = Experiment {
    id: "d-advice",
    study: Study::D,
    figure: "bandwidth of a byte sum by advice and flags of the map, serial and parallel",
    claim: "Telling the kernel early that the file will be needed makes a mapped sum faster.",
    least_rounds: 5,
    charts: || {
        let names: Vec<String> = ADVICE.iter().map(|(name, _)| (*name).to_owned()).collect();
        [
            chart("bandwidth", "advice", Measure::Rate),
            chart("page faults", "advice", metric("minor_faults", "")),
            chart("misses of the address cache", "advice", metric("tlb_misses", "")),
        ]
        .map(|chart| Chart { x_names: names.clone(), ..chart })
        .into()
    },
    entrants: by_advice,
    judge: judge_advice,
};

/// By the size of the blocks.
pub(super) const BY_BLOCK: Experiment = Experiment {
    id: "d-block-size",
    study: Study::D,
    figure: "bandwidth of a mapped byte sum by block size, blocks taken as they come or shared out",
    claim: "Blocks of 256 KiB that threads take as they come are the best choice.",
    least_rounds: 5,
    charts: || vec![chart("bandwidth by block size", "bytes a block", Measure::Rate).log_x()],
    entrants: by_block,
    judge: judge_block,
};

struct Summing(Rc<Input>);

impl Summing {
    fn new(stage: &Stage) -> Result<Self> {
        let size = stage.pick(1 << 18, 64 << 20, 1_000_000_000);
        Ok(Self(stage.file(Kind::Bytes, size)?))
    }

    fn entrant(
        &self,
        place: (&str, f64, State),
        sum: impl Fn(&Input) -> Result<u64> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(&self.0), Rc::clone(&self.0));
        let expected = Outcome { bytes: here.made.bytes, checksum: here.made.sum };
        let work = move |meter: &mut Meter| {
            let checksum = meter.count(|| sum(&here))??;
            Ok(Outcome { checksum, ..expected })
        };
        Entrant::new(place, expected, work).with_before(move || before.bring(place.2))
    }

    /// Opening and guarding is part of it.
    fn mapped(&self, place: (&str, f64, State), options: ReadOptions) -> Entrant {
        self.entrant(place, move |input| {
            let file = File::open(&input.path)?;
            let guard = Guard::install(&file, &input.path)?;
            Ok(options.sum_mapped(guard, input.path.as_path())?.value)
        })
    }
}

fn by_advice(stage: &Stage) -> Result<Entrants> {
    let summing = Summing::new(stage)?;
    let states: &[State] =
        stage.pick(&[State::Warm], &[State::Warm], &[State::Warm, State::Cold]);
    let mut entrants = Entrants::default();
    for &state in states {
        for (x, (_, way)) in (0_u8..).zip(ADVICE) {
            let x = f64::from(x);
            let one = way.options().with_workers(1);
            entrants.here.push(summing.mapped((SERIAL, x, state), one));
            entrants.here.push(summing.mapped((PARALLEL, x, state), way.options()));
        }
        let sum = |input: &Input| Ok(ReadOptions::new().sum(input.path.as_path())?.value);
        entrants.here.push(summing.entrant((BUFFERS, 0.0, state), sum));
    }
    entrants.here.push(memory(stage, &summing.0, (0.0, State::Warm))?);
    Ok(entrants)
}

fn judge_advice(runs: &Selected<'_>) -> Finding {
    let claims = [(SERIAL, "one thread"), (PARALLEL, "all cores")].map(|(series, word)| {
        let key = |x| Key { series, x, state: State::Warm };
        let ratio = runs.speed_up(key(3.0), key(0.0));
        Claim::new(
            format!("{word}, early will-need against none, as fast as"),
            ratio,
            Bound::AtLeast(1.05),
        )
    });
    let best = runs.best(PARALLEL, State::Warm);
    let of_limit = best.and_then(|x| {
        let swath = Key { series: PARALLEL, x, state: State::Warm };
        runs.speed_up(swath, Key { series: MEMORY, x: 0.0, state: State::Warm })
    });
    any_of(&claims).with_limit(of_limit)
}

fn by_block(stage: &Stage) -> Result<Entrants> {
    let summing = Summing::new(stage)?;
    let shifts: Vec<u32> =
        stage.pick(vec![14, 18], vec![14, 16, 18, 20, 22], (12..=26).step_by(2).collect());
    let mut entrants = Entrants::default();
    for shift in shifts {
        let (size, x) = (1_usize << shift, f64::from(1_u32 << shift));
        for (name, schedule) in [(DYNAMIC, Schedule::Dynamic), (STATIC, Schedule::Static)] {
            let options = ReadOptions::new().with_chunk_size(size).with_schedule(schedule);
            entrants.here.push(summing.mapped((name, x, State::Warm), options));
        }
    }
    entrants.here.push(memory(stage, &summing.0, (f64::from(1 << 18), State::Warm))?);
    Ok(entrants)
}

const DYNAMIC: &str = "taken as they come";
const STATIC: &str = "shared out";

fn judge_block(runs: &Selected<'_>) -> Finding {
    let state = State::Warm;
    let own = Key { series: DYNAMIC, x: f64::from(1 << 18), state };
    let best = [DYNAMIC, STATIC].into_iter().filter_map(|series| {
        let key = Key { series, x: runs.best(series, state)?, state };
        Some((runs.time(key)?.estimate, key))
    });
    let best = best.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, key)| key);
    let ratio = best.and_then(|best| runs.speed_up(own, best));
    let what = best.map_or_else(String::new, |best| {
        format!("256 KiB against the best ({}, {}), as fast as", size(best.x), best.series)
    });
    let memory = Key { series: MEMORY, x: f64::from(1 << 18), state };
    let of_limit = best.and_then(|best| runs.speed_up(best, memory));
    all_of(&[Claim::new(what, ratio, Bound::AtLeast(0.95))]).with_limit(of_limit)
}
