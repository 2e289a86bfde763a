//! The limits of the machine and of one folder's device, measured in the same frame.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Result, bail};
use swath::CancelToken;

use crate::fields::file::FileField;
use crate::fields::sums::{loaded, populated, summed};
use crate::limits::Schedule;
use crate::many::device::{Reads, by_ring};
use crate::measure::{Counting, Entrant, Meter, Outcome, Rounds, Stage, run};
use crate::results::{Limit, Run, State};
use crate::workload::FileContent;
use swath_profile::stats::median_interval;

/// Bytes of a random read.
const RANDOM_LEN: usize = 4096;
/// Reads in flight.
const DEPTH: u32 = 32;

/// A limit: its entrant, and the conversion of its seconds.
struct LimitRuns {
    entrant: Entrant,
    /// Whether it is a limit of the folder or of the machine.
    of: LimitScope,
    unit: &'static str,
    rate: Rate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LimitScope {
    Folder,
    Machine,
}

/// The conversion of seconds: `count / seconds` or `seconds / count`.
#[derive(Clone, Copy)]
enum Rate {
    PerSecond(f64),
    SecondsEach(f64),
}

impl LimitRuns {
    /// Makes a limit in GB/s for work on this many bytes.
    fn gb_per_s(of: LimitScope, bytes: usize, entrant: Entrant) -> Self {
        let rate = Rate::PerSecond(float(bytes) / 1e9);
        Self { entrant, of, unit: "GB/s", rate }
    }
}

/// Makes an entrant whose outcome is not verified.
fn entrant(name: &str, mut work: impl FnMut(&mut Meter) -> Result<()> + 'static) -> Entrant {
    Entrant::new(name, Outcome::default(), move |meter| {
        work(meter)?;
        Ok(Outcome::default())
    })
}

/// Measures the limits of a folder and, with the first folder, of the machine. Limits that the machine
/// refuses are left out.
pub(super) fn measure(
    stage: &Stage,
    folder: usize,
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Vec<Limit>> {
    told((0, 0));
    let size: u64 = stage.pick(1 << 20, 64 << 20, 1 << 30);
    let file = FileField::of(stage, &stage.file(FileContent::Bytes, size)?);
    let mut made: Vec<LimitRuns> = memory(stage, &file)?.into();
    made.extend(device(stage, &file)?);
    made.extend(kernel(stage));
    // The machine is the same in every folder.
    made.retain(|it| folder == 0 || it.of == LimitScope::Folder);
    let limits = interleaved(stage, folder, allowed(made, cancel)?, cancel, told)?;
    stage.clear();
    Ok(limits)
}

/// Tries each limit once, and returns those that the machine does not refuse.
fn allowed(made: Vec<LimitRuns>, cancel: &CancelToken) -> Result<Vec<LimitRuns>> {
    let mut allowed = Vec::new();
    for mut it in made {
        if cancel.is_cancelled() {
            bail!("stopped");
        }
        if it.entrant.run_once(Counting::All).is_ok() {
            allowed.push(it);
        }
    }
    Ok(allowed)
}

/// Runs all limits once a round, as the entrants of an experiment.
fn interleaved(
    stage: &Stage,
    folder: usize,
    made: Vec<LimitRuns>,
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Vec<Limit>> {
    let (count, seed) = (stage.pick(1, 5, 9), stage.seed);
    let rounds = Rounds { count, seed, folder, ..Rounds::default() };
    let (units, mut entrants): (Vec<_>, Vec<_>) =
        made.into_iter().map(|it| ((it.of, it.unit, it.rate), it.entrant)).unzip();
    let mut runs: Vec<Run> = Vec::new();
    let all = entrants.len() * rounds.count;
    run(&mut entrants, rounds, cancel, &mut |run| {
        runs.push(run);
        told((runs.len(), all));
    })?;
    let limits = entrants.iter().zip(units).filter_map(|(entrant, (of, unit, rate))| {
        let own = runs.iter().filter(|run| run.series == entrant.series);
        let values: Vec<f64> = own
            .map(|run| match rate {
                Rate::PerSecond(count) => count / run.seconds,
                Rate::SecondsEach(count) => run.seconds / count,
            })
            .collect();
        let value = median_interval(&values, stage.seed)?;
        let (name, folder) =
            (entrant.series.to_owned(), (of == LimitScope::Folder).then_some(folder));
        Some(Limit { name, folder, value, unit: unit.to_owned() })
    });
    Ok(limits.collect())
}

fn float(count: usize) -> f64 {
    count as f64
}

fn memory(stage: &Stage, file: &FileField) -> Result<[LimitRuns; 4]> {
    use LimitScope::{Folder, Machine};
    let (len, workers) = (file.input.len(), stage.workers);
    let source = loaded(stage, &file.input)?;
    let sum = summed(&source, &file.input, "memory sum");
    let read = file.pread("read from the page cache", workers, Schedule::Dynamic);
    let file = file.at(0.0, State::None);
    let copy = file.copied("memory copy", &source);
    let populate = populated("memory populate", len, workers);
    Ok([(sum, Machine), (copy, Machine), (populate, Machine), (read, Folder)]
        .map(|(entrant, of)| LimitRuns::gb_per_s(of, len, entrant)))
}

fn device(stage: &Stage, file: &FileField) -> Result<[LimitRuns; 3]> {
    let len = file.input.len();
    let file = file.at(0.0, State::None);
    let read = file.direct("direct read", DEPTH as usize);
    let (path, source) = (stage.output("direct-write"), loaded(stage, &file.input)?);
    let write = entrant("direct write", move |meter| {
        let source = source.borrow();
        let written = meter.measure(|| write_direct(&path, &source[..len / 4096 * 4096]))?;
        fs::remove_file(&path)?;
        Ok(written?)
    });
    let [read, write] =
        [read, write].map(|entrant| LimitRuns::gb_per_s(LimitScope::Folder, len, entrant));
    // A number of reads that takes about as long as the other limits.
    let file = stage.file(FileContent::Bytes, stage.pick(1 << 20, 16 << 20, 128 << 20))?;
    let seed = stage.seed;
    let rate = Rate::PerSecond(float(file.len() / RANDOM_LEN) / 1e3);
    let entrant = entrant("random direct reads of 4 KiB", move |meter| {
        let open = File::open(&file.path)?;
        let reads = Reads { size: RANDOM_LEN, depth: DEPTH, seed };
        meter.measure(|| by_ring(&open, reads))??;
        Ok(())
    });
    let random = LimitRuns { entrant, of: LimitScope::Folder, unit: "1,000/s", rate };
    Ok([read, write, random])
}

fn write_direct(path: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed())
        .open(path)?;
    bytes.chunks(4 << 20).try_for_each(|part| file.write_all(part))
}

fn kernel(stage: &Stage) -> [LimitRuns; 2] {
    let (files, folder) = (stage.pick(10, 500, 5000), stage.output("created"));
    let rate = Rate::SecondsEach(float(files) / 1e6);
    let create = entrant("create an empty file", move |meter| {
        fs::create_dir_all(&folder)?;
        let names: Vec<_> = (0..files).map(|name| folder.join(name.to_string())).collect();
        let created =
            meter.measure(|| names.iter().try_for_each(|name| File::create(name).map(drop)))?;
        fs::remove_dir_all(&folder)?;
        Ok(created?)
    });
    let create = LimitRuns { entrant: create, of: LimitScope::Folder, unit: "µs", rate };
    let calls = stage.pick(100, 100_000, 1_000_000);
    let rate = Rate::SecondsEach(float(calls) / 1e9);
    let call = entrant("system call", move |meter| {
        meter.measure(|| {
            for _ in 0..calls {
                std::hint::black_box(rustix::process::getppid());
            }
        })
    });
    [create, LimitRuns { entrant: call, of: LimitScope::Machine, unit: "ns", rate }]
}
