//! Starts this program again for one task, to measure the peak memory, the time or the calls of that
//! task alone.
//!
//! The peak memory of a child begins with the memory of its parent, and this process is large: a small
//! process starts foreign programs.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use swath_os::usage::{Usage, usage_of_children};
use swath_study::measure::{Meter, Outcome};

/// A child's report about its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) bytes: u64,
    pub(crate) checksum: u64,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) peak_bytes: Option<u64>,
}

impl Told {
    /// Adds the CPU time of `used`, and the peak memory.
    pub(crate) fn with_usage(self, used: &Usage, peak_bytes: u64) -> Self {
        let cpu_seconds = Some((used.user + used.system).as_secs_f64());
        Self { cpu_seconds, peak_bytes: Some(peak_bytes), ..self }
    }

    /// Sets the report as the measurement of the run, and returns the outcome.
    pub(crate) fn tell(self, meter: &mut Meter) -> Outcome {
        meter.took(self.seconds);
        let peak = self.peak_bytes.map(|bytes| bytes as f64);
        for (name, value) in [("cpu_seconds", self.cpu_seconds), ("peak_bytes", peak)] {
            if let Some(value) = value {
                meter.note(name, value);
            }
        }
        Outcome { bytes: self.bytes, checksum: self.checksum }
    }

    /// Prints the report for the parent.
    pub(crate) fn print(self) -> Result<()> {
        println!("{}", serde_json::to_string(&self)?);
        Ok(())
    }
}

/// Runs this program with the hidden arguments `words`, by the command `by` if it is not empty.
pub(crate) fn start<W: AsRef<OsStr>>(by: &[&OsStr], words: &[W]) -> Result<Told> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut all = by.iter().copied().chain([program.as_os_str()]);
    let mut command = Command::new(all.next().context("there is a program")?);
    command.args(all).args(words).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().context("cannot start this program once more")?;
    ensure!(output.status.success(), "the process that measures ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).with_context(|| format!("cannot understand {text:?}"))
}

/// Runs a program with its standard output in the file `output`; bytes and checksum are 0.
pub(crate) fn run<W: AsRef<OsStr>>(output: &Path, words: &[W]) -> Result<Told> {
    let mut all: Vec<&OsStr> = vec!["measure-program".as_ref(), output.as_ref()];
    all.extend(words.iter().map(AsRef::as_ref));
    start(&[], &all)
}

/// Checks that `program` can be started; returns the reason if not.
pub(crate) fn find(program: &str) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop).map_err(|error| error.to_string())
}

/// Runs the program and prints its peak memory and its times.
pub(crate) fn measure(output: &Path, words: &[OsString]) -> Result<()> {
    let (program, words) = words.split_first().context("no program")?;
    let output = File::options().write(true).create(true).truncate(true).open(output)?;
    let start = Instant::now();
    let status = Command::new(program).args(words).stdout(output).status();
    let seconds = start.elapsed().as_secs_f64();
    let status = status.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(status.success(), "{} ended with {status}", program.display());
    let used = usage_of_children()?;
    Told { seconds, ..Told::default() }.with_usage(&used, used.peak_rss).print()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_absent() {
        assert!(find("/nonexistent/program").is_err());
        assert_eq!(find("true"), Ok(()));
    }

    #[test]
    fn what_the_child_prints_is_understood() {
        let told = Told { bytes: 10, checksum: 20, seconds: 0.5, ..Told::default() };
        let told = Told { cpu_seconds: Some(0.25), peak_bytes: Some(4096), ..told };
        let text = serde_json::to_string(&told).expect("text");
        assert_eq!(serde_json::from_str::<Told>(&text).expect("five numbers"), told);
        assert!(serde_json::from_str::<Told>("{\"bytes\": 10}").is_err());
        let mut meter = Meter::default();
        assert_eq!(told.tell(&mut meter), Outcome { bytes: 10, checksum: 20 });
        assert_eq!((meter.seconds(), meter.metrics()["peak_bytes"]), (0.5, 4096.0));
    }
}
