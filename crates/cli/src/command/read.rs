//! `swath read`: loads a file and says how fast it was.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::maps::Guard;
use swath::{Engine, Loaded, ReadOptions, Report};
use swath_study::stats;

use super::{Outcome, classes};
use crate::args::verbs;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{complain, print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, ReportJson, bytes_per_s, details, headline, time_text};

/// Bytes that are compared at one time.
const STEP: usize = 1 << 20;

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    runs: Vec<ReportJson>,
    median_elapsed_s: f64,
    median_bytes_per_s: f64,
    /// `null`: nobody asked.
    verified: Option<bool>,
}

pub(super) fn run(args: &verbs::Read) -> Result<Outcome> {
    check(args)?;
    if let Some(cut) = args.classes.cut() {
        return classes::run(args, cut);
    }
    let profiles = Profiles::new(args.how.flow.profile);
    let mut reports = Vec::new();
    let mut verified = None;
    for index in 1..=args.repeat {
        let loaded = load(args, &profiles)?;
        if !args.json {
            print(run_text(args, index, &loaded.report))?;
        }
        if args.verify {
            verified = Some(verified.unwrap_or(true) & verify(args, &loaded.buffer)?);
        }
        reports.push(loaded.report);
    }
    let times: Vec<f64> = reports.iter().map(|report| report.elapsed.as_secs_f64()).collect();
    let median = Duration::from_secs_f64(stats::median(&times).unwrap_or_default());
    let bytes = reports.last().map_or(0, |report| report.bytes);
    if args.json {
        print_json(&Json {
            path: args.path.label().into(),
            runs: reports.iter().map(ReportJson::from).collect(),
            median_elapsed_s: median.as_secs_f64(),
            median_bytes_per_s: bytes_per_s(bytes, median),
            verified,
        })?;
    } else {
        print(summary_text(args, bytes, median, verified))?;
    }
    Ok(if verified == Some(false) { Outcome::Differs } else { Outcome::Done })
}

/// Refuses to read twice what comes only once.
fn check(args: &verbs::Read) -> Result<()> {
    ensure!(
        !(args.verify || args.repeat > 1) || !comes_once(&args.path),
        Refused::new(
            format!("cannot read {} a second time: it is no file but a stream", args.path),
            "leave out --verify and --repeat, or name a file"
        )
    );
    Ok(())
}

/// Whether what was read from it is gone. What cannot be inspected is left to the read.
fn comes_once(input: &Input) -> bool {
    let facts = match input {
        Input::Stdin => input.open().and_then(|mut file| {
            // Somebody has read from it: it goes on from there, in order.
            if file.stream_position().is_ok_and(|position| position > 0) {
                return Err(io::ErrorKind::NotSeekable.into());
            }
            file.metadata()
        }),
        // Opening a pipe would wait for its other end.
        Input::Path(path) => std::fs::metadata(path),
    };
    match facts {
        Ok(facts) => {
            let kind = facts.file_type();
            kind.is_fifo() || kind.is_socket() || kind.is_char_device()
        }
        Err(error) => error.kind() == io::ErrorKind::NotSeekable,
    }
}

fn load(args: &verbs::Read, profiles: &Profiles) -> Result<Loaded> {
    let options = profiles.apply(args.how.options(), &args.path);
    let (options, _bar) = Bar::attach(options, !args.json);
    let engine = args.how.engine.engine;
    Ok(match engine {
        _ if args.copies.is_used() => {
            options.read(profiles.source(&args.copies, &args.path)?)?
        }
        Engine::Map => load_mapped(&args.path, &options)?,
        _ => options.read(args.path.source()?)?,
    })
}

/// A guard turns the fault of a file that somebody truncates into a message and exit code 2.
fn load_mapped(input: &Input, options: &ReadOptions) -> Result<Loaded> {
    let Ok(file) = input.open() else {
        // The library opens it again, and says better what is wrong with it.
        return Ok(options.read(input.source()?)?);
    };
    let guard = Guard::install(&file, input.name())?;
    Ok(options.read_mapped(guard, input.name())?)
}

fn run_text(args: &verbs::Read, index: u32, report: &Report) -> String {
    let run = match args.repeat {
        1 => String::new(),
        _ => format!(" run {index}"),
    };
    let mut text = format!("{}{run}: {}\n", args.path, headline(report));
    // The ways of later runs are told only where they may differ: by the reason.
    if args.repeat == 1 || index == 1 || report.usage.is_some() {
        text += &details(report);
    }
    text
}

fn summary_text(
    args: &verbs::Read,
    bytes: u64,
    median: Duration,
    verified: Option<bool>,
) -> String {
    let mut text = String::new();
    if args.repeat > 1 {
        let speed = bytes_per_s(bytes, median) / 1e9;
        text += &format!("median of {}: {}, {speed:.2} GB/s\n", args.repeat, time_text(median));
    }
    if verified == Some(true) {
        text += &format!("verified: a serial read gives the same {bytes} bytes\n");
    }
    text
}

/// Reads the same bytes again with nothing but `std`, and compares count and content.
pub(super) fn verify(args: &verbs::Read, bytes: &[u8]) -> Result<bool> {
    let what = format!("cannot verify {}", args.path);
    let failed = |error| Refused::new(what.clone(), "read it again").with_source(error);
    let mut file = args.path.open().map_err(failed)?;
    let difference = reread(&mut file, args.how.extent.offset, args.how.extent.length)
        .and_then(|serial| first_difference(serial, bytes))
        .map_err(failed)?;
    // Standard input shares its position with the next read: as it was found.
    let _ = file.rewind();
    if let Some(difference) = difference {
        complain(format!("{}: {difference}; try: read it again", args.path));
        return Ok(false);
    }
    Ok(true)
}

/// The bytes that were asked for. A file of the kernel's that cannot seek is read up to them.
fn reread(file: &mut File, offset: u64, length: Option<u64>) -> io::Result<impl Read> {
    if file.seek(SeekFrom::Start(offset)).is_err() {
        io::copy(&mut file.take(offset), &mut io::sink())?;
    }
    Ok(file.take(length.unwrap_or(u64::MAX)))
}

/// What differs first between `serial` and `bytes`: the count, else a byte.
fn first_difference(mut serial: impl Read, bytes: &[u8]) -> io::Result<Option<String>> {
    let mut step = vec![0; STEP];
    let (mut at, mut content) = (0, None);
    loop {
        let came = match serial.read(&mut step) {
            Ok(0) => break,
            Ok(came) => came,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let ours = bytes.get(at..).unwrap_or_default();
        let differs = step[..came].iter().zip(ours).position(|(left, right)| left != right);
        content = content.or(differs.map(|index| at + index));
        at += came;
    }
    if at != bytes.len() {
        return Ok(Some(format!("{} bytes were read, a serial read gives {at}", bytes.len())));
    }
    Ok(content.map(|at| format!("byte {at} of those read differs from a serial read")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_do_not_differ() {
        let bytes = vec![7; STEP + 1];
        assert_eq!(first_difference(&bytes[..], &bytes).expect("read"), None);
        assert_eq!(first_difference(&[][..], &[]).expect("read"), None);
    }

    #[test]
    fn the_count_is_compared_before_the_content() {
        for (serial, ours) in [(3, 2), (2, 3), (STEP + 1, STEP)] {
            let text = first_difference(&vec![1; serial][..], &vec![2; ours]).expect("read");
            let text = text.expect("it differs");
            assert_eq!(text, format!("{ours} bytes were read, a serial read gives {serial}"));
        }
    }

    #[test]
    fn the_first_byte_that_differs_is_named() {
        let mut bytes = vec![7; 2 * STEP];
        bytes[STEP + 5] = 8;
        bytes[STEP + 9] = 8;
        let text = first_difference(&vec![7; 2 * STEP][..], &bytes).expect("read");
        assert!(text.expect("it differs").contains(&format!("byte {} ", STEP + 5)));
    }
}
