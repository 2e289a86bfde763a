//! The limits of this machine, which no library can beat.
//!
//! Each function does one thing with as little overhead as possible: threads, a file, an existing
//! destination. The caller warms, times and compares, as in [`measure`](crate::measure).
//!
//! ```text
//! memory_sum   reads memory          ≥ any scan
//! copy         memory → memory       ≥ any warm read
//! populate     makes pages exist     the cost of a fresh buffer
//! pread        page cache → pages    the limit of warm reads; cold: the buffered control
//! direct       device → pages        the limit of cold reads
//! bare_read    five calls            the limit of small files
//! ```

use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags};
use rustix::path::Arg;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use swath_os::direct::reopen_direct;
use swath_os::memory::Pages;

use crate::threads::{each, one_by_one};

/// Bytes that one worker reads at a time: more gains nothing, less costs calls.
pub const CHUNK_SIZE: usize = 1 << 20;

/// Bytes that one worker populates at a time: one huge page.
const POPULATE_SIZE: usize = 2 << 20;

/// `O_DIRECT` lengths and offsets are multiples of this on every device we know.
const BLOCK_SIZE: usize = 4096;

/// Runs `work` on each of `parts`, one thread each; the last part on the caller's thread.
fn fork<P: Send>(parts: Vec<P>, work: impl Fn(P) -> io::Result<()> + Sync) -> io::Result<()> {
    each(parts, work).all()?.into_iter().collect()
}

/// Returns the length of an equal share of `len` bytes, a multiple of `unit`, never 0.
fn share(len: usize, workers: usize, unit: usize) -> usize {
    len.div_ceil(workers.max(1)).next_multiple_of(unit).max(unit)
}

/// Returns the sum of `bytes`, read by `workers` threads in equal shares.
pub fn memory_sum(bytes: &[u8], workers: usize) -> u64 {
    added(bytes, workers, swath_simd::sum)
}

/// Returns the number of newlines in `bytes`, counted by `workers` threads in equal shares.
pub fn memory_newlines(bytes: &[u8], workers: usize) -> u64 {
    added(bytes, workers, |part| swath_simd::count(part, b'\n'))
}

fn added(bytes: &[u8], workers: usize, count: impl Fn(&[u8]) -> u64 + Sync) -> u64 {
    let shares = bytes.chunks(share(bytes.len(), workers, BLOCK_SIZE)).collect();
    each(shares, count).results.into_iter().sum()
}

/// Copies `source` to `target` with `workers` threads in equal shares.
///
/// # Panics
///
/// If their lengths differ.
pub fn copy(source: &[u8], target: &mut [u8], workers: usize) {
    assert_eq!(source.len(), target.len(), "a copy is as long as its original");
    let share = share(source.len(), workers, BLOCK_SIZE);
    let pairs = source.chunks(share).zip(target.chunks_mut(share)).collect();
    each(pairs, |(from, to): (&[u8], &mut [u8])| to.copy_from_slice(from));
}

/// Sets every byte of `target` to `byte` with `workers` threads.
///
/// A reused destination still holds the right bytes of the previous run. Overwrite it before each run, so
/// that a check covers the bytes of that run.
pub fn fill(target: &mut [u8], byte: u8, workers: usize) {
    let share = share(target.len(), workers, BLOCK_SIZE);
    each(target.chunks_mut(share).collect(), |part: &mut [u8]| part.fill(byte));
}

/// Populates `pages` with `workers` threads in equal shares.
///
/// # Errors
///
/// If the kernel has no memory, or is older than `MADV_POPULATE_WRITE` (Linux 5.14).
pub fn populate(pages: &Pages, workers: usize) -> io::Result<()> {
    let share = share(pages.len(), workers, POPULATE_SIZE);
    let starts = (0..pages.len()).step_by(share).collect();
    fork(starts, |start: usize| {
        let end = (start + share).min(pages.len());
        for offset in (start..end).step_by(POPULATE_SIZE) {
            pages.populate(offset, POPULATE_SIZE.min(end - offset))?;
        }
        Ok(())
    })
}

/// Maps `len` bytes of memory advised to use huge pages, and populates it.
///
/// # Errors
///
/// If there is no memory for it.
pub fn touched_pages(len: usize, workers: usize) -> io::Result<Pages> {
    let pages = Pages::map(len)?;
    // Small pages serve where huge pages are compiled out or forbidden.
    let _ = pages.advise_huge();
    populate(&pages, workers)?;
    Ok(pages)
}

/// The distribution of chunks to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each worker has an equal, contiguous share.
    Static,
    /// Each worker takes the next chunk after its last.
    Dynamic,
}

/// Fills `target` from the start of `file`: `workers` threads, [`CHUNK_SIZE`] at a time.
///
/// # Errors
///
/// If a read fails, or the file is shorter than `target`.
pub fn pread(
    file: &File,
    target: &mut [u8],
    workers: usize,
    schedule: Schedule,
) -> io::Result<()> {
    match schedule {
        Schedule::Static => pread_static(file, target, workers),
        Schedule::Dynamic => pread_dynamic(file, target, workers),
    }
}

fn pread_static(file: &File, target: &mut [u8], workers: usize) -> io::Result<()> {
    let share = share(target.len(), workers, CHUNK_SIZE);
    let shares = target.chunks_mut(share).enumerate().collect();
    fork(shares, |(worker, part): (usize, &mut [u8])| {
        for (index, chunk) in part.chunks_mut(CHUNK_SIZE).enumerate() {
            file.read_exact_at(chunk, (worker * share + index * CHUNK_SIZE) as u64)?;
        }
        Ok(())
    })
}

fn pread_dynamic(file: &File, target: &mut [u8], workers: usize) -> io::Result<()> {
    let next = one_by_one(target.chunks_mut(CHUNK_SIZE).enumerate());
    fork(vec![(); workers.max(1)], |()| {
        while let Some((index, chunk)) = next() {
            file.read_exact_at(chunk, (index * CHUNK_SIZE) as u64)?;
        }
        Ok(())
    })
}

/// Fills `target` past the page cache with `depth` reads of [`CHUNK_SIZE`] in flight.
///
/// `target` starts at a page boundary, as [`Pages`] do. The bytes after the last whole block come through
/// the page cache.
///
/// # Errors
///
/// If the file system refuses `O_DIRECT`, a read fails, or the file is shorter.
pub fn direct(file: &File, target: &mut [u8], depth: usize) -> io::Result<()> {
    let aligned = target.len() - target.len() % BLOCK_SIZE;
    let (blocks, tail) = target.split_at_mut(aligned);
    pread(&reopen_direct(file)?, blocks, depth, Schedule::Dynamic)?;
    file.read_exact_at(tail, aligned as u64)
}

/// Reads a small file with the fewest calls that detect a change: open, fstat, pread, fstat, close. Returns
/// the number of bytes read.
///
/// # Errors
///
/// If a call fails, or the two `fstat` differ in length.
pub fn bare_read(path: &Path, target: &mut [u8]) -> io::Result<usize> {
    bare_read_in(rustix::fs::CWD, path, target)
}

/// Reads a small file in an open folder, as [`bare_read`] does.
pub(crate) fn bare_read_in(
    folder: impl AsFd,
    name: impl Arg,
    target: &mut [u8],
) -> io::Result<usize> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let before = rustix::fs::fstat(&file)?;
    let read = rustix::io::pread(&file, target, 0)?;
    let after = rustix::fs::fstat(&file)?;
    drop(file);
    if before.st_size == after.st_size {
        Ok(read)
    } else {
        Err(io::Error::other("the file changed while it was read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FileContent, Recipe, generate};

    const LEN: usize = 5 * CHUNK_SIZE / 2 + 77;

    /// Returns the folder, the path and the bytes of a generated file.
    fn file_of(len: usize) -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("input");
        let recipe = Recipe { kind: FileContent::Bytes, size: len as u64, seed: 1 };
        generate(recipe, &path, 2).expect("a generated file");
        let bytes = std::fs::read(&path).expect("its bytes");
        (folder, path, bytes)
    }

    #[test]
    fn every_schedule_and_worker_count_reads_the_same_bytes() {
        let (_folder, path, bytes) = file_of(LEN);
        let file = File::open(path).expect("it is there");
        for schedule in [Schedule::Static, Schedule::Dynamic] {
            for workers in [0, 1, 2, 7] {
                let mut target = vec![0; LEN];
                pread(&file, &mut target, workers, schedule).expect("it can be read");
                assert!(target == bytes, "{schedule:?} {workers}");
            }
        }
    }

    #[test]
    fn a_direct_read_gives_the_unaligned_tail_too() {
        let (_folder, path, bytes) = file_of(LEN);
        let mut pages = touched_pages(LEN, 2).expect("memory");
        match direct(&File::open(path).expect("there"), &mut pages[..LEN], 8) {
            Ok(()) => assert!(pages[..LEN] == bytes),
            Err(error) => swath_reference::skip("direct-io", error),
        }
    }

    #[test]
    fn a_shorter_file_is_an_error() {
        let (_folder, path, _) = file_of(1000);
        let file = File::open(path).expect("it is there");
        let error = pread(&file, &mut [0; 1001], 2, Schedule::Static).expect_err("too short");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn sums_and_copies_do_not_depend_on_the_workers() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_001).collect();
        let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        for workers in [1, 2, 7, 64] {
            assert_eq!(memory_sum(&bytes, workers), sum);
            let mut target = vec![0; bytes.len()];
            copy(&bytes, &mut target, workers);
            assert!(target == bytes);
        }
        assert_eq!(memory_sum(&[], 2), 0);
    }

    #[test]
    fn the_bare_sequence_reads_a_small_file() {
        let (_folder, path, bytes) = file_of(8192);
        let mut target = [0; 9000];
        assert_eq!(bare_read(&path, &mut target).expect("it is there"), 8192);
        assert!(target[..8192] == bytes);
    }
}
