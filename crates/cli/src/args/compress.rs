//! What `swath compress` and `swath decompress` take.

use clap::{Args, ValueHint};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions};
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};

use super::copy::{DURABILITY, HARD_LINKS};
use super::read::ProfileArgs;
use super::size::parse_size;
use super::timeline::TimelineArgs;
use super::verbs::input;
use super::words::words;
use crate::input::Input;

/// `swath compress`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath compress data.bin                          data.bin.zst beside it
  swath compress --format gzip --workers 4 data.bin
  swath compress --level 19 data.bin backup.zst
  tar c folder | swath compress - folder.tar.zst
  pg_dump db | swath compress --format gzip | ssh host 'cat > db.gz'")]
pub struct Compress {
    /// The file to compress, which is kept; `-` is standard input
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The compressed file, a folder for it, or `-` for standard output [default: IN with .zst,
    /// .gz or .bz2 behind it; standard output if IN is standard input]
    ///
    /// It appears in one step when all of it is there. The output does not depend on the number of
    /// workers, and zstd, gzip and bzip2 read it.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// What to make [default: what OUT ends with, else zstd]
    ///
    /// zstd has the seek table of its seekable format, gzip members of 1 MiB and an index that
    /// other tools skip: `swath cat --decompress --offset` finds its place in both. bgzf is
    /// blocked gzip as genome tools use it.
    #[arg(long, value_name = "FORMAT", value_parser = words(Format::WORDS))]
    pub format: Option<Format>,

    /// How hard to try: zstd 1 to 22, gzip and bgzf 1 to 12, bzip2 1 to 9 (usually 3, 6 and 9)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub level: Option<i32>,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Bytes of input in a frame that stands alone; 0 chooses
    ///
    /// Larger ones make a smaller file; smaller ones are found faster, need less memory, and are
    /// more work to share.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub block_size: u64,

    /// Where to leave it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether what was measured is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

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

/// Where to leave what was made.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Replace OUT if it exists
    #[arg(long, short)]
    pub force: bool,

    /// Wait until the device has it, so that a power cut does not undo it
    #[arg(long, value_name = "HOW", value_parser = words(DURABILITY), default_value = "full")]
    pub durability: Durability,

    /// An existing file with further names: refuse, or break away from them
    #[arg(long, value_name = "HOW", value_parser = words(HARD_LINKS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Print JSON, with units in its keys; to standard error if OUT is standard output
    #[arg(long)]
    pub json: bool,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl OutputArgs {
    /// Returns the library's options for what is read to make it.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_timeline(self.timeline.handle())
    }

    fn replace(&self) -> Replace {
        if self.force { Replace::Allowed } else { Replace::Refused }
    }

    /// Returns the library's options for a stream that is written in order.
    pub fn stream_options(&self) -> OutputOptions {
        OutputOptions::new().with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for a file that is written.
    pub fn output_options(&self) -> OutputOptions {
        OutputOptions::new()
            .with_replace(self.replace())
            .with_durability(self.durability)
            .with_hard_links(self.hard_links)
            .with_timeline(self.timeline.handle())
    }
}

impl Compress {
    /// Returns the library's options for these words, and for a format that they left open.
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

impl Decompress {
    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> DecompressOptions {
        DecompressOptions::new().with_read(read.with_workers(self.workers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
