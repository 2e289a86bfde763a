//! How to append: every choice a caller can make, each with its default.

use swath_plan::words;

use crate::sink::OutputOptions;

/// Where the bytes of parallel strands are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// One ordinary file, byte for byte the one that the serial program would leave.
    ///
    /// A strand whose place in the file is known writes there at once. What a stolen strand
    /// writes before that is kept in memory up to a bound, then spilled to nameless files beside
    /// the target, and moved to its place when that is known: by sharing blocks (reflink) where
    /// file system and alignment allow, else by copying, several extents at one time.
    #[default]
    Plain,
    /// A folder of segments, one log for each thread that writes, and a manifest with their
    /// serial order. Nothing is moved at commit. [`open`](super::open) reads it back as one
    /// stream, and so do `swath cat` and `swath cp`.
    Segments,
}

words!(Mode { Plain = "plain", Segments = "segments" });

/// Whether the bytes of segments are checksummed (CRC-32C).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExtentChecksums {
    /// Each extent has one, compared by [`Opened::verify`](super::Opened::verify), and when its
    /// `Read` gets from an extent's start to its end.
    #[default]
    Extents,
    /// None: about a tenth less work in the writing thread.
    None,
}

/// How to append. Every setter returns the options, none can fail; 0 means "choose for me".
///
/// ```
/// use swath::append::{AppendOptions, Mode};
///
/// let options = AppendOptions::new().with_mode(Mode::Segments).with_memory(64 << 20);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct AppendOptions {
    pub(super) mode: Mode,
    pub(super) memory: u64,
    pub(super) buffer_size: u64,
    pub(super) checksums: ExtentChecksums,
    pub(super) output: OutputOptions,
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl AppendOptions {
    /// One plain file, durable when committed, replacing what is there.
    pub fn new() -> Self {
        Self {
            mode: Mode::Plain,
            memory: 0,
            buffer_size: 0,
            checksums: ExtentChecksums::Extents,
            output: OutputOptions::new(),
        }
    }

    /// Where the bytes are left. Default: [`Mode::Plain`].
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Bytes of stolen strands that may wait in memory for their place before they are spilled.
    /// Default 0: an eighth of the memory at hand, at most 2 GiB.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Bytes that a strand collects before it leaves them somewhere. Default 0: 256 KiB.
    #[must_use]
    pub fn with_buffer_size(mut self, buffer_size: u64) -> Self {
        self.buffer_size = buffer_size;
        self
    }

    /// Whether segments are checksummed. Default: each extent.
    #[must_use]
    pub fn with_checksums(mut self, checksums: ExtentChecksums) -> Self {
        self.checksums = checksums;
        self
    }

    /// How the output is written. Threads are the caller's. Progress is of bytes that strands have
    /// left in a file; after a cancellation every later write and the commit return an error.
    #[must_use]
    pub fn with_output(mut self, output: OutputOptions) -> Self {
        self.output = output;
        self
    }

    pub(super) fn buffer_size(&self) -> usize {
        const DEFAULT: usize = 256 << 10;
        let asked = usize::try_from(self.buffer_size).unwrap_or(usize::MAX);
        if asked == 0 { DEFAULT } else { asked }
    }
}
