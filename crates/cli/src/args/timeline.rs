//! Where a command records what it did, and on which files it works.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueHint};
use swath::Timeline;
use swath::timeline::Recorder;

use super::generate::What;
use super::mirror::Against;
use super::study::With;
use super::{Verb, mirror::CopiesArgs};
use crate::input::Input;

/// The flag of every command that moves bytes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to record")]
pub struct TimelineArgs {
    /// Write what each worker did, and when, to FILE, for Perfetto or chrome://tracing
    ///
    /// Each chunk's wait, read, computation and write on the lane of its worker, reads in flight
    /// and bytes a second: a trace in the Chrome format, JSON. FILE is complete or absent, and
    /// replaced if it exists; also a command that fails leaves it. It takes 40 bytes of memory
    /// for each chunk until the end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub timeline: Option<PathBuf>,

    /// Made when it is first asked for; clones share it.
    #[arg(skip)]
    handle: Arc<OnceLock<Timeline>>,
}

impl TimelineArgs {
    /// Returns the timeline to record in, always the same one, if there is to be one.
    pub fn handle(&self) -> Option<Timeline> {
        self.timeline.as_ref().map(|_| self.handle.get_or_init(Timeline::new).clone())
    }

    /// Returns who records what this thread does beside the library, if anybody does.
    pub fn recorder(&self, path: impl AsRef<Path>) -> Option<Recorder> {
        self.handle().map(|timeline| timeline.recorder(path))
    }
}

impl Verb {
    /// Returns what the command takes about its timeline; `None` if it has none.
    pub fn timeline(&self) -> Option<&TimelineArgs> {
        match self {
            Self::Read(args) => Some(&args.how.timeline),
            Self::Ingest(args) => Some(&args.timeline),
            Self::Sum(args) => Some(&args.how.timeline),
            Self::Scan(args) => Some(&args.how.timeline),
            Self::Cat(args) => Some(&args.timeline),
            Self::Cp(args) => Some(&args.timeline),
            Self::Mirror(args) => Some(&args.timeline),
            Self::Manifest(args) => Some(&args.timeline),
            Self::Heal(args) => Some(&args.timeline),
            Self::Compress(args) => Some(&args.output.timeline),
            Self::Decompress(args) => Some(&args.output.timeline),
            Self::Price(args) => Some(&args.output.timeline),
            Self::Convert(args) => Some(&args.output.timeline),
            Self::Gen(args) => match &args.what {
                What::Mtx(graph) | What::Edges(graph) => Some(&graph.timeline),
                What::Options(contracts) => Some(&contracts.timeline),
                _ => None,
            },
            Self::Study(args) => match &args.with {
                Some(With::Fib(tree)) => Some(&tree.timeline),
                _ => None,
            },
            Self::Info(_)
            | Self::Demo(_)
            | Self::Tune(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }

    /// Returns the word of a command that has a timeline.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Ingest(_) => "ingest",
            Self::Sum(_) => "sum",
            Self::Scan(_) => "scan",
            Self::Cat(_) => "cat",
            Self::Cp(_) => "cp",
            Self::Mirror(_) => "mirror",
            Self::Manifest(_) => "manifest",
            Self::Heal(_) => "heal",
            Self::Compress(_) => "compress",
            Self::Decompress(_) => "decompress",
            Self::Price(_) => "price",
            Self::Convert(_) => "convert",
            Self::Info(_) => "info",
            Self::Gen(_) => "gen",
            Self::Demo(_) => "demo",
            Self::Study(_) => "study",
            Self::Tune(_) => "tune",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// Returns the files that the command was told to read or write: a timeline must be none of
    /// them.
    pub fn files(&self) -> Vec<&Path> {
        let mut files = Files(Vec::new());
        match self {
            Self::Read(args) => files.input(&args.path).copies(&args.copies),
            Self::Ingest(args) => files.paths(&args.paths).inputs(args.list.as_slice()),
            Self::Sum(args) => files.inputs(&args.paths).copies(&args.copies),
            Self::Scan(args) => files.inputs(&args.paths),
            Self::Cat(args) => files.input(&args.path).copies(&args.copies),
            Self::Cp(args) => files.input(&args.from).input(&args.to),
            Self::Mirror(args) => files.path(&args.path).paths(args.manifest.as_slice()),
            Self::Manifest(args) => files
                .input(&args.path)
                .paths(args.output.as_slice())
                .paths(args.check.as_slice()),
            Self::Heal(args) => files.paths(&args.paths).against(Some(&args.verify_against)),
            Self::Compress(args) => files.input(&args.from).inputs(args.to.as_slice()),
            Self::Decompress(args) => files.input(&args.from).inputs(args.to.as_slice()),
            Self::Price(args) => files.input(&args.from).input(&args.to),
            Self::Convert(args) => files.path(&args.input).path(&args.to),
            Self::Gen(args) => match &args.what {
                What::Mtx(graph) | What::Edges(graph) => files.path(&graph.made.output),
                What::Options(contracts) => files.path(&contracts.made.output),
                _ => &mut files,
            },
            Self::Study(args) => match &args.with {
                Some(With::Fib(tree)) => files.path(&tree.output),
                _ => &mut files,
            },
            Self::Info(_)
            | Self::Demo(_)
            | Self::Tune(_)
            | Self::Completions(_)
            | Self::Man(_) => &mut files,
        };
        files.0
    }
}

/// Collects names of files; standard input and output have none.
struct Files<'f>(Vec<&'f Path>);

impl<'f> Files<'f> {
    fn path(&mut self, path: &'f Path) -> &mut Self {
        self.0.push(path);
        self
    }

    fn paths(&mut self, paths: &'f [PathBuf]) -> &mut Self {
        self.0.extend(paths.iter().map(PathBuf::as_path));
        self
    }

    fn input(&mut self, input: &'f Input) -> &mut Self {
        self.inputs(std::slice::from_ref(input))
    }

    fn inputs(&mut self, inputs: &'f [Input]) -> &mut Self {
        self.0.extend(inputs.iter().filter_map(Input::path));
        self
    }

    fn copies(&mut self, copies: &'f CopiesArgs) -> &mut Self {
        self.inputs(&copies.mirrors).against(copies.verify_against.as_ref())
    }

    fn against(&mut self, against: Option<&'f Against>) -> &mut Self {
        if let Some(Against::Manifest(path)) = against {
            self.path(path);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

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
                plain.verb.timeline().is_some_and(|args| args.handle().is_none()),
                "{line}"
            );
            let flag = words.iter().chain(&["--timeline", "t"]);
            let verb = Cli::try_parse_from(flag).expect(line).verb;
            assert_eq!(verb.word(), words[1]);
            let mut files = verb.files();
            files.sort_unstable();
            let expected = ["a", "b", "c"].map(Path::new);
            assert_eq!(files, expected[..files.len()], "{line}");
            assert!(files.len() > 1 || line.ends_with("-o a"), "{line}: {files:?}");
            let args = verb.timeline().expect(line);
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
