//! Where to leave what a command makes: the flags that several commands share.

use clap::Args;
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions};

use super::timeline::TimelineArgs;
use super::words::words;

/// Where to leave what was made.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Replace OUT if it exists
    #[arg(long, short)]
    pub force: bool,

    /// Wait until the device has it, so that a power cut does not undo it
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// An existing file with further names: refuse, or break away from them
    #[arg(long, value_name = "HOW", value_parser = words(HardLinks::WORDS), default_value = "refuse")]
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
