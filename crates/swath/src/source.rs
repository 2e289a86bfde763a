//! One input: facts about it, and its bytes by position.
//!
//! A source is opened once, by the verb that reads it or earlier (`input.rs`). Reads are positional
//! and blocking. The interface is extensible: every verb can read any implementation of [`ReadAt`].
//! Files can be read in more ways (direct, ring, map) because they have a descriptor.

mod copies;
mod file;
mod input;
mod memory;
pub(crate) mod mirrored;
mod opened;
mod trouble;

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath_os::access::Access;
use swath_plan::policy::{Hints, ParallelRequests, SourceKind};
use swath_plan::setters;

use copies::Closed;
pub use file::FileTimes;
pub(crate) use file::Identity;
pub(crate) use file::SourceLength;
pub(crate) use file::{check_connected, is_lost, settled, stat_of};
pub use input::Input;
pub use mirrored::{Hedging, Mirrored, Verify};
pub use opened::Growth;
pub(crate) use opened::OpenSource;
pub use trouble::SourceTrouble;

/// Bytes that can be read by position, from any thread.
///
/// ```
/// use std::{io, sync::Arc};
/// use swath::{ReadAt, SourceFacts};
///
/// struct Zeros(u64);
///
/// impl ReadAt for Zeros {
///     fn facts(&self) -> io::Result<SourceFacts> {
///         Ok(SourceFacts::new(Some(self.0)))
///     }
///     fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
///         let left = usize::try_from(self.0.saturating_sub(offset)).unwrap_or(usize::MAX);
///         let len = target.len().min(left);
///         target[..len].fill(0);
///         Ok(len)
///     }
/// }
/// let loaded = swath::ReadOptions::new().read(swath::Source::custom(Arc::new(Zeros(1 << 20))))?;
/// assert_eq!(loaded.buffer.len(), 1 << 20);
/// # Ok::<(), swath::Error>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// Returns the current facts. Called before and after a read, to see whether the source changed.
    ///
    /// # Errors
    ///
    /// Any error that makes the source unreadable.
    fn facts(&self) -> io::Result<SourceFacts>;

    /// Reads up to `target.len()` bytes at `offset`. Fewer is fine; 0 means the end.
    ///
    /// # Errors
    ///
    /// `Interrupted` is retried; `WouldBlock` and `TimedOut` a few times, with growing pauses;
    /// other errors end the read. A [`SourceTrouble`] is more precise: it has the time after which to
    /// retry, or says that the content has changed.
    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The name in messages.
    fn name(&self) -> PathBuf {
        PathBuf::from("<source>")
    }

    /// The folder that contains the files with its bytes, if there is one: no copy of the source is
    /// written into it.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Who may read the source, for files made from it. Default: unknown.
    ///
    /// # Errors
    ///
    /// The errors of inspecting the source.
    fn access(&self) -> io::Result<Option<Access>> {
        Ok(None)
    }
}

/// The facts about a [`ReadAt`]: its length, and hints on how to read it best.
///
/// Hints are trusted. Without them a read begins with few workers, and starts more as long as it
/// waits for the source. [`ReadOptions`](crate::ReadOptions) take precedence; the reason in the
/// report has the chosen values.
///
/// ```
/// use swath::SourceFacts;
/// use swath::reading::SourceKind;
///
/// let facts = SourceFacts::new(Some(1 << 40))
///     .with_kind(SourceKind::Remote)
///     .with_request_size(8 << 20)
///     .with_queue_depth(128);
/// assert_eq!(facts.len(), Some(1 << 40));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFacts {
    len: Option<u64>,
    has_any_start: bool,
    validator: [u64; 4],
    hints: Hints,
}

impl SourceFacts {
    /// Returns facts with a length in bytes, or `None` for a source that is read in order until it ends.
    pub fn new(len: Option<u64>) -> Self {
        Self { len, has_any_start: false, validator: [0; 4], hints: Hints::default() }
    }

    /// Declares that a source of unknown length can be read in order from any byte. Otherwise the
    /// bytes before it are read and discarded.
    ///
    /// ```
    /// use std::{io, sync::Arc};
    /// use swath::{ReadAt, ReadOptions, Source, SourceFacts};
    ///
    /// /// Even numbers, without an end.
    /// struct Even;
    ///
    /// impl ReadAt for Even {
    ///     fn facts(&self) -> io::Result<SourceFacts> {
    ///         Ok(SourceFacts::new(None).with_any_start())
    ///     }
    ///     fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
    ///         for (at, byte) in (offset..).zip(target.iter_mut()) {
    ///             *byte = (2 * at) as u8;
    ///         }
    ///         Ok(target.len())
    ///     }
    /// }
    /// let part = ReadOptions::new().with_offset(1 << 60).with_len(3);
    /// assert_eq!(part.read(Source::custom(Arc::new(Even)))?.buffer[..], [0, 2, 4]);
    /// # Ok::<(), swath::Error>(())
    /// ```
    #[must_use]
    pub fn with_any_start(mut self) -> Self {
        self.has_any_start = true;
        self
    }

    /// See [`with_any_start`](Self::with_any_start).
    pub(crate) fn has_any_start(&self) -> bool {
        self.has_any_start
    }

    setters! {
        /// Numbers that change when the content does: a version, a time, a hash.
        fn with_validator(validator: [u64; 4]);

        /// The kind of storage. Default: unknown.
        fn with_kind(kind: SourceKind) in hints;

        /// The best request size in bytes, from 4 KiB to 64 MiB. Default 0: unknown; 1 to 4 MiB are
        /// used, depending on the length.
        fn with_request_size(request_size: u64) in hints;
    }

    /// The best number of requests in flight, at most 1,024: exactly this many are used. Default 0:
    /// unknown; determined during the read, at most 64.
    #[must_use]
    pub fn with_queue_depth(mut self, queue_depth: usize) -> Self {
        self.hints.queue_depth = queue_depth as u64;
        self
    }

    setters! {
        /// Whether more than one request at a time is useful at all. Default: unknown.
        fn with_parallel(parallel: ParallelRequests) in hints;
    }

    /// Whether `other` has the same content, by length and validator.
    pub(crate) fn is_same_content(&self, other: &Self) -> bool {
        (self.len, self.validator) == (other.len, other.validator)
    }

    /// The length in bytes.
    pub fn len(&self) -> Option<u64> {
        self.len
    }

    /// Whether the source is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.len == Some(0)
    }
}

/// The source of a read: a path, an open file, standard input, an implementation of [`ReadAt`], or an [`Input`].
///
/// A source is opened by the verb that it is passed to; an [`Input`] is open already.
#[derive(Clone)]
pub struct Source(pub(crate) SourceForm);

#[derive(Clone)]
pub(crate) enum SourceForm {
    Path(PathBuf),
    /// A path that the caller has found, in a folder or by a pattern.
    Found(PathBuf),
    File(Arc<File>, PathBuf),
    /// Read from the current position of its descriptor, which moves.
    InOrder(Arc<File>, PathBuf),
    Custom(Arc<dyn ReadAt>),
    Mirrored(Arc<dyn Closed>),
    Opened(Arc<OpenSource>),
}

impl Source {
    /// Standard input: read by position if it is a file of which no byte has been read, otherwise in
    /// order from its current position until it ends.
    ///
    /// # Errors
    ///
    /// If the process has no standard input.
    pub fn stdin() -> io::Result<Self> {
        use std::os::fd::AsFd;
        if swath_os::streams::stdin_was_closed() {
            return Err(io::Error::other("standard input is closed"));
        }
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let begun = (&file).stream_position().is_ok_and(|position| position > 0);
        let (file, name) = (Arc::new(file), PathBuf::from("<stdin>"));
        Ok(Self(if begun {
            SourceForm::InOrder(file, name)
        } else {
            SourceForm::File(file, name)
        }))
    }

    /// Anything that can be read by position.
    pub fn custom(source: Arc<dyn ReadAt>) -> Self {
        Self(SourceForm::Custom(source))
    }

    /// Equal copies, read as one source: in parallel, with chunks that one lacks taken from another.
    /// See [`Mirrored`] to verify the copies.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let copy = folder.path().join("copy");
    /// # std::fs::copy("/etc/passwd", &copy).unwrap();
    /// let copies = swath::Source::mirrored(["/etc/passwd", copy.to_str().unwrap(), "/gone"]);
    /// let loaded = swath::ReadOptions::new().read(copies)?;
    /// assert!(loaded.buffer.starts_with(b"root:"));
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn mirrored<S: Into<Self>>(copies: impl IntoIterator<Item = S>) -> Self {
        Mirrored::new(copies).into()
    }

    /// The name in messages: the path, if there is one.
    pub fn name(&self) -> PathBuf {
        match &self.0 {
            SourceForm::Path(path)
            | SourceForm::Found(path)
            | SourceForm::File(_, path)
            | SourceForm::InOrder(_, path) => path.clone(),
            SourceForm::Custom(source) => source.name(),
            SourceForm::Mirrored(mirrored) => mirrored.name(),
            SourceForm::Opened(opened) => opened.name().to_owned(),
        }
    }

    /// The path, if it is one that has not been opened yet.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let SourceForm::Path(path) = &self.0 { Some(path) } else { None }
    }

    /// A path that the caller has found, in a folder or by a pattern, and that may lead elsewhere by now: it is opened
    /// without waiting for the writer of a pipe, and must be a file.
    ///
    /// ```
    /// assert!(swath::read(swath::Source::found("/dev/null")).is_err());
    /// assert!(swath::read(swath::Source::found("/etc/passwd"))?.starts_with(b"root:"));
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn found(path: impl Into<PathBuf>) -> Self {
        Self(SourceForm::Found(path.into()))
    }

    /// An open file, called `name` in messages. Its own position is neither used nor moved,
    /// unless it is a pipe.
    pub fn file(file: impl Into<Arc<File>>, name: impl Into<PathBuf>) -> Self {
        Self(SourceForm::File(file.into(), name.into()))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SourceForm::Mirrored(mirrored) => f.debug_tuple("Source").field(mirrored).finish(),
            _ => f.debug_tuple("Source").field(&self.name()).finish(),
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self(SourceForm::Path(path))
    }
}

impl From<File> for Source {
    fn from(file: File) -> Self {
        let name = file::name_of(&file);
        Self(SourceForm::File(Arc::new(file), name))
    }
}

macro_rules! from_paths {
    ($($type:ty),+) => {$(
        impl From<$type> for Source {
            fn from(path: $type) -> Self {
                Self(SourceForm::Path(AsRef::<Path>::as_ref(path).to_owned()))
            }
        }
    )+};
}
from_paths!(&Path, &PathBuf, &str, &String, &OsStr);

impl From<String> for Source {
    fn from(path: String) -> Self {
        Self::from(PathBuf::from(path))
    }
}
