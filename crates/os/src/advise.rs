//! Tells the kernel how a file will be read.
//!
//! Advice changes when bytes enter the page cache or leave it, never which bytes a read returns.
//! The caller decides whether to give it, and how far ahead.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;

use rustix::fs::{Advice, fadvise};

/// The advice of posix_fadvise(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAdvice {
    /// Nothing special: the usual readahead. Applies to the open file, whatever the extent.
    Normal,
    /// Front to back: twice the readahead. Applies to the open file, whatever the extent.
    Sequential,
    /// At random offsets: no readahead. Applies to the open file, whatever the extent.
    Random,
    /// Soon: starts to read the extent into the page cache, and may block while doing so.
    WillNeed,
    /// Not again: drops the extent's whole pages from the page cache, unless they are dirty or
    /// mapped.
    DontNeed,
}

/// Advises on `len` bytes of `file`, starting at `offset`; a `len` of 0 means to the end.
///
/// The extent may be past the end of the file, where advice has no effect.
///
/// # Errors
///
/// `InvalidInput` if `offset` or `len` exceeds the kernel's range (2^63 - 1); `ESPIPE` for a pipe.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use swath_os::advise::{FileAdvice, advise_file};
///
/// let file = tempfile::tempfile()?;
/// advise_file(&file, 0, 0, FileAdvice::Sequential)?;
/// # Ok(())
/// # }
/// ```
pub fn advise_file(file: &File, offset: u64, len: u64, advice: FileAdvice) -> io::Result<()> {
    let advice = match advice {
        FileAdvice::Normal => Advice::Normal,
        FileAdvice::Sequential => Advice::Sequential,
        FileAdvice::Random => Advice::Random,
        FileAdvice::WillNeed => Advice::WillNeed,
        FileAdvice::DontNeed => Advice::DontNeed,
    };
    // The kernel takes signed numbers, and silently accepts some advice for a negative one.
    if i64::try_from(offset).is_err() || i64::try_from(len).is_err() {
        let what = format!("cannot advise on {len} bytes at {offset}: too large");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(fadvise(file, offset, NonZeroU64::new(len), advice)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency::residency;
    use std::io::Write;

    const ALL: [FileAdvice; 5] = [
        FileAdvice::Normal,
        FileAdvice::Sequential,
        FileAdvice::Random,
        FileAdvice::WillNeed,
        FileAdvice::DontNeed,
    ];

    #[test]
    fn every_advice_is_taken_for_any_extent_that_can_be_counted() {
        let file = tempfile::tempfile().expect("a temporary file");
        let largest = i64::MAX.cast_unsigned();
        for advice in ALL {
            for (offset, len) in [(0, 0), (1, 1), (4096, 0), (largest, 0), (0, largest)] {
                advise_file(&file, offset, len, advice).expect("advice is only advice");
            }
        }
    }

    #[test]
    fn numbers_that_the_kernel_cannot_count_are_refused() {
        let file = tempfile::tempfile().expect("a temporary file");
        for (offset, len) in [(1 << 63, 0), (0, 1 << 63), (u64::MAX, u64::MAX)] {
            let error = advise_file(&file, offset, len, FileAdvice::WillNeed).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{offset} {len}");
        }
    }

    #[test]
    fn a_pipe_takes_no_advice() {
        let (read, _write) = io::pipe().expect("a pipe");
        let file = File::from(std::os::fd::OwnedFd::from(read));
        let error = advise_file(&file, 0, 0, FileAdvice::Normal).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ESPIPE));
    }

    #[test]
    fn dont_need_empties_the_page_cache() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(&[1; 1 << 20]).expect("written");
        file.as_file().sync_all().expect("durable, thus clean");
        let before = match residency(file.as_file(), 0, 0) {
            Ok(before) => before,
            Err(error) => return eprintln!("skipped: residency is unknown: {error}"),
        };
        advise_file(file.as_file(), 0, 0, FileAdvice::DontNeed).expect("advised");
        let after = residency(file.as_file(), 0, 0).expect("known a moment ago");
        if after == before {
            return eprintln!("skipped: this file system lives in the page cache");
        }
        assert_eq!((before.cached_pages, after.cached_pages), (before.total_pages, 0));
    }
}
