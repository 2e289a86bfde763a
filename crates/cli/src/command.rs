//! The commands, one file each with its flags and its work, and their common trait.

pub(crate) mod cat;
pub(crate) mod compress;
mod consume;
pub(crate) mod convert;
pub(crate) mod cp;
pub(crate) mod decompress;
pub(crate) mod head;
pub(crate) mod heal;
pub(crate) mod info;
pub(crate) mod ingest;
pub(crate) mod job;
pub(crate) mod manifest;
pub(crate) mod mirror;
pub(crate) mod price;
pub(crate) mod read;
pub(crate) mod scan;
mod several;
pub(crate) mod sum;
mod tabular;
pub(crate) mod target;
pub(crate) mod timeline;

use crate::args::Files;
use crate::signal::Held;
use anyhow::Result;

/// A command: its flags, parsed.
pub(crate) trait Command {
    /// Runs it.
    fn run(&self) -> Result<Outcome>;

    /// Whether it creates files or folders: a signal then removes unfinished ones.
    fn writes(&self) -> bool {
        true
    }

    /// Returns the signals that it receives, if it [`writes`](Self::writes). All, if it runs programs of the
    /// user.
    fn held(&self) -> Held {
        Held::Ending
    }

    /// Returns its timeline flags, and its input and output files, which a timeline must not replace.
    /// `None` if the command has no timeline.
    fn timeline(&self) -> Option<Files<'_>> {
        None
    }
}

/// The result of a command that did not fail as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done.
    Done,
    /// Done, but bytes differ or something was skipped.
    Differs,
    /// Nothing was done, and every reason has been printed.
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
