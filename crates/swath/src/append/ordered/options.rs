//! How to write in order: every choice a caller can make, each with its default.

use std::fs::Permissions;
use std::sync::Arc;

use crate::observe::{CancelToken, Hooks, Progress};
use crate::sink::draft::{DraftOptions, target_setters};
use crate::timeline::Timeline;

/// Whether writes go past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direct {
    /// Through it: the bytes can be read again at once, and reach the device later.
    #[default]
    No,
    /// Past it (`O_DIRECT`): for output larger than memory, or that must be on the device soon.
    /// Chunks need not be aligned. Where the file system refuses, it is written through the page
    /// cache and said so in [`Written::fallbacks`](super::Written::fallbacks).
    Yes,
}

/// How to write in order. Every setter returns the options, none can fail; 0 means "choose for
/// me".
#[derive(Clone, Debug)]
pub struct OrderedOptions {
    pub(super) draft: DraftOptions,
    pub(super) window: usize,
    pub(super) chunk_size: usize,
    pub(super) direct: Direct,
    pub(super) permissions: Option<Permissions>,
    pub(super) hooks: Hooks,
}

impl Default for OrderedOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OrderedOptions {
    /// A new or replaced file, durable once committed, everything else chosen for it.
    pub fn new() -> Self {
        Self {
            draft: DraftOptions::default(),
            window: 0,
            chunk_size: 0,
            direct: Direct::No,
            permissions: None,
            hooks: Hooks::default(),
        }
    }

    /// Chunks that may exist at one time: tickets that are open, and chunks not written yet.
    /// Default 0: two for each core, or for each worker of
    /// [`map_ordered`](super::Ordered::map_ordered).
    #[must_use]
    pub fn with_window(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// Bytes that buffers have room for from the start: what a chunk usually holds. Longer ones
    /// grow. Default 0: 64 KiB, then as much as the longest chunk so far.
    #[must_use]
    pub fn with_chunk_size(mut self, chunk_size: usize) -> Self {
        self.chunk_size = chunk_size;
        self
    }

    /// Whether writes go past the page cache. Default: [`Direct::No`].
    #[must_use]
    pub fn with_direct(mut self, direct: Direct) -> Self {
        self.direct = direct;
        self
    }

    target_setters!();

    /// Permissions of a new file, less what new files lack here (the umask). One that is replaced
    /// keeps its own. Default: as any new file.
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Calls `progress` for each chunk that was written, from whichever worker wrote it.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(Progress) + Send + std::marker::Sync + 'static,
    ) -> Self {
        self.hooks.progress = Some(Arc::new(progress));
        self
    }

    /// Lets `token` cancel: every later call returns an error, and no file is left.
    #[must_use]
    pub fn with_cancel(mut self, token: CancelToken) -> Self {
        self.hooks.cancel = Some(token);
        self
    }

    /// Records in `timeline` what is computed, waited for and written, chunk by chunk. Default: nowhere.
    #[must_use]
    pub fn with_timeline(mut self, timeline: impl Into<Option<Timeline>>) -> Self {
        self.hooks.timeline = timeline.into();
        self
    }
}
