//! `swath sum`: the sum of all bytes, or a checksum.

use std::io::BufRead;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::{Activity, Engine, ReadOptions, Recorder, Report, Source};
use xxhash_rust::xxh3::Xxh3;

use super::Outcome;
use super::consume::{Kernel, consume};
use super::several::{each, line, note_fallbacks};
use crate::args::verbs::{self, Hash};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, ReportJson, bytes_per_s, details, headline, hex};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    #[serde(flatten)]
    value: Value,
    #[serde(flatten)]
    figures: Figures,
}

/// What is known about how it went.
#[derive(Serialize)]
#[serde(untagged)]
enum Figures {
    Report(Box<ReportJson>),
    /// Hashes that go on from block to block are read ahead of: that has no report.
    Reader {
        bytes: u64,
        elapsed_s: f64,
        bytes_per_s: f64,
    },
}

impl Figures {
    fn of(summed: &Summed) -> Self {
        match &summed.report {
            Some(report) => Self::Report(Box::new(report.into())),
            None => Self::Reader {
                bytes: summed.bytes,
                elapsed_s: summed.elapsed.as_secs_f64(),
                bytes_per_s: bytes_per_s(summed.bytes, summed.elapsed),
            },
        }
    }
}

/// What was computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Value {
    Sum(u64),
    Xxh3(String),
    Crc32c(String),
    Blake3(String),
}

impl Value {
    /// As the standard tools print it.
    fn text(&self) -> String {
        match self {
            Self::Sum(sum) => sum.to_string(),
            Self::Xxh3(hex) => format!("XXH3_{hex}"),
            Self::Crc32c(hex) | Self::Blake3(hex) => hex.clone(),
        }
    }
}

/// A value, and how it came about.
struct Summed {
    value: Value,
    bytes: u64,
    elapsed: Duration,
    report: Option<Report>,
}

impl Summed {
    fn of_scan(value: Value, report: Report) -> Self {
        Self { value, bytes: report.bytes, elapsed: report.elapsed, report: Some(report) }
    }
}

pub(super) fn run(args: &verbs::Sum) -> Result<Outcome> {
    let engine = args.how.engine.engine;
    ensure!(
        args.hash.is_none() || engine != Engine::Map,
        Refused::new("cannot compute a hash from a map", "leave out --engine map")
    );
    ensure!(
        args.paths.len() == 1 || !args.copies.is_used(),
        Refused::new("cannot sum copies of several files at once", "one PATH with its copies")
    );
    let profiles = Profiles::new(args.how.flow.profile);
    each(&args.paths, args.json, |input| {
        let source = || profiles.source(&args.copies, input);
        let options = profiles.apply(args.how.options(), input);
        let (options, bar) = Bar::attach(options, !args.json);
        let summed = match args.hash {
            None if args.copies.is_used() => {
                let scanned = options.sum(source()?)?;
                Summed::of_scan(Value::Sum(scanned.value), scanned.report)
            }
            None => sum(input, &options, engine)?,
            Some(Hash::Crc32c) => crc32c(source()?, &options)?,
            Some(Hash::Xxh3) => xxh3(source()?, &options)?,
            Some(Hash::Blake3) => blake3(source()?, &options)?,
        };
        drop(bar);
        if let Some(report) = &summed.report {
            note_fallbacks(input, report);
        }
        show(args, input, &summed)
    })
}

fn show(args: &verbs::Sum, input: &Input, summed: &Summed) -> Result<()> {
    if args.json {
        return print_json(&Json {
            path: input.label().into(),
            value: summed.value.clone(),
            figures: Figures::of(summed),
        });
    }
    let mut text = line(&summed.value.text(), input.label());
    if let Some(report) = summed.report.as_ref().filter(|report| report.usage.is_some()) {
        text.extend_from_slice(
            format!("  {}\n{}", headline(report), details(report)).as_bytes(),
        );
    }
    Ok(print(text)?)
}

fn sum(input: &Input, options: &ReadOptions, engine: Engine) -> Result<Summed> {
    let scanned = consume(input, options, (Kernel::Sum, engine))?;
    Ok(Summed::of_scan(Value::Sum(scanned.value), scanned.report))
}

/// Chunk by chunk in parallel: two checksums make that of what they are of together.
fn crc32c(source: Source, options: &ReadOptions) -> Result<Summed> {
    let scanned = options.scan(
        source,
        |chunk| (crc32c::crc32c(chunk.bytes), chunk.bytes.len() as u64),
        |left, right| (swath_simd::crc32c_combine(left.0, right.0, right.1), left.1 + right.1),
    )?;
    let (checksum, _) = scanned.value.unwrap_or_default();
    Ok(Summed::of_scan(Value::Crc32c(format!("{checksum:08x}")), scanned.report))
}

fn xxh3(source: Source, options: &ReadOptions) -> Result<Summed> {
    let mut hasher = Xxh3::new();
    let (bytes, elapsed) = feed(source, options, |block| hasher.update(block))?;
    let value = Value::Xxh3(format!("{:016x}", hasher.digest()));
    Ok(Summed { value, bytes, elapsed, report: None })
}

fn blake3(source: Source, options: &ReadOptions) -> Result<Summed> {
    let mut hasher = blake3::Hasher::new();
    let (bytes, elapsed) = feed(source, options, |block| {
        hasher.update(block);
    })?;
    let value = Value::Blake3(hex(hasher.finalize().as_bytes()));
    Ok(Summed { value, bytes, elapsed, report: None })
}

/// Gives every block to `update`, in order, while the next ones are read.
fn feed(
    source: Source,
    options: &ReadOptions,
    mut update: impl FnMut(&[u8]),
) -> Result<(u64, Duration)> {
    let start = Instant::now();
    let mut reader = options.reader(source)?;
    let mut recorder = options.timeline().map(|timeline| timeline.recorder(reader.path()));
    let mut bytes = 0;
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok((bytes, start.elapsed()));
        }
        let len = block.len();
        recorder.as_mut().map(Recorder::mark);
        update(block);
        if let Some(recorder) = &mut recorder {
            recorder.lap(Activity::Compute, options.offset() + bytes, len as u64);
        }
        bytes += len as u64;
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(bytes: &[u8], work: fn(Source, &ReadOptions) -> Result<Summed>) -> Value {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("input");
        std::fs::write(&path, bytes).expect("written");
        // Small chunks, so that there is something to combine.
        let options = ReadOptions::new().with_chunk_size(4);
        work(Source::from(path), &options).expect("it can be read").value
    }

    #[test]
    fn checksums_of_the_check_string_are_the_published_ones() {
        let check = b"123456789";
        assert_eq!(value_of(check, crc32c), Value::Crc32c("e3069283".into()));
        assert_eq!(value_of(b"", crc32c), Value::Crc32c("00000000".into()));
        assert_eq!(value_of(b"", xxh3), Value::Xxh3("2d06800538d394c2".into()));
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(value_of(b"", blake3), Value::Blake3(empty.into()));
    }

    #[test]
    fn xxh3_is_marked_as_its_tool_marks_it() {
        assert_eq!(Value::Xxh3("2d06800538d394c2".into()).text(), "XXH3_2d06800538d394c2");
    }
}
