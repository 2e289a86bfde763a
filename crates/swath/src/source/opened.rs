//! An open source: its identity is known, its bytes can be read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, FileType, OFlags, Stat};
use rustix::io::Errno;
use swath_os::access::Access;
use swath_os::names::open_at_once;
use swath_plan::extent::Extent;
use swath_plan::fallback::{DirectUse, Fallback};
use swath_plan::policy::Hints;
use swath_plan::words;

use super::copies::Copies;
use super::file::{self, DirectDescriptor, FileTimes, Identity, SourceLength, StoragePlace};
use super::{ReadAt, Source, SourceFacts, SourceForm, SourceTrouble};
use crate::error::{Error, Operation, Reason, Result};
use crate::report::Report;

/// See the [module](self).
pub(crate) struct OpenSource {
    name: PathBuf,
    kind: SourceLength,
    input: OpenForm,
}

enum OpenForm {
    File {
        file: Arc<File>,
        before: Identity,
        direct: OnceLock<io::Result<DirectDescriptor>>,
        /// Whether it was opened here, so that its descriptor is closed here too.
        is_ours: bool,
    },
    Custom {
        source: Arc<dyn ReadAt>,
        before: SourceFacts,
    },
    Mirrored(Box<dyn Copies>),
}

impl OpenSource {
    pub(crate) fn open(source: Source) -> Result<Arc<Self>> {
        let opened = match source.0 {
            SourceForm::Opened(opened) => return Ok(opened),
            SourceForm::Path(name) => {
                let file = File::open(&name)
                    .map_err(|error| Error::io(Operation::Open, &name, error))?;
                Self::of_path(file, name)?
            }
            SourceForm::Found(name) => return Self::open_found(name),
            SourceForm::File(file, name) => Self::of_file(file, name, None)?,
            SourceForm::InOrder(file, name) => {
                Self { kind: SourceLength::Stream, ..Self::of_file(file, name, None)? }
            }
            SourceForm::Custom(source) => Self::of_custom(source)?,
            SourceForm::Mirrored(mirrored) => {
                let copies = mirrored.open()?;
                let kind = SourceLength::Sized(copies.len());
                Self { name: mirrored.name(), kind, input: OpenForm::Mirrored(copies) }
            }
        };
        Ok(Arc::new(opened))
    }

    /// Opens a path that a caller has found, not named: it must be a regular file.
    fn open_found(name: PathBuf) -> Result<Arc<Self>> {
        let opened = Self::open_copy(Source::from(&name))?;
        let is_file = |file: &File| {
            file::stat_of(file).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_file())
        };
        match opened.file() {
            Some(file) if is_file(file) => Ok(opened),
            _ => Err(Error::new(Operation::Read, Reason::Invalid, &name)
                .detail("it is not a file")
                .hint("name the files to read: this one is a pipe, a device or a socket")),
        }
    }

    fn of_custom(source: Arc<dyn ReadAt>) -> Result<Self> {
        let name = source.name();
        let before =
            source.facts().map_err(|error| Error::io(Operation::Inspect, &name, error))?;
        let kind = before.len().map_or(SourceLength::Stream, SourceLength::Sized);
        Ok(Self { name, kind, input: OpenForm::Custom { source, before } })
    }

    /// As [`open`](Self::open), but without waiting for the writer of a pipe: for callers that read by
    /// position, and so refuse pipes.
    pub(crate) fn open_copy(source: Source) -> Result<Arc<Self>> {
        let (SourceForm::Path(name) | SourceForm::Found(name)) = source.0 else {
            return Self::open(source);
        };
        let failed = |error| Error::io(Operation::Open, &name, error);
        let file = open_at_once(CWD, &*name, OFlags::RDONLY | OFlags::CLOEXEC);
        let file = File::from(file.map_err(|error| failed(error.into()))?);
        // Reads must block: some kernel interfaces would otherwise return nothing.
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|error| failed(error.into()))?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)
            .map_err(|error| failed(error.into()))?;
        Self::of_path(file, name).map(Arc::new)
    }

    /// Takes a file that was opened under a path.
    fn of_path(file: File, name: PathBuf) -> Result<Self> {
        let (file, stat) = file::settled(file, || File::open(&name))
            .map_err(|error| Error::io(Operation::Open, &name, error))?;
        Self::of_file(Arc::new(file), name, Some(stat))
    }

    /// Takes an open file, with its attributes if it was opened here.
    fn of_file(file: Arc<File>, name: PathBuf, known: Option<Stat>) -> Result<Self> {
        let inspect = |error| Error::io(Operation::Inspect, &name, error);
        let stat = known.map_or_else(|| file::stat_of(&file), Ok).map_err(inspect)?;
        let mut kind =
            file::kind(&file, &stat).map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::ISDIR) => Error::io(Operation::Read, &name, error),
                _ => inspect(error),
            })?;
        // A real file: empty as reported, or just filled, or not seekable.
        let mut before = Identity::of(&stat);
        if kind == SourceLength::Made && !file::is_pseudo(&file) {
            kind = match file.read_at(&mut [0], 0) {
                Ok(0) => SourceLength::Sized(0),
                Ok(_) => {
                    before = file::identity(&file).map_err(inspect)?;
                    if before.len > 0 {
                        SourceLength::Sized(before.len)
                    } else {
                        SourceLength::Made
                    }
                }
                // Not seekable.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::SPIPE) => {
                    SourceLength::Stream
                }
                Err(_) => SourceLength::Made,
            };
        }
        // Files of at most a page may be generated by the kernel, with a meaningless length.
        if matches!(kind, SourceLength::Sized(1..=4096)) && file::is_pseudo(&file) {
            kind = SourceLength::Made;
        }
        let input =
            OpenForm::File { file, before, direct: OnceLock::new(), is_ours: known.is_some() };
        Ok(Self { name, kind, input })
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    pub(crate) fn kind(&self) -> SourceLength {
        self.kind
    }

    /// Returns the descriptor, if there is one.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.input {
            OpenForm::File { file, .. } => Some(file),
            OpenForm::Custom { .. } | OpenForm::Mirrored(_) => None,
        }
    }

    /// Returns the times of the last read and write, if it is a regular file.
    pub(crate) fn times(&self) -> Result<Option<FileTimes>> {
        let Some(file) = self.file() else { return Ok(None) };
        let times = file.metadata().and_then(|facts| {
            let (accessed, modified) = (facts.accessed()?, facts.modified()?);
            Ok(facts.is_file().then_some(FileTimes { accessed, modified }))
        });
        times.map_err(|error| Error::io(Operation::Inspect, self.name(), error))
    }

    /// Returns who may use it: the permissions of a file or a block device; for a folder of segments, those that it
    /// and all of its files allow.
    pub(crate) fn access(&self) -> Result<Option<Access>> {
        let found = match &self.input {
            OpenForm::Custom { source, .. } => source.access(),
            _ => self.files().into_iter().try_fold(None, |all: Option<Access>, file| {
                let facts = file.metadata()?;
                if !facts.is_file() && !facts.file_type().is_block_device() {
                    return Ok(all);
                }
                let access = Access::of(file)?;
                Ok(Some(all.map_or(access, |all| all.and(access))))
            }),
        };
        found.map_err(|error| Error::io(Operation::Inspect, self.name(), error))
    }

    /// Returns the folder that contains the files with its bytes, if the caller's own source has one.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match &self.input {
            OpenForm::Custom { source, .. } => source.folder(),
            OpenForm::File { .. } | OpenForm::Mirrored(_) => None,
        }
    }

    /// Returns its descriptors: for copies, those of all that have one.
    pub(crate) fn files(&self) -> Vec<&File> {
        match &self.input {
            OpenForm::Mirrored(copies) => copies.files(),
            _ => self.file().into_iter().collect(),
        }
    }

    /// Returns how many copies are read in parallel; 0 for a source that is not mirrored.
    pub(crate) fn copies(&self) -> u64 {
        match &self.input {
            OpenForm::Mirrored(copies) => copies.active_count(),
            _ => 0,
        }
    }

    /// Announces that this many workers will read `extent`.
    pub(crate) fn expect(&self, extent: Extent, workers: u64) {
        if let OpenForm::Mirrored(copies) = &self.input {
            copies.expect(extent, workers);
        }
    }

    /// Adds the copies' shares to a report.
    pub(crate) fn tell(&self, report: &mut Report) {
        if let OpenForm::Mirrored(copies) = &self.input {
            copies.tell(report);
        }
    }

    /// Returns the number of the device that it is, or on which it is stored.
    pub(crate) fn device(&self) -> Option<u64> {
        match &self.input {
            OpenForm::File { file, before, .. } => match file.metadata() {
                Ok(facts) if facts.file_type().is_block_device() => Some(facts.rdev()),
                Ok(_) | Err(_) => Some(before.device),
            },
            OpenForm::Custom { .. } | OpenForm::Mirrored(_) => None,
        }
    }

    /// Whether it is a character device: a terminal, `/dev/zero`.
    pub(crate) fn is_character_device(&self) -> bool {
        let facts = self.file().and_then(|file| file.metadata().ok());
        facts.is_some_and(|facts| facts.file_type().is_char_device())
    }

    /// Whether both are one file, under any names.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        match (&self.input, &other.input) {
            (OpenForm::File { before, .. }, OpenForm::File { before: other, .. }) => {
                before.is_same_file(other)
            }
            (OpenForm::Custom { source, .. }, OpenForm::Custom { source: other, .. }) => {
                Arc::ptr_eq(source, other)
            }
            _ => false,
        }
    }

    /// Returns its storage.
    pub(crate) fn place(&self) -> StoragePlace {
        match &self.input {
            OpenForm::File { file, before, .. } => file::place(file, before.device),
            OpenForm::Custom { .. } => StoragePlace::FOREIGN,
            OpenForm::Mirrored(copies) => copies.place(),
        }
    }

    /// Whether reading in order may begin at any byte.
    pub(crate) fn has_any_start(&self) -> bool {
        match &self.input {
            OpenForm::Custom { before, .. } => before.has_any_start(),
            OpenForm::File { .. } | OpenForm::Mirrored(_) => false,
        }
    }

    /// Returns the hints of the source, if it is neither a file nor copies.
    pub(crate) fn hints(&self) -> Hints {
        match &self.input {
            OpenForm::Custom { before, .. } => before.hints,
            OpenForm::File { .. } | OpenForm::Mirrored(_) => Hints::default(),
        }
    }

    /// Returns a descriptor for direct reads, opened on first use.
    pub(crate) fn direct(&self) -> Option<&DirectDescriptor> {
        match &self.input {
            OpenForm::File { file, direct, .. } => {
                direct.get_or_init(|| file::direct(file)).as_ref().ok()
            }
            OpenForm::Custom { .. } | OpenForm::Mirrored(_) => None,
        }
    }

    /// Makes one read through the page cache.
    pub(crate) fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.input {
            OpenForm::File { file, .. } => file.read_at(target, offset),
            OpenForm::Custom { source, .. } => {
                let (given, room) = (source.read_at(target, offset)?, target.len());
                if given > room {
                    let text =
                        format!("the source returned {given} bytes for a buffer of {room}");
                    return Err(io::Error::other(text));
                }
                Ok(given)
            }
            OpenForm::Mirrored(copies) => copies.read_at(target, offset),
        }
    }

    /// Reads a chunk of copies in steps that fit into `room`, and passes each to `each`. Begins again
    /// if a step that was already passed proves to be wrong.
    pub(crate) fn take_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()> {
        match &self.input {
            OpenForm::Mirrored(copies) => copies.take_in_steps(chunk, room, each),
            // Only copies have chunks, those of their reference.
            OpenForm::File { .. } | OpenForm::Custom { .. } => {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    /// Makes one read of a stream; `offset`: bytes before it.
    pub(crate) fn read_next(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        match (&self.input, self.kind) {
            (OpenForm::File { file, .. }, SourceLength::Stream) => (&**file).read(target),
            _ => self.read_at(target, offset),
        }
    }

    /// Fails if the source has changed since it was opened: the promise of every verb. Growth is
    /// allowed if the caller reads only the bytes that were there first.
    pub(crate) fn check_unchanged(&self, extent: Extent, growth: Growth) -> Result<()> {
        let inspect = |error: io::Error| match SourceTrouble::of(&error) {
            Some(SourceTrouble::Changed) => {
                let told = Error::new(Operation::Inspect, Reason::Changed, &self.name);
                told.caused_by(error).hint(SourceTrouble::Changed.hint())
            }
            _ => Error::io(Operation::Inspect, &self.name, error),
        };
        self.check_connected()?;
        let (same, lengths) = match &self.input {
            OpenForm::File { file, before, .. } => {
                let after = file::identity(file).map_err(inspect)?;
                (before.is_kept(&after, &**file), (Some(before.len), Some(after.len)))
            }
            OpenForm::Custom { source, before } => {
                let after = source.facts().map_err(inspect)?;
                (after.is_same_content(before), (before.len(), after.len()))
            }
            // Each chunk has been checked, with its copy.
            OpenForm::Mirrored(_) => return Ok(()),
        };
        let grown = lengths.1 > lengths.0;
        if same || (growth == Growth::Ignored && grown) {
            return Ok(());
        }
        let error = Error::new(Operation::Read, Reason::Changed, &self.name).at(extent);
        Err(match lengths {
            (Some(before), Some(after)) if before != after => error
                .detail(format!("its length went from {before} to {after} while it was read"))
                .hint(self.words().changed_len_hint),
            _ => error
                .detail("it was written to or replaced while it was read")
                .hint("read it again once its writer is done"),
        })
    }

    fn check_connected(&self) -> Result<()> {
        let OpenForm::File { file, before, is_ours, .. } = &self.input else { return Ok(()) };
        file::check_connected(file, before.device, *is_ours).map_err(|error| {
            Error::io(Operation::Read, &self.name, error)
                .hint("read it again: its file system lost its connection during the read")
        })
    }

    /// Returns the texts that depend on the kind of source.
    fn words(&self) -> &'static SourceWords {
        match &self.input {
            OpenForm::File { .. } => &OF_FILES,
            OpenForm::Custom { .. } | OpenForm::Mirrored(_) => &OF_OTHERS,
        }
    }

    /// Returns the fallback for direct reads, which a file refused with `error`.
    pub(crate) fn fell_back(error: &Error) -> Fallback {
        Fallback::DirectRefused { at: DirectUse::Read, why: format!("{error:?}") }
    }

    /// Returns the error for an engine that maps; `hint` names the verb that does.
    pub(crate) fn unmapped(&self, hint: &'static str) -> Error {
        let error = Error::new(Operation::Map, Reason::Invalid, &self.name);
        match &self.input {
            OpenForm::File { .. } => {
                error.detail("a map needs the promise that the file does not change").hint(hint)
            }
            OpenForm::Custom { .. } | OpenForm::Mirrored(_) => {
                error.detail("only a single file can be mapped").hint("choose another engine")
            }
        }
    }

    /// Returns the error for a source that has shrunk since it was opened.
    pub(crate) fn shrunk(&self, extent: Extent) -> Error {
        match self.check_unchanged(extent, Growth::Refused) {
            Err(error) => error,
            Ok(()) => self.truncated(extent, extent.offset()),
        }
    }

    /// Returns the error for a source that ends at `end`, before the requested bytes.
    pub(crate) fn too_short(&self, extent: Extent, end: u64) -> Error {
        let starts_past_end = extent.offset() > end;
        let hint = if starts_past_end {
            "choose an offset before the end"
        } else {
            "request fewer bytes"
        };
        self.truncated(extent, end).hint(hint)
    }

    /// Returns the error for a source that ends at `end`, inside `extent`.
    pub(crate) fn truncated(&self, extent: Extent, end: u64) -> Error {
        if let Err(lost) = self.check_connected() {
            return lost.at(extent);
        }
        // The reader's position, unless the file has become shorter than that.
        let now = self.file().filter(|_| matches!(self.kind, SourceLength::Sized(_)));
        let now = now.and_then(|file| file.metadata().ok()).filter(Metadata::is_file);
        let end = now.map_or(end, |now| now.len().min(end));
        Error::new(Operation::Read, Reason::Truncated, &self.name)
            .at(extent)
            .detail(format!("the file ends at byte {end}"))
            .hint(self.words().truncated_hint)
    }
}

/// The texts for files, and for other sources.
struct SourceWords {
    changed_len_hint: &'static str,
    truncated_hint: &'static str,
}

const OF_FILES: SourceWords = SourceWords {
    changed_len_hint: "read it once its writer is done, or only the length it had first (`--follow-size first`)",
    truncated_hint: "read it again once no program writes to it",
};

const OF_OTHERS: SourceWords = SourceWords {
    changed_len_hint: "read it again once its writer is done",
    truncated_hint: "check that the source reports its real length",
};

/// How a file may change while it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Not at all: growth is an error, like any other change.
    #[default]
    Refused,
    /// It may grow: the length seen first is read. For logs that are being written.
    Ignored,
}

words!(Growth { Refused = "strict", Ignored = "first" });

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn opened(file: &tempfile::NamedTempFile) -> Arc<OpenSource> {
        OpenSource::open(file.path().into()).expect("it is there")
    }

    #[test]
    fn a_change_between_open_and_check_is_seen() {
        let whole = Extent::between(0, 3);
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(b"abc").expect("room");
        let source = opened(&file);
        source.check_unchanged(whole, Growth::Refused).expect("it is unchanged");
        file.write_all(b"d").expect("room");
        let error = source.check_unchanged(whole, Growth::Refused).expect_err("grown");
        assert_eq!(error.reason(), Reason::Changed);
        assert!(error.to_string().contains("from 3 to 4"), "{error}");
        source.check_unchanged(whole, Growth::Ignored).expect("growth is allowed");
        file.as_file().set_len(2).expect("shorter");
        source.check_unchanged(whole, Growth::Ignored).expect_err("shrinking never is");
    }

    #[test]
    fn what_was_found_is_a_file_or_an_error_and_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        std::fs::write(&file, b"abc").expect("room");
        assert!(OpenSource::open(Source::found(folder.path())).is_err(), "a folder");
        for odd in [&*pipe, "/dev/null".as_ref()] {
            let error = OpenSource::open(Source::found(odd)).err().expect("it is not a file");
            assert!(error.to_string().contains("; try: "), "{error}");
        }
        let found = OpenSource::open(Source::found(&file)).expect("it is a file");
        assert_eq!((found.name(), found.kind()), (&*file, SourceLength::Sized(3)));
    }

    #[test]
    fn a_file_that_was_cut_is_told_to_end_where_it_ends() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(&[7; 5000]).expect("room");
        let source = opened(&file);
        let told = |end| source.truncated(Extent::between(0, 9000), end).to_string();
        assert!(told(5000).contains("ends at byte 5000"), "{}", told(5000));
        file.as_file().set_len(100).expect("shorter");
        assert!(told(4096).contains("ends at byte 100"), "{}", told(4096));
    }

    #[test]
    fn a_file_that_is_replaced_is_seen_by_its_change_time() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), b"abc").expect("room");
        let source = opened(&file);
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::rename(file.path(), file.path().with_extension("old")).expect("same folder");
        let error = source.check_unchanged(Extent::between(0, 3), Growth::Refused);
        let _ = std::fs::remove_file(file.path().with_extension("old"));
        assert!(error.expect_err("replaced").to_string().contains("replaced"));
    }

    #[test]
    fn kinds_are_told_apart() {
        let kind = |path: &str| OpenSource::open(path.into()).map(|source| source.kind());
        assert_eq!(kind("/dev/null").expect("a device"), SourceLength::Stream);
        assert_eq!(kind("/proc/self/stat").expect("a kernel file"), SourceLength::Made);
        let folder = kind("/").expect_err("a folder");
        assert_eq!((folder.operation(), folder.raw_os_error()), (Operation::Read, Some(21)));
        let missing = kind("/no such file").expect_err("missing");
        assert_eq!((missing.operation(), missing.raw_os_error()), (Operation::Open, Some(2)));
    }
}
