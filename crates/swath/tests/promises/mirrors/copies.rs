//! Copies with faults: sources, not mocks.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swath::{ReadAt, Source, SourceFacts};

/// One copy of some bytes.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    /// It cannot be opened.
    pub(crate) missing: bool,
    /// It has this length.
    pub(crate) len: Option<usize>,
    /// Whether it claims to be complete.
    pub(crate) lies: bool,
    /// Chunks that cannot be read.
    pub(crate) unreadable: Vec<usize>,
    /// Chunks with other bytes.
    pub(crate) wrong: Vec<usize>,
    /// How long reads wait.
    pub(crate) delay: Duration,
    /// How long reads from this offset on wait.
    pub(crate) stall: Option<(u64, Duration)>,
}

pub(crate) struct Faulty {
    name: &'static str,
    right: Arc<Vec<u8>>,
    chunk_size: usize,
    faults: Faults,
    pub(crate) calls: AtomicU64,
}

const NAMES: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

impl Faulty {
    pub(crate) fn new(
        index: usize,
        right: &Arc<Vec<u8>>,
        chunk_size: usize,
        faults: Faults,
    ) -> Arc<Self> {
        let right = Arc::clone(right);
        Arc::new(Self { name: NAMES[index], right, chunk_size, faults, calls: 0.into() })
    }

    pub(crate) fn source(self: &Arc<Self>) -> Source {
        Source::custom(Arc::clone(self) as Arc<dyn ReadAt>)
    }

    /// Returns its readable bytes, one by one: for the reference.
    pub(crate) fn bytes(&self) -> swath_reference::mirror::Copy {
        if self.faults.missing {
            return Vec::new();
        }
        let byte = |offset: usize| {
            let chunk = offset / self.chunk_size;
            let byte = self.right[offset] ^ u8::from(self.faults.wrong.contains(&chunk));
            (!self.faults.unreadable.contains(&chunk)).then_some(byte)
        };
        (0..self.len()).map(byte).collect()
    }

    fn len(&self) -> usize {
        self.faults.len.unwrap_or(self.right.len())
    }
}

impl ReadAt for Faulty {
    fn facts(&self) -> io::Result<SourceFacts> {
        if self.faults.missing {
            return Err(io::ErrorKind::NotFound.into());
        }
        let len = if self.faults.lies { self.right.len() } else { self.len() };
        Ok(SourceFacts::new(Some(len as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.faults.delay);
        if let Some((at, stall)) = self.faults.stall
            && at <= offset
        {
            std::thread::sleep(stall);
        }
        let offset = usize::try_from(offset).expect("small").min(self.len());
        let chunk = offset / self.chunk_size;
        if self.faults.unreadable.contains(&chunk) && offset < self.len() {
            return Err(io::Error::from_raw_os_error(5));
        }
        // At most to the end of the chunk, so that the good part before a bad one is returned.
        let end = self.len().min((chunk + 1) * self.chunk_size).min(offset + target.len());
        let target = &mut target[..end - offset];
        target.copy_from_slice(&self.right[offset..end]);
        if self.faults.wrong.contains(&chunk) {
            target.iter_mut().for_each(|byte| *byte ^= 1);
        }
        Ok(target.len())
    }

    fn name(&self) -> PathBuf {
        PathBuf::from(self.name)
    }
}

/// The fallbacks of a report, as texts.
pub(crate) fn texts(fallbacks: &[swath::Fallback]) -> Vec<String> {
    fallbacks.iter().map(ToString::to_string).collect()
}
