//! `compress` and `decompress`: a quarter of the input's size in hexadecimal digits.

use std::fs;
use std::io::{Read, Write};
use std::time::Instant;
use swath::{OutputOptions, ReadOptions};

use anyhow::Result;
use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};

use super::leave::digits;
use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// A way to compress: the engine's name, the way's, the format, and how many workers; 0 is one for
/// each core.
type Way = (&'static str, &'static str, Format, usize);

const WAYS: [Way; 4] = [
    ("zstd", "level 3, one worker", Format::Zstd, 1),
    ("zstd", "level 3, all workers", Format::Zstd, 0),
    ("gzip", "level 6, all workers", Format::Gzip, 0),
    ("zstd", "and back", Format::Zstd, 0),
];

/// The text is so many times shorter than the input.
const SHARE: u64 = 4;

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let row = |(index, (engine, way, format, workers)): (usize, Way)| Row {
        capability: "compress",
        engine,
        way,
        state: State::New,
        memory: Memory::None,
        limit: Limit::Computing,
        is_peer: index == 0,
        bytes: Some(stage.made.bytes / SHARE),
        run: Box::new(move |stage| run(stage, format, workers, way == WAYS[3].1)),
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// Times compression, or the way back; checks by the way back in any case.
fn run(stage: &Stage, format: Format, workers: usize, times_back: bool) -> Result<Run> {
    let beside = |name: &str| stage.path.with_file_name(name);
    let (text_path, packed, back) = (beside("text"), beside("packed"), beside("back"));
    // Two digits for each byte of an eighth: a quarter.
    let text = digits(&stage.bytes[..stage.bytes.len() / 8]);
    fs::File::create(&text_path)?.write_all(&text)?;
    let ordered = || {
        OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
    };
    let out = ordered().ordered(&packed)?;
    let start = Instant::now();
    CompressOptions::new()
        .with_format(format)
        .with_read(ReadOptions::new().with_workers(workers))
        .compress(&text_path, out)?;
    let there = start.elapsed();
    let out = ordered().ordered(&back)?;
    let start = Instant::now();
    DecompressOptions::new()
        .with_read(ReadOptions::new().with_workers(workers))
        .decompress(&packed, out)?;
    let and_back = start.elapsed();
    let mut actual = Vec::new();
    fs::File::open(&back)?.read_to_end(&mut actual)?;
    for path in [text_path, packed, back] {
        fs::remove_file(path)?;
    }
    let elapsed = if times_back { and_back } else { there };
    Ok(Run { elapsed, is_right: actual == text, fallbacks: Vec::new() })
}
