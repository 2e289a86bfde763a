//! The record of `torture`: `xtask/torture.json`, which is committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::install_c;
use crate::process;
use crate::skips::{Absence, Skip};
use crate::workspace::Workspace;

const RECORD: &str = "xtask/torture.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttackOutcome {
    Passed,
    Failed,
    /// The machine lacks what the attack needs.
    Skipped,
}

impl fmt::Display for AttackOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AttackOutcome::Passed => "passed",
            AttackOutcome::Failed => "failed",
            AttackOutcome::Skipped => "skipped",
        })
    }
}

/// The result of one attack.
#[derive(Debug, PartialEq)]
pub(super) struct AttackResult {
    pub(super) name: &'static str,
    pub(super) seed: u64,
    pub(super) cases: u64,
    pub(super) seconds: f64,
    pub(super) outcome: AttackOutcome,
}

/// The attacks that ran, the machine, and the capabilities that whole runs have had.
pub(super) struct TortureRecord {
    commit: String,
    version: String,
    machine: String,
    results: Vec<AttackResult>,
    minutes: f64,
    /// Capability → the version of Swath with which a whole run had it.
    seen: BTreeMap<String, String>,
}

impl TortureRecord {
    /// Returns a record of this run; capabilities of earlier runs come from the last record.
    pub(super) fn of(
        workspace: &Workspace,
        results: Vec<AttackResult>,
        took: Duration,
    ) -> Result<TortureRecord> {
        let mut commit = workspace.commit().unwrap_or_else(|| String::from("without git"));
        if is_changed(workspace, "HEAD") {
            commit.push_str(" with changes");
        }
        let last = read(workspace).unwrap_or_default();
        let seen = last["seen"].as_object().into_iter().flatten();
        let seen =
            seen.filter_map(|(name, version)| Some((name.clone(), version.as_str()?.into())));
        Ok(TortureRecord {
            commit,
            version: install_c::version(workspace)?,
            machine: machine(),
            results,
            minutes: took.as_secs_f64() / 60.0,
            seen: seen.collect(),
        })
    }

    pub(super) fn failed(&self) -> Vec<String> {
        let failed = self.results.iter().filter(|it| it.outcome == AttackOutcome::Failed);
        failed.map(|it| format!("{} (seed {})", it.name, it.seed)).collect()
    }

    /// Notes the capabilities of this run; returns those that no run of this version has had,
    /// and how to get them.
    pub(super) fn see(&mut self, all: &[Absence], skips: &BTreeSet<Skip>) -> Vec<String> {
        for Absence { capability, .. } in all {
            if skips.iter().all(|skip| skip.capability != *capability) {
                self.seen.insert(capability.clone(), self.version.clone());
            }
        }
        let unseen =
            all.iter().filter(|it| self.seen.get(&it.capability) != Some(&self.version));
        unseen.map(|it| format!("{}: {}", it.capability, it.how_to_get)).collect()
    }

    pub(super) fn write(&self, workspace: &Workspace) -> Result<()> {
        let attacks: Vec<Value> = self
            .results
            .iter()
            .map(|it| {
                json!({ "name": it.name, "seed": it.seed, "cases": it.cases,
                        "seconds": it.seconds.round(), "outcome": it.outcome.to_string() })
            })
            .collect();
        let ended = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let value = json!({
            "commit": self.commit, "version": self.version, "machine": self.machine,
            "ended_at_unix_s": ended, "minutes": self.minutes.round(),
            "attacks": attacks, "seen": self.seen,
        });
        let text = serde_json::to_string_pretty(&value)? + "\n";
        let path = workspace.root().join(RECORD);
        std::fs::write(&path, text).with_context(|| format!("cannot write {RECORD}"))?;
        println!("written: {RECORD}");
        Ok(())
    }
}

impl fmt::Display for TortureRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "commit {}, {:.0} minutes", self.commit, self.minutes)?;
        writeln!(f, "attack       seed              cases   seconds")?;
        for AttackResult { name, seed, cases, seconds, outcome } in &self.results {
            writeln!(f, "{name:12} {seed:12} {cases:10} {seconds:9.0} {outcome}")?;
        }
        let cases: u64 = self.results.iter().map(|it| it.cases).sum();
        write!(f, "{cases} cases, {} failures", self.failed().len())
    }
}

/// Adds up the lines that batteries left.
pub(super) fn cases_of(lines: &str) -> Result<u64> {
    let counts = lines.lines().map(|line| {
        let count = line.split_whitespace().nth(2).and_then(|it| it.parse::<u64>().ok());
        count.with_context(|| format!("a battery left `{line}`"))
    });
    counts.sum()
}

/// Prints the age of the record, and its gaps.
pub(crate) fn print_age(workspace: &Workspace) {
    let Some(last) = read(workspace) else {
        println!("torture: there is no record; `cargo xtask torture` writes {RECORD}");
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    let days = now.saturating_sub(last["ended_at_unix_s"].as_u64().unwrap_or(0)) / 86_400;
    let commit = last["commit"].as_str().unwrap_or_default();
    println!("torture: {} minutes, {days} days ago, at {commit}", last["minutes"]);
    for attack in super::ATTACKS {
        let mut of_name = last["attacks"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|it| it["name"] == attack.name);
        if !of_name.any(|it| it["outcome"] == "passed") {
            println!("  it lacks {}", attack.name);
        }
    }
}

/// Fails unless the record is of this commit and has passed.
pub(crate) fn ensure_current(workspace: &Workspace) -> Result<()> {
    let record = read(workspace).with_context(|| format!("there is no {RECORD}"))?;
    let commit = record["commit"].as_str().unwrap_or_default();
    ensure!(
        !is_changed(workspace, commit),
        "{RECORD} is of {commit}; try: run `cargo xtask torture` and commit it"
    );
    let attacks = record["attacks"].as_array().map_or(&[][..], Vec::as_slice);
    for attack in super::ATTACKS {
        let mut of_name = attacks.iter().filter(|it| it["name"] == attack.name).peekable();
        let is_right = of_name.peek().is_some() && of_name.all(|it| it["outcome"] == "passed");
        ensure!(is_right, "{RECORD}: {} did not pass", attack.name);
    }
    Ok(())
}

/// Returns whether the tree differs from `commit` in more than the record.
fn is_changed(workspace: &Workspace, commit: &str) -> bool {
    let mut git = Command::new("git");
    git.args(["diff", "--quiet", commit, "--", ".", ":!xtask/torture.json"]);
    process::run_quietly(git.current_dir(workspace.root())).is_err()
}

fn read(workspace: &Workspace) -> Option<Value> {
    serde_json::from_str(&workspace.read(RECORD).ok()?).ok()
}

/// Returns the processor, cores and kernel.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let processor = processor.lines().find_map(|it| it.strip_prefix("model name"));
    let processor = processor.map_or("unknown", |it| it.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{processor}, {cores} cores, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_batteries_are_added_up_and_others_are_errors() {
        assert_eq!(
            cases_of("trees 7 100 2.5 passed\nkills 7 20 1.0 passed\n").expect("lines"),
            120
        );
        assert_eq!(cases_of("").expect("no lines"), 0);
        assert!(cases_of("trees 7\n").is_err());
    }

    #[test]
    fn what_was_never_seen_is_named_with_how_to_get_it() {
        let absence = |name: &str| Absence {
            capability: name.to_owned(),
            how_to_get: format!("apt install {name}"),
        };
        let mut record = TortureRecord {
            commit: String::new(),
            version: "2".into(),
            machine: String::new(),
            results: Vec::new(),
            minutes: 0.0,
            seen: BTreeMap::from([("old".into(), "1".into()), ("now".into(), "2".into())]),
        };
        let all = ["old", "now", "here"].map(absence);
        let skip = |name: &str| Skip { capability: name.into(), reason: String::new() };
        let skips = BTreeSet::from([skip("old"), skip("now")]);
        assert_eq!(record.see(&all, &skips), ["old: apt install old"]);
        assert_eq!(record.seen["here"], "2");
    }
}
