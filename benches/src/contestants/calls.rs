//! System calls, counted by strace(1): this program starts itself once more below it.
//!
//! What io_uring does inside the kernel on request is no system call; entering it is one.

use crate::args::FilesReader;
use crate::bench::{Bench, Residency};
use crate::contestants::ingest;
use crate::trees::Files;
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use swath::ingest::OpenedBy;
use swath_study::harness::{Contestant, Work};
use swath_study::limits;
use swath_study::many::plain;
use swath_study::peers::Absent;

/// Reads files in a process of its own whose calls are counted; its time is that below strace.
pub(crate) fn counted<'b>(
    bench: &'b Bench,
    files: &'b Files,
    name: &str,
    reader: FilesReader,
    residency: Residency,
) -> Result<Contestant<'b>, Absent> {
    let mut strace = Command::new("strace");
    let strace = strace.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).status();
    strace.map_err(|error| Absent::new(name, format!("strace: {error}")))?;
    let trace = bench.output("trace");
    let run = move || {
        let work = traced(reader, &files.folder, &trace)?;
        let calls = total(&fs::read_to_string(&trace)?)?;
        fs::remove_file(&trace)?;
        let calls_per_file = calls as f64 / files.made.files as f64;
        Ok(Work { calls_per_file: Some(calls_per_file), ..work })
    };
    Ok(Contestant::new(name, files.kept(1), run)
        .with_before(move || files.prepare(bench, residency, 0)))
}

fn traced(reader: FilesReader, folder: &Path, trace: &Path) -> Result<Work> {
    let word = reader.to_possible_value().context("every reader has a word")?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(trace)
        .arg(program)
        .args(["read-files", word.get_name()])
        .arg(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start strace")?;
    ensure!(output.status.success(), "strace ended with {}", output.status);
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads what [`read_files`] prints.
fn parse(text: &str) -> Result<Work> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[bytes, sum, seconds] = words.as_slice() else {
        anyhow::bail!("cannot understand {text:?}");
    };
    Ok(Work { seconds: Some(seconds.parse()?), ..Work::new(bytes.parse()?, sum.parse()?) })
}

/// Adds up the calls in strace's table: `% time, seconds, usecs/call, calls, [errors,] syscall`.
fn total(table: &str) -> Result<u64> {
    let mut total = 0;
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // What it says of a thread that it let go begins with a number, too.
        let is_row = words.first().is_some_and(|word| word.parse::<f64>().is_ok())
            && !line.contains("<detached");
        if is_row && words.last() != Some(&"total") {
            let calls = words.get(3).with_context(|| format!("strace: {line:?}"))?;
            total += calls.parse::<u64>().with_context(|| format!("strace: {line:?}"))?;
        }
    }
    ensure!(total > 0, "strace counted nothing:\n{table}");
    Ok(total)
}

/// Reads all files below `folder` and prints bytes, their sum, and seconds.
pub(crate) fn read_files(reader: FilesReader, folder: &Path) -> Result<()> {
    let start = Instant::now();
    let (bytes, sum, seconds) = match reader {
        FilesReader::Ingest | FilesReader::IngestByRing => {
            let by = match reader {
                FilesReader::IngestByRing => OpenedBy::Ring,
                _ => OpenedBy::Auto,
            };
            let ingested = ingest::whole_folder(folder, by)?;
            let seconds = start.elapsed().as_secs_f64();
            let (bytes, sum) = ingest::sum(&ingested);
            (bytes, sum, seconds)
        }
        FilesReader::Std => {
            let files = plain::read_all(&below(folder)?, 2)?;
            let seconds = start.elapsed().as_secs_f64();
            let bytes = files.concat();
            (bytes.len() as u64, limits::memory_sum(&bytes, 1), seconds)
        }
    };
    println!("{bytes} {sum} {seconds}");
    Ok(())
}

/// The files in the folders of `folder`.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for inner in fs::read_dir(folder)? {
        for file in fs::read_dir(inner?.path())? {
            paths.push(file?.path());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_strace_is_added_up() {
        let table = "\
19665 ???( <detached ...>
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 60.00    0.006000           3      2000        12 openat
 40.00    0.004000           2      2000           read
------ ----------- ----------- --------- --------- ------------------
100.00    0.010000           2      4000        12 total
";
        assert_eq!(total(table).expect("a table"), 4000);
        assert!(total("").is_err() && total(" 1.00 2 3 x y\n").is_err());
    }

    #[test]
    fn what_the_child_prints_is_understood() {
        let work = parse("10 20 0.5\n").expect("three numbers");
        assert_eq!((work.bytes, work.checksum, work.seconds), (10, 20, Some(0.5)));
        assert!(parse("10 20").is_err());
    }
}
