//! `swath demo`: how fast this machine reads, writes and parses, with Swath and without it.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};

use super::Wanted;
use crate::args::{parse_size, path};
use crate::command::{Command, Outcome};
use crate::output::tell;

/// `swath demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath demo
  swath demo --all
  swath demo --size 2GiB --dir /mnt/disk
  swath demo --json > machine.json

It stops after about half a minute, with fewer rounds if they are slow, which the report says. One \
round is always completed, however large --size is.")]
pub struct Demo {
    /// Print the table of every engine and capability after the five lines
    #[arg(long)]
    pub all: bool,

    /// Size of the input; takes four times as much memory, six times with --all [default: 128MiB,
    /// 64MiB with --all, or less if there is little memory or disk space, or the disk is slow]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: Option<u64>,

    /// Where to make the input, in a folder that is removed again [default: the folder for temporary
    /// files, or the current one if that is in memory]
    #[arg(long, value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Demo {
    fn run(&self) -> Result<Outcome> {
        let wanted = Wanted { size: self.size, folder: self.dir.as_deref(), all: self.all };
        let findings = super::measure(wanted)?;
        tell(self.json, &super::json(&findings), super::text(&findings))?;
        Ok(if findings.is_right() { Outcome::Done } else { Outcome::Differs })
    }
}
