//! `swath ingest`: many files at once.
//!
//! Files pass through a bounded amount of memory, with a checksum if requested. With `--keep` all files are
//! loaded into memory, as `read` loads one.

mod checksums;
mod totals;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::builder::ArgPredicate;
use clap::{Args, ValueHint};
use swath::ReadOptions;
use swath::ingest::{
    Content, Delivery, Failures, FileOrder, Files, IngestOptions, IngestReport, OpenedBy,
    Symlinks,
};

use self::checksums::checksums;
use self::totals::{json, text, trouble};
use super::{Command, Outcome};
use crate::args::{self, ProfileArgs, TimelineArgs, count, input, parse_size, path, words};
use crate::failure::{Refused, describe_error};
use crate::input::Input;
use crate::output::{complain, tell};
use crate::profile::Profiles;
use crate::progress::Bar;

/// `swath ingest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath ingest images/
  swath ingest --hash xxh3 src/ > checksums
  find . -name '*.json' -print0 | swath ingest -0 --text
  swath ingest --glob 'logs/**/*.log' --on-error collect --json")]
pub struct Ingest {
    /// Files, and folders with everything below them, hidden files too
    #[arg(value_name = "PATH", value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Read more paths from FILE, one a line; `-` is standard input [default: `-` without any PATH or
    /// PATTERN]
    #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    #[arg(default_value_ifs = [("paths", ArgPredicate::IsPresent, None::<&str>), ("glob", ArgPredicate::IsPresent, None)])]
    #[arg(value_parser = input(), value_hint = ValueHint::FilePath)]
    pub list: Option<Input>,

    /// Paths in the list end with a zero byte, not a newline, as `find -print0` writes them
    #[arg(short = '0', long)]
    pub null: bool,

    /// Add the files that match, as in 'src/**/*.rs'; without any file at all, that is an error
    #[arg(long, value_name = "PATTERN")]
    pub glob: Vec<String>,

    /// Print a checksum of each file
    #[arg(long, value_name = "HASH", value_parser = words(HASHES))]
    pub hash: Option<FileHash>,

    /// Load all files into memory and keep them until the end, as a program that uses them would
    #[arg(long, conflicts_with = "hash")]
    pub keep: bool,

    /// Require every file to be UTF-8
    #[arg(long)]
    pub text: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Which files, and errors.
    #[command(flatten)]
    pub which: WhichArgs,

    /// How to read.
    #[command(flatten)]
    pub how: HowArgs,

    /// The recording of a timeline.
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

/// Which files, and errors.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Which files")]
pub struct WhichArgs {
    /// If a file cannot be read: fail at once, skip and count it, or continue and report each error
    #[arg(long, value_name = "WHAT", value_parser = words(Failures::WORDS), default_value = "fail")]
    pub on_error: Failures,

    /// Symbolic links in folders: read the files they point to, skip them, or enter folders too
    #[arg(long, value_name = "HOW", value_parser = words(Symlinks::WORDS), default_value = "files")]
    pub symlinks: Symlinks,
}

/// How to read.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "How to read")]
pub struct HowArgs {
    /// Threads; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Reads in flight; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub queue_depth: usize,

    /// How files that are not in the page cache are opened: by the thread that reads as long as that
    /// is quick, always by the thread, or always by the ring (with few calls)
    #[arg(long, value_name = "WHO", value_parser = words(OpenedBy::WORDS), default_value = "auto")]
    pub opened_by: OpenedBy,

    /// The order in which files are read: as given, by path, by inode, or by place on the device
    ///
    /// The report says what that gained. Files are kept in memory, as with --keep. With --hash,
    /// they are read in the order given.
    #[arg(long, value_name = "ORDER", value_parser = words(FileOrder::WORDS), default_value = "given")]
    pub order: FileOrder,

    /// Bytes held in memory at one time; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub memory_limit: u64,

    /// Print checksums as files are read, not in the order of the paths
    #[arg(long)]
    pub completion_order: bool,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Ingest {
    fn run(&self) -> Result<Outcome> {
        let files = files(self)?;
        // Most files are on the file system of the first path.
        let first = self.paths.first().map(PathBuf::as_path);
        let read = Profiles::new(self.how.profile).apply_to_files(self.read_options(), first);
        let (read, bar) = Bar::attach(read, !self.json);
        let options = self.options(read);
        let report = match self.hash {
            Some(FileHash::Xxh3) => checksums(files, &options, self.json)?,
            None if self.keep || self.how.order != FileOrder::Given => load(files, &options)?,
            None => pass(files, &options)?,
        };
        drop(bar);
        if report.files + report.failed + report.skipped == 0 && !self.glob.is_empty() {
            let patterns = self.glob.join(" ");
            let what = format!("cannot read {patterns}: no file matches");
            let hint = "check the pattern and the folder that it begins in";
            return Err(Refused::new(what, hint).into());
        }
        show(self, &report)?;
        Ok(match (report.files, report.failed + report.skipped) {
            (_, 0) => Outcome::Done,
            (0, _) => Outcome::NotDone,
            _ => Outcome::Differs,
        })
    }

    fn writes(&self) -> bool {
        false
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

/// Returns the files that the words name: paths, then the list, then patterns.
fn files(args: &Ingest) -> Result<Files> {
    ensure!(
        args.list.is_some() || !args.null,
        Refused::new("cannot use --null (-0) without a list of paths", "pass --list FILE")
    );
    let mut files = Files::each(&args.paths);
    if let Some(list) = &args.list {
        let bytes = ReadOptions::new().read(list.source()?)?.buffer.to_vec();
        files = files.and(Files::list(bytes, if args.null { 0 } else { b'\n' }));
    }
    Ok(args.glob.iter().fold(files, |files, pattern| files.and(Files::glob(pattern))))
}

/// Reads all files and keeps none.
fn pass(files: Files, options: &IngestOptions) -> Result<IngestReport> {
    options.stream(files, |part| {
        if let Some(error) = part.error {
            complain(describe_error(error));
        }
        Ok(())
    })
}

/// Loads all files into memory.
fn load(files: Files, options: &IngestOptions) -> Result<IngestReport> {
    let ingested = options.ingest(files)?;
    for entry in ingested.iter() {
        if let Some(error) = entry.error {
            complain(describe_error(error));
        }
    }
    Ok(ingested.report().clone())
}

/// Reports on standard output; with checksums, reports problems on standard error.
fn show(args: &Ingest, report: &IngestReport) -> Result<()> {
    if args.json || args.hash.is_none() {
        return tell(args.json, &json(report), text(report));
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
        assert_eq!(parsed(&[]).expect("a pipe").list, Some(Input::Stdin));
        assert_eq!(parsed(&["--glob", "*"]).expect("a pattern").list, None);
        assert_eq!(parsed(&["a"]).expect("a path").list, None);
        assert_eq!(parsed(&["a", "b"]).expect("paths").paths.len(), 2);
        assert_eq!(parsed(&["--list", "-"]).expect("a list").list, Some(Input::Stdin));
        assert_eq!(parsed(&["--glob", "*"]).expect("a pattern").glob, ["*"]);
        let without_list = parsed(&["a", "-0"]).expect("words");
        assert!(files(&without_list).is_err(), "no list that it could be about");
        assert!(parsed(&["-0"]).expect("a pipe").null);
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
