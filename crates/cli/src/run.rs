//! The way from words to an exit code.
//!
//! Exit codes: 0 done; 1 done, but bytes differ or something was skipped; 2 not done, or done but the report
//! could not be printed; then the message says that the output was written. A reader that leaves has read enough:
//! that is not an error, and hides no other outcome.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};

use crate::cli::Cli;
use crate::command::timeline::Recording;
use crate::command::{Command, Outcome};
use crate::failure::{describe, is_closed_pipe};
use crate::output::{
    check_taken, complain, complain_of_part, print_answer, written, wrote_all,
};
use crate::signal::{Watch, let_it_end};

/// Runs the command in `words`, the program's name first, and returns its exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(words))
}

/// As [`run`], but returns the exit code as a number, for callers that are not in Rust.
pub fn status(words: impl IntoIterator<Item = OsString>) -> u8 {
    let (cli, word) = match Cli::parsed(words) {
        Ok(parsed) => parsed,
        Err(answer) => return answered(&answer),
    };
    swath::machine::silence_caught_panics();
    // Standard output may be a file; exceeding the file size limit should be an error, not a signal. If
    // the signal cannot be ignored, it ends the program as usual.
    let _ = swath_os::limits::ignore_file_size_signal();
    swath_os::limits::share_heap_within_limit();
    let command = cli.verb.command();
    let has_timeline = command.timeline().is_some_and(|it| it.timeline.timeline.is_some());
    let writes = command.writes() || has_timeline;
    let watch = writes.then(|| Watch::begin(command.held())).flatten();
    let ended = recorded(command, &word);
    let ended = ended.and_then(|outcome| match check_taken() {
        Ok(()) => Ok(outcome),
        Err(error) => wrote_all::<&Path>([], Err(error.into())).map(|()| outcome),
    });
    let_it_end();
    drop(watch);
    match ended {
        Ok(outcome) => outcome.into(),
        Err(error) if is_closed_pipe(&error) => Outcome::Done.into(),
        Err(error) => {
            let text = describe(&error);
            complain(&text);
            complain_of_part(&text);
            Outcome::NotDone.into()
        }
    }
}

/// Prints the parser's answer: an error, help, or a version.
fn answered(answer: &clap::Error) -> u8 {
    if answer.use_stderr() {
        // If standard error is closed too, there is nowhere to report to.
        let _ = answer.print();
        return Outcome::NotDone.into();
    }
    match print_answer(answer).and_then(|()| check_taken()) {
        Err(error) if !error.is_closed() => {
            complain(describe(&error.into()));
            Outcome::NotDone.into()
        }
        _ => Outcome::Done.into(),
    }
}

/// Runs a command, and writes its timeline if it has one.
fn recorded(command: &dyn Command, word: &str) -> Result<Outcome> {
    let Some(recording) = Recording::begin(command, word)? else { return command.run() };
    let ended = command.run();
    match (ended, recording.leave()) {
        (ended, Ok(())) => ended,
        (ended, Err(error)) if is_closed_pipe(&error) => ended,
        (Ok(_), Err(error)) => Err(match written() {
            None => error,
            Some(wrote) => anyhow!("{wrote}, but {}", describe(&error)),
        }),
        (Err(first), Err(error)) => {
            complain(describe(&error));
            Err(first)
        }
    }
}
