//! `swath decompress`, and `swath cat --decompress`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::ReadOptions;
use swath::append::OrderedOptions;
use swath::sink::Sparse;
use swath_formats::compressed::{DecompressOptions, Decompressed, Format};

use super::compress::ratio;
use super::target::{Target, keep_times, note_all};
use super::{Command, Outcome};
use crate::args::{Files, OutputArgs, ProfileArgs, count, input, words};
use crate::failure::Refused;
use crate::input::Input;
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, texts, time_and_speed,
};

/// `swath decompress`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath decompress data.bin.zst                    data.bin, in the same folder
  swath decompress --workers 4 data.gz other-name
  swath decompress data.tar.bz2 - | tar x
  curl -s https://example.org/data.zst | swath decompress > data

Bytes after the end of a stream are an error for zstd. For gzip and bzip2 they are skipped with a
note and exit status 1; zeros after gzip are skipped without a note. The standard tools do the same.")]
pub struct Decompress {
    /// The file to decompress, which is kept; `-` is standard input
    ///
    /// zstd, gzip, BGZF or bzip2, recognised by its first bytes. A file of one frame that another
    /// program wrote is decoded by one worker and written by the others; a bzip2 file is always decoded by all.
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The decompressed file, a folder for it, or `-` for standard output [default: IN without
    /// .zst, .gz or .bz2; standard output if IN is standard input]
    ///
    /// It appears in one step, once it is complete, with the times of IN.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// Whether runs of at least 32 KiB of zeros become holes, which take no space, in a new file
    #[arg(long, value_name = "WHEN", value_parser = words(Sparse::WORDS), default_value = "auto")]
    pub sparse: Sparse,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Where to write it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Decompress {
    fn run(&self) -> Result<Outcome> {
        let to = self.output.flag.or(&self.to);
        let target = Target::choose(&self.from, to, without_extension).map_err(|error| {
            if is_plain(&self.from) { not_compressed(&self.from) } else { error }
        })?;
        let decompress = |read, input: &_, mut to| {
            keep_times(&self.from, input, &mut to)?;
            Ok(self.options(read).decompress(input, to)?)
        };
        let sparse = OrderedOptions::new().with_sparse(self.sparse);
        let report =
            target.filled(&self.output, self.profile, &self.from, sparse, decompress)?;
        note_all(&self.from, &report.fallbacks);
        note_all(&self.from, &report.notes());
        target.report(&self.output, &json(&target, self, &report), &text(&target, &report))?;
        Ok(outcome(&report))
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::of_output(&self.output, &self.to).input(&self.from))
    }
}

impl Decompress {
    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> DecompressOptions {
        DecompressOptions::new().with_read(read.with_workers(self.workers))
    }
}

/// The ends of names of compressed files, and the ends for their contents.
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

/// Returns the outcome: skipped or missing bytes are not a failure, but change the exit status.
pub(super) fn outcome(report: &Decompressed) -> Outcome {
    if report.is_whole() { Outcome::Done } else { Outcome::Differs }
}

/// Whether the input can be read, and is not compressed.
fn is_plain(from: &Input) -> bool {
    const HEAD: usize = 18;
    from.path().is_some_and(Path::is_file)
        && from
            .regular()
            .and_then(|file| Input::peeked_of(&file, HEAD))
            .is_ok_and(|peeked| Format::detect(&peeked.head).is_none())
}

fn not_compressed(from: &Input) -> anyhow::Error {
    let what = format!("cannot decompress {from}: it is not compressed by zstd, gzip or bzip2");
    Refused::new(what, "check the path, or copy the file as it is with `swath cp`").into()
}

/// Returns the name of the contents; `None` if this is not the name of a compressed file.
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
        // Bytes of output.
        bytes_per_s: bytes_per_s(report.bytes_out, report.elapsed),
        notes: report.notes(),
        fallbacks: texts(&report.fallbacks),
    }
}

fn text(target: &Target, report: &Decompressed) -> String {
    format!(
        "{}: {} from {}, in {}\n  {}, {}, {}\n",
        Path::new(&target.label()).shown(),
        size_text(report.bytes_out),
        size_text(report.bytes_in),
        time_and_speed(report.bytes_out, report.elapsed),
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
