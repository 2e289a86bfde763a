//! The folder that a run leaves: README.md, raw.csv, summary.md.

mod readme;
mod summary;

use crate::args::Args;
use crate::bench::Bench;
use crate::case::Outcome;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use swath_study::facts::Facts;

/// A record that grows with every case.
pub(crate) struct Folder {
    path: PathBuf,
    seed: u64,
    quick: bool,
    outcomes: Vec<(String, Outcome)>,
}

impl Folder {
    /// Makes the folder and describes machine, inputs and method in its README.md.
    pub(crate) fn create(args: &Args, bench: &Bench) -> Result<Self> {
        let facts = Facts::collect(&args.data);
        let path = args.out.clone().unwrap_or_else(|| default_path(args, &facts));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let folder = Self { path, seed: args.seed, quick: args.quick, outcomes: Vec::new() };
        folder.write("README.md", &readme::text(bench, &facts))?;
        Ok(folder)
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a case and writes the tables anew.
    pub(crate) fn add(&mut self, id: String, outcome: Outcome) -> Result<()> {
        self.outcomes.push((id, outcome));
        self.write("raw.csv", &raw(&self.outcomes)?)?;
        let title = if self.quick { "A smoke test: measures nothing" } else { "Summary" };
        let tables = summary::text(&self.outcomes, self.seed)?;
        self.write("summary.md", &format!("# {title}\n\n{tables}"))
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Returns `benches/record/DATE-MACHINE`, or a folder of its own for what measures nothing.
fn default_path(args: &Args, facts: &Facts) -> PathBuf {
    if args.quick {
        return PathBuf::from("target/bench-quick");
    }
    let date = output_of("date", &["-u", "+%F"]).unwrap_or_else(|| "undated".to_owned());
    let machine = args.machine.clone().unwrap_or_else(|| {
        let device = facts.device.split_whitespace().next().unwrap_or("unknown");
        format!("{}core-{device}", facts.cores)
    });
    Path::new("benches/record").join(format!("{date}-{machine}"))
}

/// Returns the trimmed output of a program that succeeds.
fn output_of(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Every run of every case, one a line. Names may hold a comma, but no double quote.
fn raw(outcomes: &[(String, Outcome)]) -> Result<String> {
    let mut text =
        "case,round,order,contestant,bytes,seconds,cpu_seconds,peak_bytes,checksum,left_bytes,calls_per_file\n"
            .to_owned();
    for (id, outcome) in outcomes {
        let Outcome::Ran { record, .. } = outcome else { continue };
        for row in &record.rows {
            let work = row.work;
            writeln!(
                text,
                "{id},{},{},\"{}\",{},{},{},{},{},{},{}",
                row.round,
                row.order,
                row.contestant,
                work.bytes,
                or_empty(work.seconds),
                or_empty(work.cpu_seconds),
                or_empty(work.peak_bytes),
                work.checksum,
                or_empty(work.left_bytes),
                or_empty(work.calls_per_file)
            )?;
        }
    }
    Ok(text)
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
