//! `swath demo`: measures every engine beside the limits of this machine.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};

use super::{Command, Outcome};
use crate::args::parse_size;
use crate::demo;
use crate::output::tell;

/// `swath demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath demo
  swath demo --size 2GiB --dir /mnt/disk
  swath demo --json > machine.json")]
pub struct Demo {
    /// How long its inputs are; it takes four times as much memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256MiB", allow_negative_numbers = true)]
    pub size: u64,

    /// Where to make them, in a folder that is removed again [default: the folder for temporary
    /// files, or the current one if that is in memory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Demo {
    fn run(&self) -> Result<Outcome> {
        let findings = demo::measure(self.size, self.dir.as_deref())?;
        tell(self.json, &demo::json(&findings), demo::text(&findings))?;
        Ok(if findings.is_right() { Outcome::Done } else { Outcome::Differs })
    }
}
