//! The flag for the timeline of a command.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueHint};
use swath::Timeline;
use swath::timeline::Recorder;

use super::words::path;

/// The flag of every command that moves bytes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to record")]
pub struct TimelineArgs {
    /// Write what each worker did, and when, to FILE, for Perfetto or chrome://tracing
    ///
    /// The wait, read, computation and write of each chunk on the lane of its worker, reads in flight
    /// and bytes a second, as a JSON trace in the Chrome format. FILE is complete or absent. It
    /// replaces an earlier timeline, and no other file. A command that fails writes it too. It takes
    /// 40 bytes of memory for each chunk until the end.
    #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub timeline: Option<PathBuf>,

    /// The timeline, created at its first use; clones share it.
    #[arg(skip)]
    handle: Arc<OnceLock<Timeline>>,
}

impl TimelineArgs {
    /// Returns the timeline to record in, always the same one; `None` without --timeline.
    pub fn handle(&self) -> Option<Timeline> {
        self.timeline.as_ref().map(|_| self.handle.get_or_init(Timeline::new).clone())
    }

    /// Returns a recorder of this thread's activities outside the library; `None` without --timeline.
    pub fn recorder(&self, path: impl AsRef<Path>) -> Option<Recorder> {
        self.handle().map(|timeline| timeline.recorder(path))
    }
}
