//! Puts bytes in their place in a file: from memory, or from another file.

use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;

use crate::locks::{AtomicU64, Mutex};
use crate::sink::fs::{self, FsFile};

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_all_at(file: &dyn FsFile, bytes: &[u8], offset: u64) -> io::Result<()> {
    fs::write_all_at(file, bytes, offset).map_err(|(error, _)| error)
}

/// Fills `into` from `offset`.
pub(crate) fn read_exact_at(file: &dyn FsFile, into: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => done += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a small file to its end; `None` if it is longer than `longest`.
pub(crate) fn read_whole(file: &dyn FsFile, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    loop {
        let done = bytes.len();
        if done > longest {
            return Ok(None);
        }
        bytes.resize(done + done.clamp(1 << 16, 1 << 26), 0);
        let read = file.read_at(&mut bytes[done..], done as u64)?;
        bytes.truncate(done + read);
        if read == 0 {
            return Ok(Some(bytes));
        }
    }
}

/// Reserves space ahead of a growing file, in growing steps.
///
/// On ext4 a buffered write into reserved space takes about two thirds of the time. Unused space
/// is freed when the file is cut to its length at commit.
#[derive(Debug)]
pub(crate) struct Preallocation {
    /// Space is reserved up to here; [`u64::MAX`] if the file system cannot.
    end: AtomicU64,
    growing: Mutex<()>,
}

/// Smaller files are written before it would pay off.
const FIRST: u64 = 1 << 20;
const LEAST: u64 = 16 << 20;
const MOST: u64 = 256 << 20;

impl Preallocation {
    pub(crate) const fn new() -> Self {
        Self { end: AtomicU64::new(0), growing: Mutex::new(()) }
    }

    /// Reserves space if necessary: bytes up to `end` are about to be written.
    pub(crate) fn reach(&self, file: &dyn FsFile, end: u64) {
        // Relaxed: a hint; the lock orders reservations.
        if end <= FIRST || end <= self.end.load(Ordering::Relaxed) {
            return;
        }
        let _growing = self.growing.lock();
        let reserved = self.end.load(Ordering::Relaxed);
        if end <= reserved {
            return;
        }
        let step = end.clamp(LEAST, MOST);
        let goal = end.saturating_add(step);
        // A disk too full to reserve ahead may still have space for the bytes themselves.
        let reserved = match file.allocate(reserved, goal - reserved) {
            Ok(()) => goal,
            Err(_) => u64::MAX,
        };
        self.end.store(reserved, Ordering::Relaxed);
    }
}

/// How bytes were moved from one file to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// By sharing blocks.
    pub(crate) cloned: u64,
    /// By copying.
    pub(crate) copied: u64,
}

/// File systems share whole blocks of this size or a divisor of it.
const BLOCK: u64 = 4096;

/// Copies `len` bytes of `from` into `file`. Whole blocks are shared where file system and
/// alignment allow.
pub(crate) fn move_range(
    file: &dyn FsFile,
    from: &dyn FsFile,
    from_offset: u64,
    to_offset: u64,
    len: u64,
) -> io::Result<Moved> {
    // Bytes that could not be stored read as zeros, and their error is reported once: here.
    from.flush()?;
    if let Some(moved) = share_range(file, from, from_offset, to_offset, len)? {
        return Ok(moved);
    }
    copy_range(file, from, from_offset, to_offset, len)?;
    Ok(Moved { cloned: 0, copied: len })
}

/// As [`move_range`], if whole blocks can be shared; `None`, with nothing done, if not.
pub(crate) fn share_range(
    file: &dyn FsFile,
    from: &dyn FsFile,
    from_offset: u64,
    to_offset: u64,
    len: u64,
) -> io::Result<Option<Moved>> {
    let head = (from_offset.next_multiple_of(BLOCK) - from_offset).min(len);
    let middle = (len - head) / BLOCK * BLOCK;
    if from_offset % BLOCK != to_offset % BLOCK || middle == 0 {
        return Ok(None);
    }
    let at = |skip| (from_offset + skip, to_offset + skip);
    let (source, target) = at(head);
    if file.clone_range(from, source, target, middle).is_err() {
        return Ok(None);
    }
    copy_range(file, from, from_offset, to_offset, head)?;
    let (source, target) = at(head + middle);
    copy_range(file, from, source, target, len - head - middle)?;
    Ok(Some(Moved { cloned: middle, copied: len - middle }))
}

/// Copies through a buffer that stays in the cache: on ext4 faster than `copy_file_range`, which
/// copies page by page.
fn copy_range(
    file: &dyn FsFile,
    from: &dyn FsFile,
    from_offset: u64,
    to_offset: u64,
    len: u64,
) -> io::Result<()> {
    const BUFFER: usize = 256 << 10;
    let mut buffer = vec![0; usize::try_from(len).unwrap_or(BUFFER).min(BUFFER)];
    let mut done = 0;
    while done < len {
        let part = usize::try_from(len - done).unwrap_or(BUFFER).min(BUFFER);
        let bytes = &mut buffer[..part];
        read_exact_at(from, bytes, from_offset + done)?;
        write_all_at(file, bytes, to_offset + done)?;
        done += part as u64;
    }
    Ok(())
}
