//! What each command takes beside the shared flags.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use clap_complete::Shell;
use swath::Extent;
use swath_formats::checksum::Algorithm;

use super::classes::ClassArgs;
use super::mirror::CopiesArgs;
use super::read::{ExtentArgs, FlowArgs, ReadArgs};
use super::size::{parse_extent, parse_size};
use super::timeline::TimelineArgs;
use super::words::words;
use crate::input::{Input, InputError};

/// `swath read`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath read data.bin
  swath read --engine pool --workers 4 --chunk-size 1MiB --repeat 5 data.bin
  swath read --page-cache bypass --verify data.bin
  swath read --classes 1000 --chunks 100000 data.bin     what is needed first comes first
  swath read data.bin --mirror /mnt/b/data.bin --verify-against manifest=data.manifest
  curl -s https://example.org/data | swath read --json -")]
pub struct Read {
    /// The file; `-` is standard input
    #[arg(value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Read it again serially, and compare byte count and content
    #[arg(long, conflicts_with_all = ["mirrors", "verify_against"])]
    pub verify: bool,

    /// Read it so many times; print each and the median
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// What is needed first.
    #[command(flatten)]
    pub classes: ClassArgs,
    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

/// `swath sum`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath sum data.bin
  swath sum --hash blake3 *.bin           as b3sum
  swath sum --hash xxh3 data.bin          as xxhsum -H3
  zcat data.gz | swath sum --hash crc32c -")]
pub struct Sum {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "PATH", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub paths: Vec<Input>,

    /// Print a checksum instead of the sum of all bytes
    #[arg(long, value_name = "HASH", value_parser = words(Algorithm::WORDS))]
    pub hash: Option<Algorithm>,

    /// Print a line of JSON for each file, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

/// `swath scan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath scan access.log                   as wc -l
  swath scan --json --usage logs/*.log
  swath scan --follow-size first growing.log")]
pub struct Scan {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "PATH", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub paths: Vec<Input>,

    /// Print a line of JSON for each file, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

/// `swath cat`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath cat data.bin | zstd > data.zst
  swath cat --offset 1GiB --length 4KiB data.bin | xxd
  swath cat --starting-in 1GiB..2GiB access.log | grep ' 500 '
  swath cat --rate 50MiB/s --io-priority idle data.bin | ssh host 'cat > data.bin'
  swath cat --decompress --offset 1GiB --length 4KiB data.zst | xxd")]
pub struct Cat {
    /// The file; `-` is standard input
    #[arg(value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Write what a zstd, gzip or bzip2 file holds; --offset and --length count its bytes
    ///
    /// Without this a compressed file is written as it is, as any other. With an index, which
    /// `swath compress` writes for zstd and gzip, only the frames that are needed are read;
    /// without one, all before them is decoded too.
    #[arg(long, short, conflicts_with_all = ["mirrors", "verify_against"])]
    pub decompress: bool,

    /// Write the lines that begin in these bytes, the last one to its end, wherever that is
    ///
    /// Of extents that together are all of a file, each line begins in one: so many programs can
    /// take a part each of one file.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_extent, conflicts_with_all = ["decompress", "offset", "length"])]
    pub starting_in: Option<Extent>,

    /// Further copies.
    #[command(flatten)]
    pub copies: CopiesArgs,

    /// Which bytes.
    #[command(flatten)]
    pub extent: ExtentArgs,

    /// How to read.
    #[command(flatten)]
    pub flow: FlowArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// `swath demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath demo
  swath demo --size 2GiB --dir /mnt/disk
  swath demo --json > machine.json")]
pub struct Demo {
    /// How long its inputs are; it takes four times as much memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256MiB", allow_negative_numbers = true)]
    pub size: u64,

    /// Where to make them, in a folder that is removed again [default: the folder for temporary
    /// files, or the current one if that is in memory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

/// `swath completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath completions bash > ~/.local/share/bash-completion/completions/swath
  swath completions fish > ~/.config/fish/completions/swath.fish")]
pub struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `swath man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath man | man -l -
  swath man read > swath-read.1")]
pub struct Man {
    /// The command; without one the page is about all of them
    #[arg(value_name = "COMMAND")]
    pub verb: Option<String>,
}

pub(super) fn input() -> impl TypedValueParser<Value = Input> {
    OsStringValueParser::new()
        .try_map(|word: OsString| -> Result<Input, InputError> { Input::parse(&word) })
}
