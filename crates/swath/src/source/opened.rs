//! A source that is open: its identity is known, its bytes can be read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::OFlags;
use rustix::io::Errno;
use swath_plan::extent::Extent;
use swath_plan::fallback::{DirectUse, Fallback};
use swath_plan::policy::Hints;
use swath_plan::words;

use super::copies::Copies;
use super::file::{self, Direct, Identity, Kind, Place};
use super::{Inner, ReadAt, Source, SourceFacts, SourceTrouble};
use crate::error::{Error, Operation, Reason, Result};
use crate::report::Report;

/// See the [module](self).
pub(crate) struct Opened {
    name: PathBuf,
    kind: Kind,
    input: Input,
}

enum Input {
    File { file: Arc<File>, before: Identity, direct: OnceLock<io::Result<Direct>> },
    Custom { source: Arc<dyn ReadAt>, before: SourceFacts },
    Mirrored(Box<dyn Copies>),
}

impl Opened {
    pub(crate) fn open(source: Source) -> Result<Arc<Self>> {
        let opened = match source.0 {
            Inner::Opened(opened) => return Ok(opened),
            Inner::Path(name) => {
                let file = File::open(&name)
                    .map_err(|error| Error::io(Operation::Open, &name, error))?;
                Self::of_file(Arc::new(file), name)?
            }
            Inner::File(file, name) => Self::of_file(file, name)?,
            Inner::InOrder(file, name) => {
                Self { kind: Kind::Stream, ..Self::of_file(file, name)? }
            }
            Inner::Custom(source) => Self::of_custom(source)?,
            Inner::Mirrored(mirrored) => {
                let copies = mirrored.open()?;
                let kind = Kind::Sized(copies.len());
                Self { name: mirrored.name(), kind, input: Input::Mirrored(copies) }
            }
        };
        Ok(Arc::new(opened))
    }

    fn of_custom(source: Arc<dyn ReadAt>) -> Result<Self> {
        let name = source.name();
        let before =
            source.facts().map_err(|error| Error::io(Operation::Inspect, &name, error))?;
        let kind = before.len().map_or(Kind::Stream, Kind::Sized);
        Ok(Self { name, kind, input: Input::Custom { source, before } })
    }

    /// As [`open`](Self::open), but never waits for whoever would write a pipe: for those who read
    /// by position, and so refuse a pipe without reading it.
    pub(crate) fn open_copy(source: Source) -> Result<Arc<Self>> {
        let Inner::Path(name) = source.0 else { return Self::open(source) };
        let failed = |error| Error::io(Operation::Open, &name, error);
        let waitless = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::options()
            .read(true)
            .custom_flags(waitless.bits().cast_signed())
            .open(&name)
            .map_err(failed)?;
        // Reads wait as ever: some of the kernel's ways to read would come back empty-handed.
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|error| failed(error.into()))?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)
            .map_err(|error| failed(error.into()))?;
        Self::of_file(Arc::new(file), name).map(Arc::new)
    }

    fn of_file(file: Arc<File>, name: PathBuf) -> Result<Self> {
        let inspect = |error| Error::io(Operation::Inspect, &name, error);
        let stat = rustix::fs::fstat(&file).map_err(|error| inspect(error.into()))?;
        let mut kind =
            file::kind(&file, &stat).map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::ISDIR) => Error::io(Operation::Read, &name, error),
                _ => inspect(error),
            })?;
        // Not the kernel's own: empty, as it says, or filled this moment, or not seekable.
        let mut before = Identity::of(&stat);
        if kind == Kind::Made && !file::is_pseudo(&file) {
            kind = match file.read_at(&mut [0], 0) {
                Ok(0) => Kind::Sized(0),
                Ok(_) => {
                    before = file::identity(&file).map_err(inspect)?;
                    if before.len > 0 { Kind::Sized(before.len) } else { Kind::Made }
                }
                // There are no positions in it.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::SPIPE) => {
                    Kind::Stream
                }
                Err(_) => Kind::Made,
            };
        }
        // Files of at most a page may be the kernel's own, with a length that means nothing.
        if matches!(kind, Kind::Sized(1..=4096)) && file::is_pseudo(&file) {
            kind = Kind::Made;
        }
        let input = Input::File { file, before, direct: OnceLock::new() };
        Ok(Self { name, kind, input })
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Its descriptor, if it has one.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.input {
            Input::File { file, .. } => Some(file),
            Input::Custom { .. } | Input::Mirrored(_) => None,
        }
    }

    /// The folder whose files its bytes lie in, if the caller's own source says so.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match &self.input {
            Input::Custom { source, .. } => source.folder(),
            Input::File { .. } | Input::Mirrored(_) => None,
        }
    }

    /// Its descriptors: of copies, those of all that have one.
    pub(crate) fn files(&self) -> Vec<&File> {
        match &self.input {
            Input::Mirrored(copies) => copies.files(),
            _ => self.file().into_iter().collect(),
        }
    }

    /// How many copies are read side by side; 0 for a source that is no copy of anything.
    pub(crate) fn copies(&self) -> u64 {
        match &self.input {
            Input::Mirrored(copies) => copies.active_count(),
            _ => 0,
        }
    }

    /// `extent` is about to be read by so many workers.
    pub(crate) fn expect(&self, extent: Extent, workers: u64) {
        if let Input::Mirrored(copies) = &self.input {
            copies.expect(extent, workers);
        }
    }

    /// Adds what is known about the copies.
    pub(crate) fn tell(&self, report: &mut Report) {
        if let Input::Mirrored(copies) = &self.input {
            copies.tell(report);
        }
    }

    /// The number of the device that it is, or lives on.
    pub(crate) fn device(&self) -> Option<u64> {
        match &self.input {
            Input::File { file, before, .. } => match file.metadata() {
                Ok(facts) if facts.file_type().is_block_device() => Some(facts.rdev()),
                Ok(_) | Err(_) => Some(before.device),
            },
            Input::Custom { .. } | Input::Mirrored(_) => None,
        }
    }

    /// Whether it is a device that has no blocks: a terminal, `/dev/zero`.
    pub(crate) fn is_character_device(&self) -> bool {
        let facts = self.file().and_then(|file| file.metadata().ok());
        facts.is_some_and(|facts| facts.file_type().is_char_device())
    }

    /// Whether both are one file, by whatever names.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        match (&self.input, &other.input) {
            (Input::File { before, .. }, Input::File { before: other, .. }) => {
                before.is_same_file(other)
            }
            (Input::Custom { source, .. }, Input::Custom { source: other, .. }) => {
                Arc::ptr_eq(source, other)
            }
            _ => false,
        }
    }

    /// Where it lives.
    pub(crate) fn place(&self) -> Place {
        match &self.input {
            Input::File { file, before, .. } => file::place(file, before.device),
            Input::Custom { .. } => Place::FOREIGN,
            Input::Mirrored(copies) => copies.place(),
        }
    }

    /// What it says of itself, if it is neither a file nor copies.
    pub(crate) fn hints(&self) -> Hints {
        match &self.input {
            Input::Custom { before, .. } => before.hints,
            Input::File { .. } | Input::Mirrored(_) => Hints::default(),
        }
    }

    /// A descriptor past the page cache, opened when first asked for.
    pub(crate) fn direct(&self) -> Option<&Direct> {
        match &self.input {
            Input::File { file, direct, .. } => {
                direct.get_or_init(|| file::direct(file)).as_ref().ok()
            }
            Input::Custom { .. } | Input::Mirrored(_) => None,
        }
    }

    /// One read through the page cache.
    pub(crate) fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.input {
            Input::File { file, .. } => file.read_at(target, offset),
            Input::Custom { source, .. } => {
                let (given, room) = (source.read_at(target, offset)?, target.len());
                if given > room {
                    let text =
                        format!("the source says {given} bytes, and had room for {room}");
                    return Err(io::Error::other(text));
                }
                Ok(given)
            }
            Input::Mirrored(copies) => copies.read_at(target, offset),
        }
    }

    /// Takes a chunk of copies in steps that fit into `room`, and hands each to `each`: again from the
    /// beginning where one that was handed over turns out to be wrong.
    pub(crate) fn take_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()> {
        match &self.input {
            Input::Mirrored(copies) => copies.take_in_steps(chunk, room, each),
            // Nothing else is cut into chunks by what it is compared with.
            Input::File { .. } | Input::Custom { .. } => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// One read of a stream; `offset` is how many bytes came before.
    pub(crate) fn read_next(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        match (&self.input, self.kind) {
            (Input::File { file, .. }, Kind::Stream) => (&**file).read(target),
            _ => self.read_at(target, offset),
        }
    }

    /// Fails if the source is not what it was when it was opened: the promise of every verb.
    /// Growth is allowed if the caller follows only what was there first.
    pub(crate) fn check_unchanged(&self, extent: Extent, growth: Growth) -> Result<()> {
        let inspect = |error: io::Error| match SourceTrouble::of(&error) {
            Some(SourceTrouble::Changed) => {
                let told = Error::new(Operation::Inspect, Reason::Changed, &self.name);
                told.caused_by(error).hint(SourceTrouble::Changed.hint())
            }
            _ => Error::io(Operation::Inspect, &self.name, error),
        };
        let (same, lengths) = match &self.input {
            Input::File { file, before, .. } => {
                let after = file::identity(file).map_err(inspect)?;
                (after == *before, (Some(before.len), Some(after.len)))
            }
            Input::Custom { source, before } => {
                let after = source.facts().map_err(inspect)?;
                (after.is_same_content(before), (before.len(), after.len()))
            }
            // Each chunk has been looked at, with the copy that it came from.
            Input::Mirrored(_) => return Ok(()),
        };
        let grown = lengths.1 > lengths.0;
        if same || (growth == Growth::Ignored && grown) {
            return Ok(());
        }
        let error = Error::new(Operation::Read, Reason::Changed, &self.name).at(extent);
        Err(match lengths {
            (Some(before), Some(after)) if before != after => error
                .detail(format!("its length went from {before} to {after} while it was read"))
                .hint(self.words().changed_len),
            _ => error
                .detail("it was written to or replaced while it was read")
                .hint("read it again when its writer is done"),
        })
    }

    /// What is said of it, where that depends on what it is.
    fn words(&self) -> &'static Words {
        match &self.input {
            Input::File { .. } => &OF_FILES,
            Input::Custom { .. } | Input::Mirrored(_) => &OF_OTHERS,
        }
    }

    /// What was done instead of direct reads, which a file refused with `error`.
    pub(crate) fn fell_back(error: &Error) -> Fallback {
        Fallback::DirectRefused { at: DirectUse::Read, why: format!("{error:?}") }
    }

    /// The error for an engine that maps, where `verb` would.
    pub(crate) fn unmapped(&self, verb: &'static str) -> Error {
        let error = Error::new(Operation::Map, Reason::Invalid, &self.name);
        match &self.input {
            Input::File { .. } => {
                error.detail("a map needs the promise that nobody changes the file").hint(verb)
            }
            Input::Custom { .. } | Input::Mirrored(_) => {
                error.detail("only a single file can be mapped").hint("choose another engine")
            }
        }
    }

    /// The error for a source that is shorter than it was when it was opened.
    pub(crate) fn shrunk(&self, extent: Extent) -> Error {
        match self.check_unchanged(extent, Growth::Refused) {
            Err(error) => error,
            Ok(()) => self.truncated(extent, extent.offset()),
        }
    }

    /// The error for a source that ends at `end`, before what the caller asked for.
    pub(crate) fn too_short(&self, extent: Extent, end: u64) -> Error {
        self.truncated(extent, end).hint("ask for less")
    }

    /// The error for a source that ends at `end` although `extent` was to be read.
    pub(crate) fn truncated(&self, extent: Extent, end: u64) -> Error {
        // Where the reader was, unless the file has become shorter than that.
        let now = self.file().filter(|_| matches!(self.kind, Kind::Sized(_)));
        let now = now.and_then(|file| file.metadata().ok()).filter(Metadata::is_file);
        let end = now.map_or(end, |now| now.len().min(end));
        Error::new(Operation::Read, Reason::Truncated, &self.name)
            .at(extent)
            .detail(format!("the file ends at byte {end}"))
            .hint(self.words().truncated)
    }
}

/// What is said of files, and of what is none.
struct Words {
    changed_len: &'static str,
    truncated: &'static str,
}

const OF_FILES: Words = Words {
    changed_len: "read it when its writer is done, or only the length it had first (`--follow-size first`)",
    truncated: "it may have been truncated while it was read",
};

const OF_OTHERS: Words = Words {
    changed_len: "read it again when its writer is done",
    truncated: "look whether the source says the length that it has",
};

/// What a file may do while it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Stay as it is; growth is an error, as any other change.
    #[default]
    Refused,
    /// Grow: the length seen first is read. For logs that are being written.
    Ignored,
}

words!(Growth { Refused = "strict", Ignored = "first" });

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn opened(file: &tempfile::NamedTempFile) -> Arc<Opened> {
        Opened::open(file.path().into()).expect("it is there")
    }

    #[test]
    fn a_change_between_open_and_check_is_seen() {
        let whole = Extent::between(0, 3);
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(b"abc").expect("room");
        let source = opened(&file);
        source.check_unchanged(whole, Growth::Refused).expect("nobody touched it");
        file.write_all(b"d").expect("room");
        let error = source.check_unchanged(whole, Growth::Refused).expect_err("grown");
        assert_eq!(error.reason(), Reason::Changed);
        assert!(error.to_string().contains("from 3 to 4"), "{error}");
        source.check_unchanged(whole, Growth::Ignored).expect("growth is allowed");
        file.as_file().set_len(2).expect("shorter");
        source.check_unchanged(whole, Growth::Ignored).expect_err("shrinking never is");
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
        let kind = |path: &str| Opened::open(path.into()).map(|source| source.kind());
        assert_eq!(kind("/dev/null").expect("a device"), Kind::Stream);
        assert_eq!(kind("/proc/self/stat").expect("a kernel file"), Kind::Made);
        let folder = kind("/").expect_err("a folder");
        assert_eq!((folder.operation(), folder.raw_os_error()), (Operation::Read, Some(21)));
        let missing = kind("/no such file").expect_err("missing");
        assert_eq!((missing.operation(), missing.raw_os_error()), (Operation::Open, Some(2)));
    }
}
