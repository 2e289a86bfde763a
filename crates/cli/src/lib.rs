//! The `swath` command: words → options → one call of the library → text or JSON.
//!
//! ```text
//! run     words → exit code           input   PATH, `-` or file:// → an input
//! cli     all words and commands      report  reports, as text and as JSON
//! command one file for each verb      args    the flags that several verbs share
//! mistake common mistakes → a hint    failure an error → one line with a hint
//! profile what `tune` measured, saved and found again
//! lab     demo, study, tune and gen: measurements, and inputs for them
//! trace   a timeline as JSON for viewers
//! ```
//!
//! The library makes all decisions about reading. The command adds one thing that only a whole program
//! may do: it maps files that other processes may truncate, with a guard that turns the fault into a
//! message and exit code 2.
//!
//! ```
//! use swath_cli::input::Input;
//!
//! let input = Input::parse("file:///tmp/a%20file".as_ref())?;
//! assert_eq!(input.to_string(), "/tmp/a file");
//! # Ok::<(), swath_cli::input::InputError>(())
//! ```

// Invariants:
// - One definition for each flag gives parsing, help, man page and completions.
// - A profile that cannot be used results in a line of output, but no read fails.
// - It makes no decision of the library; it may map files because it installs a guard.
// - In commands that write, one thread receives the signals that end a program (`signal.rs`): it
//   removes locks and hidden folders, and ends the program by the same signal. `job run` gives
//   each command a process group (`os/group.rs`), to which this thread passes on every signal
//   that ends, stops or continues the program.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "lab"),
    allow(dead_code, unused_imports, reason = "tables, flags and signals of the laboratory")
)]

pub mod args;
pub mod cli;
pub mod command;
pub mod input;
pub mod profile;
pub mod report;
pub mod run;

mod door;
mod failure;
mod grid;
#[cfg(feature = "lab")]
pub mod lab;
mod mistake;
mod output;
mod progress;
mod same_file;
mod signal;
mod trace;
mod verbs;
