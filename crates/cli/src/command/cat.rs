//! `swath cat`: writes a file to standard output while the next blocks are read.

use std::io::{BufRead, Read, Seek, SeekFrom, Write};

use anyhow::Result;
use swath::append::Opened;
use swath::timeline::{Activity, Recorder};
use swath::{Extent, Output, ReadOptions};

use super::{Outcome, decompress};
use crate::args::verbs;
use crate::failure::Refused;
use crate::output::{OutputError, unbuffered};
use crate::profile::Profiles;

pub(super) fn run(args: &verbs::Cat) -> Result<Outcome> {
    if args.decompress {
        return decompress::cat(args);
    }
    if let Some(extent) = args.starting_in {
        return lines(args, extent);
    }
    // With a rate it is read as any source is.
    if args.flow.rate.is_none()
        && !args.copies.is_used()
        && let Some(opened) = args.path.segments()?
    {
        return segments(args, opened);
    }
    let options = args.flow.apply(args.extent.apply(ReadOptions::new()));
    let profiles = Profiles::new(args.flow.profile);
    let options = profiles.apply(options, &args.path).with_timeline(args.timeline.handle());
    let mut reader = options.reader(profiles.source(&args.copies, &args.path)?)?;
    // A block is one write: a buffer between would only copy it.
    let mut out = unbuffered()?;
    let (mut recorder, mut offset) = (args.timeline.recorder("<stdout>"), 0);
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

/// The lines that begin in an extent, in their order.
fn lines(args: &verbs::Cat, extent: Extent) -> Result<Outcome> {
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
fn segments(args: &verbs::Cat, mut opened: Opened) -> Result<Outcome> {
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
