//! Direct writes, which bypass the page cache, and the preparation of their bytes.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use swath_os::{descriptors, direct};

/// The kernel's errors for a refused direct write.
const REFUSALS: [Errno; 2] = [Errno::INVAL, Errno::OPNOTSUPP];

/// A descriptor for direct writes.
#[derive(Debug)]
pub(crate) struct DirectFile {
    file: File,
    /// Bytes of which offsets and lengths are multiples.
    unit: NonZeroU64,
    /// Bytes of which addresses are multiples.
    memory: usize,
    refused: AtomicBool,
}

/// The progress of a direct write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectProgress {
    All,
    /// This many bytes were written; the rest must be written through the cache.
    Refused(usize),
}

impl DirectFile {
    /// Opens `file` again.
    pub(crate) fn open(file: &File) -> io::Result<Self> {
        /// A whole block of nearly every file system: ext4 serialises smaller writes.
        const BLOCK: u32 = 4096;
        let alignment = direct::direct_alignment(file)?;
        let direct = direct::reopen_direct_to_write(file)?;
        let (unit, memory) =
            alignment.map_or((BLOCK, BLOCK), |known| (known.offset.max(BLOCK), known.memory));
        let unit = NonZeroU64::new(u64::from(unit)).ok_or(ErrorKind::Unsupported)?;
        let memory = usize::try_from(memory).unwrap_or(4096).max(1);
        Ok(Self { file: direct, unit, memory, refused: AtomicBool::new(false) })
    }

    pub(crate) fn unit(&self) -> NonZeroU64 {
        self.unit
    }

    /// Bytes that [`prepend`](Self::prepend) may need after a chunk.
    pub(crate) fn room(&self) -> usize {
        usize::try_from(self.unit.get()).unwrap_or(0) + self.memory
    }

    /// Whether the file system has refused direct writes.
    pub(crate) fn is_refused(&self) -> bool {
        // Relaxed: a write that misses it is refused too.
        self.refused.load(Ordering::Relaxed)
    }

    /// Puts `carried` before `bytes`, at an aligned position of the vector, and returns that position.
    /// Moves the bytes inside their vector.
    pub(crate) fn prepend(&self, bytes: &mut Vec<u8>, carried: &[u8]) -> io::Result<usize> {
        let len = bytes.len();
        bytes
            .try_reserve_exact(carried.len() + self.memory)
            .map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        let start = bytes.as_ptr().align_offset(self.memory);
        let shift = start + carried.len();
        if shift > 0 {
            bytes.resize(len + shift, 0);
            bytes.copy_within(..len, shift);
            bytes[start..shift].copy_from_slice(carried);
        }
        Ok(start)
    }

    /// Returns the error of a write that the file system has deferred.
    pub(crate) fn flush(&self) -> io::Result<()> {
        descriptors::flush(&self.file)
    }

    /// Writes whole units.
    pub(crate) fn write_all(&self, bytes: &[u8], offset: u64) -> io::Result<DirectProgress> {
        let mut done = 0;
        while done < bytes.len() {
            // After a short write inside a unit, direct writes cannot continue.
            if !(done as u64).is_multiple_of(self.unit.get()) {
                return Ok(DirectProgress::Refused(done));
            }
            match self.file.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if Errno::from_io_error(&error)
                        .is_some_and(|it| REFUSALS.contains(&it)) =>
                {
                    self.refused.store(true, Ordering::Relaxed);
                    return Ok(DirectProgress::Refused(done));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(DirectProgress::All)
    }
}
