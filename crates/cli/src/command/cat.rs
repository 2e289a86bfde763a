//! `swath cat`: writes a file to standard output while the next blocks are read.

use std::io::{BufRead, Read, Seek, SeekFrom, Write};

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::append::Opened;
use swath::sink::{Durability, HardLinks};
use swath::timeline::{Activity, Recorder};
use swath::{Extent, Output, ReadOptions};
use swath_formats::compressed::DecompressOptions;

use super::target::{Target, note_all};
use super::{Command, Outcome, decompress};
use crate::args::{
    CopiesArgs, ExtentArgs, Files, FlowArgs, OutputArgs, TimelineArgs, input, parse_extent,
};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{OutputError, unbuffered};
use crate::profile::Profiles;

/// `swath cat`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath cat data.bin | zstd > data.zst
  swath cat --offset 1GiB --length 4KiB data.bin | xxd
  swath cat --starting-in 1GiB..2GiB access.log | grep ' 500 '
  swath cat --rate 50MiB/s --io-priority idle data.bin | ssh host 'cat > data.bin'
  swath cat --decompress --offset 1GiB --length 4KiB data.zst | xxd")]
pub struct Cat {
    /// The file; `-` is standard input
    #[arg(value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Write what a zstd, gzip or bzip2 file holds; --offset and --length count its bytes
    ///
    /// Without this a compressed file is written as it is, as any other. With an index, which
    /// `swath compress` writes for zstd and gzip, only the frames that are needed are read;
    /// without one, all before them is decoded too.
    #[arg(long, short, conflicts_with_all = ["mirrors", "verify_against"])]
    pub decompress: bool,

    /// Write the lines that begin in these bytes, the last one to its end, wherever that is
    ///
    /// Of extents that together are all of a file, each line begins in one: so many programs can
    /// take a part each of one file.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_extent, conflicts_with_all = ["decompress", "offset", "length"])]
    pub starting_in: Option<Extent>,

    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// Which bytes.
    #[command(flatten)]
    pub extent: ExtentArgs,

    /// How to read.
    #[command(flatten)]
    pub flow: FlowArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Cat {
    fn run(&self) -> Result<Outcome> {
        if self.decompress {
            return decompressed(self);
        }
        if let Some(extent) = self.starting_in {
            return lines(self, extent);
        }
        // With a rate it is read as any source is.
        if self.flow.rate.is_none()
            && !self.copies.is_used()
            && let Some(opened) = self.path.segments()?
        {
            return segments(self, opened);
        }
        let options = self.flow.apply(self.extent.apply(ReadOptions::new()));
        let profiles = Profiles::new(self.flow.profile);
        let options = profiles.apply(options, &self.path).with_timeline(self.timeline.handle());
        let mut reader = options.reader(profiles.source(&self.copies, &self.path)?)?;
        // A block is one write: a buffer between would only copy it.
        let mut out = unbuffered()?;
        let (mut recorder, mut offset) = (self.timeline.recorder("<stdout>"), 0);
        loop {
            let block = reader.fill_buf()?;
            if block.is_empty() {
                return Ok(Outcome::Done);
            }
            let len = block.len();
            recorder.as_mut().map(Recorder::mark);
            out.write_all(block).map_err(OutputError::from)?;
            if let Some(recorder) = &mut recorder {
                recorder.lap(Activity::Write, offset, len as u64);
            }
            offset += len as u64;
            reader.consume(len);
        }
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).input(&self.path).copies(&self.copies))
    }
}

/// Writes what a compressed file holds to standard output.
fn decompressed(args: &Cat) -> Result<Outcome> {
    let quiet = OutputArgs {
        force: false,
        durability: Durability::None,
        hard_links: HardLinks::Refused,
        json: false,
        timeline: args.timeline.clone(),
    };
    let read = args.flow.apply(quiet.read_options());
    let read = Profiles::new(args.flow.profile).apply(read, &args.path);
    let mut options = DecompressOptions::new()
        .with_offset(args.extent.offset)
        .with_read(read.with_workers(args.flow.workers));
    if let Some(length) = args.extent.length {
        options = options.with_len(length);
    }
    let output = Target::Stdout.begin(&quiet, &args.path)?;
    let report = options.decompress(args.path.source()?, output)?;
    note_all(&args.path, &report.fallbacks);
    note_all(&args.path, &report.notes());
    Ok(decompress::outcome(&report))
}

/// The lines that begin in an extent, in their order.
fn lines(args: &Cat, extent: Extent) -> Result<Outcome> {
    let profiles = Profiles::new(args.flow.profile);
    let options = profiles.apply(args.flow.apply(ReadOptions::new()), &args.path);
    let options = options.with_timeline(args.timeline.handle());
    let records = options.records(profiles.source(&args.copies, &args.path)?);
    let output = Output::stream(unbuffered()?, "<stdout>");
    records.with_starting_in(extent).transform_blocks(output, |block, out| {
        out.extend_from_slice(block.bytes);
        Ok::<(), swath::Error>(())
    })?;
    Ok(Outcome::Done)
}

/// Segments are read one behind the other, so that the checksum of each extent is compared.
fn segments(args: &Cat, mut opened: Opened) -> Result<Outcome> {
    const BLOCK: usize = 1 << 20;
    let rest = opened.len().saturating_sub(args.extent.offset);
    let len = args.extent.length.unwrap_or(rest);
    if len > rest || args.extent.offset > opened.len() {
        let text = format!("cannot read {}: it has {} bytes", args.path, opened.len());
        return Err(Refused::new(text, "ask for less").into());
    }
    opened.seek(SeekFrom::Start(args.extent.offset))?;
    let mut out = unbuffered()?;
    let mut recorder = args.timeline.recorder(args.path.name());
    let mut block = vec![0; BLOCK];
    let mut left = len;
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        let at = args.extent.offset + (len - left);
        recorder.as_mut().map(Recorder::mark);
        let read = opened.read(&mut block[..want])?;
        if let Some(recorder) = &mut recorder {
            recorder.lap(Activity::Read, at, read as u64);
        }
        if read == 0 {
            break;
        }
        out.write_all(&block[..read]).map_err(OutputError::from)?;
        if let Some(recorder) = &mut recorder {
            recorder.lap(Activity::Write, at, read as u64);
        }
        left -= read as u64;
    }
    Ok(Outcome::Done)
}
