//! How to write: the options shared by all verbs that write a file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath_os::access::Access;
use swath_plan::setters;

use crate::error::Result;
use crate::observe::{CancelToken, Hooks, Progress};
use crate::sink::draft::Draft;
use crate::sink::existing::{DraftBase, DraftOptions, Durability, HardLinks, Replace};
use crate::sink::fs::Fs;
use crate::sink::local::LocalFs;
use crate::sink::same_folders::SameFolders;
use crate::timeline::Timeline;

/// How to write: one set of options for every verb that writes a file, passed with
/// `with_output`.
///
/// No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::sink::{Durability, Replace};
/// use swath::{OutputOptions, WriteOptions};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("out.bin");
/// let output = OutputOptions::new()
///     .with_durability(Durability::None)
///     .with_replace(Replace::Refused);
/// let options = WriteOptions::new().with_output(output);
/// options.write(&path, b"first")?;
/// let error = options.write(&path, b"second").expect_err("it is there");
/// assert_eq!(error.io_kind(), std::io::ErrorKind::AlreadyExists);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    pub(crate) draft: DraftOptions,
    pub(crate) access: Option<Access>,
    pub(crate) workers: usize,
    pub(crate) hooks: Hooks,
}

impl OutputOptions {
    /// The defaults: a new or replaced file, durable when the verb returns, in the kernel's file
    /// systems.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether a commit waits for the device. Default: [`Durability::Full`].
        fn with_durability(durability: Durability) in draft;

        /// How to treat a target that exists. Default: [`Replace::Allowed`].
        fn with_replace(replace: Replace) in draft;

        /// How to treat a target that has other names, unless it is written in place: then all of them get the
        /// new bytes. Default: [`HardLinks::Refused`].
        fn with_hard_links(hard_links: HardLinks) in draft;

        /// The file system to write to. Default: the kernel's, [`LocalFs`](crate::sink::LocalFs).
        fn with_fs(fs: Arc<dyn Fs>) in draft;

        /// Threads that produce and write the bytes of a verb that reads nothing, including the
        /// caller's, at most 1,024. Verbs that read use the workers of their `with_read`; appends and
        /// tickets use threads of the caller. Default 0: chosen by the verb.
        fn with_workers(workers: usize);
    }

    /// Calls `progress` with the bytes written, from the worker that wrote them, about once for each
    /// MiB. The count never shrinks, but calls of different workers may overtake each other.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.progress = Some(Arc::new(progress));
        self
    }

    setters! {
        /// Lets `token` cancel the write until its commit begins; the target is then unchanged.
        fn with_cancel(cancel: CancelToken) in hooks;

        /// Records all writes in `timeline`: bytes, place and thread. Default: no timeline.
        fn with_timeline(timeline: impl Into<Option<Timeline>>) in hooks;
    }

    /// Sets the permissions of a new file, less the umask: [`Permissions`](std::fs::Permissions) apply to any group;
    /// the [`Access`] of another file grants group permissions only to that file's group. A file that is replaced
    /// keeps its own, and a folder of segments has those of a new folder. Default: those of any new file; for a copy,
    /// those of its source.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("in"), folder.path().join("out"));
    /// # std::fs::write(&from, "text")?;
    /// let input = swath::Input::open(&from)?;
    /// let mut output = swath::OutputOptions::new();
    /// if let Some(access) = input.access()? {
    ///     output = output.with_permissions(access);
    /// }
    /// swath::WriteOptions::new().with_output(output).write(&to, b"TEXT")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl Into<Access>) -> Self {
        self.access = Some(permissions.into());
        self
    }

    /// Names an input file of the bytes, which is then not written in place; may be called several times. The verbs
    /// that read files and write another one call it.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<PathBuf>) -> Self {
        self.draft.inputs.push(input.into());
        self
    }

    /// Allows only the open `file`, in its present state, to be replaced; `None`: no file.
    ///
    /// # Errors
    ///
    /// The errors of fstat(2).
    #[doc(hidden)]
    pub fn with_only(mut self, file: Option<File>) -> io::Result<Self> {
        self.draft.base = match file {
            Some(file) => DraftBase::File(LocalFs::readable(file).facts()?),
            None => DraftBase::Nothing,
        };
        Ok(self)
    }

    /// Makes a call that writes `outputs` at the end, or one after another, write each into the folder to which its
    /// path leads now.
    #[doc(hidden)]
    #[must_use]
    pub fn in_same_folders(&self, outputs: &[&Path]) -> Self {
        let mut same = self.clone();
        same.draft.fs = SameFolders::of(&self.draft.fs, outputs);
        same
    }

    /// Creates an unnamed file in the folder of `path`, with the requested permissions.
    pub(crate) fn begin(&self, path: &Path) -> Result<Draft> {
        self.permitted(Draft::begin(path, &self.draft)?)
    }

    /// Creates a file with a hidden name, under which other processes of this user can open it.
    pub(crate) fn begin_named(&self, path: &Path) -> Result<Draft> {
        self.permitted(Draft::begin_named(path, &self.draft)?)
    }

    fn permitted(&self, mut draft: Draft) -> Result<Draft> {
        if let Some(access) = self.access {
            draft.give_access(access)?;
        }
        Ok(draft)
    }

    /// Returns how a target that exists is treated.
    pub fn replace(&self) -> Replace {
        self.draft.replace
    }

    /// Returns the requested number of threads; 0 means "choose for me".
    pub fn workers(&self) -> usize {
        self.workers
    }
}
