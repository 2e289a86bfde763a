//! The commands: one file each, and what their ends have in common.
//!
//! Exit codes: 0 done; 1 done, but bytes differ or something was skipped; 2 not done, or done but
//! the report could not be printed, and the message says that the output was written. A closed pipe
//! is no error.

mod cat;
mod classes;
mod compress;
mod consume;
mod convert;
mod cp;
mod decompress;
mod demo;
mod generate;
mod heal;
mod info;
mod ingest;
mod manifest;
mod manual;
mod mirror;
mod price;
mod read;
mod scan;
mod several;
mod study;
mod sum;
mod target;
mod timeline;
mod tune;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use rayon::ThreadPool;
use swath::Operation;

use crate::args::{Cli, Verb};
use crate::command::timeline::Recording;
use crate::failure::describe;
use crate::output::{OutputError, complain, print_answer};
use crate::signal::let_it_end;

/// How a command ended that did not fail as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Done.
    Done,
    /// Done, but bytes differ or something was skipped.
    Differs,
    /// Nothing was done, and every reason has been said.
    NotDone,
}

impl From<Outcome> for u8 {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => 0,
            Outcome::Differs => 1,
            Outcome::NotDone => 2,
        }
    }
}

/// Runs the command that `words` say, the program's name first, and returns its exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(words))
}

/// The same for a program that is not in Rust: returns the exit code as a number.
pub fn status(words: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(answer) => return answered(&answer),
    };
    // Standard output may be a file, and the limit of file sizes is an error like others. If it
    // cannot be ignored, it ends the program: no worse than without this.
    let _ = swath::machine::ignore_file_size_signal();
    let ended = recorded(&cli.verb);
    let_it_end();
    match ended {
        Ok(outcome) => outcome.into(),
        Err(error) if is_closed_pipe(&error) => Outcome::Done.into(),
        Err(error) => {
            complain(describe(&error));
            Outcome::NotDone.into()
        }
    }
}

/// Says what the words are answered with: what is wrong with them, help, or a version.
fn answered(answer: &clap::Error) -> u8 {
    if answer.use_stderr() {
        // If standard error is gone too, nobody is left to tell.
        let _ = answer.print();
        return Outcome::NotDone.into();
    }
    match print_answer(answer) {
        Err(error) if !error.is_closed() => {
            complain(describe(&error.into()));
            Outcome::NotDone.into()
        }
        _ => Outcome::Done.into(),
    }
}

/// Runs a command, and leaves its timeline if it is to have one.
fn recorded(verb: &Verb) -> Result<Outcome> {
    let Some(recording) = Recording::begin(verb)? else { return dispatch(verb) };
    let ended = dispatch(verb);
    match (ended, recording.leave()) {
        (ended, Ok(())) => ended,
        (Ok(_), Err(error)) => Err(error),
        (Err(first), Err(error)) => {
            complain(describe(&error));
            Err(first)
        }
    }
}

fn dispatch(verb: &Verb) -> Result<Outcome> {
    match verb {
        Verb::Read(args) => read::run(args),
        Verb::Ingest(args) => ingest::run(args),
        Verb::Sum(args) => sum::run(args),
        Verb::Scan(args) => scan::run(args),
        Verb::Cat(args) => cat::run(args),
        Verb::Cp(args) => cp::run(args),
        Verb::Mirror(args) => mirror::run(args),
        Verb::Manifest(args) => manifest::run(args),
        Verb::Heal(args) => heal::run(args),
        Verb::Compress(args) => compress::run(args),
        Verb::Decompress(args) => decompress::run(args),
        Verb::Price(args) => price::run(args),
        Verb::Convert(args) => convert::run(args),
        Verb::Info(args) => info::run(args),
        Verb::Gen(args) => generate::run(args),
        Verb::Demo(args) => demo::run(args),
        Verb::Study(args) => study::run(args),
        Verb::Tune(args) => tune::run(args),
        Verb::Completions(args) => manual::completions(args),
        Verb::Man(args) => manual::man(args),
    }
}

/// The threads of commands that fork and join; 0 is one for each core. Also what was done instead,
/// where there are fewer.
fn pool(workers: usize) -> Result<(ThreadPool, Vec<String>)> {
    let built = swath_study::threads::pool(workers);
    let (pool, instead) = built
        .context("cannot start the threads; try: fewer `--workers`, or a higher `ulimit -u`")?;
    Ok((pool, instead.into_iter().collect()))
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let of_format = error.downcast_ref::<swath_formats::Error>();
    let written = of_format
        .and_then(|error| error.library())
        .or_else(|| error.downcast_ref::<swath::Error>())
        .filter(|error| error.operation() == Operation::Write);
    error.downcast_ref::<OutputError>().is_some_and(OutputError::is_closed)
        || written.is_some_and(|error| error.io_kind() == ErrorKind::BrokenPipe)
}
