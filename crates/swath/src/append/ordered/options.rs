//! How to write in order: every choice a caller can make, each with its default.

use crate::sink::OutputOptions;

/// Whether writes go past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direct {
    /// Through it: the bytes can be read again at once, and reach the device later.
    #[default]
    No,
    /// Past it (`O_DIRECT`): for output larger than memory, or that must be on the device soon.
    /// Chunks need not be aligned. Where the file system refuses, it is written through the page
    /// cache and said so in [`OrderedReport::fallbacks`](super::OrderedReport::fallbacks).
    Yes,
}

/// How to write in order. Every setter returns the options, none can fail; 0 means "choose for
/// me".
#[derive(Clone, Debug, Default)]
pub struct OrderedOptions {
    pub(super) output: OutputOptions,
    pub(super) window: usize,
    pub(super) chunk_size: u64,
    pub(super) direct: Direct,
}

impl From<OutputOptions> for OrderedOptions {
    fn from(output: OutputOptions) -> Self {
        Self::new().with_output(output)
    }
}

impl OrderedOptions {
    /// A new or replaced file, durable once committed, everything else chosen for it.
    pub fn new() -> Self {
        Self::default()
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
    pub fn with_chunk_size(mut self, chunk_size: u64) -> Self {
        self.chunk_size = chunk_size;
        self
    }

    /// Whether writes go past the page cache. Default: [`Direct::No`].
    #[must_use]
    pub fn with_direct(mut self, direct: Direct) -> Self {
        self.direct = direct;
        self
    }

    /// How the output is written. Threads are the caller's; progress is of chunks that were written.
    /// After a cancellation every later call returns an error, and no file is left.
    #[must_use]
    pub fn with_output(mut self, output: OutputOptions) -> Self {
        self.output = output;
        self
    }
}
