//! The shared flags for the output of a command, and for the treatment of an existing file.
//!
//! ```text
//! swath compress data.bin data.zst        the word after the input
//! swath compress data.bin -o data.zst     the same as a flag; both together are refused
//! ```

use clap::{Args, ValueHint};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions};

use super::timeline::TimelineArgs;
use super::words::{input, words};
use crate::input::Input;

/// The output as a flag. Every command that flattens it has a word `to` with the same meaning.
#[derive(Clone, Debug, Default, Args)]
pub struct OutFlag {
    /// The output as a flag; give the word OUT or this
    // Studies were called with --out before.
    #[arg(long, short, alias = "out", value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath, conflicts_with = "to")]
    pub output: Option<Input>,
}

impl OutFlag {
    /// Returns the output from the flag or the word.
    pub fn or<'a>(&'a self, word: &'a Option<Input>) -> Option<&'a Input> {
        self.output.as_ref().or(word.as_ref())
    }
}

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ForceFlag {
    /// Replace OUT if it exists; without this flag that is an error
    ///
    /// With this flag, bytes that are not text are also written to a terminal.
    #[arg(long, short)]
    pub force: bool,
}

impl ForceFlag {
    /// Returns the library's form.
    pub fn replace(self) -> Replace {
        if self.force { Replace::Allowed } else { Replace::Refused }
    }
}

/// Whether an existing file is written where it is.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct InPlaceFlag {
    /// Write to an existing OUT where it is, not in one step: for a file that cannot be replaced
    ///
    /// For a file that is itself a mount point, as in a container, and for one in a folder that
    /// cannot be written to. The file is truncated first, and readers see it grow; after an error,
    /// a crash or a power cut it holds a part of the new bytes. It keeps its owner, mode,
    /// attributes and other hard links.
    #[arg(long)]
    pub in_place: bool,
}

impl InPlaceFlag {
    /// Returns the treatment of an existing file, which is `otherwise` without the flag.
    pub fn or(self, otherwise: Replace) -> Replace {
        if self.in_place { Replace::InPlace } else { otherwise }
    }
}

/// Where the output goes, and how it is written.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Which file.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Whether it may exist.
    #[command(flatten)]
    pub existing: ForceFlag,

    /// Whether it is written where it is.
    #[command(flatten)]
    pub place: InPlaceFlag,

    /// Wait until the device has the file, so that it survives a power cut
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// If OUT exists and has other hard links: refuse, or replace this name only
    #[arg(long, value_name = "HOW", value_parser = words(HardLinks::WORDS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Print JSON, with units in its keys; to standard error if OUT is standard output
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl OutputArgs {
    /// Whether an existing file is an error.
    pub fn refuses(&self) -> bool {
        self.place.or(self.existing.replace()) == Replace::Refused
    }

    /// Returns the library's options for reading the input.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for a stream that is written in order.
    pub fn stream_options(&self) -> OutputOptions {
        OutputOptions::new().with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for a file that is written.
    pub fn output_options(&self) -> OutputOptions {
        OutputOptions::new()
            .with_replace(self.place.or(self.existing.replace()))
            .with_durability(self.durability)
            .with_hard_links(self.hard_links)
            .with_timeline(self.timeline.handle())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[arg(value_parser = input())]
        to: Option<Input>,
        #[command(flatten)]
        output: OutputArgs,
    }

    #[test]
    fn an_output_is_a_word_or_a_flag_and_not_both() {
        let parsed = |words: &[&str]| Only::try_parse_from(["only"].iter().chain(words));
        let named = |words: &[&str]| {
            let only = parsed(words).expect("one of the two");
            only.output.flag.or(&only.to).map(ToString::to_string)
        };
        assert_eq!(named(&[]), None);
        for words in [&["a"][..], &["-o", "a"], &["--output", "a"], &["--output=a"]] {
            assert_eq!(named(words).as_deref(), Some("a"), "{words:?}");
        }
        let error = parsed(&["a", "-o", "b"]).expect_err("both").to_string();
        assert!(error.contains("cannot be used with"), "{error}");
    }

    #[test]
    fn a_file_is_replaced_only_by_force() {
        assert_eq!(ForceFlag { force: true }.replace(), Replace::Allowed);
        assert_eq!(ForceFlag::default().replace(), Replace::Refused);
        assert_eq!(InPlaceFlag { in_place: true }.or(Replace::Refused), Replace::InPlace);
        assert_eq!(InPlaceFlag::default().or(Replace::Refused), Replace::Refused);
    }
}
