//! `cargo xtask torture`: checks that take too long for a push, and the record of the run.
//!
//! ```text
//! each attack once, at full size → further seeds until --minutes have passed → a summary
//!   all of them?                 → xtask/torture.json: commit, cases, seeds, failures, minutes
//! ```
//!
//! An attack is a battery of tests, whose cases follow from seeds (`reference/src/battery.rs`), or a check that
//! is done once. A push runs a slice of each battery. The record is committed; `test` prints how old it is,
//! and `dist` makes no release without one of its own commit.

mod attacks;
mod fuse;
mod record;

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::builder::PossibleValuesParser;

use crate::nextest::{self, TestRun};
use crate::workspace::{SEED_VARIABLE, Workspace};
use crate::{build, prepare, python, skips};
use attacks::{ATTACKS, Attack, AttackKind};
use record::{AttackOutcome, AttackResult, TortureRecord};

pub(crate) use record::{ensure_current, print_age};

/// The distance between the seeds of one round and the next.
const ROUND: u64 = 1 << 32;

/// The words after `torture`.
#[derive(Debug, clap::Args)]
pub(crate) struct TortureWish {
    /// Go on with other seeds until this many have passed
    #[arg(long, value_name = "N", default_value_t = 0)]
    minutes: u64,
    /// Run this attack; may be repeated
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(ATTACKS.iter().map(|it| it.name)))]
    only: Vec<String>,
    /// Begin with this seed
    #[arg(long)]
    seed: Option<u64>,
}

impl TortureWish {
    fn includes(&self, attack: &Attack) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == attack.name)
    }
}

/// Runs the attacks that `wish` names, prints the results, and writes the record if all attacks
/// ran.
pub(crate) fn run(workspace: &Workspace, wish: &TortureWish) -> Result<()> {
    skips::start(workspace)?;
    fs::create_dir_all(workspace.steps())?;
    // Builds the programs of the attacks, as a push does.
    for make in [prepare::run_for_torture, build::all, python::install] {
        make(workspace)?;
    }
    let start = Instant::now();
    let first = wish.seed.unwrap_or(workspace.seed());
    let chosen: Vec<&Attack> = ATTACKS.iter().filter(|it| wish.includes(it)).collect();
    let mut results: Vec<AttackResult> = Vec::new();
    for attack in &chosen {
        results.push(one(workspace, attack, first, None)?);
    }
    let deadline = Duration::from_secs(60 * wish.minutes);
    let seeded: Vec<_> = chosen.iter().filter(|it| it.is_seeded()).collect();
    let mut round = 0;
    while start.elapsed() < deadline && !seeded.is_empty() {
        round += 1;
        for attack in &seeded {
            let left = deadline.saturating_sub(start.elapsed());
            if !left.is_zero() {
                let seed = first.wrapping_add(ROUND * round);
                results.push(one(workspace, attack, seed, Some(left))?);
            }
        }
    }
    let skips = skips::noted(workspace)?;
    let mut record = TortureRecord::of(workspace, results, start.elapsed())?;
    println!("{record}");
    for skip in &skips {
        println!("  skipped {skip}");
    }
    let failed = record.failed();
    if wish.only.is_empty() {
        let unseen = record.see(&skips::capabilities(workspace)?, &skips);
        record.write(workspace)?;
        ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
        ensure!(
            unseen.is_empty(),
            "skipped in every run since the last release:\n  {}\ntry: torture on a machine that has them",
            unseen.join("\n  ")
        );
    }
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

/// Runs one attack; a failure is part of the result.
fn one(
    workspace: &Workspace,
    attack: &Attack,
    seed: u64,
    left: Option<Duration>,
) -> Result<AttackResult> {
    println!("── {}, seed {seed}", attack.name);
    let (start, notes) = (Instant::now(), workspace.batteries());
    fs::write(&notes, "").with_context(|| format!("cannot write {}", notes.display()))?;
    let outcome = match attack.kind {
        AttackKind::Tests(_) | AttackKind::Lists(_) | AttackKind::Rest => {
            let filter = &attack.filter().expect("tests of Rust");
            let variables = variables(seed, left)?;
            nextest::run(workspace, &TestRun { filter, profile: "torture", variables })
                .map(|_| Some(0))
        }
        AttackKind::Python(marker) => {
            python::run_tests(workspace, &["-m", marker], variables(seed, left)?)
                .map(|_| Some(0))
        }
        AttackKind::PythonRest => {
            let words = ["-m", "not killed_workers and not killed_ranks"];
            python::run_tests(workspace, &words, variables(seed, left)?).map(Some)
        }
        AttackKind::Once(action) => action(&workspace.plain()),
    };
    if let Err(error) = &outcome {
        println!("{}: FAILED: {error:#}", attack.name);
    }
    let noted = record::cases_of(&fs::read_to_string(&notes)?)?;
    let (cases, outcome) = match outcome {
        Ok(None) => (0, AttackOutcome::Skipped),
        // A battery without a line tried nothing.
        Ok(Some(counted)) if counted + noted > 0 => (counted + noted, AttackOutcome::Passed),
        Ok(_) | Err(_) => (noted, AttackOutcome::Failed),
    };
    let seconds = start.elapsed().as_secs_f64();
    Ok(AttackResult { name: attack.name, seed, cases, seconds, outcome })
}

fn variables(seed: u64, left: Option<Duration>) -> Result<Vec<(&'static str, String)>> {
    let mut variables =
        vec![("SWATH_TORTURE", String::from("1")), (SEED_VARIABLE, seed.to_string())];
    if let Some(left) = left {
        let until = std::time::SystemTime::now() + left;
        let since = until.duration_since(std::time::UNIX_EPOCH)?;
        variables.push(("SWATH_UNTIL", since.as_secs().to_string()));
    }
    Ok(variables)
}
