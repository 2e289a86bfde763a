//! What `swath cp` takes.

use clap::{Args, ValueHint};
use swath::copy::{CopyOptions, Reflink};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions};

use super::size::parse_size;
use super::timeline::TimelineArgs;
use super::verbs::input;
use super::words::words;
use crate::input::Input;

/// `swath cp`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath cp data.bin backup/
  swath cp --durability none --workers 4 data.bin copy.bin
  swath cp --reflink always vm.img snapshot.img
  swath cp out.segments/ out.bin           a folder of segments as one plain file
  curl -s https://example.org/data | swath cp - data.bin")]
pub struct Cp {
    /// The file to copy, or a folder of segments; `-` is standard input
    ///
    /// A folder that `append` left is compared with its checksums first, and copied as the one file
    /// that it stands for.
    #[arg(value_name = "FROM", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub from: Input,

    /// The copy, or a folder that gets it under the same name
    ///
    /// It appears in one step when all of it is there; until then, and if anything fails, an
    /// existing file stays as it is. One that is replaced keeps its mode, owner and attributes.
    #[arg(value_name = "TO", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Input,

    /// Share the blocks of the file instead of copying: where possible, or else fail, or not
    #[arg(long, value_name = "WHEN", value_parser = words(Reflink::WORDS), default_value = "auto")]
    pub reflink: Reflink,

    /// Wait until the device has it, so that a power cut does not undo it
    #[arg(long, value_name = "HOW", value_parser = words(DURABILITY), default_value = "full")]
    pub durability: Durability,

    /// Do not replace an existing file
    #[arg(long)]
    pub no_clobber: bool,

    /// An existing file with further names: refuse, or break away from them
    #[arg(long, value_name = "HOW", value_parser = words(HARD_LINKS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Threads; 0 chooses
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Bytes of one read and write; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub chunk_size: u64,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

pub(super) const DURABILITY: &[(&str, Durability)] =
    &[("full", Durability::Full), ("none", Durability::None)];

pub(super) const HARD_LINKS: &[(&str, HardLinks)] =
    &[("refuse", HardLinks::Refused), ("break", HardLinks::Broken)];

impl Cp {
    /// Returns the library's options for reading the source.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new()
            .with_workers(self.workers)
            .with_chunk_size(self.chunk_size)
            .with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> CopyOptions {
        let replace = if self.no_clobber { Replace::Refused } else { Replace::Allowed };
        CopyOptions::new()
            .with_reflink(self.reflink)
            .with_output(
                OutputOptions::new()
                    .with_durability(self.durability)
                    .with_replace(replace)
                    .with_hard_links(self.hard_links),
            )
            .with_read(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        cp: Cp,
    }

    fn parsed(words: &[&str]) -> Cp {
        Only::try_parse_from(["only"].iter().chain(words)).expect("known words").cp
    }

    #[test]
    fn nothing_said_leaves_every_choice_to_the_library() {
        let (ours, library) = (parsed(&["a", "b"]), CopyOptions::new());
        let ours = ours.options(ours.read_options());
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }

    #[test]
    fn every_word_is_an_option_of_the_library() {
        for (word, reflink) in Reflink::WORDS {
            assert_eq!(parsed(&["--reflink", word, "a", "b"]).reflink, *reflink);
        }
        let cp = parsed(&[
            "--durability",
            "none",
            "--hard-links",
            "break",
            "--no-clobber",
            "a",
            "b",
        ]);
        let library = CopyOptions::new().with_output(
            OutputOptions::new()
                .with_durability(Durability::None)
                .with_hard_links(HardLinks::Broken)
                .with_replace(Replace::Refused),
        );
        assert_eq!(format!("{:?}", cp.options(cp.read_options())), format!("{library:?}"));
    }
}
