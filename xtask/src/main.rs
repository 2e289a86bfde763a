//! The repository's own checks, which run the same in CI and on a laptop.
//!
//! ```text
//! cargo xtask test    every check that a push has to pass
//! cargo xtask torture every battery at full size, and what takes too long for a push
//! cargo xtask tidy    the rules that no compiler knows; with --lines, how much there is
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
//! This file names the commands; each has a module of its own.

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

use std::process::ExitCode;

use clap::Parser;
use workspace::Workspace;

/// The repository's own checks, which run the same in CI and on a laptop
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct TaskWords {
    #[command(subcommand)]
    task: Task,
}

/// The command to run.
#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Everything that CI checks, three steps at a time
    ///
    /// It lists the peers that it installs to compare with.
    Test(test::TestWish),
    /// The process of a step
    #[command(hide = true)]
    Step { name: String },
    /// Write xtask/slow-tests.txt anew, from the last run of all tests
    SlowTests,
    /// Every battery at full size, and what takes too long for a push
    ///
    /// After Miri, valgrind, the release build with what README.md says of it, and each crate's features
    /// alone come other seeds until N minutes have passed. A whole run writes xtask/torture.json.
    Torture(torture::TortureWish),
    /// Arrows between modules, sizes, dead files, forbidden words
    Tidy(tidy::TidyWish),
    /// The step `c` of the test: the C library as C and C++ programs see it
    C,
    /// Run the shell, C and Python blocks of README.md and docs
    ///
    /// Python's run if the package is installed in target/venv.
    Blocks,
    /// Build the documentation in target/book, check every link, and open two pages in a browser
    Book,
    /// Install the command, crate, package and C library as README.md says, and run its programs
    ///
    /// All are debug builds in folders of their own, and the package is the one in target/venv.
    Readme {
        /// Make release builds of everything, as a user gets them
        #[arg(long)]
        release: bool,
    },
    /// Write crates/capi/include/swath.h, from the crate
    Header,
    /// The release command, its completions and manual pages, into a prefix
    Install(install::InstallWish),
    /// The C library, swath.h, and what pkg-config and CMake want to know, into a prefix
    InstallC(install_c::InstallCWish),
    /// Make a release of the last commit
    ///
    /// Parts that this machine cannot make are listed; with --only or --strict that is a failure.
    Dist(dist::DistWish),
    /// Run the benchmarks with WORDS, beside the peers they are compared with
    #[command(disable_help_flag = true)]
    Record {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Copy the records' findings on the study's claims into the documents that quote them
    Findings {
        /// The folder of a record: all documents quote that one
        record: Option<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match std::env::var_os(book::API_FOLDER) {
        // Started by Cargo in place of rustdoc; the folder for the site's reference.
        Some(folder) => book::rustdoc(&folder),
        None => Workspace::find().and_then(|it| run(it, TaskWords::parse().task)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: Workspace, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Test(wish) => test::run(&workspace, &wish),
        Task::Step { name } => test::run_step(&workspace.linted()?, &name),
        Task::Torture(wish) => torture::run(&workspace.linted()?, &wish),
        Task::SlowTests => slow::write(&workspace),
        Task::Tidy(wish) => tidy::start(&workspace, &wish),
        Task::Blocks => test::blocks(&workspace),
        Task::Book => book::run(&workspace),
        Task::Readme { release: false } => readme::run_step(&workspace.linted()?),
        Task::Readme { release: true } => readme::check(&workspace, readme::Builds::Release),
        Task::C => c::check(&workspace),
        Task::Header => header::write(&workspace),
        Task::Install(wish) => install::run(&workspace, &wish),
        Task::InstallC(wish) => install_c::run(&workspace, &wish),
        Task::Dist(wish) => dist::run(&workspace, &wish),
        Task::Findings { record } => tidy::update(&workspace, record.as_deref()),
        Task::Record { words } => record::run(&workspace, &words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_understood_and_other_words_are_refused() {
        let task = |line: &str| TaskWords::try_parse_from(format!("xtask {line}").split(' '));
        for line in [
            "test --fast",
            "test --only tidy --no-install",
            "torture --minutes 5 --only trees --seed 7",
            "tidy --lines --root x",
            "findings lab/record/x",
            "record --small",
            "install --binary b --prefix p",
            "install --uninstall",
            "install-c --prefix p --profile dev",
            "dist --out d --only deb --only c --try",
        ] {
            assert!(task(line).is_ok(), "{line}");
        }
        for line in [
            "tset",
            "test --fast --only c",
            "test --only d",
            "tidy now",
            "tidy --root x",
            "torture --only none",
            "install --uninstall --binary b",
            "install-c",
            "dist --only rpm",
        ] {
            assert!(task(line).is_err(), "{line}");
        }
    }
}
