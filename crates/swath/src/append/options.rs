//! How to append: every option, with its default.

use swath_plan::{setters, words};

use crate::sink::OutputOptions;

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// One ordinary file, byte for byte the one that the serial program would write.
    ///
    /// A strand whose place in the file is known writes there directly. Until its place is known,
    /// a stolen strand keeps its bytes in memory up to a limit, then spills them to unnamed files
    /// in the target's folder. They are moved once the place is known: by sharing blocks (reflink)
    /// where file system and alignment allow, otherwise by copying, several extents at a time.
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
    /// Each extent has a checksum. [`Opened::verify`](super::Opened::verify) compares it, and so
    /// does `Read` when it gets from an extent's start to its end.
    #[default]
    Extents,
    /// No checksums: about a tenth less work in the writing thread.
    None,
}

/// How to append. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::append::{AppendOptions, Mode};
///
/// let options = AppendOptions::new().with_mode(Mode::Segments).with_memory_limit(64 << 20);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct AppendOptions {
    pub(super) mode: Mode,
    pub(super) memory_limit: u64,
    pub(super) buffer_size: u64,
    pub(super) checksums: ExtentChecksums,
    pub(super) output: OutputOptions,
}

impl AppendOptions {
    /// The defaults: one plain file, durable when committed, replacing an existing one.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The form of the output. Default: [`Mode::Plain`].
        fn with_mode(mode: Mode);

        /// Bytes of stolen strands that may wait in memory for their place before they are spilled.
        /// Default 0: an eighth of the memory available when the first bytes wait, at most 2 GiB.
        fn with_memory_limit(memory_limit: u64);

        /// Bytes that a strand buffers before it writes them. Default 0: 256 KiB.
        fn with_buffer_size(buffer_size: u64);

        /// Whether segments are checksummed. Default: each extent is.
        fn with_checksums(checksums: ExtentChecksums);

        /// How the output is written. The threads are the caller's. Progress counts bytes that
        /// strands have written to a file; after a cancellation every later write and the commit
        /// return an error.
        fn with_output(output: OutputOptions);
    }

    pub(super) fn buffer_size(&self) -> usize {
        const DEFAULT: usize = 256 << 10;
        let asked = usize::try_from(self.buffer_size).unwrap_or(usize::MAX);
        if asked == 0 { DEFAULT } else { asked }
    }
}
