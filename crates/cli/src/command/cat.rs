//! `swath cat`: writes a file to standard output while the next blocks are read.

use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::append::Opened;
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
use crate::report::{PathJson, bytes_per_s, counted, object};

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
    #[arg(value_name = "PATH", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Decompress a zstd, gzip or bzip2 file; --offset and --length count decompressed bytes
    ///
    /// Without this flag a compressed file is written as it is. With an index, which `swath compress`
    /// writes for zstd and gzip, only the frames that are needed are read; without one, everything
    /// before them is decoded too.
    #[arg(long, short, conflicts_with_all = ["mirrors", "verify_against"])]
    pub decompress: bool,

    /// Copy all bytes into a pipe, those in the page cache too
    ///
    /// Without this flag a pipe gets pages of the page cache. A program that passes these on without reading
    /// them, as pv does, may send what another program has written to the file since.
    #[arg(long)]
    pub copy: bool,

    /// Write the lines that begin in these bytes, the last one to its end
    ///
    /// If extents cover a file without overlap, each line begins in exactly one of them: so several
    /// programs can share one file.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_extent, conflicts_with_all = ["decompress", "offset", "length"])]
    pub starting_in: Option<Extent>,

    /// Print JSON to standard error, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// Which bytes.
    #[command(flatten)]
    pub extent: ExtentArgs,

    /// How to read.
    #[command(flatten)]
    pub flow: FlowArgs,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Cat {
    fn run(&self) -> Result<Outcome> {
        let start = Instant::now();
        let (outcome, bytes) = written(self)?;
        let elapsed = start.elapsed();
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(self.path.label()),
            bytes,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(bytes, elapsed),
        };
        Target::Stdout.tell(self.json, &json, "")?;
        Ok(outcome)
    }

    fn writes(&self) -> bool {
        false
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).input(&self.path).copies(&self.copies))
    }
}

/// Writes the selected bytes to standard output; returns their number.
fn written(args: &Cat) -> Result<(Outcome, u64)> {
    for input in [&args.path].into_iter().chain(&args.copies.mirrors) {
        Target::Stdout.refuse_input(input)?;
    }
    if args.decompress {
        return decompressed(args);
    }
    if let Some(extent) = args.starting_in {
        return lines(args, extent).map(|bytes| (Outcome::Done, bytes));
    }
    // With a rate, segments are read like any other source.
    let segments = match args.flow.rate.is_none() && !args.copies.is_used() {
        true => args.path.segments()?,
        false => None,
    };
    let bytes = match segments {
        Some(opened) => in_segments(args, opened)?,
        None => as_it_is(args)?,
    };
    Ok((Outcome::Done, bytes))
}

/// Writes the bytes of a file while the next ones are read.
fn as_it_is(args: &Cat) -> Result<u64> {
    let options = args.flow.apply(args.extent.apply(ReadOptions::new()));
    let profiles = Profiles::new(args.flow.profile);
    let options = profiles.apply(options, &args.path).with_timeline(args.timeline.handle());
    let mut reader = options.reader(profiles.source(&args.copies, &args.path)?)?;
    // A block is one write: a buffer in between would only copy it.
    let mut out = unbuffered()?;
    let mut recorder = args.timeline.recorder("<stdout>");
    let mut offset = match args.copy {
        true => 0,
        false => reader.move_to_pipe(&out).map_err(OutputError::from)?,
    };
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(offset);
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

/// Writes the contents of a compressed file.
fn decompressed(args: &Cat) -> Result<(Outcome, u64)> {
    let quiet = OutputArgs { timeline: args.timeline.clone(), ..OutputArgs::default() };
    let read = args.flow.apply(quiet.read_options());
    let read = Profiles::new(args.flow.profile).apply(read, &args.path);
    let mut options = DecompressOptions::new()
        .with_offset(args.extent.offset)
        .with_read(read.with_workers(args.flow.workers));
    if let Some(length) = args.extent.length {
        options = options.with_len(length);
    }
    Target::Stdout.refuse_input(&args.path)?;
    let input = swath::Input::open(args.path.source()?)?;
    let output = Output::stream(unbuffered()?, "<stdout>");
    let report = options.decompress(&input, output)?;
    note_all(&args.path, &report.fallbacks);
    note_all(&args.path, &report.notes());
    Ok((decompress::outcome(&report), report.bytes_out))
}

/// Writes the lines that begin in an extent, in their order.
fn lines(args: &Cat, extent: Extent) -> Result<u64> {
    let profiles = Profiles::new(args.flow.profile);
    let options = profiles.apply(args.flow.apply(ReadOptions::new()), &args.path);
    let options = options.with_timeline(args.timeline.handle());
    let records = options.records(profiles.source(&args.copies, &args.path)?);
    let output = Output::stream(unbuffered()?, "<stdout>");
    let done = records.with_starting_in(extent).transform_blocks(output, |block, out| {
        out.extend_from_slice(block.bytes);
        Ok::<(), swath::Error>(())
    })?;
    Ok(done.written.bytes)
}

/// Writes segments. They are read one after the other, so that the checksum of each extent is compared.
fn in_segments(args: &Cat, mut opened: Opened) -> Result<u64> {
    const BLOCK: usize = 1 << 20;
    let rest = opened.len().saturating_sub(args.extent.offset);
    let len = args.extent.length.unwrap_or(rest);
    if len > rest || args.extent.offset > opened.len() {
        let text =
            format!("cannot read {}: it has {}", args.path, counted(opened.len(), "byte"));
        return Err(Refused::new(text, "choose a smaller --offset or --length").into());
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
    Ok(len - left)
}
