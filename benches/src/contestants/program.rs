//! A program in a process of its own: how long it took, and how much memory.
//!
//! The peak of a child begins with what its parent has in memory, and this process is large. So it
//! starts itself once more, small, to start the program.

use anyhow::{Context, Result, ensure};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use swath_os::usage::usage_of_children;
use swath_study::harness::{Timing, Work};

/// Runs a program, its standard output into the file at `output`; bytes and checksum are 0.
pub(crate) fn run<W: AsRef<OsStr>>(output: &Path, words: &[W]) -> Result<Work> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let child = Command::new(program)
        .arg("measure-program")
        .arg(output)
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start this program once more")?;
    ensure!(child.status.success(), "the process that measures ended with {}", child.status);
    parse(&String::from_utf8_lossy(&child.stdout))
}

/// Whether there is such a program; else why not.
pub(crate) fn find(program: &str) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop).map_err(|error| error.to_string())
}

/// Reads what [`measure`] prints.
fn parse(text: &str) -> Result<Work> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[peak, seconds, cpu_seconds] = words.as_slice() else {
        anyhow::bail!("cannot understand {text:?}");
    };
    let timing = Timing { seconds: seconds.parse()?, cpu_seconds: cpu_seconds.parse()? };
    Ok(Work { peak_bytes: Some(peak.parse()?), ..Work::new(0, 0).with_timing(timing) })
}

/// Runs the program and prints its peak of memory and its times.
pub(crate) fn measure(output: &Path, words: &[OsString]) -> Result<()> {
    let (program, words) = words.split_first().context("no program")?;
    let output = File::options().write(true).create(true).truncate(true).open(output)?;
    let start = Instant::now();
    let status = Command::new(program).args(words).stdout(output).status();
    let seconds = start.elapsed().as_secs_f64();
    let status = status.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(status.success(), "{} ended with {status}", program.display());
    let used = usage_of_children()?;
    println!("{} {seconds} {}", used.peak_rss, (used.user + used.system).as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_prints_is_understood() {
        let work = parse("4096 0.5 0.25\n").expect("three numbers");
        assert_eq!((work.seconds, work.peak_bytes), (Some(0.5), Some(4096)));
        assert!(parse("4096").is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_absent() {
        assert!(find("/nonexistent/program").is_err());
        assert_eq!(find("true"), Ok(()));
    }
}
