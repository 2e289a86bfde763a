//! The words of the command line: all commands, and everything generated from their definitions.
//!
//! Each flag has one definition. Parsing, `-h`, `--help`, the man pages and the completions are
//! all generated from it.
//!
//! ```
//! use clap::Parser;
//! use swath_cli::cli::{Cli, Verb};
//!
//! let cli = Cli::try_parse_from(["swath", "read", "--chunk-size", "4KiB", "data.bin"])?;
//! assert!(matches!(cli.verb, Verb::Read(read) if read.how.flow.chunk_size == 4096));
//! # Ok::<(), clap::Error>(())
//! ```

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use clap_complete::Shell;

use crate::args;
use crate::command::{self, Command, Outcome};
use crate::failure::Refused;
use crate::mistake;
use crate::output::print;
use crate::verbs::verbs;

/// Reads and writes files as fast as the machine can, safely.
///
/// A PATH is a file, `-` for standard input, a file:// URI, or a folder of segments. Without a PATH, commands
/// that read one stream take standard input, unless it is a terminal. Sizes are bytes: 4096, 4KiB or 4K,
/// 1.5GiB, 64MB.
///
/// The output is the word after the input, or --output (-o); `-` is standard output. An existing output is an
/// error without --force. Only `cp` and `mirror` replace files, as cp(1) does, unless --no-clobber is given.
///
/// --json prints the report for programs, with units in its keys.
///
/// Exit status: 0 done; 1 done, but bytes differ or something was skipped; 2 not done, or done but the report
/// could not be printed: then the message begins with what was written. If standard output was closed from
/// the start, the report on files that were written is left out; other results are an error. It is
/// not an error if the reader of standard output, or of a FIFO that is OUT, leaves: the status is
/// 0, or 1 or 2 for what was found before.
#[derive(Debug, Parser)]
#[command(name = "swath", version, after_help = examples(), max_term_width = 100)]
pub struct Cli {
    /// The verb of the command.
    #[command(subcommand)]
    pub verb: Verb,
}

fn examples() -> String {
    #[cfg(feature = "lab")]
    let first = crate::lab::EXAMPLES;
    #[cfg(not(feature = "lab"))]
    let first = "";
    format!("Examples:\n{first}{EXAMPLES}")
}

const EXAMPLES: &str = "  \
  swath read data.bin                     load a file and report how fast it was
  swath sum --hash blake3 *.bin           checksums at memory speed
  swath cat data.bin | zstd > data.zst    read ahead in parallel, into a pipe
  swath ingest images/                    load many files at once
  swath cp data.bin backup/               a copy that is complete or absent
  swath compress data.bin                 data.bin.zst, with all cores
  swath convert graph.mtx graph.npz       a graph as text, for SciPy
  swath head table.csv                    the first rows, with names and types";

verbs! {
    /// The commands.
    Verb {
        /// Load a file into memory, and report how fast and how it was read
        Read(command::read::Read),
        /// Load many files at once, or checksum each
        Ingest(command::ingest::Ingest),
        /// Sum the bytes of files, checksum them, or check a list of checksums
        Sum(command::sum::Sum),
        /// Count the newlines of files
        Scan(command::scan::Scan),
        /// Write a file to standard output, reading ahead in parallel
        Cat(command::cat::Cat),
        /// Copy a file, or a folder of segments as one file, in parallel, completely or not at all
        Cp(command::cp::Cp),
        /// Make copies of a file, and read each back before it appears
        Mirror(command::mirror::Mirror),
        /// Write the checksums of a file's chunks, or compare a copy with them
        Manifest(command::manifest::Manifest),
        /// Repair the bad chunks of copies from copies where they are good
        Heal(command::heal::Heal),
        /// Divide work among many processes or machines, and join their output into one file
        Job(command::job::Job),
        /// Compress a file in parallel; zstd, gzip and bzip2 read the result
        Compress(command::compress::Compress),
        /// Decompress zstd, gzip or bzip2, in parallel where its frames can be found
        Decompress(command::decompress::Decompress),
        /// Price option contracts by the Black-Scholes formula, in parallel
        Price(command::price::Price),
        /// Convert matrices and tables to other formats, reading and writing in parallel
        Convert(command::convert::Convert),
        /// Show the first rows of a table, with the names and types of its columns
        Head(command::head::Head),
        /// Show the contents of files: kind, shape, header; of a table, every column
        Info(command::info::Info),
        /// Print completions for a shell
        Completions(Completions),
        /// Print a manual page
        Man(Man),
    }
    #[cfg(feature = "lab")]
    and Lab(crate::lab::Lab)
}

impl Cli {
    /// Parses words, the program's name first; returns the word of the command too.
    pub(crate) fn parsed(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, String), clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        let all = || Self::command().try_get_matches_from(&words);
        let mut matches = Self::matches_alone(&words)
            .unwrap_or_else(all)
            .map_err(|error| mistake::hinted(error, &words, || &PAGES))?;
        let word = matches.subcommand_name().unwrap_or_default().to_owned();
        if let Some((name, given)) = matches.subcommand()
            && reads_terminal(given)
        {
            return Err(mistake::no_path(&mut Self::command(), name));
        }
        Ok((Self::from_arg_matches_mut(&mut matches)?, word))
    }

    /// Parses with the flags of one command: defining those of all commands takes most of the run time
    /// for a small file. `None` if the answer is neither a command nor the version: then all flags are
    /// needed.
    fn matches_alone(words: &[OsString]) -> Option<Result<ArgMatches, clap::Error>> {
        let word = words.get(1)?.to_str()?;
        let swath = clap::Command::new("swath").version(env!("CARGO_PKG_VERSION"));
        if matches!(word, "-V" | "--version") {
            let answer = swath.try_get_matches_from(words);
            let is_version = |it: &clap::Error| it.kind() == ErrorKind::DisplayVersion;
            return answer.as_ref().is_err_and(is_version).then_some(answer);
        }
        swath.subcommand(Verb::only(word)?).try_get_matches_from(words).ok().map(Ok)
    }
}

/// Whether no input was named, and standard input is a terminal.
fn reads_terminal(given: &ArgMatches) -> bool {
    let is_default = |id: &&str| {
        given.try_contains_id(id).unwrap_or(false)
            && given.value_source(id) == Some(ValueSource::DefaultValue)
            && given.get_raw(id).is_some_and(|mut words| words.next() == Some(OsStr::new("-")))
    };
    let reads_stdin = args::STDIN_BY_DEFAULT.iter().any(is_default);
    reads_stdin && std::io::stdin().is_terminal()
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
        clap_complete::generate(self.shell, &mut visible(&Cli::command()), "swath", &mut text);
        if self.shell == Shell::Fish {
            text.extend_from_slice(fish_words().as_bytes());
        }
        print(text)?;
        Ok(Outcome::Done)
    }

    fn writes(&self) -> bool {
        false
    }
}

/// Returns a command for completions, without hidden subcommands, which the generators would offer.
fn visible(command: &clap::Command) -> clap::Command {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut copy = clap::Command::new(command.get_name().to_owned())
        .args(command.get_arguments())
        .subcommands(shown.map(visible));
    if let Some(version) = command.get_version() {
        copy = copy.version(version.to_owned());
    }
    if let Some(about) = command.get_about() {
        copy = copy.about(about.clone());
    }
    match command.get_long_about() {
        Some(about) => copy.long_about(about.clone()),
        None => copy,
    }
}

/// Returns completions for words of a fixed list after a command, which the generator for fish leaves out.
fn fish_words() -> String {
    let mut text = String::new();
    for verb in Cli::command().get_subcommands() {
        for word in verb.get_positionals() {
            let values = word.get_possible_values();
            let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            if !names.is_empty() {
                let (verb, names) = (verb.get_name(), names.join(" "));
                text += &format!(
                    "complete -c swath -n \"__fish_swath_using_subcommand {verb}\" -f -a \"{names}\"\n"
                );
            }
        }
    }
    text
}

/// `swath man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath man | man -l -
  swath man read > swath-read.1
  swath man gen-bytes | man -l -")]
pub struct Man {
    /// The command, as in read or gen-bytes; without one, the page of `swath` itself
    #[arg(value_name = "COMMAND", value_parser = args::Named(|| PAGES.iter().map(String::as_str).collect()), hide_possible_values = true)]
    pub verb: Option<String>,

    /// Print the names of all pages
    #[arg(long, conflicts_with = "verb")]
    pub list: bool,
}

/// All names of pages.
static PAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all = Vec::new();
    name_pages(&Cli::command(), "", &mut all);
    all.into_iter().map(|(name, _)| name).collect()
});

/// Adds the pages below `command`, each named as Git names its own: `gen-bytes`.
fn name_pages(command: &clap::Command, prefix: &str, all: &mut Vec<(String, clap::Command)>) {
    let is_shown = |it: &&clap::Command| it.get_name() != "help" && !it.is_hide_set();
    for below in command.get_subcommands().filter(is_shown) {
        let name = format!("{prefix}{}", below.get_name());
        all.push((name.clone(), below.clone()));
        name_pages(below, &format!("{name}-"), all);
    }
}

impl Command for Man {
    fn run(&self) -> Result<Outcome> {
        if self.list {
            print(PAGES.join("\n") + "\n")?;
            return Ok(Outcome::Done);
        }
        let mut command = Cli::command();
        command.build();
        if let Some(verb) = &self.verb {
            let mut all = Vec::new();
            name_pages(&command, "", &mut all);
            let found = all.into_iter().find(|(name, _)| name == verb);
            let (_, page) = found.ok_or_else(|| {
                Refused::new(
                    format!("cannot print the page of `{verb}`: there is no such command"),
                    "run `swath man --list` for the names of all pages",
                )
            })?;
            // As in Git's pages of subcommands: swath-read(1).
            command = page.display_name(format!("swath-{verb}"));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).context("cannot make the page")?;
        print(page)?;
        Ok(Outcome::Done)
    }

    fn writes(&self) -> bool {
        false
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
    fn the_flags_of_one_command_are_those_that_it_has_among_all() {
        for among in Cli::command().get_subcommands() {
            let name = among.get_name();
            let alone = Verb::only(name).expect(name);
            let ids = |it: &clap::Command| {
                it.get_arguments().map(|arg| arg.get_id().to_string()).collect::<Vec<_>>()
            };
            let below = |it: &clap::Command| {
                it.get_subcommands().map(|it| it.get_name().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(ids(&alone), ids(among), "{name}");
            assert_eq!(below(&alone), below(among), "{name}");
        }
        for other in ["", "READ", "Read", "rea", "help", "swath"] {
            assert!(Verb::only(other).is_none(), "{other}");
        }
    }

    #[test]
    fn the_version_is_the_same_with_and_without_all_flags() {
        let ours = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Cli::parsed(words).expect_err("an answer").to_string()
        };
        for words in [&["swath", "-V"][..], &["swath", "--version"], &["swath", "-V", "x"]] {
            let all = Cli::command().try_get_matches_from(words).expect_err("an answer");
            assert_eq!(ours(words), all.to_string());
        }
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
    const LINES: [&str; 17] = [
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
        "price a b",
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
        let expected = [
            "job",
            "head",
            "info",
            "completions",
            "man",
            "gen",
            "demo",
            "study",
            "tune",
            "help",
        ];
        assert_eq!(
            without, expected,
            "the commands below `gen` and `job` have it, where they move bytes"
        );
    }
}
