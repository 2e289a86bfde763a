//! `swath compress`: blocks packed in parallel, frames written in order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::ReadOptions;
use swath::append::OrderedOptions;
use swath_formats::compressed::{CompressOptions, Compressed, Format};

use super::target::{Target, keep_times, note_all};
use super::{Command, Outcome};
use crate::args::{Files, OutputArgs, ProfileArgs, count, input, parse_size, words};
use crate::input::Input;
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, texts, time_and_speed,
};

/// `swath compress`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath compress data.bin                          data.bin.zst, in the same folder
  swath compress --format gzip --workers 4 data.bin
  swath compress --level 19 data.bin backup.zst
  tar c folder | swath compress -o folder.tar.zst
  pg_dump db | swath compress --format gzip | ssh host 'cat > db.gz'")]
pub struct Compress {
    /// The file to compress, which is kept; `-` is standard input
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The compressed file, a folder for it, or `-` for standard output [default: IN with .zst,
    /// .gz or .bz2 appended; standard output if IN is standard input]
    ///
    /// It appears in one step, once it is complete, with the times of IN. The output does not depend on the number of
    /// workers, and zstd, gzip and bzip2 read it.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// The format [default: from the end of OUT's name, else zstd]
    ///
    /// zstd files have the seek table of its seekable format; gzip files have members of 1 MiB and an
    /// index that other tools skip. `swath cat --decompress --offset` seeks in both. bgzf is the
    /// blocked gzip of genome tools.
    #[arg(long, value_name = "FORMAT", value_parser = words(Format::WORDS))]
    pub format: Option<Format>,

    /// Compression level: zstd 1 to 22, gzip and bgzf 1 to 12, bzip2 1 to 9 (default 3, 6 and 9)
    #[arg(long, value_name = "N", value_parser = parse_level, allow_negative_numbers = true)]
    pub level: Option<i32>,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Bytes of input in each independent frame; 0 chooses
    ///
    /// Larger frames make a smaller file. Smaller frames make seeking faster, need less memory, and
    /// spread over more workers.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub block_size: u64,

    /// Where to write it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Compress {
    fn run(&self) -> Result<Outcome> {
        let to = self.output.flag.or(&self.to);
        let format = self.format.unwrap_or_else(|| format_of(to));
        let named = |path: &Path| path.file_name().map(|_| with_extension(path, format));
        let target = Target::choose(&self.from, to, named)?;
        target.refuse_terminal("compressed bytes", Some(self.output.existing))?;
        let compress = |read, input: &_, mut to| {
            keep_times(&self.from, input, &mut to)?;
            Ok(self.options(format, read).compress(input, to)?)
        };
        let report = target.filled(
            &self.output,
            self.profile,
            &self.from,
            OrderedOptions::new(),
            compress,
        )?;
        note_all(&self.from, &report.fallbacks);
        target.report(&self.output, &json(&target, self, &report), &text(&target, &report))?;
        Ok(Outcome::Done)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::of_output(&self.output, &self.to).input(&self.from))
    }
}

impl Compress {
    /// Returns the library's options for these words, with `format` if they leave it open.
    pub fn options(&self, format: Format, read: ReadOptions) -> CompressOptions {
        let options = CompressOptions::new()
            .with_format(format)
            .with_block_size(self.block_size)
            .with_read(read.with_workers(self.workers));
        match self.level {
            Some(level) => options.with_level(level),
            None => options,
        }
    }
}

/// Returns the format by the name of the output, else zstd.
fn format_of(to: Option<&Input>) -> Format {
    let Some(Input::Path(path)) = to else { return Format::Zstd };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "tgz") => Format::Gzip,
        Some("bgz") => Format::Bgzf,
        Some("bz2" | "tbz" | "tbz2") => Format::Bzip2,
        _ => Format::Zstd,
    }
}

/// Parses a compression level, which may be negative.
fn parse_level(word: &str) -> Result<i32, String> {
    word.parse().map_err(|_| String::from("expected a whole number, such as 3"))
}

fn with_extension(path: &Path, format: Format) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(format.extension());
    PathBuf::from(name)
}

fn json(target: &Target, args: &Compress, report: &Compressed) -> impl Serialize {
    object! {
        #[serde(flatten)]
        path: PathJson::from(&target.label()),
        source: PathJson::from(args.from.label()),
        format: report.format.to_string(),
        level: report.level,
        block_size_bytes: report.block_size,
        bytes_in: report.bytes_in,
        bytes_out: report.bytes_out,
        // Output over input.
        ratio: ratio(report.bytes_out, report.bytes_in),
        frames: report.frames,
        workers: report.workers,
        elapsed_s: report.elapsed.as_secs_f64(),
        // Bytes of input.
        bytes_per_s: bytes_per_s(report.bytes_in, report.elapsed),
        fallbacks: texts(&report.fallbacks),
    }
}

/// Returns the packed size over the plain one; an empty input counts as one byte.
pub(super) fn ratio(packed: u64, plain: u64) -> f64 {
    packed as f64 / plain.max(1) as f64
}

fn text(target: &Target, report: &Compressed) -> String {
    format!(
        "{}: {} to {}, {:.1} %, in {}\n  {} level {}, {}, {}\n",
        Path::new(&target.label()).shown(),
        size_text(report.bytes_in),
        size_text(report.bytes_out),
        ratio(report.bytes_out, report.bytes_in) * 100.0,
        time_and_speed(report.bytes_in, report.elapsed),
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
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        compress: Compress,
    }

    fn parsed(words: &[&str]) -> Compress {
        Only::try_parse_from(["only"].iter().chain(words)).expect("known words").compress
    }

    #[test]
    fn nothing_said_leaves_every_choice_to_the_library() {
        let ours = parsed(&["a"]).options(Format::Gzip, ReadOptions::new());
        let library = CompressOptions::new().with_format(Format::Gzip);
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }

    #[test]
    fn every_word_is_an_option_of_the_library() {
        for &(word, format) in Format::WORDS {
            assert_eq!(parsed(&["--format", word, "a"]).format, Some(format));
        }
        let words = ["--level", "-3", "--workers", "5", "--block-size", "1MiB", "a", "b"];
        let library = CompressOptions::new()
            .with_format(Format::Zstd)
            .with_level(-3)
            .with_read(ReadOptions::new().with_workers(5))
            .with_block_size(1 << 20);
        let ours = parsed(&words).options(Format::Zstd, ReadOptions::new());
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }
}
