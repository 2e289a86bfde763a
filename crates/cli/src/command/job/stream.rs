//! `swath job read` and `swath job write`: a part by hand.

use std::io::{self, BufRead, IsTerminal, Write as _};

use anyhow::Result;
use clap::Args;
use swath::job::PartPiece;
use swath::reading::Growth;
use swath::{ReadOptions, Reader, Source};

use super::{FolderArg, no_part};
use crate::args::{Files, TimelineArgs, count};
use crate::command::target::Target;
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{OutputError, print_json, unbuffered, wrote};

/// `swath job read`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job read out.txt.job-5f3a9c0e 3 | head
  swath job read \"$folder\" 0 > first-part.txt")]
pub struct JobRead {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// The part, from 0
    #[arg(value_name = "PART", value_parser = count())]
    pub part: usize,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// `swath job write`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job write out.txt.job-5f3a9c0e 3 < part-3.txt
  swath job run \"$folder\" 3 -- ./work        (safer than `./work | swath job write`)")]
pub struct Write {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// The part, from 0
    #[arg(value_name = "PART", value_parser = count())]
    pub part: usize,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for JobRead {
    fn run(&self) -> Result<Outcome> {
        let plan = self.folder.open_for_reading()?;
        let part = plan.part(self.part).ok_or_else(|| no_part(&plan, self.part))?;
        let pieces = part.contents()?;
        for piece in pieces {
            Target::Stdout.refuse_input(&Input::Path(piece.path.clone()))?;
        }
        part.check_inputs()?;
        let read = read_options(&self.timeline);
        let mut out = unbuffered()?;
        for piece in pieces.iter().filter(|piece| piece.len > 0) {
            let mut reader = reader(piece, &read)?;
            loop {
                let block = reader.fill_buf()?;
                if block.is_empty() {
                    break;
                }
                out.write_all(block).map_err(OutputError::from)?;
                let len = block.len();
                reader.consume(len);
            }
        }
        part.check_inputs()?;
        Ok(Outcome::Done)
    }

    fn writes(&self) -> bool {
        false
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).folder(&self.folder.folder))
    }
}

/// Returns the options for reading inputs. Growth since the plan is checked by the part.
pub(super) fn read_options(args: &TimelineArgs) -> ReadOptions {
    ReadOptions::new().with_growth(Growth::Ignored).with_timeline(args.handle())
}

/// Opens the bytes of a piece.
pub(super) fn reader(piece: &PartPiece, read: &ReadOptions) -> swath::Result<Reader> {
    read.clone().with_offset(piece.offset).with_len(piece.len).reader(piece.open()?)
}

impl Command for Write {
    fn run(&self) -> Result<Outcome> {
        let plan = self.folder.open_for_parts()?;
        let part = plan.part(self.part).ok_or_else(|| no_part(&plan, self.part))?;
        if io::stdin().is_terminal() {
            let what = "cannot read the output of a part from a terminal";
            return Err(Refused::new(
                what,
                "pass it as standard input, or use `swath job run`",
            )
            .into());
        }
        let source = Source::stdin()?;
        let mut out = part.writer()?;
        let read = ReadOptions::new().with_timeline(self.timeline.handle());
        let mut reader = read.reader(source)?;
        loop {
            let block = reader.fill_buf()?;
            if block.is_empty() {
                break;
            }
            out.write_all(block)?;
            let len = block.len();
            reader.consume(len);
        }
        let done = out.finish()?;
        wrote(plan.folder(), print_json(&done))?;
        Ok(Outcome::Done)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).folder(&self.folder.folder))
    }
}
