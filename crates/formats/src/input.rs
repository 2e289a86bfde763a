//! The input of every reader: a source opened once, and its text if it is compressed.
//!
//! ```text
//! graph.mtx      the file itself, read as often as needed
//! graph.mtx.gz   ── decompressed once by all workers ──▶ memory, read as often as needed
//! table.csv.gz   ── as often as needed ──▶ part in memory, read in order   (flow.rs)
//! a pipe         ── read once ──────────────────────▶ memory, likewise
//! bytes of a tar ── those selected by options ────▶ memory, likewise
//! ```
//!
//! The first bytes decide the format, not the name. Errors give lines and bytes of the decompressed
//! text; an error in the compressed stream gives the byte of that stream.

#[cfg(feature = "arrow")]
mod decoder;
#[cfg(feature = "arrow")]
mod flaws;
#[cfg(feature = "arrow")]
mod flow;

#[cfg(feature = "arrow")]
use std::io::Read;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "arrow")]
use std::sync::atomic::{AtomicBool, Ordering};

use swath::machine::Mutex;
use swath::{Buffer, Input, Output, ReadAt, ReadOptions, Source, SourceFacts};

use crate::compressed::{DecompressOptions, Decompressed, Format};
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
#[cfg(feature = "arrow")]
use crate::memory::room_for;
#[cfg(feature = "arrow")]
pub(crate) use flaws::Flaws;
#[cfg(feature = "arrow")]
use flow::{Flow, Unpacked};

/// The number of first bytes that show the format of a file.
pub(crate) const HEAD: usize = 18;

/// Inputs with fewer compressed bytes than this are decompressed on the caller's thread.
#[cfg(feature = "arrow")]
const SHORT: u64 = if cfg!(test) { 1 } else { 64 << 10 };

/// Opens a source for readers that go back and forth in it. A source that can only be read in order
/// is first read into memory, with the options `read`.
pub(crate) fn open(source: Source, read: &ReadOptions) -> Result<OpenedText> {
    let input = Input::open(source)?;
    check_whole(&input, read)?;
    match input.len() {
        Some(len) => Ok(OpenedText { input, len }),
        None if input.is_device() => {
            let detail = "this is a device, and its data may never end";
            let error = Error::reading(input.name(), FormatReason::Unsupported, detail);
            Err(error.hint("copy the part that you need to a file first"))
        }
        None => {
            let bytes = read.read(&input)?.buffer;
            OpenedText::of_memory(Bytes::Read(bytes), input.name())
        }
    }
}

/// Opens the part of a source that `read` selects, as if it were all of it.
fn part(source: Source, read: &ReadOptions) -> Result<OpenedText> {
    let input = Input::open(source)?;
    let bytes = read.read(&input)?.buffer;
    OpenedText::of_memory(Bytes::Read(bytes), input.name())
}

/// Returns bytes in memory as a source.
#[cfg(feature = "arrow")]
pub(crate) fn memory(bytes: Vec<u8>, name: &Path) -> Result<Source> {
    Ok(OpenedText::of_memory(Bytes::Decompressed(bytes), name)?.source())
}

/// Refuses options that select a part of a source: the format decides which bytes it reads.
pub(crate) fn check_whole(input: &Input, read: &ReadOptions) -> Result<()> {
    if read.is_whole() {
        return Ok(());
    }
    let detail = "the options select a part of it, but this format reads the whole file";
    let error = Error::reading(input.name(), FormatReason::Invalid, detail);
    Err(error.hint("leave out offset and length, or select records with `starting_in`"))
}

/// A source that can be read by position.
#[derive(Clone, Debug)]
pub(crate) struct OpenedText {
    pub(crate) input: Input,
    /// In bytes.
    pub(crate) len: u64,
}

impl OpenedText {
    fn of_memory(bytes: Bytes, name: &Path) -> Result<Self> {
        let memory = Memory { bytes, name: name.to_owned() };
        let len = memory.bytes().len() as u64;
        Ok(Self { input: Input::open(Source::custom(Arc::new(memory)))?, len })
    }

    /// Returns the name in messages.
    pub(crate) fn path(&self) -> &Path {
        self.input.name()
    }

    /// Returns the text as a source for the library.
    pub(crate) fn source(&self) -> Source {
        Source::from(&self.input)
    }
}

/// The place of a text's bytes.
enum Body {
    Opened(OpenedText),
    #[cfg(feature = "arrow")]
    Flow(Arc<Flow>),
}

/// Returns the error for a file with these first bytes, if a reader does not accept it.
type HeadCheck = fn(&Path, &[u8]) -> Option<Error>;

/// Text that is read more than once.
pub(crate) struct InputText {
    body: Body,
    /// For the first bytes of a longer text: set when more of it is needed.
    #[cfg(feature = "arrow")]
    cut: Option<Arc<AtomicBool>>,
    /// Bytes that could not be decoded, if the text was in another encoding.
    #[cfg(feature = "arrow")]
    flaws: Option<Arc<Flaws>>,
}

impl InputText {
    /// Opens a source, or the part of it that `read` selects, and decompresses it with these
    /// options if it is compressed.
    pub(crate) fn open(source: Source, read: &ReadOptions) -> Result<Self> {
        Self::open_unless(source, read, foreign::refused)
    }

    /// Opens a source, or the part of it that `read` selects. Keeps the decompressed text of a
    /// compressed one in memory.
    fn open_unless(source: Source, read: &ReadOptions, refused: HeadCheck) -> Result<Self> {
        let (opened, is_packed) = opened_unless(source, read, refused)?;
        let body = match is_packed {
            true => unpacked(&opened, &read.clone().without_extent(), refused)?,
            false => opened,
        };
        Ok(Self::of(Body::Opened(body)))
    }

    fn of(body: Body) -> Self {
        Self {
            body,
            #[cfg(feature = "arrow")]
            cut: None,
            #[cfg(feature = "arrow")]
            flaws: None,
        }
    }

    /// Returns the name in messages.
    pub(crate) fn path(&self) -> &Path {
        match &self.body {
            Body::Opened(opened) => opened.path(),
            #[cfg(feature = "arrow")]
            Body::Flow(flow) => flow.path(),
        }
    }

    /// Returns the length of the text in bytes; `u64::MAX` until a long compressed text has been
    /// read to its end.
    pub(crate) fn len(&self) -> u64 {
        match &self.body {
            Body::Opened(opened) => opened.len,
            #[cfg(feature = "arrow")]
            Body::Flow(flow) => flow.len(),
        }
    }

    /// Returns the text as a source for the library.
    pub(crate) fn source(&self) -> Source {
        match &self.body {
            Body::Opened(opened) => opened.source(),
            #[cfg(feature = "arrow")]
            Body::Flow(flow) => flow.source(),
        }
    }
}

/// Opens a source unless `refused` returns an error for its first bytes; also returns whether it is
/// compressed.
fn opened_unless(
    source: Source,
    read: &ReadOptions,
    refused: HeadCheck,
) -> Result<(OpenedText, bool)> {
    let opened = if read.is_whole() { open(source, read)? } else { part(source, read)? };
    let first = ReadOptions::new().with_workers(1).with_len(opened.len.min(HEAD as u64));
    let head = first.read(&opened.input)?.buffer;
    let is_whole = read.is_whole() && opened.len == head.len() as u64;
    let cut = || is_whole.then(|| cut_before_its_sign(opened.path(), &head)).flatten();
    match refused(opened.path(), &head).or_else(cut) {
        Some(error) => Err(error),
        None => Ok((opened, Format::is_certain(&head))),
    }
}

/// Returns the error for a file so short that only its name shows that it was compressed.
fn cut_before_its_sign(path: &Path, file: &[u8]) -> Option<Error> {
    let is_cut = !file.is_empty()
        && !Format::is_certain(file)
        && Format::of_name(path).is_some_and(|format| format.begins_with(file));
    is_cut.then(|| {
        let detail =
            format!("the compressed file ends after {} of its first 10 bytes", file.len());
        let error = Error::reading(path, FormatReason::Truncated, detail).at(file.len() as u64);
        error.hint("fetch the rest, or compress the file again")
    })
}

#[cfg(feature = "arrow")]
impl InputText {
    /// Opens a source for a reader that accepts UTF-16 too. Of a long compressed text, only the
    /// first bytes and those around the reading position are in memory: `kept` bytes before it.
    pub(crate) fn open_encoded(
        source: Source,
        read: &ReadOptions,
        kept: impl FnOnce() -> u64,
    ) -> Result<Self> {
        let refused = foreign::refused_unless_utf_16;
        let (opened, is_packed) = opened_unless(source, read, refused)?;
        if !is_packed {
            return Ok(Self::of(Body::Opened(opened)));
        }
        let read = &read.clone().without_extent();
        let flow = if opened.len < SHORT { None } else { Flow::open(&opened, read, kept())? };
        let body = match flow {
            None => Body::Opened(unpacked(&opened, read, refused)?),
            Some(Unpacked::Whole(bytes)) => {
                check_head(opened.path(), &bytes, refused)?;
                Body::Opened(OpenedText::of_memory(Bytes::Decompressed(bytes), opened.path())?)
            }
            Some(Unpacked::Flow(flow)) => {
                check_head(opened.path(), flow.first(), refused)?;
                Body::Flow(flow)
            }
        };
        Ok(Self::of(body))
    }

    /// Reads up to `most` bytes; fewer at the end.
    pub(crate) fn some(&self, from: u64, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.add_some(from, most, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends up to `most` bytes; fewer at the end.
    pub(crate) fn add_some(&self, from: u64, most: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let left = self.len().saturating_sub(from).min(most);
        let (known, more) = (bytes.len(), usize::try_from(left).unwrap_or(usize::MAX));
        let options = ReadOptions::new().with_workers(1).with_offset(from);
        // A reader of more than a few bytes needs as much memory again to examine them.
        let is_room = bytes.try_reserve_exact(more).is_ok() && room_for(2 * more).is_ok();
        is_room.then_some(()).ok_or_else(|| {
            let detail = "there is not enough memory for its first bytes";
            let error = Error::reading(self.path(), FormatReason::OutOfMemory, detail);
            error.hint("free memory, or raise its limit")
        })?;
        if let Body::Opened(_) = self.body {
            bytes.resize(known + more, 0);
            options.with_len(left).read_into(self.source(), &mut bytes[known..])?;
            return Ok(());
        }
        let read = options.reader(self.source())?.take(left).read_to_end(bytes);
        read.map(drop).map_err(|error| Error::from_io(error, self.path()))
    }

    /// Checks a compressed stream to far beyond a byte of its text. Other texts need no check.
    pub(crate) fn check_stream(&self, offset: u64) -> Result<()> {
        match &self.body {
            Body::Opened(_) => Ok(()),
            Body::Flow(flow) => flow.check(offset),
        }
    }

    /// Returns another text under the same name.
    pub(crate) fn replaced(&self, bytes: Vec<u8>) -> Result<Self> {
        let opened = OpenedText::of_memory(Bytes::Decompressed(bytes), self.path())?;
        Ok(Self { body: Body::Opened(opened), cut: self.cut.clone(), flaws: None })
    }

    /// Returns the text decoded to UTF-8.
    pub(crate) fn decoded(&self, bytes: Vec<u8>, flaws: Flaws) -> Result<Self> {
        Ok(Self { flaws: Some(Arc::new(flaws)), ..self.replaced(bytes)? })
    }

    /// Returns the bytes that could not be decoded, if the text was in another encoding.
    pub(crate) fn flaws(&self) -> Option<&Flaws> {
        self.flaws.as_deref()
    }

    /// Returns a text in memory for a reader that accepts UTF-16 too. If it is `cut`, these are the
    /// first bytes of a longer text.
    pub(crate) fn in_memory(
        bytes: Arc<Vec<u8>>,
        path: &Path,
        cut: Option<Arc<AtomicBool>>,
    ) -> Result<Self> {
        let head = &bytes[..bytes.len().min(HEAD)];
        if let Some(error) = foreign::refused_unless_utf_16(path, head) {
            return Err(error);
        }
        if Format::is_certain(head) {
            return Err(compressed_twice(path));
        }
        let body = Body::Opened(OpenedText::of_memory(Bytes::Shared(bytes), path)?);
        Ok(Self { body, cut, flaws: None })
    }

    /// Whether these are only the first bytes of a longer text.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Records that a reader came to the end: if only the first bytes are here, more are needed.
    pub(crate) fn reached_end(&self) {
        if let Some(is_short) = &self.cut {
            // Relaxed: it is read by the thread that called the reader, after it has returned.
            is_short.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns the name of a file without the extension of its compression.
pub(crate) fn plain_name(path: &Path) -> PathBuf {
    match Format::of_name(path) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

/// The contents of a pipe or of a compressed file.
struct Memory {
    bytes: Bytes,
    name: PathBuf,
}

enum Bytes {
    Read(Buffer),
    Decompressed(Vec<u8>),
    #[cfg(feature = "arrow")]
    Shared(Arc<Vec<u8>>),
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Read(bytes) => bytes,
            Bytes::Decompressed(bytes) => bytes,
            #[cfg(feature = "arrow")]
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl ReadAt for Memory {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.bytes().len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.bytes();
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let rest = &bytes[at..];
        let len = rest.len().min(target.len());
        target[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        self.name.clone()
    }
}

fn unpacked(packed: &OpenedText, read: &ReadOptions, check: HeadCheck) -> Result<OpenedText> {
    let (path, memory) = (packed.path(), Growing::default());
    let options = DecompressOptions::new().with_read(read.clone());
    let output = Output::stream(memory.clone(), path);
    let done = options.decompress(&packed.input, output);
    let mut text = memory.0.lock();
    if let Some(wanted) = text.refused {
        let detail = format!(
            "it decompresses to at least {wanted} bytes, and there is not enough memory"
        );
        let error = Error::reading(path, FormatReason::OutOfMemory, detail);
        return Err(error.hint("decompress it to a file first, with `swath decompress`"));
    }
    check_end(path, &done?)?;
    let bytes = std::mem::take(&mut text.bytes);
    check_head(path, &bytes, check)?;
    OpenedText::of_memory(Bytes::Decompressed(bytes), path)
}

/// Refuses a decompressed text for its first bytes.
fn check_head(path: &Path, text: &[u8], refused: HeadCheck) -> Result<()> {
    let head = &text[..text.len().min(HEAD)];
    match refused(path, head) {
        Some(error) => Err(error),
        None if Format::is_certain(head) => Err(compressed_twice(path)),
        None => Ok(()),
    }
}

/// Refuses a text whose stream does not end as its format requires.
pub(crate) fn check_end(path: &Path, done: &Decompressed) -> Result<()> {
    let doubt = match (&done.rest, done.lacks_end) {
        (Some(rest), _) => {
            let follow =
                if rest.end - rest.start == 1 { "byte follows" } else { "bytes follow" };
            let detail =
                format!("{} {follow} the end of the compressed stream", rest.end - rest.start);
            Error::reading(path, FormatReason::Corrupt, detail).at(rest.start)
        }
        (None, true) => {
            let detail = "the empty block that ends a BGZF file is missing: the file may have been cut off";
            Error::reading(path, FormatReason::Truncated, detail).at(done.bytes_in)
        }
        (None, false) => return Ok(()),
    };
    Err(doubt
        .hint("decompress it with `swath decompress` and check that the result is complete"))
}

fn compressed_twice(path: &Path) -> Error {
    let detail = "it is compressed twice";
    let error = Error::reading(path, FormatReason::UnknownFormat, detail);
    error.hint("decompress it to a file first, with `swath decompress`")
}

/// The bytes decompressed.
#[derive(Clone, Default)]
struct Growing(Arc<Mutex<Grown>>);

/// Bytes in a buffer that doubles as long as there is memory.
#[derive(Default)]
pub(crate) struct Grown {
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes that could not be allocated.
    refused: Option<usize>,
}

/// Growth from which the available memory is checked first.
const LARGE: usize = 4 << 20;
/// Memory for decoders and threads: a control group is killed beyond its limit.
const BESIDE: u64 = 12 << 20;

impl Grown {
    /// Reserves room for at least `more` bytes.
    pub(crate) fn grow(&mut self, more: usize) -> Option<()> {
        let (len, room) = (self.bytes.len(), self.bytes.capacity());
        if len.checked_add(more)? <= room {
            return Some(());
        }
        let usual = more.max(room.clamp(1 << 20, 1 << 30));
        if usual < LARGE {
            return self.bytes.try_reserve_exact(usual).ok();
        }
        let left = swath::machine::memory_at_hand().unwrap_or(u64::MAX);
        let left = (left - left / 8).saturating_sub(BESIDE);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if more > left {
            return None;
        }
        // Leaves some for other allocations.
        self.bytes.try_reserve_exact(usual.min(left / 2).max(more)).ok()
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.0.lock();
        if text.grow(bytes.len()).is_none() {
            text.refused = Some(text.bytes.len() + bytes.len());
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        text.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_is_told_by_its_first_bytes() {
        for head in
            [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd", b"BZh91AY&SY", b"\x50\x2a\x4d\x18"]
        {
            assert!(Format::is_certain(head), "{head:?}");
        }
        for head in [&b""[..], b"BZh9", b"BZh9,x,y,z\n1,2", b"1,2\n", b"P*M,1"] {
            assert!(!Format::is_certain(head), "{head:?}");
        }
    }

    #[test]
    fn names_lose_no_other_end() {
        for (name, plain) in
            [("a.mtx.gz", "a.mtx"), ("a.mtx", "a.mtx"), ("gz", "gz"), ("b.ZST", "b")]
        {
            assert_eq!(plain_name(Path::new(name)), Path::new(plain));
        }
    }
}
