//! The folder that a run writes: README.md, raw.csv, summary.md.

mod readme;
mod summary;

use crate::args::Args;
use crate::bench::Bench;
use crate::case::{Outcome, Ran};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use swath_study::facts::Facts;

/// A record that grows with every case.
pub(crate) struct Folder {
    path: PathBuf,
    head: String,
    seed: u64,
    outcomes: Vec<(String, Outcome)>,
}

impl Folder {
    /// Makes the folder and describes machine, inputs and method in its README.md.
    pub(crate) fn create(args: &Args, bench: &Bench) -> Result<Self> {
        let facts = Facts::collect(&args.data);
        let path = args.out.clone().unwrap_or_else(|| default_path(args, &facts));
        let title = if args.quick { "A smoke test: measures nothing" } else { "Summary" };
        let folder = Self::named(path, format!("# {title}\n\n"), args.seed)?;
        folder.write("README.md", &readme::text(bench, &facts))?;
        Ok(folder)
    }

    /// Makes the folder; its summary begins with `head`.
    pub(crate) fn named(path: PathBuf, head: String, seed: u64) -> Result<Self> {
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self { path, head, seed, outcomes: Vec::new() })
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a case and rewrites the tables.
    pub(crate) fn add(&mut self, id: String, outcome: Outcome) -> Result<()> {
        self.outcomes.push((id, outcome));
        self.write("raw.csv", &raw(&self.outcomes)?)?;
        let tables = summary::text(&self.outcomes, self.seed)?;
        self.write("summary.md", &format!("{}{tables}", self.head))
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Returns `lab/record/DATE-MACHINE`, or another folder for a smoke test.
fn default_path(args: &Args, facts: &Facts) -> PathBuf {
    if args.quick {
        return PathBuf::from("target/bench-quick");
    }
    let date =
        readme::output_of("date", &["-u", "+%F"]).unwrap_or_else(|| "undated".to_owned());
    let machine = args.machine.clone().unwrap_or_else(|| {
        let device = facts.device.split_whitespace().next().unwrap_or("unknown");
        format!("{}core-{device}", facts.cores)
    });
    Path::new("lab/record").join(format!("{date}-{machine}"))
}

/// Every run of every case, one a line. Names may hold a comma, but no double quote.
fn raw(outcomes: &[(String, Outcome)]) -> Result<String> {
    let mut text =
        "case,round,order,contestant,bytes,seconds,cpu_seconds,peak_bytes,checksum,left_bytes,calls_per_file\n"
            .to_owned();
    for (id, outcome) in outcomes {
        let Outcome::Ran(Ran { runs, checksums, .. }) = outcome else { continue };
        let case = if id.contains(',') { format!("\"{id}\"") } else { id.clone() };
        for run in runs {
            let metric = |name: &str| or_empty(run.metrics.get(name).copied());
            writeln!(
                text,
                "{case},{},{},\"{}\",{},{},{},{},{},{},{}",
                run.round,
                run.order,
                run.series,
                run.bytes,
                run.seconds,
                metric("cpu_seconds"),
                metric("peak_bytes"),
                or_empty(checksums.get(&run.series)),
                metric("left_bytes"),
                metric("calls_per_file")
            )?;
        }
    }
    Ok(text)
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
