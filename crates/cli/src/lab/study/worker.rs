//! `swath study worker`: a process of the small clusters that `study` runs, never started by hand.

use std::io;

use anyhow::Result;
use clap::Args;
use swath_study::scale::worker::work;

use crate::command::{Command, Outcome};

/// `swath study worker`
#[derive(Debug, Args)]
pub struct Worker {}

impl Command for Worker {
    fn run(&self) -> Result<Outcome> {
        work(io::stdin().lock(), io::stdout().lock())?;
        Ok(Outcome::Done)
    }
}
