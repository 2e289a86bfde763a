//! A thread that decompresses a text, a little ahead of its reader.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

use swath::machine::{Condvar, Mutex};
use swath::{Input, Output, ReadOptions};

use super::check_end;
use crate::compressed::DecompressOptions;
use crate::error::{Error, FormatReason, Result};

/// Bytes of a chunk.
const CHUNK: usize = if cfg!(test) { 64 } else { 256 << 10 };
/// The distance to decompress ahead of the last byte read.
const AHEAD: u64 = 8 * CHUNK as u64;

/// A thread that decompresses a text. Dropping it ends the thread.
pub(super) struct TextDecoder {
    shared: Arc<SharedDecoder>,
    thread: Option<JoinHandle<()>>,
    /// The process that has the thread: a child of `fork` does not have it.
    process: u32,
    name: std::path::PathBuf,
}

struct SharedDecoder {
    state: Mutex<DecoderState>,
    /// More has been decompressed, or nothing follows.
    more: Condvar,
    /// More has been read.
    room: Condvar,
    /// The number of bytes already read that stay in memory.
    kept: u64,
}

struct DecoderState {
    /// The text in memory, from `from` up to `until`.
    chunks: VecDeque<Arc<Vec<u8>>>,
    from: u64,
    until: u64,
    /// The end of the bytes read.
    read: u64,
    end: Option<TextEnd>,
    /// Set when the reader is dropped.
    is_closed: bool,
    /// Memory of a chunk that is no longer needed.
    spare: Option<Vec<u8>>,
}

/// The outcome of the text.
enum TextEnd {
    Whole,
    /// `None` once the error was reported.
    Failed(Option<Error>),
}

impl TextDecoder {
    /// Starts decompressing a text at its byte `from`. Once the end is known, `len` becomes the
    /// length.
    pub(super) fn start(
        packed: Input,
        read: ReadOptions,
        from: u64,
        kept: u64,
        len: Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let chunks = VecDeque::new();
        let (until, read_before) = (from, from);
        let (end, is_closed, spare) = (None, false, None);
        let state =
            DecoderState { chunks, from, until, read: read_before, end, is_closed, spare };
        let (more, room) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(SharedDecoder { state: Mutex::new(state), more, room, kept });
        let name = packed.name().to_owned();
        let ending = Ending { shared: Arc::clone(&shared), len };
        let work = move || {
            let chunks =
                DecodedChunks { shared: Arc::clone(&ending.shared), chunk: Vec::new() };
            ending.end(decompress(&packed, read, from, chunks));
        };
        let thread = Builder::new().name(String::from("swath-decode")).spawn(work)?;
        Ok(Self { shared, thread: Some(thread), process: process::id(), name })
    }

    /// Whether this decoder can read the text from this byte.
    pub(super) fn reaches(&self, offset: u64) -> bool {
        let state = self.shared.state.lock();
        offset >= state.from && !matches!(state.end, Some(TextEnd::Failed(None)))
    }

    /// Waits for bytes of the text, and reads some of them; 0 at its end.
    pub(super) fn read(&self, target: &mut [u8], offset: u64) -> Result<usize> {
        if self.process != process::id() {
            let detail = "this process was forked from the one that decompresses it";
            let error = Error::reading(&self.name, FormatReason::Invalid, detail);
            return Err(error.hint("open it again in this process"));
        }
        let mut state = self.shared.state.lock();
        self.shared.read_to(&mut state, offset);
        while state.until <= offset && state.end.is_none() {
            state = self.shared.more.wait(state);
        }
        if state.until <= offset {
            return match &mut state.end {
                Some(TextEnd::Failed(error)) => {
                    Err(error.take().unwrap_or_else(|| self.again()))
                }
                Some(TextEnd::Whole) | None => Ok(0),
            };
        }
        let chunks = state.chunks_from(offset, target.len());
        // The decoder runs on while the bytes are copied.
        drop(state);
        let mut filled = 0;
        for (chunk, at) in chunks {
            let len = (chunk.len() - at).min(target.len() - filled);
            target[filled..filled + len].copy_from_slice(&chunk[at..at + len]);
            filled += len;
        }
        self.shared.read_to(&mut self.shared.state.lock(), offset + filled as u64);
        Ok(filled)
    }

    fn again(&self) -> Error {
        let detail = "it could not be decompressed";
        Error::decompressing(&self.name, FormatReason::Corrupt, detail)
    }
}

impl Drop for TextDecoder {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.process != process::id() {
            std::mem::forget(thread);
            return;
        }
        self.shared.state.lock().is_closed = true;
        self.shared.room.notify_all();
        // A panic of the thread was reported as an error.
        drop(thread.join());
    }
}

impl SharedDecoder {
    /// Records that the text was read up to a byte, and drops the bytes far before it.
    fn read_to(&self, state: &mut DecoderState, end: u64) {
        state.read = state.read.max(end);
        let keep = state.read.saturating_sub(self.kept);
        while let Some(chunk) = state.chunks.front()
            && state.from + chunk.len() as u64 <= keep
        {
            state.from += chunk.len() as u64;
            state.spare =
                state.chunks.pop_front().and_then(|chunk| Arc::try_unwrap(chunk).ok());
        }
        self.room.notify_one();
    }

    /// Waits until there is room for a chunk, and adds it. Returns memory for the next one; `None`
    /// if the reader was dropped.
    fn add(&self, chunk: Vec<u8>) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        while !state.is_closed && state.until >= state.read.saturating_add(AHEAD) {
            state = self.room.wait(state);
        }
        state.until += chunk.len() as u64;
        state.chunks.push_back(Arc::new(chunk));
        self.more.notify_all();
        (!state.is_closed).then(|| state.spare.take().unwrap_or_default())
    }
}

impl DecoderState {
    /// Returns chunks with up to `most` bytes, and the start in each.
    fn chunks_from(&self, offset: u64, most: usize) -> Vec<(Arc<Vec<u8>>, usize)> {
        let mut found = Vec::new();
        let (mut begin, mut left) = (self.from, most);
        for chunk in &self.chunks {
            let end = begin + chunk.len() as u64;
            if end > offset && left > 0 {
                let at = usize::try_from(offset.saturating_sub(begin)).unwrap_or(usize::MAX);
                left -= left.min(chunk.len() - at);
                found.push((Arc::clone(chunk), at));
            }
            begin = end;
        }
        found
    }
}

/// Reports the outcome of the text to the reader, even after a panic.
struct Ending {
    shared: Arc<SharedDecoder>,
    len: Arc<AtomicU64>,
}

impl Ending {
    fn end(&self, done: Result<()>) {
        let mut state = self.shared.state.lock();
        state.end = Some(match done {
            Ok(()) => {
                // Relaxed: the lock orders it before the end.
                self.len.store(state.until, Ordering::Relaxed);
                TextEnd::Whole
            }
            Err(error) => TextEnd::Failed(Some(error)),
        });
        self.shared.more.notify_all();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.end.get_or_insert(TextEnd::Failed(None));
        self.shared.more.notify_all();
    }
}

/// Decompresses a text from its byte `from`, and checks the end of the stream.
pub(super) fn decompress(
    packed: &Input,
    read: ReadOptions,
    from: u64,
    target: impl Write + Send + 'static,
) -> Result<()> {
    let path = packed.name();
    let mut options = DecompressOptions::new().with_read(read).with_offset(from);
    options.is_parsed = true;
    let done = options.decompress(packed, Output::stream(target, path))?;
    check_end(path, &done)
}

/// Collects decompressed bytes in chunks.
struct DecodedChunks {
    shared: Arc<SharedDecoder>,
    chunk: Vec<u8>,
}

impl Write for DecodedChunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.chunk.capacity() == 0 {
            self.chunk.try_reserve_exact(CHUNK)?;
        }
        let len = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..len]);
        if self.chunk.len() == CHUNK {
            self.flush()?;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        if chunk.is_empty() {
            return Ok(());
        }
        match self.shared.add(chunk) {
            Some(spare) => {
                self.chunk = spare;
                self.chunk.clear();
                Ok(())
            }
            None => Err(io::Error::other("nobody reads it any more")),
        }
    }
}

impl Drop for DecodedChunks {
    fn drop(&mut self) {
        // The bytes before an error.
        drop(self.flush());
    }
}
