//! How to copy: every option, with its default.

use swath_plan::{setters, words};

use crate::options::ReadOptions;
use crate::sink::OutputOptions;

/// Whether the copy may share the blocks of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reflink {
    /// Where the file system can.
    #[default]
    Auto,
    /// Always; if the file system cannot, it is an error.
    Always,
    /// Never: a bad block of the source then does not affect the copy.
    Never,
}

words!(Reflink { Auto = "auto", Always = "always", Never = "never" });

/// The attributes of the source that a copy keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preserve {
    /// The permissions, less the umask, if the copy is a new file. A file that is replaced keeps
    /// its own mode, owner and extended attributes.
    #[default]
    Permissions,
    /// The times of the last read and of the last write, to the nanosecond; the permissions; owner
    /// and group where this process may set them, else the group's permissions are those of all
    /// others; and extended attributes, access control lists among them. A file that is replaced
    /// gets them too. The bits set-user-id and set-group-id and file capabilities are left out.
    All,
}

/// How to copy. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::sink::Durability;
/// use swath::{OutputOptions, ReadOptions};
/// use swath::copy::CopyOptions;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("copy");
/// let options = CopyOptions::new()
///     .with_read(ReadOptions::new().with_workers(2))
///     .with_output(OutputOptions::new().with_durability(Durability::None));
/// let copied = options.copy("/etc/passwd", &path)?;
/// assert_eq!(copied.hole_bytes, 0);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    pub(super) read: ReadOptions,
    pub(super) output: OutputOptions,
    pub(super) reflink: Reflink,
    pub(super) preserve: Preserve,
}

impl CopyOptions {
    /// The defaults: a new or replaced file, durable when the copy returns, everything else
    /// chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the source is read; all of it is read. Chunks are 512 KiB unless these options say
        /// otherwise, so that they stay in the processor's cache. Progress counts holes too.
        fn with_read(read: ReadOptions);

        /// How the copy is written, by the threads that read. Spans of a copy go to the timeline of
        /// the output, or to that of the reading if the output has none.
        fn with_output(output: OutputOptions);

        /// The attributes of its source that the copy keeps, if the source is a regular file; all but the
        /// permissions have no effect for other sources. Default: [`Preserve::Permissions`].
        fn with_preserve(preserve: Preserve);

        /// Whether the copy may share the blocks of its source. Default: [`Reflink::Auto`].
        fn with_reflink(reflink: Reflink);
    }
}
