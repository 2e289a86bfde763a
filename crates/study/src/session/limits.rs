//! What the machine and one folder's device can do at best, measured as everything else is.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;

use anyhow::{Result, bail};
use swath::CancelToken;

use crate::limits;
use crate::many::device::{Reads, by_ring};
use crate::measure::{
    Counting, Entrant, Input, Meter, Outcome, Rounds, SharedPages, Stage, run,
};
use crate::results::{Limit, Run, State};
use crate::stats::median_interval;
use crate::workload::Kind;

/// Random reads of this length.
const RANDOM_LEN: usize = 4096;
/// Reads in flight.
const DEPTH: u32 = 32;

/// What one run does, to make a rate of its seconds.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    /// Of a folder, or of the machine.
    of_folder: bool,
    unit: &'static str,
    /// `count / seconds` or `seconds / count`.
    per_second: bool,
    count: f64,
}

/// Measures those of a folder, and of the machine in the first one; those that the machine refuses are left out.
pub(super) fn measure(
    stage: &Stage,
    folder: usize,
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Vec<Limit>> {
    told((0, 0));
    let size: u64 = stage.pick(1 << 20, 64 << 20, 1 << 30);
    let input = stage.file(Kind::Bytes, size)?;
    let target = stage.pages(input.len())?;
    let mut made = Vec::new();
    memory(stage, &input, &target, &mut made)?;
    device(stage, &input, &target, &mut made)?;
    kernel(stage, &mut made);
    // The machine is the same in every folder.
    made.retain(|(unit, _)| folder == 0 || unit.of_folder);
    let (units, entrants) = allowed(made, cancel)?;
    let limits = interleaved(stage, folder, &units, entrants, cancel, told)?;
    stage.clear();
    Ok(limits)
}

/// Those that the machine does not refuse when they are tried once.
fn allowed(
    made: Vec<(Unit, Entrant)>,
    cancel: &CancelToken,
) -> Result<(Vec<Unit>, Vec<Entrant>)> {
    let mut allowed = (Vec::new(), Vec::new());
    for (unit, mut entrant) in made {
        if cancel.is_cancelled() {
            bail!("stopped");
        }
        if entrant.run_once(Counting::All).is_ok() {
            allowed.0.push(unit);
            allowed.1.push(entrant);
        }
    }
    Ok(allowed)
}

/// All of them once a round, as entrants of an experiment are.
fn interleaved(
    stage: &Stage,
    folder: usize,
    units: &[Unit],
    mut entrants: Vec<Entrant>,
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Vec<Limit>> {
    let (count, seed) = (stage.pick(1, 5, 9), stage.seed());
    let rounds = Rounds { count, seed, folder, ..Rounds::default() };
    let mut runs: Vec<Run> = Vec::new();
    let all = entrants.len() * rounds.count;
    run(&mut entrants, rounds, cancel, &mut |run| {
        runs.push(run);
        told((runs.len(), all));
    })?;
    let limits = units.iter().filter_map(|unit| {
        let own = runs.iter().filter(|run| run.series == unit.name);
        let values: Vec<f64> = own
            .map(|run| match unit.per_second {
                true => unit.count / run.seconds,
                false => run.seconds / unit.count,
            })
            .collect();
        let value = median_interval(&values, stage.seed())?;
        let folder = unit.of_folder.then_some(folder);
        Some(Limit { name: unit.name.to_owned(), folder, value, unit: unit.unit.to_owned() })
    });
    Ok(limits.collect())
}

fn gb_per_s(name: &'static str, of_folder: bool, bytes: usize) -> Unit {
    Unit { name, of_folder, unit: "GB/s", per_second: true, count: float(bytes) / 1e9 }
}

fn float(count: usize) -> f64 {
    count as f64
}

fn entrant(
    unit: Unit,
    mut work: impl FnMut(&mut Meter) -> Result<()> + 'static,
) -> (Unit, Entrant) {
    let entrant = Entrant::new(unit.name, Outcome::default(), move |meter| {
        work(meter)?;
        Ok(Outcome::default())
    });
    (unit, entrant)
}

fn memory(
    stage: &Stage,
    input: &Rc<Input>,
    target: &SharedPages,
    made: &mut Vec<(Unit, Entrant)>,
) -> Result<()> {
    let (len, workers) = (input.len(), stage.workers());
    let source = stage.pages(len)?;
    let here = Rc::clone(&source);
    made.push(entrant(gb_per_s("memory sum", false, len), move |meter| {
        let source = here.borrow();
        std::hint::black_box(meter.measure(|| limits::memory_sum(&source[..len], workers))?);
        Ok(())
    }));
    let here = Rc::clone(target);
    made.push(entrant(gb_per_s("memory copy", false, len), move |meter| {
        let (source, mut target) = (source.borrow(), here.borrow_mut());
        meter.measure(|| limits::copy(&source[..len], &mut target[..len], workers))
    }));
    made.push(entrant(gb_per_s("memory populate", false, len), move |meter| {
        drop(meter.measure(|| limits::touched_pages(len, workers))??);
        Ok(())
    }));
    let (here, file) = (Rc::clone(target), Rc::clone(input));
    made.push(entrant(gb_per_s("read from the page cache", true, len), move |meter| {
        file.bring(State::Warm)?;
        let (open, mut target) = (File::open(&file.path)?, here.borrow_mut());
        let schedule = limits::Schedule::Dynamic;
        Ok(meter.measure(|| limits::pread(&open, &mut target[..len], workers, schedule))??)
    }));
    Ok(())
}

fn device(
    stage: &Stage,
    input: &Rc<Input>,
    target: &SharedPages,
    made: &mut Vec<(Unit, Entrant)>,
) -> Result<()> {
    let len = input.len();
    let (here, file) = (Rc::clone(target), Rc::clone(input));
    made.push(entrant(gb_per_s("direct read", true, len), move |meter| {
        let (open, mut target) = (File::open(&file.path)?, here.borrow_mut());
        Ok(meter.measure(|| limits::direct(&open, &mut target[..len], DEPTH as usize))??)
    }));
    let (here, path) = (Rc::clone(target), stage.output("direct-write"));
    made.push(entrant(gb_per_s("direct write", true, len), move |meter| {
        let target = here.borrow();
        let written = meter.measure(|| write_direct(&path, &target[..len / 4096 * 4096]))?;
        fs::remove_file(&path)?;
        Ok(written?)
    }));
    // As many as take about as long as the others.
    let file = stage.file(Kind::Bytes, stage.pick(1 << 20, 16 << 20, 128 << 20))?;
    let count = file.len() / RANDOM_LEN;
    let unit = Unit {
        name: "random direct reads of 4 KiB",
        of_folder: true,
        unit: "1,000/s",
        per_second: true,
        count: float(count) / 1e3,
    };
    let seed = stage.seed();
    made.push(entrant(unit, move |meter| {
        let open = File::open(&file.path)?;
        let reads = Reads { size: RANDOM_LEN, depth: DEPTH, seed };
        meter.measure(|| by_ring(&open, reads))??;
        Ok(())
    }));
    Ok(())
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

fn kernel(stage: &Stage, made: &mut Vec<(Unit, Entrant)>) {
    let (files, folder) = (stage.pick(10, 500, 5000), stage.output("created"));
    let unit = Unit {
        name: "create an empty file",
        of_folder: true,
        unit: "µs",
        per_second: false,
        count: float(files) / 1e6,
    };
    made.push(entrant(unit, move |meter| {
        fs::create_dir_all(&folder)?;
        let names: Vec<_> = (0..files).map(|name| folder.join(name.to_string())).collect();
        let created =
            meter.measure(|| names.iter().try_for_each(|name| File::create(name).map(drop)))?;
        fs::remove_dir_all(&folder)?;
        Ok(created?)
    }));
    let calls = stage.pick(100, 100_000, 1_000_000);
    let unit = Unit {
        name: "system call",
        of_folder: false,
        unit: "ns",
        per_second: false,
        count: float(calls) / 1e9,
    };
    made.push(entrant(unit, move |meter| {
        meter.measure(|| {
            for _ in 0..calls {
                std::hint::black_box(rustix::process::getppid());
            }
        })
    }));
}
