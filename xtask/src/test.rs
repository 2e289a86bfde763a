//! `cargo xtask test`: the one check that CI runs.
//!
//! ```text
//! Cargo's turn    build (with clippy) → wheel → docs → xtask → readme
//! beside it       prepare → format → tidy → deny → links → tests → python → c → blocks → book → examples → demo
//! ```
//!
//! Three steps run at a time, each as a process of its own whose output goes to `target/steps`: one that
//! compiles with Cargo, which locks its folder, and two that do not. A step begins when those that it
//! needs have passed; after a failure none begins. At the end: the slowest steps and tests, and what this
//! machine could not check; see [`skips`].

mod actions;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::builder::PossibleValuesParser;

use crate::reports::StepTime;
use crate::workspace::Workspace;
use crate::{prepare, process, reports, skips, slow, torture};

pub(crate) use actions::blocks;

/// The words after `test`; without them, all steps run.
#[derive(Debug, clap::Args)]
pub(crate) struct TestWish {
    /// Leave out C, Python, the site, the browser, the tests of this program and those of
    /// xtask/slow-tests.txt
    #[arg(long)]
    fast: bool,
    /// Run one step, and pass its output on
    #[arg(long, value_name = "STEP", conflicts_with = "fast")]
    #[arg(value_parser = PossibleValuesParser::new(actions::STEPS.iter().map(|it| it.name)))]
    only: Option<String>,
    /// Install nothing to compare with
    #[arg(long)]
    no_install: bool,
}

/// The lane of a step: whether it compiles with Cargo, which works for one step at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepLane {
    Cargo,
    Beside,
}

impl StepLane {
    /// Returns how many steps of the lane run at a time: tests wait for disks, servers and timers.
    fn width(self) -> usize {
        match self {
            StepLane::Cargo => 1,
            StepLane::Beside => 2,
        }
    }
}

/// One part of the check.
struct Step {
    name: &'static str,
    lane: StepLane,
    /// Steps that have to pass before.
    needs: &'static [&'static str],
    in_fast: bool,
    action: fn(&Workspace) -> Result<()>,
}

/// A step that has begun.
struct RunningStep {
    step: &'static Step,
    child: Child,
    start: Instant,
}

/// Runs the steps that `wish` names and prints a summary.
pub(crate) fn run(workspace: &Workspace, wish: &TestWish) -> Result<()> {
    skips::start(workspace)?;
    reports::start(workspace)?;
    let mut left_out = Vec::new();
    let times = match &wish.only {
        Some(name) => vec![run_alone(workspace, wish, name)?],
        None => {
            let chosen: Vec<&'static Step> =
                actions::STEPS.iter().filter(|step| !wish.fast || step.in_fast).collect();
            let gone =
                actions::STEPS.iter().filter(|it| chosen.iter().all(|c| c.name != it.name));
            left_out.extend(gone.map(|it| format!("step {}: left out by --fast", it.name)));
            if wish.fast {
                let count = slow::names(workspace)?.len();
                left_out.push(format!("{count} tests: left out by --fast"));
            }
            run_all(workspace, wish, chosen)?
        }
    };
    let skips = skips::noted(workspace)?;
    let count = times.len();
    let counts = reports::print(workspace, times)?;
    torture::print_age(workspace);
    println!("all {count} steps passed, {} skipped", skips.len() + left_out.len());
    for line in left_out.into_iter().chain(skips.iter().map(skips::Skip::to_string)) {
        println!("  skipped {line}");
    }
    println!("{counts}");
    skips::judge(workspace, &skips)
}

/// Runs one step and passes its output on.
fn run_alone(workspace: &Workspace, wish: &TestWish, name: &str) -> Result<StepTime> {
    let (step, start) = (find(name)?, Instant::now());
    process::run(&mut command(workspace, wish, step)?)?;
    time(workspace, step, start)
}

/// Returns the time of a step that has passed.
fn time(workspace: &Workspace, step: &Step, start: Instant) -> Result<StepTime> {
    let noted = fs::read_to_string(processor_time(workspace, step.name))?;
    let processor = noted.parse().context("a number of seconds")?;
    Ok(StepTime { name: step.name, seconds: start.elapsed().as_secs_f64(), processor })
}

fn processor_time(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.steps().join(format!("{name}.seconds"))
}

fn find(name: &str) -> Result<&'static Step> {
    let step = actions::STEPS.iter().find(|step| step.name == name);
    step.with_context(|| format!("there is no step {name}"))
}

/// Runs the step of the process.
pub(crate) fn run_step(workspace: &Workspace, name: &str) -> Result<()> {
    (find(name)?.action)(workspace).with_context(|| format!("step `{name}` failed"))?;
    fs::write(processor_time(workspace, name), reports::processor_time()?.to_string())
        .context("cannot note the processor time")
}

/// Returns a command that runs this program for one step.
fn command(workspace: &Workspace, wish: &TestWish, step: &Step) -> Result<Command> {
    // A copy: the step `build` replaces the program that runs.
    let program = workspace.steps().join("xtask");
    if !program.exists() {
        fs::copy(std::env::current_exe()?, &program).context("cannot copy this program")?;
    }
    let mut command = workspace.command(program);
    command.args(["step", step.name]);
    if wish.no_install {
        command.env(prepare::NO_INSTALL, "1");
    }
    if wish.fast {
        command.env(prepare::FAST, "1");
    }
    Ok(command)
}

/// Runs steps, as many at a time as their lanes are wide.
fn run_all(
    workspace: &Workspace,
    wish: &TestWish,
    mut waiting: Vec<&'static Step>,
) -> Result<Vec<StepTime>> {
    let start = Instant::now();
    let all: BTreeSet<&str> = waiting.iter().map(|step| step.name).collect();
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    let (mut running, mut times): (Vec<RunningStep>, _) = (Vec::new(), Vec::new());
    let mut failed = Vec::new();
    while !running.is_empty() || (failed.is_empty() && !waiting.is_empty()) {
        while failed.is_empty() {
            let is_free = |lane: StepLane| {
                running.iter().filter(|it| it.step.lane == lane).count() < lane.width()
            };
            let is_ready = |step: &&Step| {
                step.needs.iter().all(|it| passed.contains(it) || !all.contains(it))
            };
            let next = waiting.iter().position(|it| is_free(it.lane) && is_ready(it));
            let Some(next) = next else { break };
            running.push(begin(workspace, wish, waiting.remove(next))?);
        }
        ensure!(!running.is_empty(), "these steps wait for each other: {:?}", names(&waiting));
        let (index, is_right) = first_end(&mut running)?;
        let RunningStep { step, start: begun, .. } = running.remove(index);
        let at = start.elapsed().as_secs();
        if is_right {
            passed.insert(step.name);
            times.push(time(workspace, step, begun)?);
            println!("[{at:4} s] {}", times[times.len() - 1]);
        } else {
            failed.push(step.name);
            println!("[{at:4} s] {:9} FAILED", step.name);
        }
    }
    for name in &failed {
        println!("── {name}: {}", log(workspace, name).display());
        println!("{}", fs::read_to_string(log(workspace, name))?);
    }
    if failed.is_empty() { Ok(times) } else { bail!("failed: {}", failed.join(", ")) }
}

fn names(steps: &[&'static Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name).collect()
}

fn log(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.steps().join(format!("{name}.log"))
}

fn begin(workspace: &Workspace, wish: &TestWish, step: &'static Step) -> Result<RunningStep> {
    let path = log(workspace, step.name);
    let out =
        File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = command(workspace, wish, step)?;
    command.stdout(out.try_clone()?).stderr(out);
    let child = command.spawn().context("cannot start a step")?;
    Ok(RunningStep { step, child, start: Instant::now() })
}

/// Waits until one of them has ended; returns it, and whether it passed.
fn first_end(running: &mut [RunningStep]) -> Result<(usize, bool)> {
    loop {
        for (index, it) in running.iter_mut().enumerate() {
            if let Some(status) = it.child.try_wait()? {
                return Ok((index, status.success()));
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_needs_steps_that_come_before_it() {
        for (index, step) in actions::STEPS.iter().enumerate() {
            let before: Vec<_> = actions::STEPS[..index].iter().map(|it| it.name).collect();
            assert!(step.needs.iter().all(|it| before.contains(it)), "{}", step.name);
        }
    }
}
