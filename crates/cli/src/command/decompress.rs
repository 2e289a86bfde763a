//! `swath decompress`, and `swath cat --decompress`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use swath::sink::{Durability, HardLinks};
use swath_formats::compressed::{DecompressOptions, Decompressed};

use super::Outcome;
use super::compress::ratio;
use super::target::{Target, note_all};
use crate::args::compress::{Decompress, OutputArgs};
use crate::args::verbs::Cat;
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, bytes_per_s, counted, size_text, texts, time_text};

/// What names of compressed files end with, and what those of their contents do instead.
const EXTENSIONS: [(&str, &str); 10] = [
    ("zst", ""),
    ("zstd", ""),
    ("gz", ""),
    ("bgz", ""),
    ("bz2", ""),
    ("tzst", "tar"),
    ("tgz", "tar"),
    ("tbz", "tar"),
    ("tbz2", "tar"),
    ("svgz", "svg"),
];

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    source: PathJson,
    format: String,
    bytes_in: u64,
    bytes_out: u64,
    /// Input over output.
    ratio: f64,
    frames: u64,
    workers: usize,
    elapsed_s: f64,
    /// Of output.
    bytes_per_s: f64,
    notes: Vec<String>,
    fallbacks: Vec<String>,
}

pub(super) fn run(args: &Decompress) -> Result<Outcome> {
    let target = Target::choose(&args.from, args.to.as_ref(), without_extension)?;
    let read = Profiles::new(args.profile).apply(args.output.read_options(), &args.from);
    let (read, bar) = Bar::attach(read, !args.output.json);
    let options = args.options(read);
    let output = target.begin(&args.output, &args.from)?;
    let report = options.decompress(args.from.source()?, output)?;
    drop(bar);
    note_all(&args.from, &report.fallbacks);
    note_all(&args.from, &report.notes());
    target.report(&args.output, &json(&target, args, &report), &text(&target, &report))?;
    Ok(outcome(&report))
}

/// Writes what a compressed file holds to standard output.
pub(super) fn cat(args: &Cat) -> Result<Outcome> {
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
    Ok(outcome(&report))
}

/// Bytes that were skipped, or may be missing, are no failure, but nothing to pass over in silence
/// either.
fn outcome(report: &Decompressed) -> Outcome {
    if report.is_whole() { Outcome::Done } else { Outcome::Differs }
}

/// The name of the contents; `None` if this is not a name of a compressed file.
fn without_extension(path: &Path) -> Option<PathBuf> {
    let extension = path.extension()?.to_str()?;
    let (_, instead) = EXTENSIONS.iter().find(|(known, _)| extension == *known)?;
    Some(path.with_extension(instead))
}

fn json(target: &Target, args: &Decompress, report: &Decompressed) -> Json {
    Json {
        path: target.label().as_os_str().into(),
        source: args.from.label().into(),
        format: report.format.to_string(),
        bytes_in: report.bytes_in,
        bytes_out: report.bytes_out,
        ratio: ratio(report.bytes_in, report.bytes_out),
        frames: report.frames,
        workers: report.workers,
        elapsed_s: report.elapsed.as_secs_f64(),
        bytes_per_s: bytes_per_s(report.bytes_out, report.elapsed),
        notes: report.notes(),
        fallbacks: texts(&report.fallbacks),
    }
}

fn text(target: &Target, report: &Decompressed) -> String {
    format!(
        "{}: {} from {}, in {}, {:.2} GB/s\n  {}, {}, {}\n",
        Path::new(&target.label()).display(),
        size_text(report.bytes_out),
        size_text(report.bytes_in),
        time_text(report.elapsed),
        bytes_per_s(report.bytes_out, report.elapsed) / 1e9,
        report.format,
        counted(report.frames, "frame"),
        counted(report.workers as u64, "worker"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_are_named_as_the_file_was_before() {
        for (packed, plain) in [
            ("a.zst", Some("a")),
            ("x/a.tar.gz", Some("x/a.tar")),
            ("a.tgz", Some("a.tar")),
            ("a.b.bz2", Some("a.b")),
            ("a", None),
            ("gz", None),
            (".gz", None),
            ("a.txt", None),
        ] {
            let name = without_extension(Path::new(packed));
            assert_eq!(name.as_deref(), plain.map(Path::new), "{packed}");
        }
    }
}
