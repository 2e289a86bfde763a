//! A committed output: reading and seeking.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::access::Access;
use swath_plan::segment::index::Index;
use swath_plan::segment::manifest::{self, Manifest};

use crate::append::extent_sums::ExtentSums;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::locate;
use crate::sink::folder;
use crate::sink::{FileKind, Fs, FsFile, FsFolder, Located};
use crate::source::{ReadAt, SourceFacts};
use crate::together::together;

/// A committed output: a plain file, or a folder of segments that reads as one.
///
/// Positional reads may come from many threads at a time; [`Read`] and [`Seek`] use a position
/// of their own in each clone. As a [`Source::custom`](crate::Source::custom), every verb can
/// read it.
///
/// [`Read`] compares the checksum of every extent that it reads from start to end, and so does a source, of each
/// extent of which it has read all bytes, in any order. Other positional reads cannot: call
/// [`verify`](Self::verify) first.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (path, to) = (folder.path().join("segments"), folder.path().join("plain"));
/// # use swath::append::{AppendOptions, Mode};
/// # AppendOptions::new().with_mode(Mode::Segments).create(&path)?.commit()?;
/// let opened = swath::append::open(&path)?;
/// opened.verify()?;
/// swath::copy(swath::Source::custom(std::sync::Arc::new(opened)), &to)?; // one plain file
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Opened {
    inner: Arc<OpenedInner>,
    position: u64,
    /// The extent that is being read from its start: the bytes read, and their checksum.
    checking: Option<Checking>,
}

#[derive(Clone, Copy)]
struct Checking {
    extent: usize,
    next: u64,
    crc: u32,
}

struct OpenedInner {
    path: PathBuf,
    folder: Option<Arc<dyn FsFolder>>,
    len: u64,
    files: Vec<(PathBuf, Arc<dyn FsFile>)>,
    extents: Vec<PlacedExtent>,
    index: Index,
    sums: ExtentSums,
}

/// One extent, and where its bytes are.
struct PlacedExtent {
    file: u32,
    /// Offset in the whole output.
    start: u64,
    /// Offset in its file.
    offset: u64,
    len: u64,
    crc32c: Option<u32>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("path", &self.inner.path)
            .field("len", &self.inner.len)
            .field("extents", &self.inner.extents.len())
            .finish_non_exhaustive()
    }
}

pub(super) fn open(path: &Path, fs: &dyn Fs) -> Result<Opened> {
    let Located { folder, name } = locate(Operation::Open, path, fs)?;
    let told = |error| Error::io(Operation::Open, path, error);
    let facts = folder.facts(&name).map_err(told)?;
    let inner = match facts.map(|facts| facts.kind) {
        None => return Err(Error::io(Operation::Open, path, Errno::NOENT.into())),
        Some(FileKind::Special) => {
            return Err(Error::new(Operation::Open, Reason::Invalid, path)
                .detail("a device, pipe or socket is not a committed output")
                .hint("use `read` or `scan` for it"));
        }
        Some(FileKind::File) => open_file(path, folder.open(&name).map_err(told)?)?,
        Some(FileKind::Folder) => open_folder(path, folder.open_folder(&name).map_err(told)?)?,
    };
    Ok(Opened { inner: Arc::new(inner), position: 0, checking: None })
}

fn open_file(path: &Path, file: Arc<dyn FsFile>) -> Result<OpenedInner> {
    let facts = file.facts();
    let len = facts.map_err(|error| Error::io(Operation::Open, path, error))?.len;
    let placed = PlacedExtent { file: 0, start: 0, offset: 0, len, crc32c: None };
    Ok(OpenedInner {
        path: path.to_owned(),
        folder: None,
        len,
        files: vec![(path.to_owned(), file)],
        index: index(path, [len])?,
        extents: vec![placed],
        sums: ExtentSums::default(),
    })
}

/// Reads the manifest of a folder.
pub(super) fn read_manifest(path: &Path, inside: &dyn FsFolder) -> Result<Manifest> {
    let shown = path.join(manifest::FILE_NAME);
    let bytes = folder::read_manifest(inside, &shown)?.ok_or_else(|| {
        Error::io(Operation::Open, &shown, Errno::NOENT.into())
            .hint("pass a folder that `append` has committed")
    })?;
    decode_manifest(&shown, &bytes)
}

pub(super) fn decode_manifest(shown: &Path, bytes: &[u8]) -> Result<Manifest> {
    Manifest::decode(bytes, crc32c::crc32c_append).map_err(|error| {
        Error::new(Operation::Open, Reason::Corrupt, shown)
            .detail(error.to_string())
            .hint("restore the folder from a copy")
    })
}

fn open_folder(path: &Path, inside: Arc<dyn FsFolder>) -> Result<OpenedInner> {
    let manifest = read_manifest(path, &*inside)?;
    let mut files = Vec::with_capacity(manifest.segments().len());
    for segment in manifest.segments() {
        let shown = path.join(&*segment.name);
        let told = |error| Error::io(Operation::Open, &shown, error);
        let file = inside.open(segment.name.as_ref().as_ref()).map_err(told)?;
        let len = file.facts().map_err(told)?.len;
        if len < segment.len {
            return Err(Error::new(Operation::Open, Reason::Truncated, &shown).detail(
                format!("the segment has {len} bytes, the manifest says {}", segment.len),
            ));
        }
        files.push((shown, file));
    }
    let mut start = 0;
    let mut extents = Vec::with_capacity(manifest.extents().len());
    for it in manifest.extents() {
        let (offset, len) = (it.extent.offset(), it.extent.len());
        extents.push(PlacedExtent { file: it.segment, start, offset, len, crc32c: it.crc32c });
        start += len;
    }
    let index = index(path, extents.iter().map(|extent| extent.len))?;
    let (path, len) = (path.to_owned(), manifest.len());
    let (folder, sums) = (Some(inside), ExtentSums::default());
    Ok(OpenedInner { path, folder, len, files, extents, index, sums })
}

fn index(path: &Path, lens: impl IntoIterator<Item = u64>) -> Result<Index> {
    Index::build(lens).ok_or_else(|| {
        Error::new(Operation::Open, Reason::Invalid, path)
            .detail("more extents, or more bytes, than can be indexed")
    })
}

impl OpenedInner {
    /// Reads from one extent; returns 0 bytes at the end of the output.
    fn read_part(&self, into: &mut [u8], offset: u64) -> Result<(usize, usize)> {
        let Some((at, skip)) = self.index.find(offset) else { return Ok((0, 0)) };
        let extent = &self.extents[at];
        let left = usize::try_from(extent.len - skip).unwrap_or(usize::MAX);
        let want = into.len().min(left);
        let (path, file) = &self.files[extent.file as usize];
        let from = extent.offset + skip;
        let bytes = swath_plan::extent::Extent::between(from, from + want as u64);
        let read = file.read_at(&mut into[..want], from);
        match read.map_err(|error| Error::io(Operation::Read, path, error).at(bytes))? {
            0 if want > 0 => Err(Error::new(Operation::Read, Reason::Truncated, path)
                .at(bytes)
                .detail("the file is now shorter than the output that was committed")),
            read => Ok((at, read)),
        }
    }

    /// Reads from one extent; compares the checksum of the extent once all its pieces have been read.
    fn read_compared(&self, into: &mut [u8], offset: u64) -> Result<usize> {
        let (at, read) = self.read_part(into, offset)?;
        let Some(extent) = self.extents.get(at).filter(|_| read > 0) else { return Ok(read) };
        if let Some(expected) = extent.crc32c {
            let bytes = &into[..read];
            let found = self.sums.note(at, offset - extent.start, bytes, extent.len);
            if found.is_some_and(|found| found != expected) {
                return Err(self.corrupt(at));
            }
        }
        Ok(read)
    }

    fn corrupt(&self, at: usize) -> Error {
        let extent = &self.extents[at];
        let bytes =
            swath_plan::extent::Extent::between(extent.offset, extent.offset + extent.len);
        Error::new(Operation::Read, Reason::Corrupt, &self.files[extent.file as usize].0)
            .at(bytes)
            .detail("the bytes do not match their checksum")
            .hint("restore this segment from a copy")
    }

    fn verify_extent(&self, at: usize, buffer: &mut [u8]) -> Result<()> {
        let extent = &self.extents[at];
        let (mut done, mut crc) = (0, 0);
        while done < extent.len {
            let left = usize::try_from(extent.len - done).unwrap_or(usize::MAX);
            let want = buffer.len().min(left);
            let (_, read) = self.read_part(&mut buffer[..want], extent.start + done)?;
            crc = crc32c::crc32c_append(crc, &buffer[..read]);
            done += read as u64;
        }
        match extent.crc32c {
            Some(expected) if expected != crc => Err(self.corrupt(at)),
            _ => Ok(()),
        }
    }
}

impl Opened {
    /// Length of the output in bytes.
    pub fn len(&self) -> u64 {
        self.inner.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.inner.len == 0
    }

    /// Extents it consists of; 1 for a file.
    pub fn extents(&self) -> usize {
        self.inner.extents.len()
    }

    /// Reads up to `into.len()` bytes at `offset`; returns 0 at the end and after it. Finding
    /// the extent takes O(log extents).
    ///
    /// # Errors
    ///
    /// The errors of reading a segment; [`Reason::Truncated`] if it has become shorter.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < into.len() {
            let (_, read) = self.inner.read_part(&mut into[done..], offset + done as u64)?;
            if read == 0 {
                break;
            }
            done += read;
        }
        Ok(done)
    }

    /// Compares every extent with its checksum, in parallel: on the current rayon pool, or on
    /// threads of its own. A plain file, which has no checksums, is read to its end.
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`] with the segment and the bytes of an extent that does not match;
    /// those of reading.
    pub fn verify(&self) -> Result<()> {
        together(
            self.inner.extents.len(),
            || vec![0; 256 << 10],
            |buffer, at| self.inner.verify_extent(at, buffer),
        )
    }

    /// Reads from the position; compares the checksum of each extent that was read completely.
    fn read_on(&mut self, into: &mut [u8]) -> Result<usize> {
        let (at, read) = self.inner.read_part(into, self.position)?;
        if read == 0 {
            return Ok(0);
        }
        let extent = &self.inner.extents[at];
        let checking = match self.checking {
            Some(it) if it.extent == at && it.next == self.position => Some(it),
            _ if extent.start == self.position => {
                Some(Checking { extent: at, next: self.position, crc: 0 })
            }
            _ => None,
        };
        self.position += read as u64;
        self.checking = checking.filter(|_| extent.crc32c.is_some()).map(|it| Checking {
            crc: crc32c::crc32c_append(it.crc, &into[..read]),
            next: self.position,
            ..it
        });
        match self.checking {
            Some(it)
                if it.next == extent.start + extent.len && extent.crc32c != Some(it.crc) =>
            {
                Err(self.inner.corrupt(at))
            }
            _ => Ok(read),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.read_on(into).map_err(io::Error::from)
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(back) => self.inner.len.checked_add_signed(back),
            SeekFrom::Current(more) => self.position.checked_add_signed(more),
        };
        self.position = target.ok_or_else(|| {
            io::Error::from(
                Error::new(Operation::Seek, Reason::Invalid, &self.inner.path)
                    .detail("the position would be before the first byte"),
            )
        })?;
        Ok(self.position)
    }
}

impl ReadAt for Opened {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.inner.len)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_compared(target, offset).map_err(io::Error::from)
    }

    fn name(&self) -> PathBuf {
        self.inner.path.clone()
    }

    fn folder(&self) -> Option<PathBuf> {
        self.inner.folder.as_ref().map(|_| self.inner.path.clone())
    }

    fn access(&self) -> io::Result<Option<Access>> {
        let mut files = self.inner.files.iter().map(|(_, file)| file.access());
        let Some(folder) = &self.inner.folder else {
            return files.next().transpose();
        };
        let of_folder = folder.access()?;
        // Without permission to enter the folder, its files cannot be read.
        let enter = of_folder.in_group(of_folder.group()) & 0o111;
        let enter = Access::new((enter | enter << 1 | enter << 2) & 0o666, of_folder.group());
        let manifest = folder.open(manifest::FILE_NAME.as_ref())?.access()?;
        let mut all = enter.and(manifest);
        for access in files {
            all = all.and(access?);
        }
        Ok(Some(all))
    }
}
