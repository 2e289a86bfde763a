//! Simulates strategies, storage, the size of parts and the commit, by number of workers or parts.

use std::cell::Cell;

use anyhow::{Context, Result};

use super::super::shape::{chart, metric, over};
use super::clusters::{DISK, PARALLEL, PART, SERVER, SLOW, heavy, light};
use super::names::{
    COMMITS, CommitWay, FIXED, HEDGED, LATES, PULLED, RESTARTED, SHARED, STORAGES,
    hedge_series, size_series,
};
use super::{COMMON, claims};
use crate::experiment::{Experiment, Scale};
use crate::measure::{Entrant, Entrants, Meter, Outcome, Stage};
use crate::results::{Chart, Measure, State};
use crate::scale::costs::{self, Costs};
use crate::scale::{
    Committing, Job, Simulated, Spent, Storage, Strategy, Trouble, Use, commit, simulate,
};

const STRATEGIES: [(&str, Strategy); 3] = [
    (FIXED, Strategy::Static),
    (PULLED, Strategy::Pull),
    (HEDGED, Strategy::Hedged { late: 1.5 }),
];

/// Varies the number of workers, with fixed shares, pull and hedging.
pub(in crate::experiments) const PULL: Experiment = Experiment {
    id: "s-pull",
    figure: "fixed shares, pull and hedging by number of workers, one in twenty three times slower",
    claims: claims::PULL,
    scale: Scale { other: "100,000 parts on 10 to 10,000 workers, simulated", ..COMMON.scale },
    charts: || {
        vec![
            by_workers("time", Measure::Seconds).log_y(),
            by_workers("times as fast as fixed shares", over(FIXED, None)),
            by_workers(
                "share of the workers' time in which they compute",
                metric("computing_share"),
            ),
            by_workers("extra work", metric("extra_share")),
        ]
    },
    entrants: |stage| {
        let jobs = workers(stage).into_iter().flat_map(|workers| {
            STRATEGIES.map(|(series, strategy)| {
                let job = heavy(PARALLEL, parts(stage)).with_workers(workers);
                SimulatedJob {
                    series: series.to_owned(),
                    x: workers as f64,
                    job: Job { strategy, trouble: SLOW, ..job },
                }
            })
        });
        Ok(entrants(stage, parts(stage), jobs))
    },
    ..COMMON
};

/// Varies the slowness of some workers.
pub(in crate::experiments) const HEDGE: Experiment = Experiment {
    id: "s-hedge",
    figure: "hedging by how much slower one worker in twenty is; 1,000 workers, ten parts each",
    claims: claims::HEDGE,
    scale: Scale { other: "10,000 parts on 1,000 workers, simulated", ..COMMON.scale },
    charts: || {
        let by = |title, y| chart(title, "times slower", y).log_x();
        vec![
            by("time", Measure::Seconds),
            by("times as fast as pull", over(PULLED, None)),
            by("extra work", metric("extra_share")),
        ]
    },
    entrants: |stage| {
        let late = |late| (hedge_series(late), Strategy::Hedged { late });
        let [early, usual, patient] = LATES.map(late);
        let strategies = [(PULLED.to_owned(), Strategy::Pull), early, usual, patient];
        let count = stage.pick(20, 1_000, 1_000);
        let jobs = [1.0, 2.0, 4.0, 8.0, 16.0].into_iter().flat_map(|slow_factor| {
            let trouble = Trouble { slow_factor, ..SLOW };
            strategies.clone().map(|(series, strategy)| {
                let job = heavy(PARALLEL, 10 * count).with_workers(count);
                SimulatedJob {
                    series,
                    x: slow_factor,
                    job: Job { strategy, trouble: trouble.clone(), ..job },
                }
            })
        });
        Ok(entrants(stage, 10 * count, jobs))
    },
    ..COMMON
};

/// Makes a job with this many parts.
type JobOfParts = fn(Storage, usize) -> Job;

/// Varies the number of workers, to find the first bottleneck.
pub(in crate::experiments) const STORAGE: Experiment = Experiment {
    id: "s-storage",
    figure: "which shared thing is busy first, by storage and number of workers",
    claims: claims::STORAGE,
    scale: Scale { other: "100,000 parts on 10 to 10,000 workers, simulated", ..COMMON.scale },
    charts: || {
        let shares = SHARED.map(|(what, name, _)| {
            by_workers(&format!("share of the workers' time in {what}"), metric(name))
        });
        let times = [
            by_workers("time", Measure::Seconds).log_y(),
            by_workers(
                "share of the workers' time in which they compute",
                metric("computing_share"),
            ),
        ];
        times.into_iter().chain(shares).collect()
    },
    entrants: |stage| {
        let here = here(stage)?.storage(stage.workers as f64);
        let storages: [(Storage, JobOfParts); 5] = [
            (here, heavy),
            (DISK, heavy),
            (SERVER, heavy),
            (PARALLEL, heavy),
            (PARALLEL, light),
        ];
        let jobs = STORAGES.into_iter().zip(storages).flat_map(|(series, (storage, of))| {
            let job = of(storage, parts(stage));
            workers(stage).into_iter().map(move |workers| {
                let job = job.clone().with_workers(workers);
                SimulatedJob { series: series.to_owned(), x: workers as f64, job }
            })
        });
        Ok(entrants(stage, parts(stage), jobs))
    },
    ..COMMON
};

/// Failures of a worker per hour on preemptible machines.
const FAILURES: f64 = 0.05;

/// Varies the number of parts, with the same work in all.
pub(in crate::experiments) const SIZE: Experiment = Experiment {
    id: "s-size",
    figure: "the same work in few large or many small parts",
    claims: claims::SIZE,
    scale: Scale { other: "6.7 TB and 278 hours of a core, simulated", ..COMMON.scale },
    charts: || {
        let by = |title, y| chart(title, "parts", y).log_x();
        vec![
            by("time", Measure::Seconds).log_y(),
            by("lost work", metric("lost_share")).log_y(),
            by("share of the workers' time in which they compute", metric("computing_share")),
        ]
    },
    entrants: |stage| {
        let whole = stage.pick(1_000, 100_000, 100_000);
        let counts = stage.pick(
            vec![100, 1_000],
            vec![1_000, 10_000],
            vec![1_000, 3_000, 10_000, 30_000, 100_000, 300_000],
        );
        let mut jobs = Vec::new();
        for workers in stage.pick(vec![10], vec![100, 1_000], vec![100, 1_000, 10_000]) {
            for failures_per_hour in [0.0, FAILURES] {
                let trouble = Trouble { failures_per_hour, ..SLOW };
                let series = size_series(workers, failures_per_hour > 0.0);
                jobs.extend(counts.iter().map(|&count| {
                    let job = heavy(PARALLEL, whole).divided_into(count).with_workers(workers);
                    let job = Job { trouble: trouble.clone(), ..job };
                    SimulatedJob { series: series.clone(), x: count as f64, job }
                }));
            }
        }
        Ok(entrants(stage, whole, jobs))
    },
    ..COMMON
};

/// Varies the number of parts, and computes the commit.
pub(in crate::experiments) const COMMIT: Experiment = Experiment {
    id: "s-commit",
    figure: "the commit by number of parts: one folder and one process, or several",
    claims: claims::COMMIT,
    scale: Scale { other: "up to 1,000,000 parts, computed", ..COMMON.scale },
    charts: || {
        let by = |title, y| chart(title, "parts", y).log_x().log_y();
        vec![
            by("time", Measure::Seconds),
            by("of it: look at each segment", metric("look_seconds")),
            by("of it: bring bytes to their places", metric("place_seconds")),
            by("of it: list and remove segments", metric("remove_seconds")),
        ]
    },
    entrants: commits,
    ..COMMON
};

fn commits(stage: &Stage) -> Result<Entrants> {
    let costs = here(stage)?;
    let counts = stage.pick(
        vec![100, 1_000],
        vec![100, 1_000, 10_000, 100_000],
        vec![100, 1_000, 10_000, 100_000, 1_000_000],
    );
    let mut all = Entrants::default();
    let on = stage.workers as f64;
    let here = costs.storage_of_commit(on);
    for (storage, cores) in [(here, Some(on)), (SERVER, None), (PARALLEL, None)] {
        let of = |name: &str| format!("{}: {name}", storage.name);
        for &count in &counts {
            let job = Job { cores, ..heavy(storage, count) };
            for CommitWay { name, output, callers, in_folder } in COMMITS {
                let job = Job { folders: count.div_ceil(in_folder).max(1), ..job.clone() };
                let how = Committing { callers, ..costs.committing(output, on)? };
                all.here.push(at_parts(of(name), count, move |meter| {
                    let found = commit(&job, &how)?;
                    meter.took(found.seconds());
                    meter.note("look_seconds", found.look_s);
                    meter.note("place_seconds", found.place_s);
                    meter.note("remove_seconds", found.remove_s);
                    Ok(())
                }));
            }
            all.here.push(at_parts(of(RESTARTED), count, move |meter| {
                meter.took(job.relist_s(count));
                Ok(())
            }));
        }
    }
    Ok(all)
}

/// Returns an entrant with a number of parts of the usual size.
fn at_parts(
    series: String,
    count: usize,
    work: impl Fn(&mut Meter) -> Result<()> + 'static,
) -> Entrant {
    let expected = Outcome { bytes: bytes(count), checksum: count as u64 };
    let work = move |meter: &mut Meter| work(meter).map(|()| expected);
    Entrant::new(series, expected, work).at(count as f64, State::None)
}

/// Measures the costs of this machine, with a small folder.
fn here(stage: &Stage) -> Result<Costs> {
    let folder = stage.output("costs");
    let folder = folder.parent().context("a folder of the stage")?;
    costs::measure(folder, stage.pick(20, 1_000, 1_000), stage.pick(1, 8, 8))
}

fn workers(stage: &Stage) -> Vec<usize> {
    stage.pick(vec![2, 8], vec![10, 100, 1_000], vec![10, 100, 1_000, 10_000])
}

fn parts(stage: &Stage) -> usize {
    stage.pick(200, 10_000, 100_000)
}

fn by_workers(title: &str, y: Measure) -> Chart {
    chart(title, "workers", y).log_x()
}

/// Returns the bytes that this many parts of the usual size read.
fn bytes(parts: usize) -> u64 {
    PART * parts as u64
}

/// A job, with its series and place in the chart.
struct SimulatedJob {
    series: String,
    x: f64,
    job: Job,
}

/// Returns an entrant for each job, with another seed in each round. Each job does as much work as
/// `whole` parts of the usual size.
fn entrants(
    stage: &Stage,
    whole: usize,
    runs: impl IntoIterator<Item = SimulatedJob>,
) -> Entrants {
    let seed = stage.seed;
    let here = runs.into_iter().map(|SimulatedJob { series, x, job }| {
        let expected = Outcome { bytes: bytes(whole), checksum: job.work.parts as u64 };
        let round = Cell::new(seed);
        let work = move |meter: &mut Meter| {
            let found = simulate(&job, round.get())?;
            round.set(round.get().wrapping_add(1));
            note(meter, &found, job.workers);
            Ok(Outcome { checksum: found.parts as u64, ..expected })
        };
        Entrant::new(series, expected, work).at(x, State::None)
    });
    Entrants { here: here.collect(), ..Entrants::default() }
}

fn note(meter: &mut Meter, found: &Simulated, workers: usize) {
    meter.took(found.seconds);
    let Use { client, names, read, write } = found.busy;
    let Spent { asking, naming, reading, computing, writing } = found.spent;
    let worked = found.useful_s + found.lost_s + found.extra_s;
    let of_work = |seconds: f64| if worked > 0.0 { seconds / worked } else { 0.0 };
    let all = found.seconds * workers as f64;
    let of_all = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
    for (name, value) in [
        ("attempts", found.attempts as f64),
        ("hedges", found.hedges as f64),
        ("lost_attempts", found.lost as f64),
        ("extra_share", of_work(found.extra_s)),
        ("lost_share", of_work(found.lost_s)),
        ("computing_share", of_all(computing)),
        ("reading_share", of_all(reading)),
        ("writing_share", of_all(writing)),
        ("naming_share", of_all(naming)),
        ("asking_share", of_all(asking)),
        ("client_busy", client),
        ("names_busy", names),
        ("read_busy", read),
        ("write_busy", write),
    ] {
        meter.note(name, value);
    }
}
