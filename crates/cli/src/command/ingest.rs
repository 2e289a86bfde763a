//! `swath ingest`: many files at once.
//!
//! Without a checksum all files go into memory, as with `read` one does; with one they pass through
//! a bounded amount of it.

mod checksums;
mod totals;

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use swath::ReadOptions;
use swath::ingest::{
    Content, Delivery, Failures, FileOrder, Files, IngestOptions, IngestReport, OpenedBy,
    Symlinks,
};

use self::checksums::checksums;
use self::totals::{json, text, trouble};
use super::{Command, Outcome};
use crate::args::{self, ProfileArgs, TimelineArgs, input, parse_size, words};
use crate::failure::describe_error;
use crate::input::Input;
use crate::output::{complain, print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;

/// `swath ingest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath ingest images/
  swath ingest --hash xxh3 src/ > checksums
  find . -name '*.json' -print0 | swath ingest --list - -0 --text
  swath ingest --glob 'logs/**/*.log' --on-error collect --json")]
pub struct Ingest {
    /// Files, and folders with everything below them, hidden files too
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "glob"], value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Take further paths from this file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub list: Option<Input>,

    /// Paths in the list end with a zero byte, not a newline, as `find -print0` writes them
    #[arg(short = '0', long, requires = "list")]
    pub null: bool,

    /// Take further paths that match, as in 'src/**/*.rs'
    #[arg(long, value_name = "PATTERN")]
    pub glob: Vec<String>,

    /// Print a checksum of each file
    #[arg(long, value_name = "HASH", value_parser = words(HASHES))]
    pub hash: Option<FileHash>,

    /// Every file must be UTF-8
    #[arg(long)]
    pub text: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Which files, and what if one fails.
    #[command(flatten)]
    pub which: WhichArgs,

    /// How to read.
    #[command(flatten)]
    pub how: HowArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// A checksum of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHash {
    /// 64 bits, as `xxhsum -H3`.
    Xxh3,
}

const HASHES: &[(&str, FileHash)] = &[("xxh3", FileHash::Xxh3)];

/// Which files, and what if one fails.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Which files")]
pub struct WhichArgs {
    /// A file that cannot be read: fail at the first, skip and count it, or read on and say why
    #[arg(long, value_name = "WHAT", value_parser = words(Failures::WORDS), default_value = "fail")]
    pub on_error: Failures,

    /// Symbolic links in folders: read the files they lead to, skip them, or enter folders too
    #[arg(long, value_name = "HOW", value_parser = words(Symlinks::WORDS), default_value = "files")]
    pub symlinks: Symlinks,
}

/// How to read.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "How to read")]
pub struct HowArgs {
    /// Threads; 0 chooses
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Reads in flight; 0 chooses
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub queue_depth: usize,

    /// Who opens files that are not in the page cache: the thread that reads while that is quick,
    /// always the thread, or always the ring (few calls)
    #[arg(long, value_name = "WHO", value_parser = words(OpenedBy::WORDS), default_value = "auto")]
    pub opened_by: OpenedBy,

    /// In which order files are read: as given, by path, inode, or place on the device
    ///
    /// The report says what it gained. With --hash files are read as they are given, whatever this
    /// says.
    #[arg(long, value_name = "ORDER", value_parser = words(FileOrder::WORDS), default_value = "given")]
    pub order: FileOrder,

    /// Bytes kept in memory at one time; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub memory_limit: u64,

    /// Print checksums as files are read, not in the order of the paths
    #[arg(long)]
    pub completion_order: bool,

    /// Whether what was measured is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Ingest {
    fn run(&self) -> Result<Outcome> {
        let files = files(self)?;
        // Where the first path is, most of the files are.
        let first = self.paths.first().map(PathBuf::as_path);
        let read = Profiles::new(self.how.profile).apply_to_files(self.read_options(), first);
        let (read, bar) = Bar::attach(read, !self.json);
        let options = self.options(read);
        let report = match self.hash {
            Some(FileHash::Xxh3) => checksums(files, &options, self.json)?,
            None => load(files, &options)?,
        };
        drop(bar);
        show(self, &report)?;
        Ok(match (report.files, report.failed + report.skipped) {
            (_, 0) => Outcome::Done,
            (0, _) => Outcome::NotDone,
            _ => Outcome::Differs,
        })
    }

    fn timeline(&self) -> Option<args::Files<'_>> {
        Some(args::Files::beside(&self.timeline).paths(&self.paths).inputs(&self.list))
    }
}

impl Ingest {
    /// Returns the library's options for reading the files.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new()
            .with_workers(self.how.workers)
            .with_queue_depth(self.how.queue_depth)
            .with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> IngestOptions {
        let HowArgs { opened_by, order, memory_limit, completion_order, .. } = self.how;
        let delivery = if completion_order { Delivery::Completion } else { Delivery::Input };
        IngestOptions::new()
            .with_read(read)
            .with_opened_by(opened_by)
            .with_order(order)
            .with_memory_limit(memory_limit)
            .with_delivery(delivery)
            .with_failures(self.which.on_error)
            .with_symlinks(self.which.symlinks)
            .with_content(if self.text { Content::Text } else { Content::Bytes })
    }
}

/// The files that the words name: paths, then the list, then patterns.
fn files(args: &Ingest) -> Result<Files> {
    let mut files = Files::each(&args.paths);
    if let Some(list) = &args.list {
        let mut bytes = Vec::new();
        let read = list.open().and_then(|mut file| file.read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read the list {list}"))?;
        files = files.and(Files::list(bytes, if args.null { 0 } else { b'\n' }));
    }
    Ok(args.glob.iter().fold(files, |files, pattern| files.and(Files::glob(pattern))))
}

/// Has all files in memory at one time.
fn load(files: Files, options: &IngestOptions) -> Result<IngestReport> {
    let ingested = options.ingest(files)?;
    for entry in ingested.iter() {
        if let Some(error) = entry.error {
            complain(describe_error(error));
        }
    }
    Ok(ingested.report().clone())
}

/// Says how it went: on standard output, or beside the checksums what they leave out.
fn show(args: &Ingest, report: &IngestReport) -> Result<()> {
    if args.json {
        return print_json(&json(report));
    }
    if args.hash.is_none() {
        return Ok(print(text(report))?);
    }
    for line in trouble(report) {
        complain(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        ingest: Ingest,
    }

    fn parsed(words: &[&str]) -> Result<Ingest, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.ingest)
    }

    #[test]
    fn files_come_from_paths_a_list_or_a_pattern() {
        assert!(parsed(&[]).is_err(), "nothing to read");
        assert_eq!(parsed(&["a", "b"]).expect("paths").paths.len(), 2);
        assert_eq!(parsed(&["--list", "-"]).expect("a list").list, Some(Input::Stdin));
        assert_eq!(parsed(&["--glob", "*"]).expect("a pattern").glob, ["*"]);
        assert!(parsed(&["a", "-0"]).is_err(), "no list that it could be about");
        assert!(parsed(&["--list", "names", "-0"]).expect("zero bytes").null);
    }

    #[test]
    fn words_become_options() {
        let words = ["a", "--on-error", "collect", "--order", "inode", "--symlinks", "follow"];
        let ingest = parsed(&words).expect("words of the lists");
        assert_eq!(ingest.which.on_error, Failures::Collect);
        assert_eq!(ingest.how.order, FileOrder::Inode);
        assert_eq!(ingest.which.symlinks, Symlinks::Follow);
        assert!(parsed(&["a", "--order", "size"]).is_err());
        assert!(parsed(&["a", "--hash", "md5"]).is_err());
    }
}
