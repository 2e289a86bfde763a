//! The words of the command line: all commands, and what is generated from their definitions.
//!
//! Each flag has one definition. From it come parsing, `-h`, `--help`, the man pages and the
//! completions.
//!
//! ```
//! use clap::Parser;
//! use swath_cli::cli::{Cli, Verb};
//!
//! let cli = Cli::try_parse_from(["swath", "read", "--chunk-size", "4KiB", "data.bin"])?;
//! assert!(matches!(cli.verb, Verb::Read(read) if read.how.flow.chunk_size == 4096));
//! # Ok::<(), clap::Error>(())
//! ```

use std::ffi::OsString;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::command::{self, Command, Outcome};
use crate::failure::Refused;
use crate::output::print;

/// Reads files as fast as the machine can, safely.
///
/// A PATH is a file, `-` for standard input, a file:// URI, or a folder of segments. Sizes are bytes: 4096, 4KiB
/// or 4K, 1.5GiB, 64MB.
///
/// Exit status: 0 done; 1 done, but bytes differ or something was skipped; 2 not done, or done and the
/// report cannot be printed: then the message begins with what was written. If standard output was closed
/// from the start, nobody waits for a report of what was written.
#[derive(Debug, Parser)]
#[command(name = "swath", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  swath demo                              measure this machine
  swath study                             what five studies found, on this machine
  swath tune --path /mnt/fast             measure what is fastest there, and keep it
  swath read data.bin                     load a file and say how fast it was
  swath sum --hash blake3 *.bin           checksums at memory speed
  swath cat data.bin | zstd > data.zst    read ahead in parallel, into a pipe
  swath ingest images/                    load many files at once
  swath cp data.bin backup/               a copy that is whole or absent
  swath compress data.bin                 data.bin.zst, by all cores
  swath convert graph.mtx graph.npz       a graph as text, for SciPy";

/// The commands, and what does each.
macro_rules! verbs {
    ($($(#[$about:meta])* $name:ident($args:ty),)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Verb {
            $($(#[$about])* $name($args),)+
        }

        impl Verb {
            /// Returns what does it.
            pub(crate) fn command(&self) -> &dyn Command {
                match self {
                    $(Self::$name(it) => it,)+
                }
            }
        }
    };
}

verbs! {
    /// Load a file into memory and say how fast it was, and by which way
    Read(command::read::Read),
    /// Load many files at once, and checksum each if asked to
    Ingest(command::ingest::Ingest),
    /// Sum the bytes of files, or checksum them
    Sum(command::sum::Sum),
    /// Count the newlines of files
    Scan(command::scan::Scan),
    /// Write a file to standard output, reading ahead in parallel
    Cat(command::cat::Cat),
    /// Copy a file, or a folder of segments as one, in parallel, whole or not at all
    Cp(command::cp::Cp),
    /// Make copies of a file, each of them read back before it appears
    Mirror(command::mirror::Mirror),
    /// Write the checksums of a file's chunks, or compare a copy with them
    Manifest(command::manifest::Manifest),
    /// Make the bad chunks of copies good, from those that have them
    Heal(command::heal::Heal),
    /// Compress a file in parallel; zstd, gzip and bzip2 read the result
    Compress(command::compress::Compress),
    /// Decompress zstd, gzip or bzip2, in parallel where its frames can be found
    Decompress(command::decompress::Decompress),
    /// Price option contracts after Black and Scholes, in parallel
    Price(command::price::Price),
    /// Turn matrices and tables into other formats, in parallel at both ends
    Convert(command::convert::Convert),
    /// Say what files hold: kind, shape, header
    Info(command::info::Info),
    /// Make a reproducible input
    Gen(command::generate::Gen),
    /// Measure every engine on inputs of its own, beside the limits of this machine
    Demo(command::demo::Demo),
    /// Measure what five studies measured, and say which of their findings hold here
    Study(command::study::Study),
    /// Measure what is fastest on a file system, and have all commands go by it
    ///
    /// Threads, sizes of reads, reads in flight, through or past the page cache, and a few more are
    /// measured with files of its own. Where something is clearly faster than the default, twice, a
    /// profile keeps it, and commands that read from this file system go by it, unless they are
    /// told --no-profile. Reports name the profile.
    Tune(command::tune::Tune),
    /// Print completions for a shell
    Completions(Completions),
    /// Print a manual page
    Man(Man),
}

impl Cli {
    /// Parses words, the program's name first; returns also which of them is the command.
    pub(crate) fn parsed(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, String), clap::Error> {
        let mut matches = Self::command().try_get_matches_from(words)?;
        let word = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok((Self::from_arg_matches_mut(&mut matches)?, word))
    }
}

/// `swath completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath completions bash > ~/.local/share/bash-completion/completions/swath
  swath completions fish > ~/.config/fish/completions/swath.fish")]
pub struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

impl Command for Completions {
    fn run(&self) -> Result<Outcome> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "swath", &mut text);
        print(text)?;
        Ok(Outcome::Done)
    }
}

/// `swath man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath man | man -l -
  swath man read > swath-read.1")]
pub struct Man {
    /// The command; without one the page is about all of them
    #[arg(value_name = "COMMAND")]
    pub verb: Option<String>,
}

impl Command for Man {
    fn run(&self) -> Result<Outcome> {
        let mut command = Cli::command();
        command.build();
        if let Some(verb) = &self.verb {
            let found = command.find_subcommand(verb).cloned();
            command = found.ok_or_else(|| {
                Refused::new(
                    format!("cannot print the page of `{verb}`: there is none"),
                    "swath help",
                )
            })?;
            // Pages of subcommands are named as Git names its own: swath-read(1).
            command = command.display_name(format!("swath-{verb}"));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).context("cannot make the page")?;
        print(page)?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_definitions_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_and_every_command_says_what_it_is() {
        let mut command = Cli::command();
        command.build();
        for verb in command.get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for arg in verb.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", verb.get_name(), arg.get_id());
            }
        }
    }

    /// A command of each kind that has the flag, with files a, b and so on.
    const LINES: [&str; 16] = [
        "read a --mirror b --verify-against manifest=c",
        "ingest a b --list c",
        "sum a b",
        "scan a b",
        "cat a --mirror b",
        "cp a b",
        "mirror a --into folder --manifest b",
        "manifest a -o b",
        "heal --verify-against manifest=a b c",
        "compress a b",
        "decompress a b",
        "price a -o b",
        "study fib 3 -o a",
        "convert a b",
        "gen options 3 -o a",
        "gen mtx -o a",
    ];

    #[test]
    fn every_command_with_the_flag_names_its_files_and_keeps_one_timeline() {
        for line in LINES {
            let words: Vec<&str> = ["swath"].into_iter().chain(line.split(' ')).collect();
            let plain = Cli::try_parse_from(&words).expect(line);
            assert!(
                plain
                    .verb
                    .command()
                    .timeline()
                    .is_some_and(|it| it.timeline.handle().is_none()),
                "{line}"
            );
            let flag = words.iter().chain(&["--timeline", "t"]);
            let (cli, word) = Cli::parsed(flag.map(OsString::from)).expect(line);
            assert_eq!(word, words[1]);
            let command = cli.verb.command();
            let files = command.timeline().expect(line);
            let args = files.timeline;
            let mut files = files.into_inner();
            files.sort_unstable();
            let expected = ["a", "b", "c"].map(Path::new);
            assert_eq!(files, expected[..files.len()], "{line}");
            assert!(files.len() > 1 || line.ends_with("-o a"), "{line}: {files:?}");
            args.handle().expect(line).recorder("a").lap(swath::timeline::Activity::Read, 0, 1);
            assert_eq!(args.clone().handle().map(|it| it.spans().len()), Some(1), "{line}");
        }
    }

    #[test]
    fn commands_that_move_no_bytes_of_anybody_have_no_timeline() {
        let mut command = Cli::command();
        command.build();
        let with =
            |verb: &&clap::Command| verb.get_arguments().any(|it| it.get_id() == "timeline");
        let without: Vec<&str> = command
            .get_subcommands()
            .filter(|verb| !with(verb))
            .map(clap::Command::get_name)
            .collect();
        let expected = ["info", "gen", "demo", "study", "tune", "completions", "man", "help"];
        assert_eq!(without, expected, "the kinds of `gen` have it, where they have it");
    }
}
