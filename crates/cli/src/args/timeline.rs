//! Where a command records what it did.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueHint};
use swath::Timeline;
use swath::timeline::Recorder;

/// The flag of every command that moves bytes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to record")]
pub struct TimelineArgs {
    /// Write what each worker did, and when, to FILE, for Perfetto or chrome://tracing
    ///
    /// Each chunk's wait, read, computation and write on the lane of its worker, reads in flight
    /// and bytes a second: a trace in the Chrome format, JSON. FILE is complete or absent, and
    /// replaced if it exists; also a command that fails leaves it. It takes 40 bytes of memory
    /// for each chunk until the end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub timeline: Option<PathBuf>,

    /// Made when it is first asked for; clones share it.
    #[arg(skip)]
    handle: Arc<OnceLock<Timeline>>,
}

impl TimelineArgs {
    /// Returns the timeline to record in, always the same one, if there is to be one.
    pub fn handle(&self) -> Option<Timeline> {
        self.timeline.as_ref().map(|_| self.handle.get_or_init(Timeline::new).clone())
    }

    /// Returns who records what this thread does beside the library, if anybody does.
    pub fn recorder(&self, path: impl AsRef<Path>) -> Option<Recorder> {
        self.handle().map(|timeline| timeline.recorder(path))
    }
}
