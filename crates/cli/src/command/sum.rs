//! `swath sum`: the sum of all bytes, or a checksum; compares files with a list of checksums.

mod check;

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::builder::ArgPredicate;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::{Engine, Report};
use swath_formats::checksum::{Algorithm, Checksum, ChecksumOptions};

use super::consume::{Kernel, consume};
use super::several::{
    LongFiles, at_once, each, each_of_several, line, note_fallbacks, tagged_line, threads,
};
use super::{Command, Outcome};
use crate::args::{CopiesArgs, Files, ReadArgs, input, words};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, bytes_per_s, details, headline, object, report_json};

/// `swath sum`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath sum data.bin
  swath sum --hash blake3 *.bin           as b3sum
  swath sum --hash xxh3 data.bin          the hash of xxhsum -H3
  swath sum --hash xxh3 --tag *.bin       lines that any xxhsum -c reads
  swath sum --hash xxh3 *.bin > sums && swath sum --check sums
  swath sum --hash blake3 --check sums    a list of b3sum
  zcat data.gz | swath sum --hash crc32c")]
pub struct Sum {
    /// The files; `-` is standard input
    #[arg(
        value_name = "PATH",
        default_value = "-",
        default_value_if("check", ArgPredicate::IsPresent, None)
    )]
    #[arg(value_parser = input(), value_hint = ValueHint::FilePath)]
    pub paths: Vec<Input>,

    /// Print a checksum instead of the sum of all bytes
    #[arg(long, value_name = "HASH", value_parser = words(Algorithm::WORDS))]
    pub hash: Option<Algorithm>,

    /// Print lines that name the checksum, `NAME (PATH) = HASH`; --check reads them without --hash
    #[arg(long, requires = "hash", conflicts_with_all = ["check", "json"])]
    pub tag: bool,

    /// Compare the files in LIST with their checksums; `-` is standard input. Exit status 1 if a file
    /// differs or cannot be read
    ///
    /// LIST has lines as --hash and --tag print them, or as xxhsum -H3 and b3sum do: `XXH3_HASH  PATH`,
    /// `NAME (PATH) = HASH`, or `HASH  PATH`. The last of these does not say which algorithm it is, so it
    /// needs --hash. One blank instead of two is read too, if all such lines have one. Lines that begin with
    /// `#`, empty ones, a byte order mark of UTF-8 and line ends of Windows are skipped. Byte sums cannot be checked.
    #[arg(long, short, value_name = "LIST", value_parser = input(), value_hint = ValueHint::FilePath, conflicts_with_all = ["paths", "mirrors", "verify_against"])]
    pub check: Option<Input>,

    /// With --check, print only files that differ or cannot be read
    #[arg(long)]
    pub quiet: bool,

    /// Print a line of JSON for each file, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

impl Command for Sum {
    fn run(&self) -> Result<Outcome> {
        let engine = self.how.engine.engine;
        ensure!(
            (self.hash.is_none() && self.check.is_none()) || engine != Engine::Map,
            Refused::new("cannot compute a hash from a map", "leave out --engine map")
        );
        if let Some(list) = &self.check {
            return check::check(self, list);
        }
        ensure!(
            !self.quiet,
            Refused::new(
                "cannot use --quiet without a list of checksums",
                "pass --check LIST, or leave out --quiet"
            )
        );
        ensure!(
            self.paths.len() == 1 || !self.copies.is_used(),
            Refused::new(
                "cannot sum copies of several files at once",
                "name one PATH with its copies"
            )
        );
        let profiles = Profiles::new(self.how.flow.profile);
        let (at_once, long) = (self.files_at_once(), LongFiles::default());
        let compute = |input: &Input| self.summed(input, &profiles, at_once, &long);
        let print = |input: &Input, summed: Summed| {
            if let Some(report) = &summed.report {
                note_fallbacks(input, report);
            }
            show(self, input, &summed)
        };
        match at_once {
            1 => each(&self.paths, self.json, |input| print(input, compute(input)?)),
            threads => each_of_several(&self.paths, threads, self.json, compute, print),
        }
    }

    fn writes(&self) -> bool {
        false
    }

    fn timeline(&self) -> Option<Files<'_>> {
        let files = Files::beside(&self.how.timeline).inputs(&self.paths).inputs(&self.check);
        Some(files.copies(&self.copies))
    }
}

impl Sum {
    /// Returns how many files are summed at one time. One thread computes an XXH3; several threads share the other
    /// hashes of each file.
    fn files_at_once(&self) -> usize {
        match self.hash {
            None => at_once(&self.paths, &self.how),
            Some(Algorithm::Xxh3) => threads(&self.paths, &self.how.flow),
            Some(_) => 1,
        }
    }

    fn summed(
        &self,
        input: &Input,
        profiles: &Profiles,
        at_once: usize,
        long: &LongFiles,
    ) -> Result<Summed> {
        let source = || profiles.source(&self.copies, input);
        let options = profiles.apply(self.how.options(), input);
        // Several bars would overwrite each other.
        let (options, _bar) = Bar::attach(options, !self.json && at_once == 1);
        match self.hash {
            None if self.copies.is_used() => {
                let scanned = options.sum(source()?)?;
                Ok(Summed::of_scan(Value::Sum(scanned.value), scanned.report))
            }
            None => {
                let scanned =
                    consume(input, &options, Kernel::Sum, self.how.engine.engine, long)?;
                Ok(Summed::of_scan(Value::Sum(scanned.value), scanned.report))
            }
            Some(algorithm) => {
                let options = ChecksumOptions::new().with_read(options);
                let options = options.with_one_of_many(at_once > 1);
                Ok(checked(options.checksum(source()?, algorithm)?, algorithm))
            }
        }
    }
}

/// A computed value; variants have their names in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Value {
    Sum(u64),
    Xxh3(String),
    Crc32c(String),
    Blake3(String),
}

impl Value {
    /// Returns the value as the standard tools print it.
    fn text(&self) -> String {
        match self {
            Self::Sum(sum) => sum.to_string(),
            Self::Xxh3(hex) => format!("XXH3_{hex}"),
            Self::Crc32c(hex) | Self::Blake3(hex) => hex.clone(),
        }
    }

    /// Returns the digits of a checksum; a sum has none.
    fn digits(&self) -> &str {
        match self {
            Self::Sum(_) => "",
            Self::Xxh3(hex) | Self::Crc32c(hex) | Self::Blake3(hex) => hex,
        }
    }
}

/// A value, and the report of its computation.
struct Summed {
    value: Value,
    bytes: u64,
    elapsed: Duration,
    report: Option<Report>,
}

impl Summed {
    fn of_scan(value: Value, report: Report) -> Self {
        Self { value, bytes: report.bytes, elapsed: report.elapsed, report: Some(report) }
    }
}

/// Returns the name of an algorithm, as users write it.
fn word(algorithm: Algorithm) -> &'static str {
    Algorithm::WORDS.iter().find(|&&(_, it)| it == algorithm).map_or("", |&(word, _)| word)
}

fn show(args: &Sum, input: &Input, summed: &Summed) -> Result<()> {
    if args.json {
        return print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(input.label()),
            #[serde(flatten)]
            value: &summed.value,
            #[serde(flatten)]
            read: read_json(summed.bytes, summed.elapsed, summed.report.as_ref()),
        });
    }
    let mut text = match args.hash.filter(|_| args.tag) {
        Some(algorithm) => {
            let name = word(algorithm).to_ascii_uppercase();
            tagged_line(&name, summed.value.digits(), input.label())
        }
        None => line(&summed.value.text(), input.label()),
    };
    if let Some(report) = summed.report.as_ref().filter(|report| report.usage.is_some()) {
        text.extend_from_slice(
            format!("  {}\n{}", headline(report), details(report)).as_bytes(),
        );
    }
    Ok(print(text)?)
}

/// Returns how a file was read.
fn read_json(bytes: u64, elapsed: Duration, report: Option<&Report>) -> impl Serialize + use<> {
    // Hashes with a state from block to block use a reader, which has no report.
    let reader = object! {
        bytes,
        elapsed_s: elapsed.as_secs_f64(),
        bytes_per_s: bytes_per_s(bytes, elapsed),
    };
    object! {
        #[serde(flatten)]
        reader: report.is_none().then_some(reader),
        #[serde(flatten)]
        report: report.map(report_json),
    }
}

fn checked(sum: Checksum, algorithm: Algorithm) -> Summed {
    let value = match algorithm {
        Algorithm::Crc32c => Value::Crc32c(sum.hex()),
        Algorithm::Blake3 => Value::Blake3(sum.hex()),
        _ => Value::Xxh3(sum.hex()),
    };
    Summed { value, bytes: sum.bytes, elapsed: sum.elapsed, report: sum.report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xxh3_is_marked_as_its_tool_marks_it() {
        assert_eq!(Value::Xxh3("2d06800538d394c2".into()).text(), "XXH3_2d06800538d394c2");
    }
}
