//! The command line.

use clap::builder::RangedU64ValueParser;
use clap::{Args as Flags, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use swath_profile::stats::MIN_ROUNDS;

/// Measures Swath against the limits of this machine and the tools that people use today.
///
/// Writes a folder with README.md (what was measured, where, how), raw.csv (every run) and
/// summary.md (medians, ratios with intervals, goals and verdicts).
#[derive(Debug, Parser)]
#[command(name = "swath-benches")]
pub(crate) struct Args {
    /// Tiny files and two rounds: shows that everything runs, measures nothing.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only these cases or groups of cases, separated by commas: `warm`, `cold-2GiB`.
    #[arg(long, value_name = "CASE", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Timed rounds of every case, 7 or more. From 9 on, an interval that leaves out the
    /// fastest and the slowest round is still a 95 % interval.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = rounds())]
    pub(crate) rounds: usize,

    /// Decides the inputs, the orders and the resampling.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The folder to write [default: lab/record/DATE-MACHINE].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// The folder for the inputs, on the disk to measure: 4.2 GB for the time of the run.
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    pub(crate) data: PathBuf,

    /// The machine's name in the folder's name [default: made from cores and driver].
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,

    #[command(subcommand)]
    pub(crate) other: Option<Other>,
}

impl Args {
    /// Returns the number of timed rounds of each case.
    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 2 } else { self.rounds }
    }
}

fn rounds() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(MIN_ROUNDS as u64..)
}

/// Times two builds of the command beside each other; exit status 1 if the second is slower.
#[derive(Debug, Flags)]
pub(crate) struct BeforeAfter {
    /// The build to compare with.
    pub(crate) before: PathBuf,

    /// The build that may be slower.
    pub(crate) after: PathBuf,

    #[command(flatten)]
    pub(crate) place: CommandPlace,
}

/// Where whole commands are timed, and which.
#[derive(Debug, Flags)]
pub(crate) struct CommandPlace {
    /// A folder on the disk to measure; inputs of 3.5 GB, of 15 GB beside others, are made in it and removed.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// The folder to write: raw.csv and summary.md.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Timed rounds of every case.
    #[arg(long, value_name = "N", default_value_t = 9)]
    pub(crate) rounds: usize,

    /// Only cases whose name has this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl CommandPlace {
    /// Returns whether `--only` selects the case `name`.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(&**text))
    }
}

/// Times whole commands beside those that people use today.
#[derive(Debug, Flags)]
pub(crate) struct Beside {
    /// The build of the command.
    pub(crate) program: PathBuf,

    #[command(flatten)]
    pub(crate) place: CommandPlace,

    /// Tiny files and two rounds: shows that everything runs, measures nothing.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// Other things to do; this program starts itself for all but the first two.
#[derive(Debug, Subcommand)]
pub(crate) enum Other {
    BeforeAfter(BeforeAfter),
    Beside(Beside),
    /// Takes turns with a Python program, which names the entrants on standard input.
    #[command(hide = true)]
    Python {
        /// The folder to write.
        out: PathBuf,
        /// Timed rounds.
        rounds: usize,
    },
    /// Runs a program and prints its peak of memory and its times.
    #[command(hide = true)]
    MeasureProgram {
        /// Where its standard output goes.
        output: PathBuf,
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Compresses a file.
    #[command(hide = true)]
    Compress {
        /// The format.
        format: String,
        /// The file.
        path: PathBuf,
        /// The output file.
        output: PathBuf,
        /// The number of workers.
        workers: usize,
    },
    /// Reads all files of a folder.
    #[command(hide = true)]
    ReadFiles {
        /// The reader.
        reader: FilesReader,
        /// The folder.
        folder: PathBuf,
    },
    /// Reads or scans one file and prints the peak of memory.
    #[command(hide = true)]
    MeasureMemory {
        /// The way to use the file.
        what: Consumer,
        /// The file.
        path: PathBuf,
        /// The number of workers.
        workers: usize,
    },
}

/// Ways to read many files that differ in the calls they make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FilesReader {
    /// Swath.
    Ingest,
    /// Swath, where the ring opens what is not in the page cache.
    IngestByRing,
    /// The standard library, two threads.
    Std,
}

/// Ways to use a file that differ in the memory they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Consumer {
    /// Reads all of it into memory.
    Read,
    /// Sums it through small buffers.
    Scan,
    /// Sums it through a map.
    ScanMap,
    /// Writes as many bytes in ordered mode.
    WriteOrdered,
    /// Writes as many bytes in ordered mode, past the page cache.
    WriteOrderedDirect,
    /// Parses it to coordinates.
    Coordinates,
    /// Parses it to compressed rows.
    Rows,
    /// Parses it to a row-major array.
    Table,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_words_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn fewer_than_seven_rounds_are_refused_but_for_a_smoke_test() {
        assert!(Args::try_parse_from(["swath-benches", "--rounds", "6"]).is_err());
        let args = Args::try_parse_from(["swath-benches", "--rounds", "7"]).expect("enough");
        assert_eq!(args.rounds(), 7);
        let args = Args::try_parse_from(["swath-benches", "--quick"]).expect("a smoke test");
        assert_eq!(args.rounds(), 2);
    }
}
