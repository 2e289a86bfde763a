//! The repository's own checks, which run the same in CI and on a laptop.
//!
//! ```text
//! cargo xtask test    every check that a push has to pass
//! cargo xtask torture every battery at full size, and what takes too long for a push
//! cargo xtask tidy    the rules that no compiler knows
//! cargo xtask blocks  the shell, C and Python blocks of the pages, run
//! cargo xtask book    the documentation as a site, its links checked
//! cargo xtask readme  what README.md says of installing, done
//! cargo xtask header  the header of the C library, from its Rust
//! cargo xtask install the command, its completions and manual pages, into a prefix
//! cargo xtask install-c  the C library, into a prefix
//! cargo xtask dist    what a release consists of, made and tried
//! cargo xtask record  the measurements, prepared the same way
//! cargo xtask findings  copies findings from records into the documents that quote them
//! ```
//!
//! This file parses the arguments; each command has a module of its own.

mod blocks;
mod book;
mod build;
mod c;
mod deny;
mod dist;
mod header;
mod install;
mod install_c;
mod links;
mod manifest;
mod miri;
mod nextest;
mod prepare;
mod process;
mod programs;
mod python;
mod readme;
mod record;
mod reports;
mod skips;
mod slow;
mod test;
mod tidy;
mod torture;
mod venv;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--fast | --only STEP] [--no-install]
                  everything that CI checks, three steps at a time. It lists what it installs to compare
                  with, and --no-install does without. --fast leaves out C, Python, the site, the
                  browser, the tests of this program and those of xtask/slow-tests.txt. STEP is one of: {STEPS}
  slow-tests      write that list anew, from the last run of all tests
  torture [--minutes N] [--only NAME]... [--seed S]
                  every battery of tests at full size, Miri, valgrind, the release build with what
                  README.md says of it, each crate's features alone; after that, other seeds until N
                  minutes have passed. A whole run writes xtask/torture.json. NAME is one of:
                  {ATTACKS}
  tidy            arrows between modules, sizes, dead files, forbidden words
  c               the step `c` of the test: the C library as C and C++ programs see it
  blocks          run the shell, C and Python blocks of README.md and docs; Python's if the
                  package is installed in target/venv
  book            build the documentation in target/book, check every link, and open two pages
                  in a browser
  readme [--release]
                  install the command, crate, package and C library as README.md says, in folders of
                  their own, and run its programs; all are debug builds, and the package is the one
                  in target/venv, unless --release asks for what a user gets
  header          crates/capi/include/swath.h, from the crate
  install [--prefix DIR] [--binary PATH] [--uninstall]
                  the release command, completions for bash, zsh and fish, and manual pages, below
                  DIR (~/.local); PATH is a command that is already built
  install-c --prefix DIR [--profile NAME]
                  libswath, swath.h, and what pkg-config and CMake want to know
  dist [--out DIR] [--only PART]... [--try] [--strict] [--quick]
                  make a release of the last commit in DIR (target/dist/out): source, crates,
                  command, deb, c, wheel, wheel-musl, wheel-free-threaded, sdist, aarch64, and the
                  checks deny and msrv. --try runs each in a clean environment. What this machine
                  cannot make is listed; with --only or --strict that is a failure.
                  --quick compiles without optimisation, to try the rest; sizes are not judged
  record [ARGS]   run the benchmarks with ARGS, beside the peers they are compared with
  findings [DIR]  put what records say of the study's claims into the papers that take it from
                  them; with DIR, a folder of a record, all of them take it from that one
";

/// Commands that `--help` may follow.
const HELPED: &[&str] = &[
    "test",
    "torture",
    "tidy",
    "blocks",
    "book",
    "readme",
    "c",
    "header",
    "install",
    "install-c",
    "dist",
    "findings",
];

/// The command to run.
#[derive(Debug, PartialEq)]
enum Task {
    Usage,
    Test(test::TestWish),
    /// The process of a step.
    Step(String),
    /// Started by Cargo in place of rustdoc; the folder for the site's reference.
    Rustdoc(OsString),
    Torture(torture::TortureWish),
    /// Writes the list of slow tests.
    SlowTests,
    Tidy,
    Blocks,
    Book,
    Readme(readme::Builds),
    C,
    Header,
    Install(install::InstallWish),
    InstallC(install_c::InstallCWish),
    Dist(dist::DistWish),
    Record(Vec<String>),
    Findings(Option<String>),
    Unknown(String),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let task = std::env::var_os(book::API_FOLDER).map_or_else(|| parse(&words), Task::Rustdoc);
    let outcome = match task {
        Task::Rustdoc(folder) => book::rustdoc(&folder),
        Task::Usage => {
            print!("{}", usage());
            Ok(())
        }
        Task::Unknown(word) => {
            eprint!("xtask: unknown word: {word}\n\n{}", usage());
            return ExitCode::from(2);
        }
        Task::Test(wish) => Workspace::find().and_then(|it| test::run(&it, &wish)),
        Task::Step(name) => linted().and_then(|it| test::run_step(&it, &name)),
        Task::Torture(wish) => linted().and_then(|it| torture::run(&it, &wish)),
        Task::SlowTests => Workspace::find().and_then(|it| slow::write(&it)),
        Task::Tidy => Workspace::find().and_then(|it| tidy::run(&it)),
        Task::Blocks => Workspace::find().and_then(|it| test::blocks(&it)),
        Task::Book => Workspace::find().and_then(|it| book::run(&it)),
        Task::Readme(readme::Builds::Tests) => linted().and_then(|it| readme::run_step(&it)),
        Task::Readme(builds) => Workspace::find().and_then(|it| readme::check(&it, builds)),
        Task::C => Workspace::find().and_then(|it| c::check(&it)),
        Task::Header => Workspace::find().and_then(|it| header::write(&it)),
        Task::Install(wish) => Workspace::find().and_then(|it| install::run(&it, &wish)),
        Task::InstallC(wish) => Workspace::find().and_then(|it| install_c::run(&it, &wish)),
        Task::Dist(wish) => Workspace::find().and_then(|it| dist::run(&it, &wish)),
        Task::Findings(record) => {
            Workspace::find().and_then(|it| tidy::update(&it, record.as_deref()))
        }
        Task::Record(words) => Workspace::find().and_then(|it| record::run(&it, &words)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn linted() -> anyhow::Result<Workspace> {
    Workspace::find()?.linted()
}

/// The usage, with the names of steps and attacks.
fn usage() -> String {
    USAGE.replace("{STEPS}", &test::step_names()).replace("{ATTACKS}", &torture::names())
}

fn parse(words: &[String]) -> Task {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["-h" | "--help" | "help", ..] => Task::Usage,
        [word, "-h" | "--help"] if HELPED.contains(word) => Task::Usage,
        ["test", rest @ ..] => test::TestWish::parse(rest)
            .map_or_else(|| Task::Unknown(rest.join(" ")), Task::Test),
        ["step", name] => Task::Step((*name).to_owned()),
        ["torture", rest @ ..] => torture::TortureWish::parse(rest)
            .map_or_else(|| Task::Unknown(rest.join(" ")), Task::Torture),
        ["slow-tests"] => Task::SlowTests,
        ["tidy"] => Task::Tidy,
        ["blocks"] => Task::Blocks,
        ["book"] => Task::Book,
        ["readme"] => Task::Readme(readme::Builds::Tests),
        ["readme", "--release"] => Task::Readme(readme::Builds::Release),
        ["c"] => Task::C,
        ["header"] => Task::Header,
        ["install", rest @ ..] => install::InstallWish::parse(rest)
            .map_or_else(|| Task::Unknown(rest.join(" ")), Task::Install),
        ["install-c", rest @ ..] => install_c::InstallCWish::parse(rest)
            .map_or_else(|| Task::Unknown(rest.join(" ")), Task::InstallC),
        ["dist", rest @ ..] => dist::DistWish::parse(rest)
            .map_or_else(|| Task::Unknown(rest.join(" ")), Task::Dist),
        ["findings"] => Task::Findings(None),
        ["findings", record] => Task::Findings(Some((*record).to_owned())),
        ["record", rest @ ..] => {
            Task::Record(rest.iter().map(|word| (*word).to_owned()).collect())
        }
        ["tidy" | "blocks" | "book" | "c" | "header", word, ..] | [word, ..] => {
            Task::Unknown((*word).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Task {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn no_words_and_help_ask_for_the_usage() {
        for line in ["", "--help", "-h", "help", "test --help"] {
            assert_eq!(parsed(line), Task::Usage, "{line}");
        }
    }

    #[test]
    fn each_command_is_understood() {
        for line in ["test", "test --fast", "test --only tidy --no-install"] {
            assert!(matches!(parsed(line), Task::Test(_)), "{line}");
        }
        assert!(matches!(parsed("torture --minutes 5"), Task::Torture(_)));
        assert_eq!(parsed("tidy"), Task::Tidy);
        assert_eq!(parsed("blocks"), Task::Blocks);
        assert_eq!(parsed("book"), Task::Book);
        assert_eq!(parsed("c"), Task::C);
        assert_eq!(parsed("header"), Task::Header);
        assert_eq!(parsed("findings"), Task::Findings(None));
        let record = "lab/record/x";
        assert_eq!(parsed("findings lab/record/x"), Task::Findings(Some(record.to_owned())));
        assert_eq!(parsed("record --small"), Task::Record(vec!["--small".to_owned()]));
    }

    #[test]
    fn the_first_word_that_means_nothing_is_named() {
        for (line, word) in [("tset", "tset"), ("test --fats", "--fats"), ("tidy now", "now")] {
            assert_eq!(parsed(line), Task::Unknown(word.to_owned()), "{line}");
        }
        assert_eq!(parsed("install-c --prefix"), Task::Unknown("--prefix".to_owned()));
        assert_eq!(parsed("install --prefix"), Task::Unknown("--prefix".to_owned()));
        assert_eq!(parsed("install"), Task::Install(install::InstallWish::default()));
        assert_eq!(parsed("dist --only rpm"), Task::Unknown("--only rpm".to_owned()));
        assert_eq!(parsed("tidy now now"), Task::Unknown("now".to_owned()));
    }
}
