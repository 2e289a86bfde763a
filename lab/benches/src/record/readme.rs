//! The subject, machine and method of a measurement: the part of a record without results.

use crate::bench::Bench;
use std::cell::RefCell;
use std::env;
use std::process::Command;
use std::rc::Rc;
use swath_study::facts::Facts;
use swath_study::peers::{Python, Ripgrep};

/// Returns the record's README.md.
pub(super) fn text(bench: &Bench, facts: &Facts) -> String {
    let title = if bench.quick { "A smoke test: measures nothing" } else { "Measurements" };
    format!(
        "# {title}\n\n{}\n## How it was measured\n\n{}\n## How to read it\n\n{HOW_TO_READ}",
        machine(bench, facts),
        method(bench)
    )
}

fn machine(bench: &Bench, facts: &Facts) -> String {
    let version = |python: &Rc<RefCell<Python>>| python.borrow().version().to_owned();
    let python = bench.python.as_ref().map_or_else(ToString::to_string, version);
    let version = |ripgrep: &Rc<Ripgrep>| ripgrep.version().to_owned();
    let ripgrep = bench.ripgrep.as_ref().map_or_else(ToString::to_string, version);
    let rows = [
        ("Commit", commit()),
        ("Command", command()),
        ("CPU", format!("{}, {} cores", facts.cpu, facts.cores)),
        ("Memory", format!("{:.1} GiB", facts.memory_bytes as f64 / f64::from(1 << 30))),
        ("Kernel", facts.kernel.clone()),
        ("Transparent huge pages", facts.huge_pages.clone()),
        ("File system", facts.file_system.clone()),
        ("Device", facts.device.clone()),
        ("Python", python),
        ("ripgrep", ripgrep),
        ("Compressors", compressors()),
    ];
    let lines = rows.map(|(name, value)| format!("| {name} | {} |\n", value.replace('|', "/")));
    format!("| What | Value |\n| --- | --- |\n{}", lines.concat())
}

/// Returns the versions of the installed compressors.
fn compressors() -> String {
    let version = |program: &&str| {
        // pbzip2 and lbzip2 print the version on standard error.
        let line = format!("{program} -V 2>&1 < /dev/null | head -n 1");
        output_of("sh", &["-c", &line]).filter(|line| !line.contains("not found"))
    };
    let found: Vec<String> =
        ["zstd", "pzstd", "pigz", "pbzip2", "lbzip2"].iter().filter_map(version).collect();
    if found.is_empty() { "none".to_owned() } else { found.join("; ") }
}

/// Returns the trimmed output of a program that succeeds.
pub(super) fn output_of(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Returns the commit, and whether the build differs from it.
fn commit() -> String {
    let Some(head) = output_of("git", &["rev-parse", "HEAD"]) else {
        return "none".to_owned();
    };
    // The record that is being written is no difference.
    let words = ["status", "--porcelain", "--", ".", ":!lab/record"];
    match output_of("git", &words) {
        Some(changes) if changes.is_empty() => head,
        Some(_) => format!("{head}, with uncommitted changes"),
        None => format!("{head}, perhaps with changes"),
    }
}

/// Returns the command that repeats this run.
fn command() -> String {
    let words: Vec<String> = env::args().skip(1).collect();
    format!("`cargo xtask record {}`", words.join(" ")).replace(" `", "`")
}

fn method(bench: &Bench) -> String {
    let rounds = bench.rounds;
    format!(
        "- Every case: one round that does not count, then {} rounds, the order of the \
         contestants shuffled anew in each (seed {}).\n\
         - Warm: the file is read once, then residency is checked. Cold: `{}`, then residency \
         is checked; on a virtual machine the host may still have the file in its memory.\n\
         - Before a contestant that takes fresh memory, as much memory is mapped, populated \
         and given back, so that it is not the first to get it from the host. What is reused \
         is overwritten before each run. Neither is timed.\n\
         - Small files are read 1,000 times in one timed run.\n\
         - Searches in items in order are reported as seconds of a million, so as µs of one; \
         slow structures do fewer, and their time is scaled. All structures but those made at \
         once have grown by insertions at random places.\n\
         - What is compressed: numbers in text, then the files of /usr/share and /usr/lib in the \
         order of their names, a third each; every contestant is a process of its own, timed from \
         its start to its end, and its output is decompressed and summed. Nothing is synced.\n\
         - Many files: who keeps their bytes is checked by the sum of all of them, who does not by \
         two bytes of each. The floor of cold files are as many random O_DIRECT reads of one large \
         file, each as long as a file on the device. Calls are counted by strace -f -c in a process \
         of its own, from its start to its end, and its seconds are those below strace.\n\
         - Python loads in a process that stays alive and times the load itself; ripgrep is \
         timed from its start to its end.\n\
         - Bytes and checksum of every run were compared with what the file was made of; a \
         difference ends the case.\n",
        rounds.count,
        rounds.seed,
        bench.stage.cold_by.describe()
    )
}

const HOW_TO_READ: &str = "\
`summary.md` begins with every goal and what was reached; after it, every case with all its
contestants. `raw.csv` has every run.

A ratio is the median over the rounds of the ratio within a round. The interval after it is a
95 % bootstrap interval over rounds. A goal is *met* if the whole interval keeps to it, *missed*
if no part does, else *undecided*. Where a goal names several rivals, the one with the lowest
median counts. The control does the same fixed work in every case; where its quartiles lie more
than 15 % of its median apart, the machine is called noisy and the verdicts of that case mean
little. *Open* goals lack a contestant, which is listed as absent.
";
