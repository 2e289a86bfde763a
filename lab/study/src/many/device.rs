//! The limit of the device for small reads: random, past the page cache, many in flight.
//!
//! Small cold files lie at random places of the device. Their limit is as many reads of their size at
//! random places of one large file, without a folder to search or a file to open.
//!
//! ```text
//! file   |   |###|   |   |###|   |###|   |     `size` bytes each, every place once, shuffled
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use swath_os::direct::reopen_direct;
use swath_os::memory::{Leases, Pages};
use swath_os::ring::{Ring, with_ring};
use swath_plan::random::SplitMix64;

use super::fork;
use crate::threads::one_by_one;

/// The unit of offsets and lengths that `O_DIRECT` takes on every device we know.
pub const UNIT: usize = 4096;

/// Random reads of one file.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// Bytes of each, a multiple of [`UNIT`].
    pub size: usize,
    /// Reads in flight.
    pub depth: u32,
    /// The seed of their order.
    pub seed: u64,
}

impl Reads {
    /// Returns the size for files of `len` bytes: whole units, as a file system reads them.
    pub fn size_for(len: u64) -> usize {
        usize::try_from(len).unwrap_or(UNIT).next_multiple_of(UNIT).max(UNIT)
    }

    /// Returns the offsets of all whole reads in a file of `len` bytes, shuffled.
    fn places(self, len: u64) -> Vec<u64> {
        let size = self.size as u64;
        let mut places: Vec<u64> = (0..len / size).map(|index| index * size).collect();
        SplitMix64::new(self.seed).shuffle(&mut places);
        places
    }
}

/// Reads every place of `file` once through one ring; returns the sum of the first byte of each read.
///
/// # Errors
///
/// If there is no ring, the file system has no `O_DIRECT`, or a read fails or is short.
pub fn by_ring(file: &File, reads: Reads) -> io::Result<u64> {
    let places = reads.places(file.metadata()?.len());
    let direct = reopen_direct(file)?;
    let depth = usize::try_from(reads.depth.clamp(1, 1024)).unwrap_or(1);
    let leases = Leases::of_pages(Pages::map(depth * reads.size)?);
    with_ring(reads.depth, |ring| drive(ring, &direct, &leases, reads.size, &places))?
}

fn drive<'l>(
    ring: &mut Ring<'l>,
    file: &'l File,
    leases: &'l Leases<'_>,
    size: usize,
    places: &[u64],
) -> io::Result<u64> {
    let mut waiting = places.iter();
    let mut sum = 0;
    let slots = ring.room();
    for (slot, &place) in (0..slots).zip(waiting.by_ref()) {
        let lease = leases.write(slot * size, size).expect("each slot has its own memory");
        ring.submit(file, place, 0, lease, place);
    }
    while let Some(done) = ring.complete() {
        if done.result? != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        sum += u64::from(done.lease[0]);
        if let Some(&place) = waiting.next() {
            ring.submit(file, place, 0, done.lease, place);
        }
    }
    Ok(sum)
}

/// Reads every place of `file` once, with a thread for each read in flight.
///
/// # Errors
///
/// As [`by_ring`], without the ring; if a thread cannot be started.
pub fn by_threads(file: &File, reads: Reads) -> io::Result<u64> {
    let direct = reopen_direct(file)?;
    let next = one_by_one(reads.places(file.metadata()?.len()).into_iter());
    let threads = usize::try_from(reads.depth).unwrap_or(1).max(1);
    let sums = fork(threads, || {
        let mut pages = Pages::map(reads.size)?;
        let target = &mut pages[..reads.size];
        let mut sum = 0;
        while let Some(place) = next() {
            direct.read_exact_at(target, place)?;
            sum += u64::from(target[0]);
        }
        Ok(sum)
    })?;
    Ok(sums.into_iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_read_once_whoever_reads() {
        let program = std::env::current_exe().expect("a test has a program");
        let folder = tempfile::tempdir_in(program.parent().expect("in a folder")).expect("one");
        let path = folder.path().join("large");
        let bytes = swath_reference::bytes(3, 40 * UNIT + 100);
        std::fs::write(&path, &bytes).expect("written");
        let file = File::open(path).expect("there");
        for (size, depth) in [(UNIT, 1), (2 * UNIT, 7), (3 * UNIT, 64)] {
            let reads = Reads { size, depth, seed: 9 };
            let whole = bytes.chunks_exact(size);
            let wanted: u64 = whole.map(|chunk| u64::from(chunk[0])).sum();
            match by_threads(&file, reads) {
                Ok(sum) => assert_eq!(sum, wanted, "{reads:?}"),
                Err(error) => return swath_reference::skip("direct-io", error),
            }
            match by_ring(&file, reads) {
                Ok(sum) => assert_eq!(sum, wanted, "{reads:?}"),
                Err(error) => return swath_reference::skip("io-uring", error),
            }
        }
    }

    #[test]
    fn reads_are_whole_units() {
        for (len, size) in [(0, UNIT), (1, UNIT), (4096, UNIT), (10_000, 3 * UNIT)] {
            assert_eq!(Reads::size_for(len), size);
        }
    }
}
