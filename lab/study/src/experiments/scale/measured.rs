//! Measures the cost of each step, and small jobs with real processes.

use std::cell::Cell;

use anyhow::Result;

use super::super::shape::{chart, metric, named_charts};
use super::names::{CASES, HERE, RATIO, SERIES};
use super::{COMMON, claims};
use crate::experiment::{Experiment, Scale};
use crate::measure::{Absent, Entrant, Entrants, Meter, Outcome, Stage};
use crate::results::{Chart, Measure, State};
use crate::scale::costs;
use crate::scale::local::{Bench, LocalOutcome, SmallJob};
use crate::scale::worker::Answer;
use crate::scale::{Client, Death, Job, Strategy, Trouble, Work, simulate};
use crate::workload::FileContent;
use swath_profile::stats::median;

/// Varies the number of names in a folder, and measures the cost of each step.
pub(in crate::experiments) const COSTS: Experiment = Experiment {
    id: "s-costs",
    figure: "cost of the steps of a job, by segments in its folder",
    claims: claims::COSTS,
    scale: Scale { other: "up to 100,000 segments in one folder", ..COMMON.scale },
    charts: || {
        let all = [
            ("begin, write and name a segment", "segment_seconds"),
            ("the same, durable", "synced_segment_seconds"),
            ("list it, each name", "names_seconds"),
            ("list and look at it, each name", "list_seconds"),
            ("look at one", "look_seconds"),
            ("commit as segments, each", "commit_seconds"),
            ("commit as a file, each small segment", "file_commit_seconds"),
        ];
        let by_names = |(title, name): (&str, &str)| {
            chart(title, "segments in the folder", metric(name)).log_x()
        };
        all.map(by_names).into()
    },
    entrants: |stage| {
        let names =
            stage.pick(vec![10, 30], vec![100, 1_000, 10_000], vec![1_000, 10_000, 100_000]);
        let blocks = stage.pick(1, 8, 32);
        let here = names.into_iter().map(|names| {
            let folder = stage.output("costs").parent().map(ToOwned::to_owned);
            let expected = Outcome { bytes: 0, checksum: names as u64 };
            let work = move |meter: &mut Meter| {
                let folder = folder.clone().unwrap_or_default();
                let costs = meter.measure(|| costs::measure(&folder, names, blocks))??;
                costs.note(meter);
                Ok(expected)
            };
            Entrant::new(HERE, expected, work).at(names as f64, State::None)
        });
        Ok(Entrants { here: here.collect(), ..Entrants::default() })
    },
    ..COMMON
};

/// Compares small jobs with real processes and their simulation.
pub(in crate::experiments) const CLUSTER: Experiment = Experiment {
    id: "s-cluster",
    figure: "small jobs with processes of this machine, measured and simulated",
    claims: claims::CLUSTER,
    scale: Scale { other: "jobs of 24 parts of 1 MiB on 1 to 4 processes", ..COMMON.scale },
    charts: || {
        let all = [
            ("time, measured", Measure::Seconds),
            ("time, simulated", metric("simulated_seconds")),
            ("simulated over measured", metric(RATIO)),
            ("attempts", metric("attempts")),
        ];
        let charts: Vec<Chart> = named_charts("case", &CASES, all);
        charts
    },
    entrants: cluster,
    ..COMMON
};

fn cluster(stage: &Stage) -> Result<Entrants> {
    let Some(program) = stage.program() else {
        let why = "only the command can start workers of its own";
        let absent = vec![Absent::new("processes", why)];
        return Ok(Entrants { absent, ..Entrants::default() });
    };
    let parts = stage.pick(8, 24, 24);
    let len = stage.pick(1 << 14, 1 << 20, 1 << 20);
    let input = stage.file(FileContent::Letters, len * parts as u64)?;
    let bench = Bench {
        program: program.to_owned(),
        input: input.path.clone(),
        output: stage.output("cluster"),
    };
    let mut entrants = Entrants::default();
    for (series, strategy) in SERIES {
        for place in 0..CASES.len() {
            let Some(small) = small(stage, place, strategy, parts) else { continue };
            let case = ClusterCase {
                bench: bench.clone(),
                small,
                cores: stage.workers as f64,
                round: Cell::new(stage.seed),
            };
            let work = move |meter: &mut Meter| case.measure(meter);
            let entrant = Entrant::new(series, input.expected(), work);
            entrants.here.push(entrant.at(place as f64, State::Warm));
        }
    }
    Ok(entrants)
}

/// Returns the job of a case; `None` where a strategy makes no difference, or cannot finish.
fn small(stage: &Stage, place: usize, strategy: Strategy, parts: usize) -> Option<SmallJob> {
    let is_hedged = matches!(strategy, Strategy::Hedged { .. });
    let passes = stage.pick(1, 1_500, 1_500);
    let busy = SmallJob {
        workers: 1,
        strategy,
        parts,
        passes,
        wait_s: 0.0,
        slow_factor: 1,
        death: None,
    };
    // Waiting parts: the load of the machine does not change the slowness of a slow worker.
    let waiting = SmallJob {
        passes: 1,
        wait_s: stage.pick(0.002, 0.01, 0.01),
        workers: 2,
        ..busy.clone()
    };
    let at_s = 4.5 * waiting.wait_s;
    match place {
        0..=2 if !is_hedged => Some(SmallJob { workers: 1 << place, ..busy }),
        3 => Some(SmallJob { slow_factor: 4, ..waiting }),
        4 => Some(SmallJob { workers: 4, slow_factor: 4, ..waiting }),
        5 if strategy == Strategy::Pull => {
            Some(SmallJob { death: Some(Death { worker: 0, at_s }), ..waiting })
        }
        _ => None,
    }
}

/// A job of the local cluster.
struct ClusterCase {
    bench: Bench,
    small: SmallJob,
    cores: f64,
    round: Cell<u64>,
}

impl ClusterCase {
    /// Measures one worker alone, for the simulation, then the job, and simulates it.
    fn measure(&self, meter: &mut Meter) -> Result<Outcome> {
        let alone = SmallJob {
            workers: 1,
            strategy: Strategy::Pull,
            slow_factor: 1,
            death: None,
            ..self.small.clone()
        };
        let alone = self.bench.run(&alone)?;
        let job = self.job(&alone);
        let ran = meter.measure(|| self.bench.run(&self.small))??;
        meter.took(ran.seconds);
        let round = self.round.get();
        self.round.set(round.wrapping_add(1));
        let simulated = simulate(&job, round)?;
        meter.note("simulated_seconds", simulated.seconds);
        meter.note(RATIO, simulated.seconds / ran.seconds);
        meter.note("attempts", ran.attempts as f64);
        meter.note("simulated_attempts", simulated.attempts as f64);
        meter.note("final_commit_seconds", ran.commit_s);
        meter.note("compute_seconds", job.work.compute_s);
        meter.note("spread", job.work.spread);
        meter.note("message_seconds", job.client.latency_s);
        let output = std::fs::read(&self.bench.output)?;
        std::fs::remove_file(&self.bench.output)?;
        Ok(Outcome::of(&output, 1))
    }

    /// Returns the simulated job, with the costs that one worker alone had.
    fn job(&self, alone: &LocalOutcome) -> Job {
        let SmallJob { workers, strategy, parts, slow_factor, death, .. } = self.small;
        let busy = |it: &Answer| (it.seconds() - it.wait_s).max(1e-9);
        let waits: Vec<f64> = alone.answers.iter().map(|it| it.wait_s).collect();
        let in_parts: f64 = alone.answers.iter().map(Answer::seconds).sum();
        let message_s = (alone.seconds - in_parts).max(0.0) / parts as f64 / 2.0;
        let busy: Vec<f64> = alone.answers.iter().map(busy).collect();
        // The files are in memory: reads, writes and names are processor work, too.
        let work = Work {
            parts,
            bytes_in: 0.0,
            bytes_out: 0.0,
            compute_s: mean(&busy),
            spread: spread(&busy),
            wait_s: median(&waits).unwrap_or_default(),
            opens: 0.0,
            closes: 0.0,
        };
        let client = Client { latency_s: message_s, ..Job::default().client };
        let slow_share = if slow_factor > 1 { 1.0 / workers as f64 } else { 0.0 };
        let trouble = Trouble {
            slow_share,
            slow_factor: f64::from(slow_factor),
            deaths: death.into_iter().collect(),
            ..Trouble::default()
        };
        let cores = Some(self.cores);
        Job { workers, cores, client, work, trouble, strategy, ..Job::default() }
    }
}

fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len().max(1) as f64
}

/// Returns the standard deviation of the logarithms of times.
fn spread(seconds: &[f64]) -> f64 {
    let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
    let middle = mean(&logs);
    let squares: Vec<f64> = logs.iter().map(|log| (log - middle) * (log - middle)).collect();
    mean(&squares).sqrt()
}
