//! How to write in order: every option, with its default.

use swath_plan::setters;

use crate::sink::{OutputOptions, Sparse};

/// Whether writes bypass the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direct {
    /// Through the page cache: the bytes can be read again at once, and reach the device later.
    #[default]
    No,
    /// With `O_DIRECT`, bypassing the page cache: for output larger than memory, or that must be
    /// on the device soon. Chunks need not be aligned. If the file system refuses it, the output
    /// is written through the page cache, and
    /// [`OrderedReport::fallbacks`](super::OrderedReport::fallbacks) says so.
    Yes,
}

/// How to write in order. No setter can fail; 0 means "choose for me".
#[derive(Clone, Debug, Default)]
pub struct OrderedOptions {
    pub(super) output: OutputOptions,
    pub(super) window: usize,
    pub(super) chunk_size: u64,
    pub(super) direct: Direct,
    pub(super) sparse: Sparse,
}

impl From<OutputOptions> for OrderedOptions {
    fn from(output: OutputOptions) -> Self {
        Self::new().with_output(output)
    }
}

impl OrderedOptions {
    /// The defaults: a new or replaced file, durable once committed, everything else chosen for
    /// you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Maximum number of chunks at a time: open tickets, and chunks not written yet. Default 0: two
        /// for each core, or for each worker of [`map_ordered`](super::Ordered::map_ordered).
        fn with_window(window: usize);

        /// Initial capacity of the buffers in bytes: the usual size of a chunk. Longer chunks make
        /// them grow. Default 0: 64 KiB, then the length of the longest chunk yet.
        fn with_chunk_size(chunk_size: u64);

        /// Whether writes bypass the page cache. Default: [`Direct::No`].
        fn with_direct(direct: Direct);

        /// Whether long runs of zeros become holes. Default: [`Sparse::Never`]. A stream gets all zeros; so
        /// do direct writes, and [`OrderedReport::fallbacks`](super::OrderedReport::fallbacks) says so.
        fn with_sparse(sparse: Sparse);

        /// How the output is written. The threads are the caller's; progress counts chunks that were
        /// written. After a cancellation every later call returns an error, and no file remains.
        fn with_output(output: OutputOptions);
    }
}
