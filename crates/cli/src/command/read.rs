//! `swath read`: loads a file and reports how fast that was.

mod classes;

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::maps::Guard;
use swath::{Buffer, Engine, Loaded, ReadOptions};
use swath_profile::stats;

use self::classes::{ClassArgs, Cut};
use super::{Command, Outcome};
use crate::args::{CopiesArgs, Files, ReadArgs, input, whole};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{complain, tell};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{
    PathJson, bytes_per_s, counted, details, headline, object, report_json, time_and_speed,
};

/// `swath read`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath read data.bin
  swath read --engine pool --workers 4 --chunk-size 1MiB --repeat 5 data.bin
  swath read --page-cache bypass --verify data.bin
  swath read --classes 1000 --chunks 100000 data.bin     the urgent chunks first
  swath read data.bin --mirror /mnt/b/data.bin --verify-against manifest=data.manifest
  curl -s https://example.org/data | swath read --json")]
pub struct Read {
    /// The file; `-` is standard input
    #[arg(value_name = "PATH", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Read it again serially, and compare byte count and content
    #[arg(long, conflicts_with_all = ["mirrors", "verify_against"])]
    pub verify: bool,

    /// Read it this many times; print each run and the median
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=u32::MAX.into()))]
    pub repeat: u32,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Priorities.
    #[command(flatten)]
    pub classes: ClassArgs,
    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

impl Command for Read {
    fn run(&self) -> Result<Outcome> {
        check(self)?;
        match self.classes.cut() {
            Some(cut) => repeated(self, Some(cut), |profiles, _| by_class(self, cut, profiles)),
            None => repeated(self, None, |profiles, index| at_once(self, index, profiles)),
        }
    }

    fn writes(&self) -> bool {
        false
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.how.timeline).input(&self.path).copies(&self.copies))
    }
}

/// Bytes compared at one time.
const STEP: usize = 1 << 20;

/// Refuses to read a stream twice.
fn check(args: &Read) -> Result<()> {
    ensure!(
        !(args.verify || args.repeat > 1) || !comes_once(&args.path),
        Refused::new(
            format!("cannot read {} a second time: it is a stream", args.path),
            "leave out --verify and --repeat, or name a file"
        )
    );
    Ok(())
}

/// Whether the input can be read only once. If it cannot be inspected, the read will fail.
fn comes_once(input: &Input) -> bool {
    let facts = match input {
        Input::Stdin => input.open().and_then(|mut file| {
            // Another program has read from it: it is read from that position, in order.
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

/// The result of one run.
struct ReadRun<R> {
    bytes: Buffer,
    elapsed: Duration,
    text: String,
    json: R,
}

/// Reads as often as requested, and reports each run and the median.
fn repeated<R: Serialize>(
    args: &Read,
    cut: Option<Cut>,
    mut read: impl FnMut(&Profiles, u32) -> Result<ReadRun<R>>,
) -> Result<Outcome> {
    let profiles = Profiles::new(args.how.flow.profile);
    let (mut runs, mut times, mut bytes, mut verified) = (Vec::new(), Vec::new(), 0, None);
    for index in 1..=args.repeat {
        let run = read(&profiles, index)?;
        if !args.json {
            let number = if args.repeat > 1 { format!(" run {index}") } else { String::new() };
            tell(false, &(), format!("{}{number}: {}", args.path, run.text))?;
        }
        if args.verify {
            verified = Some(verified.unwrap_or(true) & verify(args, &run.bytes)?);
        }
        bytes = run.bytes.len() as u64;
        times.push(run.elapsed.as_secs_f64());
        runs.push(run.json);
    }
    let median = Duration::from_secs_f64(stats::median(&times).unwrap_or_default());
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(args.path.label()),
        #[serde(flatten)]
        cut,
        runs,
        median_elapsed_s: median.as_secs_f64(),
        median_bytes_per_s: bytes_per_s(bytes, median),
        // `null`: without --verify.
        verified,
    };
    tell(args.json, &json, summary_text(args, bytes, median, verified))?;
    Ok(if verified == Some(false) { Outcome::Differs } else { Outcome::Done })
}

/// Reads the whole file without classes.
fn at_once(
    args: &Read,
    index: u32,
    profiles: &Profiles,
) -> Result<ReadRun<impl Serialize + use<>>> {
    let options = profiles.apply(args.how.options(), &args.path);
    let (options, _bar) = Bar::attach(options, !args.json);
    let Loaded { buffer, report, .. } = match args.how.engine.engine {
        _ if args.copies.is_used() => {
            options.read(profiles.source(&args.copies, &args.path)?)?
        }
        Engine::Map => load_mapped(&args.path, &options)?,
        _ => options.read(args.path.source()?)?,
    };
    let mut text = headline(&report) + "\n";
    // Later runs read in the same way, so their details are left out.
    if index == 1 || report.usage.is_some() {
        text += &details(&report);
    }
    Ok(ReadRun { bytes: buffer, elapsed: report.elapsed, text, json: report_json(&report) })
}

/// Reads class by class.
fn by_class(
    args: &Read,
    cut: Cut,
    profiles: &Profiles,
) -> Result<ReadRun<impl Serialize + use<>>> {
    let options = profiles.apply(args.how.options(), &args.path);
    let (options, _bar) = Bar::attach(options, !args.json);
    let plan = args.classes.plan(cut);
    let reading = options.read_prioritised(profiles.source(&args.copies, &args.path)?, plan)?;
    let loaded = reading.finish()?;
    let (text, json) = (classes::text(&loaded.report), classes::json(&loaded.report));
    let elapsed = loaded.report.read.elapsed;
    Ok(ReadRun { bytes: loaded.into_buffer(), elapsed, text, json })
}

/// Reads through a map. If another process truncates the file, a guard turns the fault into a message
/// and exit code 2.
fn load_mapped(input: &Input, options: &ReadOptions) -> Result<Loaded> {
    let Ok(file) = input.open() else {
        // The library opens it again, and has a better error.
        return Ok(options.read(input.source()?)?);
    };
    let guard = Guard::install(&file, input.name())?;
    Ok(options.read_mapped(guard, input.name())?)
}

fn summary_text(args: &Read, bytes: u64, median: Duration, verified: Option<bool>) -> String {
    let mut text = String::new();
    if args.repeat > 1 {
        text += &format!("median of {}: {}\n", args.repeat, time_and_speed(bytes, median));
    }
    if verified == Some(true) {
        text += &format!("verified: a serial read gives the same {}\n", counted(bytes, "byte"));
    }
    text
}

/// Reads the same bytes again with only `std`, and compares count and content.
fn verify(args: &Read, bytes: &[u8]) -> Result<bool> {
    let what = format!("cannot verify {}", args.path);
    let failed = |error| Refused::new(what.clone(), "read it again").with_source(error);
    let mut file = args.path.open().map_err(failed)?;
    let difference = reread(&mut file, args.how.extent.offset, args.how.extent.length)
        .and_then(|serial| first_difference(serial, bytes))
        .map_err(failed)?;
    // The next read of standard input shares the position, so it is reset.
    let _ = file.rewind();
    if let Some(difference) = difference {
        complain(format!("{}: {difference}; try: read it again", args.path));
        return Ok(false);
    }
    Ok(true)
}

/// Returns the requested bytes. A kernel file that cannot seek is read up to them.
fn reread(file: &mut File, offset: u64, length: Option<u64>) -> io::Result<impl io::Read> {
    if file.seek(SeekFrom::Start(offset)).is_err() {
        io::copy(&mut file.take(offset), &mut io::sink())?;
    }
    Ok(file.take(length.unwrap_or(u64::MAX)))
}

/// Returns the first difference between `serial` and `bytes`: the count, else a byte.
fn first_difference(mut serial: impl io::Read, bytes: &[u8]) -> io::Result<Option<String>> {
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
        let len = counted(bytes.len() as u64, "byte");
        return Ok(Some(format!("{len} in memory, a serial read gives {at}")));
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
            assert_eq!(text, format!("{ours} bytes in memory, a serial read gives {serial}"));
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
