//! `swath decompress`, and `swath cat --decompress`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::ReadOptions;
use swath_formats::compressed::{DecompressOptions, Decompressed};

use super::compress::ratio;
use super::target::{Target, note_all};
use super::{Command, Outcome};
use crate::args::{Files, OutputArgs, ProfileArgs, input};
use crate::input::Input;
use crate::report::{PathJson, bytes_per_s, counted, object, size_text, texts, time_text};

/// `swath decompress`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath decompress data.bin.zst                    data.bin beside it
  swath decompress --workers 4 data.gz other-name
  swath decompress data.tar.bz2 - | tar x
  curl -s https://example.org/data.zst | swath decompress > data

What follows the end of a stream is an error for zstd. For gzip and bzip2 it is skipped and said
so, with exit status 1; zeros behind gzip are skipped in silence. All as the standard tools do.")]
pub struct Decompress {
    /// The file to decompress, which is kept; `-` is standard input
    ///
    /// zstd, gzip, BGZF or bzip2: its first bytes tell. Files of one frame that another program
    /// wrote are decoded by one worker, bzip2 always by all.
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The decompressed file, a folder for it, or `-` for standard output [default: IN without
    /// .zst, .gz or .bz2; standard output if IN is standard input]
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Where to leave it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether what was measured is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Decompress {
    fn run(&self) -> Result<Outcome> {
        let target = Target::choose(&self.from, self.to.as_ref(), without_extension)?;
        let decompress = |read, from, to| Ok(self.options(read).decompress(from, to)?);
        let report = target.filled(&self.output, self.profile, &self.from, decompress)?;
        note_all(&self.from, &report.fallbacks);
        note_all(&self.from, &report.notes());
        target.report(&self.output, &json(&target, self, &report), &text(&target, &report))?;
        Ok(outcome(&report))
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.output.timeline).input(&self.from).inputs(&self.to))
    }
}

impl Decompress {
    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> DecompressOptions {
        DecompressOptions::new().with_read(read.with_workers(self.workers))
    }
}

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

/// Bytes that were skipped, or may be missing, are no failure, but nothing to pass over in silence
/// either.
pub(super) fn outcome(report: &Decompressed) -> Outcome {
    if report.is_whole() { Outcome::Done } else { Outcome::Differs }
}

/// The name of the contents; `None` if this is not a name of a compressed file.
fn without_extension(path: &Path) -> Option<PathBuf> {
    let extension = path.extension()?.to_str()?;
    let (_, instead) = EXTENSIONS.iter().find(|(known, _)| extension == *known)?;
    Some(path.with_extension(instead))
}

fn json(target: &Target, args: &Decompress, report: &Decompressed) -> impl Serialize {
    object! {
        #[serde(flatten)]
        path: PathJson::from(&target.label()),
        source: PathJson::from(args.from.label()),
        format: report.format.to_string(),
        bytes_in: report.bytes_in,
        bytes_out: report.bytes_out,
        // Input over output.
        ratio: ratio(report.bytes_in, report.bytes_out),
        frames: report.frames,
        workers: report.workers,
        elapsed_s: report.elapsed.as_secs_f64(),
        // Of output.
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
