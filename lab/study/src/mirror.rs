//! Study A's mirrored loading, and copies with a limited speed.
//!
//! Study A reads an equal, fixed part of the file from each copy, so the slowest copy sets the speed
//! ([`even_split`]). On a machine with one device, [`Throttled`] copies stand for several.
//!
//! ```
//! use swath_study::mirror::{Throttled, even_split};
//!
//! # let file = tempfile::NamedTempFile::new()?;
//! # std::fs::write(file.path(), b"sixteen bytes it")?;
//! let copies = [1 << 20, 1 << 20].map(|rate| Throttled::open(file.path(), rate));
//! let copies: Vec<_> = copies.into_iter().collect::<Result<_, _>>()?;
//! let mut target = [0; 16];
//! even_split(&copies, &mut target)?;
//! assert_eq!(&target, b"sixteen bytes it");
//! # anyhow::Ok(())
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use swath::{ReadAt, SourceFacts};
use swath_os::locks::Mutex;

use crate::loading::{Load, in_shares};

/// Bytes of one read in [`even_split`].
const READ_SIZE: usize = 1 << 20;

/// A file with a limited rate, as on a separate device: requests are served one after the other.
#[derive(Debug)]
pub struct Throttled {
    file: File,
    path: PathBuf,
    len: u64,
    bytes_per_s: u64,
    /// The time at which all earlier requests will be answered.
    free_at: Mutex<Option<Instant>>,
}

impl Throttled {
    /// Opens the file at `path`, which should be in the page cache, with a rate of at least 1 byte per second.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn open(path: &Path, bytes_per_s: u64) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let (path, bytes_per_s) = (path.to_owned(), bytes_per_s.max(1));
        Ok(Self { file, path, len, bytes_per_s, free_at: Mutex::new(None) })
    }

    /// Returns the time at which a request for `len` bytes, made now, is answered.
    fn due(&self, len: usize) -> Instant {
        let nanos = len as u128 * 1_000_000_000 / u128::from(self.bytes_per_s);
        let busy = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let mut free_at = self.free_at.lock();
        let now = Instant::now();
        let due = free_at.map_or(now, |free_at| free_at.max(now)) + busy;
        *free_at = Some(due);
        due
    }
}

impl ReadAt for Throttled {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.len)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let due = self.due(target.len().min(left));
        let came = self.file.read_at(target, offset)?;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        Ok(came)
    }

    fn name(&self) -> PathBuf {
        self.path.clone()
    }
}

/// Fills `target` from the start of the copies, with a thread and an equal part for each: study A's
/// mirrored loading.
///
/// # Errors
///
/// The first failure of a copy; no other copy is tried.
///
/// # Panics
///
/// If a copy panics.
pub fn even_split(copies: &[impl ReadAt], target: &mut [u8]) -> io::Result<()> {
    let how = Load { threads: copies.len(), chunk_size: READ_SIZE, mapped: false };
    in_shares(target, how, |thread, offset, chunk| read_all(&copies[thread], chunk, offset))
}

fn read_all(copy: &impl ReadAt, target: &mut [u8], offset: usize) -> io::Result<()> {
    let mut filled = 0;
    while filled < target.len() {
        match copy.read_at(&mut target[filled..], (offset + filled) as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_split_gives_every_byte_and_the_error_of_a_copy() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for len in [0, 1, 7, 4096, 3 * READ_SIZE + 5] {
            let right = swath_reference::bytes(3, len);
            std::fs::write(file.path(), &right).expect("room");
            for count in [1, 2, 3, 8] {
                let open = |_| Throttled::open(file.path(), u64::MAX).expect("there");
                let copies: Vec<_> = (0..count).map(open).collect();
                let mut target = vec![0; len];
                even_split(&copies, &mut target).expect("readable");
                assert!(target == right, "{len} {count}");
                let mut more = vec![0; len + 1];
                let error = even_split(&copies, &mut more).expect_err("it ends before");
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            }
        }
    }

    #[test]
    fn a_throttled_copy_owes_time_for_every_byte() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), [1; 100]).expect("room");
        let copy = Throttled::open(file.path(), 1000).expect("there");
        let (first, second) = (copy.due(50), copy.due(50));
        assert_eq!(second - first, Duration::from_millis(50), "one after the other");
    }
}
