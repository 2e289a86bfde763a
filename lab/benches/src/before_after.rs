//! Compares the times of two builds of the command: did a change make anything slower?
//!
//! Each case is one whole command. In each round both builds run it, and the first build runs it a
//! second time to measure the noise. A case is slower if the interval of its time ratio lies above 1.02
//! and above the interval of the noise. The second build makes the inputs (3.5 GB); they are removed.
//!
//! Each of the three entrants runs a new copy of its program. The placement of a program's pages in
//! memory is worth up to 3 % of a short command, and a file that runs twice a round stays warmer than
//! one that runs once: the same build was 2 % slower as the second entrant than as the first.

use crate::args::BeforeAfter;
use crate::bench;
use crate::case::{Ran, measured};
use crate::child::{self, Told};
use crate::record::Folder;
use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use swath_profile::stats::Verdict;
use swath_study::measure::{Entrant, Entrants, Goal, Reached};

/// Names and arguments. Paths are relative to the working directory; each run starts without `out*`.
const CASES: [(&str, &str); 21] = [
    ("read 2 GiB, warm", "read bytes"),
    ("read 2 GiB, past the page cache", "read --page-cache bypass bytes"),
    ("sum 2 GiB, warm", "sum bytes"),
    ("scan 2 GiB, warm", "scan bytes"),
    ("sum --hash xxh3 2 GiB, warm", "sum --hash xxh3 bytes"),
    ("cat 2 GiB, warm", "cat bytes"),
    ("100 classes of 2 GiB, warm", "read bytes --classes 100 --chunks 2000"),
    ("read 8 KiB", "read small"),
    ("cp 8 KiB", "cp --durability none small out"),
    ("cp 512 MiB", "cp --durability none --reflink never letters out"),
    ("compress, zstd", "compress --durability none letters out"),
    ("compress, gzip", "compress --durability none --format gzip letters out"),
    ("decompress, zstd", "decompress --durability none letters.zst out"),
    ("decompress, bzip2", "decompress --durability none few.bz2 out"),
    ("CSV to .npy", "convert --durability none table.csv out.npy"),
    ("CSV to Arrow", "convert --durability none table.csv out.arrow"),
    ("Matrix Market to .npz", "convert --durability none graph.mtx out.npz"),
    ("Matrix Market to edges", "convert --durability none graph.mtx out.el"),
    ("price", "price options -o out"),
    ("ingest 20,000 files", "ingest tree"),
    ("ingest 20,000 files, xxh3", "ingest --hash xxh3 tree"),
];

/// The commands that make the inputs.
const MADE: [&str; 10] = [
    "gen bytes 2GiB -o bytes",
    "gen bytes 8KiB -o small",
    "gen letters 512MiB -o letters",
    "gen csv 256MiB -o table.csv",
    "gen mtx --scale 20 -o graph.mtx",
    "gen options 1000000 -o options",
    "gen tree --files 20000 --size 10kB -o tree",
    "compress letters letters.zst",
    "gen letters 64MiB -o few",
    "compress --format bzip2 few few.bz2",
];

const BEFORE: &str = "before";
const AFTER: &str = "after";
const AGAIN: &str = "before, again";

/// A build of the command.
struct Build {
    program: PathBuf,
    /// Whether it takes `--sync` in place of `--durability`.
    is_old: bool,
}

impl Build {
    fn of(program: &Path) -> Result<Self> {
        let program = absolute(program)?;
        let help = Command::new(&program).args(["cp", "--help"]).output();
        let help = help.with_context(|| format!("cannot start {}", program.display()))?.stdout;
        let is_old = !String::from_utf8_lossy(&help).contains("--durability");
        Ok(Self { program, is_old })
    }

    /// Runs one command, which must succeed.
    fn run(&self, line: &str) -> Result<Told> {
        let new = |word| if self.is_old && word == "--durability" { "--sync" } else { word };
        let mut words = vec![self.program.as_os_str()];
        words.extend(line.split(' ').map(|word| OsStr::new(new(word))));
        child::run(Path::new("/dev/null"), &words).with_context(|| line.to_owned())
    }

    /// Copies the build to a new file in the current folder.
    fn copied(&self, name: &str) -> Result<Self> {
        let program = absolute(format!("program-{}", name.replace(", ", "-")))?;
        _ = fs::remove_file(&program);
        fs::copy(&self.program, &program)
            .with_context(|| format!("cannot copy {}", self.program.display()))?;
        Ok(Self { program, is_old: self.is_old })
    }

    fn entrant(self, name: &str, line: &'static str) -> Entrant {
        let work = move |meter: &mut _| Ok(self.run(line)?.tell(meter));
        Entrant::new(name, swath_study::measure::Outcome::default(), work).with_before(clear)
    }
}

/// Removes the output of the previous run.
fn clear() -> Result<()> {
    for entry in fs::read_dir(".")? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("out")) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Writes a record; fails if a case is slower.
pub(crate) fn record(wish: &BeforeAfter) -> Result<()> {
    let (before, after) = (Build::of(&wish.before)?, Build::of(&wish.after)?);
    let rounds = bench::rounds(wish.place.rounds, 1);
    let (mut folder, _data) = Folder::of_commands(&wish.place, "Before and after")?;
    MADE.iter().try_for_each(|line| after.run(line).map(drop))?;
    let mut slower = Vec::new();
    for (name, line) in CASES.into_iter().filter(|(name, _)| wish.place.wants(name)) {
        let here = [(BEFORE, &before), (AFTER, &after), (AGAIN, &before)]
            .into_iter()
            .map(|(series, build)| Ok(build.copied(series)?.entrant(series, line)))
            .collect::<Result<Vec<_>>>()?;
        let goals = [AFTER, AGAIN].map(|series| Goal::time(series, 1.02, &[BEFORE]));
        let ran = folder.run(name, || measured(Entrants::new(here, goals), rounds))?;
        if ran.is_some_and(is_slower) {
            slower.push(name);
        }
    }
    folder.end()?;
    ensure!(slower.is_empty(), "slower: {}", slower.join("; "));
    Ok(())
}

fn is_slower(ran: &Ran) -> bool {
    let [(_, Reached::Measured { interval: own, verdict, .. }), (_, again)] = &ran.goals[..]
    else {
        return false;
    };
    let Reached::Measured { interval: noise, .. } = again else { return false };
    *verdict == Verdict::Missed && own.lower > noise.upper
}
