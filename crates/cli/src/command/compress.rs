//! `swath compress`: blocks packed in parallel, frames written in order.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath_formats::compressed::{Compressed, Format};

use super::Outcome;
use super::target::{Target, note_all};
use crate::args::compress::Compress;
use crate::failure::Refused;
use crate::input::Input;
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, bytes_per_s, counted, size_text, texts, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    source: PathJson,
    format: String,
    level: i32,
    block_size_bytes: u64,
    bytes_in: u64,
    bytes_out: u64,
    /// Output over input.
    ratio: f64,
    frames: u64,
    workers: usize,
    elapsed_s: f64,
    /// Of input.
    bytes_per_s: f64,
    fallbacks: Vec<String>,
}

pub(super) fn run(args: &Compress) -> Result<Outcome> {
    let format = args.format.unwrap_or_else(|| format_of(args.to.as_ref()));
    let named = |path: &Path| path.file_name().map(|_| with_extension(path, format));
    let target = Target::choose(&args.from, args.to.as_ref(), named)?;
    ensure!(
        target != Target::Stdout || !io::stdout().is_terminal(),
        Refused::new(
            "cannot write compressed bytes to a terminal",
            "redirect standard output, or name a file"
        )
    );
    let read = Profiles::new(args.profile).apply(args.output.read_options(), &args.from);
    let (read, bar) = Bar::attach(read, !args.output.json);
    let options = args.options(format, read);
    let output = target.begin(&args.output, &args.from)?;
    let report = options.compress(args.from.source()?, output)?;
    drop(bar);
    note_all(&args.from, &report.fallbacks);
    target.report(&args.output, &json(&target, args, &report), &text(&target, &report))?;
    Ok(Outcome::Done)
}

/// What the name of the output says, else zstd.
fn format_of(to: Option<&Input>) -> Format {
    let Some(Input::Path(path)) = to else { return Format::Zstd };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "tgz") => Format::Gzip,
        Some("bgz") => Format::Bgzf,
        Some("bz2" | "tbz" | "tbz2") => Format::Bzip2,
        _ => Format::Zstd,
    }
}

fn with_extension(path: &Path, format: Format) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(format.extension());
    PathBuf::from(name)
}

fn json(target: &Target, args: &Compress, report: &Compressed) -> Json {
    Json {
        path: target.label().as_os_str().into(),
        source: args.from.label().into(),
        format: report.format.to_string(),
        level: report.level,
        block_size_bytes: report.block_size,
        bytes_in: report.bytes_in,
        bytes_out: report.bytes_out,
        ratio: ratio(report.bytes_out, report.bytes_in),
        frames: report.frames,
        workers: report.workers,
        elapsed_s: report.elapsed.as_secs_f64(),
        bytes_per_s: bytes_per_s(report.bytes_in, report.elapsed),
        fallbacks: texts(&report.fallbacks),
    }
}

/// What is left of 1; nothing is left as it is.
pub(super) fn ratio(packed: u64, plain: u64) -> f64 {
    packed as f64 / plain.max(1) as f64
}

fn text(target: &Target, report: &Compressed) -> String {
    format!(
        "{}: {} to {}, {:.1} %, in {}, {:.2} GB/s\n  {} level {}, {}, {}\n",
        Path::new(&target.label()).display(),
        size_text(report.bytes_in),
        size_text(report.bytes_out),
        ratio(report.bytes_out, report.bytes_in) * 100.0,
        time_text(report.elapsed),
        bytes_per_s(report.bytes_in, report.elapsed) / 1e9,
        report.format,
        report.level,
        counted(report.frames, "frame"),
        counted(report.workers as u64, "worker"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_output_tells_the_format() {
        for (name, format) in [
            ("a.gz", Format::Gzip),
            ("a.tgz", Format::Gzip),
            ("a.bgz", Format::Bgzf),
            ("a.tar.bz2", Format::Bzip2),
            ("a.zst", Format::Zstd),
            ("a", Format::Zstd),
            ("gz", Format::Zstd),
        ] {
            assert_eq!(format_of(Some(&Input::Path(name.into()))), format, "{name}");
        }
        assert_eq!(format_of(Some(&Input::Stdin)), Format::Zstd);
        assert_eq!(format_of(None), Format::Zstd);
    }
}
