//! A long compressed text, decompressed in order as often as it is read.
//!
//! ```text
//! text      |first bytes, kept |            |read before | read next   |
//! memory     ^^^^^^^^^^^^^^^^^^              ^^^^^^^^^^^^^^^^^^^^^^^^^^
//! decoder                                                               decompresses ahead
//! ```
//!
//! A reader that goes back beyond the bytes in memory starts another decoder. A reader that
//! continues where another one ended takes over its decoder.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use swath::machine::Mutex;
use swath::{Input, ReadAt, ReadOptions, Source, SourceFacts};

use super::OpenedText;
use super::decoder::{self, TextDecoder};
use crate::compressed::Format;
use crate::error::{Error, FormatReason, Result};

/// The number of first bytes kept. A shorter text is kept as a whole.
const FIRST: usize = if cfg!(test) { 1000 } else { 4 << 20 };

/// A text longer than its first bytes.
pub(crate) struct Flow {
    packed: OpenedText,
    /// The options for reading the compressed bytes.
    read: ReadOptions,
    /// The number of bytes already read that stay in memory.
    kept: u64,
    first: Vec<u8>,
    /// `u64::MAX` until a decoder reaches the end.
    len: Arc<AtomicU64>,
    /// The decoder of the last reader.
    idle: Mutex<Option<TextDecoder>>,
}

/// A text that has been opened.
pub(crate) enum Unpacked {
    Whole(Vec<u8>),
    Flow(Arc<Flow>),
}

impl Flow {
    /// Decompresses the first bytes of a text; `None` if no thread can be started for it.
    pub(crate) fn open(
        packed: &OpenedText,
        read: &ReadOptions,
        kept: u64,
    ) -> Result<Option<Unpacked>> {
        const HEAD: u64 = 256;
        let head = ReadOptions::new().with_workers(1).with_len(packed.len.min(HEAD));
        let head = head.read(&packed.input)?.buffer;
        let (packed, mut read) = (packed.clone(), read.clone().without_progress());
        if Format::is_in_order(&head) {
            read = read.with_workers(1);
        }
        let len = Arc::new(AtomicU64::new(u64::MAX));
        let (first, idle) = (Vec::new(), Mutex::new(None));
        let mut flow = Self { packed, read, kept, first, len, idle };
        let Ok(decoder) = flow.decoder(0) else { return Ok(None) };
        let mut first = vec![0; FIRST];
        let mut filled = 0;
        while filled < FIRST {
            match decoder.read(&mut first[filled..], filled as u64)? {
                0 => break,
                more => filled += more,
            }
        }
        // Only another read shows whether more follows.
        let has_more = filled == FIRST && decoder.read(&mut [0], filled as u64)? > 0;
        first.truncate(filled);
        if !has_more {
            first.shrink_to_fit();
            return Ok(Some(Unpacked::Whole(first)));
        }
        flow.first = first;
        flow.idle = Mutex::new(Some(decoder));
        Ok(Some(Unpacked::Flow(Arc::new(flow))))
    }

    /// Returns the name in messages.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.packed.path()
    }

    /// Returns the first bytes of the text.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Returns the length of the text; `u64::MAX` until it has been read to its end.
    pub(crate) fn len(&self) -> u64 {
        // Relaxed: a reader learns of the end under a lock, after this was stored.
        self.len.load(Ordering::Relaxed)
    }

    /// Returns the text as a source for one reader.
    pub(crate) fn source(self: &Arc<Self>) -> Source {
        let reader = FlowReader { flow: Arc::clone(self), own: Mutex::new(None) };
        Source::custom(Arc::new(reader))
    }

    fn no_thread(&self, error: &io::Error) -> Error {
        let detail = format!("no thread can be started to decompress it: {error}");
        let error = Error::decompressing(self.path(), FormatReason::Unsupported, detail);
        error.hint(
            "decompress it to a file first, with `swath decompress`, or allow more threads",
        )
    }

    /// Decompresses the text to far beyond one of its bytes, and returns an error of the stream.
    pub(crate) fn check(&self, offset: u64) -> Result<()> {
        /// A member may be as long as the stream, and its checksum is at its end; but reporting a
        /// wrong delimiter must not take hours.
        const FAR: u64 = 4 << 30;
        if self.len() < u64::MAX {
            return Ok(());
        }
        let is_enough = Arc::new(AtomicBool::new(false));
        let left = offset.saturating_add(FAR);
        let sink = Sink { left, is_enough: Arc::clone(&is_enough) };
        match decoder::decompress(&self.packed.input, self.read.clone(), 0, sink) {
            // Relaxed: the decoder has ended.
            Err(error) if !is_enough.load(Ordering::Relaxed) => Err(error),
            _ => Ok(()),
        }
    }

    fn decoder(&self, from: u64) -> io::Result<TextDecoder> {
        let input: Input = self.packed.input.clone();
        TextDecoder::start(input, self.read.clone(), from, self.kept, Arc::clone(&self.len))
    }
}

/// Discards bytes, up to a number.
struct Sink {
    left: u64,
    is_enough: Arc<AtomicBool>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.saturating_sub(bytes.len() as u64);
        if self.left == 0 {
            self.is_enough.store(true, Ordering::Relaxed);
            return Err(io::Error::other("it is enough"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader of a text; it takes a decoder once it needs one.
struct FlowReader {
    flow: Arc<Flow>,
    own: Mutex<Option<TextDecoder>>,
}

impl ReadAt for FlowReader {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(None).with_any_start())
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let flow = &self.flow;
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        if let Some(first) = flow.first.get(at..).filter(|first| !first.is_empty()) {
            let len = first.len().min(target.len());
            target[..len].copy_from_slice(&first[..len]);
            return Ok(len);
        }
        let mut own = self.own.lock();
        let known = own.take().or_else(|| flow.idle.lock().take());
        let decoder = match known.filter(|decoder| decoder.reaches(offset)) {
            Some(decoder) => decoder,
            None => {
                let from = offset.saturating_sub(flow.kept).max(flow.first.len() as u64);
                flow.decoder(from).map_err(|error| flow.no_thread(&error).into_source())?
            }
        };
        let read = decoder.read(target, offset);
        *own = Some(decoder);
        read.map_err(Error::into_source)
    }

    fn name(&self) -> PathBuf {
        self.flow.path().to_owned()
    }
}

impl Drop for FlowReader {
    fn drop(&mut self) {
        let own = self.own.get_mut();
        if let Some(decoder) = own.take() {
            *self.flow.idle.lock() = Some(decoder);
        }
    }
}
