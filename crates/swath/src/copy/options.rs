//! How to copy: every choice a caller can make, each with its default.

use crate::options::{ReadOptions, reading_setters};
use crate::sink::draft::{DraftOptions, target_setters};

/// Whether the copy may share the blocks of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reflink {
    /// Where the file system can.
    #[default]
    Auto,
    /// Or it is an error.
    Always,
    /// Not even then: a copy that a bad block of the source does not reach.
    Never,
}

impl Reflink {
    /// All of them, with the words of the command line.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];
}

/// How to copy. Every setter returns the options, none can fail; 0 means "choose for me".
///
/// ```
/// use swath::{CopyOptions, sink::Sync};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("copy");
/// let options = CopyOptions::new().with_workers(2).with_sync(Sync::None);
/// let copied = options.copy("/etc/passwd", &path)?;
/// assert_eq!(copied.hole_bytes, 0);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CopyOptions {
    pub(super) draft: DraftOptions,
    pub(super) reading: ReadOptions,
    pub(super) reflink: Reflink,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CopyOptions {
    /// A new or replaced file, durable when the copy returns, everything else chosen for it.
    pub fn new() -> Self {
        Self {
            draft: DraftOptions::default(),
            reading: ReadOptions::new(),
            reflink: Reflink::Auto,
        }
    }

    /// Bytes of one read and write. Default 0: 512 KiB, which stays in the processor's cache.
    #[must_use]
    pub fn with_chunk_size(mut self, chunk_size: usize) -> Self {
        self.reading = self.reading.with_chunk_size(chunk_size);
        self
    }

    /// Whether the copy may share the blocks of its source. Default: [`Reflink::Auto`].
    #[must_use]
    pub fn with_reflink(mut self, reflink: Reflink) -> Self {
        self.reflink = reflink;
        self
    }

    reading_setters!(
        "Threads, the caller's included, at most 1,024. Default 0: one for each core, or \
         more where the device wants more reads in flight.",
        "Calls `progress` about once for each MiB, from whichever worker copied it. Holes count.",
        "Lets `token` cancel the copy; the target is then what it was."
    );

    target_setters!();
}
