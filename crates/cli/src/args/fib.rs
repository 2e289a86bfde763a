//! What `swath study fib` takes.

use std::path::PathBuf;
use swath::OutputOptions;

use clap::{Args, ValueHint};
use swath::append::{AppendOptions, Mode};
use swath::sink::{Durability, HardLinks};

use super::copy::{DURABILITY, HARD_LINKS};
use super::size::{parse_memory_size, parse_size};
use super::timeline::TimelineArgs;
use super::words::words;

/// `swath study fib`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath study fib 23 --bytes 10KiB -o fib.bin
  swath study fib 23 --bytes 10KiB --mode segments --workers 4 -o fib.segments
  swath study fib 17 --verify -o fib.bin    compares with the serial program")]
pub struct Fib {
    /// Which Fibonacci number: 23 makes 92,735 calls
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(..=60))]
    pub n: u32,

    /// Bytes that every call writes when it begins
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_size, default_value = "10KiB", allow_negative_numbers = true)]
    pub bytes: usize,

    /// Where to write; replaced when all is written
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub output: PathBuf,

    /// Where the bytes of parallel strands go: plain, segments, or without an order
    #[arg(long, value_name = "MODE", value_parser = words(FIB_MODES), default_value = "plain")]
    pub mode: FibMode,

    /// Bytes of stolen strands that may wait in memory for their place; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub memory: u64,

    /// Read it back and compare it with what the serial program writes
    #[arg(long)]
    pub verify: bool,

    /// Wait until the device has it, so that a power cut does not undo it
    #[arg(long, value_name = "HOW", value_parser = words(DURABILITY), default_value = "full")]
    pub durability: Durability,

    /// An existing file with further names: refuse, or break away from them
    #[arg(long, value_name = "HOW", value_parser = words(HARD_LINKS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// Where the bytes of parallel strands go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FibMode {
    /// In the order of the serial program.
    Ordered(Mode),
    /// One file, in no order.
    Global,
    /// A file for each thread, in no order.
    LocalFiles,
}

/// Local mode is left out: every call would write the same place.
const FIB_MODES: &[(&str, FibMode)] = &[
    ("plain", FibMode::Ordered(Mode::Plain)),
    ("segments", FibMode::Ordered(Mode::Segments)),
    ("global", FibMode::Global),
    ("local-files", FibMode::LocalFiles),
];

impl Fib {
    /// Returns the library's options for these words.
    pub fn options(&self) -> AppendOptions {
        AppendOptions::new().with_output(self.output_options()).with_memory(self.memory)
    }

    /// Returns the library's options for what is left.
    pub fn output_options(&self) -> OutputOptions {
        OutputOptions::new()
            .with_durability(self.durability)
            .with_hard_links(self.hard_links)
            .with_timeline(self.timeline.handle())
    }
}
