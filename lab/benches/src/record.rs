//! The folder that a run writes: README.md, raw.csv, summary.md.

mod readme;
mod summary;

use crate::args::{Args, CommandPlace};
use crate::bench::Bench;
use crate::case::Ran;
use crate::load::CpuTicks;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::{Path, PathBuf, absolute};
use std::{env, fs};
use swath_os::hidden::Hidden;
use swath_study::facts::Facts;

/// A record that grows with every case.
pub(crate) struct Folder {
    path: PathBuf,
    head: String,
    seed: u64,
    outcomes: Vec<(String, Outcome)>,
}

/// All rounds of a case, or the reason why it did not run.
type Outcome = Result<Ran, String>;

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

    /// Makes the folder for whole commands; their inputs are made in a new one, which is the current one
    /// from now on.
    pub(crate) fn of_commands(place: &CommandPlace, title: &str) -> Result<(Self, Hidden)> {
        let folder = Self::named(absolute(&place.out)?, format!("# {title}\n\n"), 1)?;
        let data = Hidden::make(&absolute(&place.data)?, ".swath-commands")?;
        env::set_current_dir(data.path())?;
        Ok((folder, data))
    }

    /// Runs a case and rewrites the tables, so that no case is lost, also if one fails. Returns its rounds.
    pub(crate) fn run(
        &mut self,
        id: &str,
        case: impl FnOnce() -> Result<Ran>,
    ) -> Result<Option<&Ran>> {
        let before = CpuTicks::now();
        let outcome = case().map_err(|error| format!("{error:#}"));
        let load = CpuTicks::now().zip(before).map(|(now, before)| now.since(&before));
        let outcome = outcome.map(|ran| Ran { load, ..ran });
        if let Err(error) = &outcome {
            eprintln!("{id} failed: {error}");
        }
        self.outcomes.push((id.to_owned(), outcome));
        self.write("raw.csv", &raw(&self.outcomes)?)?;
        let tables = summary::text(&self.outcomes, self.seed)?;
        self.write("summary.md", &format!("{}{tables}", self.head))?;
        Ok(self.outcomes.last().and_then(|(_, outcome)| outcome.as_ref().ok()))
    }

    /// Says where it is; fails if a case has failed.
    pub(crate) fn end(self) -> Result<()> {
        println!("{}", self.path.display());
        let failed = self.outcomes.iter().filter(|(_, outcome)| outcome.is_err());
        let failed: Vec<&str> = failed.map(|(id, _)| &**id).collect();
        ensure!(failed.is_empty(), "these cases failed: {}", failed.join("; "));
        Ok(())
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
        let Ok(Ran { runs, checksums, .. }) = outcome else { continue };
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
