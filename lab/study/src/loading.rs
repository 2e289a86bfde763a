//! Study A's four ways to load a file, all into the same memory.
//!
//! The study never read its map: "reading and storing of the data is not necessary". So the mapped way
//! here does more than the study's, which is [`map_without_reading`].
//!
//! ```text
//! sequential  one thread, a chunk a call
//! chunks      each thread an equal share of the file, a chunk a call
//! mirrored    the same, thread i from copy i modulo the number of copies
//! mapped      the file mapped, each thread copies its share, a chunk at a time
//! ```
//!
//! The study reads 1,024 bytes a call. Source: *Parallelize file loading using multi-threading*.
//!
//! ```
//! use swath_study::loading::{Load, load};
//!
//! # let file = tempfile::NamedTempFile::new()?;
//! # std::fs::write(file.path(), b"eleven byte")?;
//! let mut target = [0; 11];
//! let how = Load { threads: 3, chunk_size: 2, mapped: false };
//! load(&[file.path().to_owned()], &mut target, how)?;
//! assert_eq!(&target, b"eleven byte");
//! # anyhow::Ok(())
//! ```

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use swath_os::guard::Guard;
use swath_os::map::{Map, MapAdvice, MapFlags};

use crate::threads::each;

/// The way to load a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Threads to start; 0 is the sequential way.
    pub threads: usize,
    /// Bytes of one read, or of one copy from the map; at least 1.
    pub chunk_size: usize,
    /// Whether it maps the first copy.
    pub mapped: bool,
}

/// Fills `target` from the start of a file of which `copies` are equal copies.
///
/// # Errors
///
/// The first error of a thread; `UnexpectedEof` if a copy is shorter than `target`.
///
/// # Panics
///
/// If there are no copies.
pub fn load(copies: &[PathBuf], target: &mut [u8], how: Load) -> io::Result<()> {
    assert!(!copies.is_empty(), "nothing to load from");
    if target.is_empty() {
        return Ok(());
    }
    if how.mapped {
        return load_mapped(&copies[0], target, how);
    }
    let files = copies.iter().map(File::open).collect::<io::Result<Vec<File>>>()?;
    in_shares(target, how, |thread, offset, chunk| {
        files[thread % files.len()].read_exact_at(chunk, offset as u64)
    })
}

fn load_mapped(path: &PathBuf, target: &mut [u8], how: Load) -> io::Result<()> {
    let file = File::open(path)?;
    let guard = Guard::install(&file, path)?;
    let map = Map::new(&guard, 0, target.len(), MapFlags::default())?;
    map.advise(0, target.len(), MapAdvice::Sequential)?;
    in_shares(target, how, |_, offset, chunk| {
        map.copy_to(offset, chunk);
        Ok(())
    })
}

/// Maps a file of `len` bytes and unmaps it, as study A did, without reading or copying it. Each thread
/// counts the bytes of its share, a chunk at a time.
///
/// # Errors
///
/// If it cannot be opened or mapped, or a thread cannot be started.
pub fn map_without_reading(path: &Path, len: usize, how: Load) -> io::Result<()> {
    let file = File::open(path)?;
    let guard = Guard::install(&file, path)?;
    let map = Map::new(&guard, 0, len, MapFlags::default())?;
    map.advise(0, len, MapAdvice::Sequential)?;
    let share = len.div_ceil(how.threads.max(1));
    let shares = (0..how.threads).map(|thread| share.min(len.saturating_sub(thread * share)));
    let counted = each(shares.collect(), |share| {
        (0..share)
            .step_by(how.chunk_size)
            .fold(0, |count, at| black_box(count + how.chunk_size.min(share - at)))
    });
    let counted: usize = counted.all()?.into_iter().sum();
    if how.threads > 0 && counted != len {
        return Err(io::Error::other(format!("{counted} bytes counted of {len}")));
    }
    Ok(())
}

/// Gives each thread an equal share, and passes its chunks to `read` one after the other.
pub(crate) fn in_shares(
    target: &mut [u8],
    how: Load,
    read: impl Fn(usize, usize, &mut [u8]) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let share_len = target.len().div_ceil(how.threads.max(1)).max(1);
    let work = &|thread: usize, share: &mut [u8]| {
        let mut offset = thread * share_len;
        for chunk in share.chunks_mut(how.chunk_size.max(1)) {
            read(thread, offset, chunk)?;
            offset += chunk.len();
        }
        Ok(())
    };
    if how.threads == 0 {
        return work(0, target);
    }
    let shares: Vec<(usize, &mut [u8])> = target.chunks_mut(share_len).enumerate().collect();
    each(shares, |(thread, share)| work(thread, share)).all()?.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_every_byte() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copies: Vec<PathBuf> = (0..3).map(|i| folder.path().join(i.to_string())).collect();
        for len in [0, 1, 7, 4096, 10_000] {
            let right = swath_reference::bytes(5, len);
            for copy in &copies {
                std::fs::write(copy, &right).expect("room");
            }
            for threads in [0, 1, 2, 3, 8, 20] {
                for chunk_size in [1, 512, 1024, 1 << 20] {
                    for (mapped, count) in [(false, 1), (false, 3), (true, 1)] {
                        let how = Load { threads, chunk_size, mapped };
                        let mut target = vec![0; len];
                        load(&copies[..count], &mut target, how).expect("readable");
                        assert!(target == right, "{len} {how:?} {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_copy_that_is_too_short_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (long, short) = (folder.path().join("long"), folder.path().join("short"));
        std::fs::write(&long, [1; 100]).expect("room");
        std::fs::write(&short, [1; 60]).expect("room");
        let mut target = [0; 100];
        for mapped in [false, true] {
            let how = Load { threads: 2, chunk_size: 16, mapped };
            let copies =
                if mapped { vec![short.clone()] } else { vec![long.clone(), short.clone()] };
            let error = load(&copies, &mut target, how).expect_err("60 are not 100");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
