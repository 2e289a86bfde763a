//! A process of its own that uses one file and says how much memory that took: how it is started, and
//! what it says. What it does is in [`consumer`](crate::consumer).
//!
//! The peak of resident memory belongs to a whole process, and this one's is full of other
//! things. So it starts itself once more, with a hidden word, for nothing else.

use crate::args::Consumer;
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use std::path::Path;
use std::process::{Command, Stdio};
use swath_study::harness::{Timing, Work};

/// Starts this program once more to use the file at `path`.
pub(crate) fn start(what: Consumer, path: &Path, workers: usize) -> Result<Work> {
    let word = what.to_possible_value().context("every consumer has a word")?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new(program)
        .args(["measure-memory", word.get_name()])
        .arg(path)
        .arg(workers.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start this program once more")?;
    ensure!(output.status.success(), "the process that measures ended with {}", output.status);
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads what it prints.
fn parse(text: &str) -> Result<Work> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[bytes, checksum, peak, seconds, cpu_seconds] = words.as_slice() else {
        anyhow::bail!("cannot understand {text:?}");
    };
    let timing = Timing { seconds: seconds.parse()?, cpu_seconds: cpu_seconds.parse()? };
    let work = Work::new(bytes.parse()?, checksum.parse()?).with_timing(timing);
    Ok(Work { peak_bytes: Some(peak.parse()?), ..work })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_prints_is_understood() {
        let work = parse("10 20 4096 0.5 0.25\n").expect("five numbers");
        assert_eq!((work.bytes, work.checksum, work.peak_bytes), (10, 20, Some(4096)));
        assert_eq!((work.seconds, work.cpu_seconds), (Some(0.5), Some(0.25)));
        assert!(parse("10 20").is_err());
    }
}
