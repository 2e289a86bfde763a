//! Study A's priorities as published: batch after batch, with a barrier between them.
//!
//! A baseline for [`swath::classes::read_prioritised`], not a way to read. The chunks of a batch are
//! divided evenly among the threads, each thread reads its own one by one, and all threads wait for the
//! slowest before the next batch begins.
//!
//! ```text
//! batch 0  | thread 0: 0 1 2 | thread 1: 3 4 5 |        ← barrier
//! batch 1  | thread 0: 6 7 8 | thread 1: 9 10 11 12 |   ← barrier
//! ```
//!
//! ```
//! use swath_study::barrier::{Batches, load};
//!
//! let file = std::fs::File::open("/etc/passwd")?;
//! let mut target = vec![0; usize::try_from(file.metadata()?.len())?];
//! let batches = Batches { chunks: 10, classes: 3, first: 0, workers: 2 };
//! let loaded = load(&file, &mut target, batches)?;
//! assert!(target.starts_with(b"root") && loaded.classes.len() == 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use swath_os::locks::Mutex;

use crate::threads::not_started;

/// The division of a file into batches, and the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Chunks of one size; the last one also takes the remainder. At least one, and at most one for each
    /// byte.
    pub chunks: usize,
    /// Batches of neighbouring chunks; at least one, and at most one for each chunk.
    pub classes: usize,
    /// The index, in file order, of the batch that is read first. The batches after it follow, then those
    /// at the front of the file.
    pub first: usize,
    /// Threads; 1 reads sequentially as in the study, without a barrier.
    pub workers: usize,
}

/// The times of a run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The time at which each batch was complete, since the first read, in the order of reading.
    pub classes: Vec<Duration>,
    /// The time at which the last thread ended.
    pub total: Duration,
}

/// A chunk that one thread reads: its offset in the file, and its target.
type Chunk<'t> = (u64, &'t mut [u8]);

impl Batches {
    /// Returns the chunks of each batch, in the order in which batches are read.
    fn cut(self, target: &mut [u8]) -> Vec<Vec<Chunk<'_>>> {
        let chunks = self.chunks.clamp(1, target.len().max(1));
        let classes = self.classes.clamp(1, chunks);
        let size = target.len() / chunks;
        let mut batches: Vec<Vec<Chunk<'_>>> = (0..classes).map(|_| Vec::new()).collect();
        let (mut rest, mut offset) = (target, 0);
        for index in 0..chunks {
            let len = if index + 1 == chunks { rest.len() } else { size };
            let (chunk, after) = rest.split_at_mut(len);
            batches[index * classes / chunks].push((offset, chunk));
            offset += len as u64;
            rest = after;
        }
        batches.rotate_left(self.first % classes);
        batches
    }
}

/// Reads all of `file` into `target`, which has the same length.
///
/// The time does not include cutting the file and dividing the chunks.
///
/// # Errors
///
/// The first error of a thread; `UnexpectedEof` if the file is shorter than `target`; if a thread cannot be
/// started.
pub fn load(file: &File, target: &mut [u8], batches: Batches) -> io::Result<Loaded> {
    let cut = batches.cut(target);
    match batches.workers {
        0 | 1 => load_alone(file, cut),
        workers => load_together(file, cut, workers),
    }
}

fn load_alone(file: &File, batches: Vec<Vec<Chunk<'_>>>) -> io::Result<Loaded> {
    let start = Instant::now();
    let mut classes = Vec::with_capacity(batches.len());
    for batch in batches {
        for (offset, chunk) in batch {
            file.read_exact_at(chunk, offset)?;
        }
        classes.push(start.elapsed());
    }
    Ok(Loaded { classes, total: start.elapsed() })
}

fn load_together(
    file: &File,
    batches: Vec<Vec<Chunk<'_>>>,
    workers: usize,
) -> io::Result<Loaded> {
    let count = batches.len();
    let mut shares: Vec<Vec<Vec<Chunk<'_>>>> = (0..workers).map(|_| Vec::new()).collect();
    for batch in batches {
        let len = batch.len();
        let mut chunks = batch.into_iter();
        for (worker, share) in shares.iter_mut().enumerate() {
            let own = (worker + 1) * len / workers - worker * len / workers;
            share.push(chunks.by_ref().take(own).collect());
        }
    }
    let (barrier, failure) = (Barrier::new(workers), Mutex::new(None));
    let classes = Mutex::new(Vec::with_capacity(count));
    let start = Instant::now();
    let read = |share: Vec<Vec<Chunk<'_>>>| {
        for batch in share {
            // Continue after a failure: each thread must reach every barrier.
            for (offset, chunk) in batch {
                if let Err(error) = file.read_exact_at(chunk, offset) {
                    failure.lock().get_or_insert(error);
                }
            }
            if barrier.wait().is_leader() {
                classes.lock().push(start.elapsed());
            }
        }
    };
    std::thread::scope(|scope| {
        let mut ready = Vec::with_capacity(workers);
        for thread in 1..=workers {
            let (give, given) = mpsc::channel();
            let read = &read;
            let work = move || given.recv().map_or((), read);
            let started = std::thread::Builder::new().spawn_scoped(scope, work);
            // Threads that wait for a share get none and end: they have not reached the barrier.
            started.map_err(|error| not_started(&error, thread, workers))?;
            ready.push(give);
        }
        // Each thread waits for its share.
        ready.into_iter().zip(shares).for_each(|(give, share)| drop(give.send(share)));
        Ok::<(), io::Error>(())
    })?;
    let total = start.elapsed();
    match failure.into_inner() {
        Some(error) => Err(error),
        None => {
            let mut classes = classes.into_inner();
            // Leaders may push their times out of order.
            classes.sort_unstable();
            Ok(Loaded { classes, total })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use swath_reference::battery::Battery;

    fn file(len: u32) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = (0..len).flat_map(u32::to_le_bytes).collect();
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&bytes).expect("room");
        (file, bytes)
    }

    #[test]
    fn every_way_gives_the_bytes_and_a_time_for_each_batch() {
        let (file, bytes) = file(5001);
        let plans = [(1, 1), (7, 3), (1000, 50), (30_000, 30_000)].into_iter();
        let all = plans.flat_map(|plan| [1, 2, 3, 8].map(|workers| (plan, workers)));
        let all =
            all.flat_map(|(plan, workers)| [0, 1, 24].map(|first| (plan, workers, first)));
        for ((chunks, classes), workers, first) in Battery::of_list("combinations", 10, all) {
            let mut target = vec![0; bytes.len()];
            let batches = Batches { chunks, classes, first, workers };
            let loaded = load(&file, &mut target, batches).expect("read");
            assert!(target == bytes, "{batches:?}");
            assert_eq!(loaded.classes.len(), classes.min(bytes.len()));
            assert!(loaded.classes.is_sorted());
        }
    }

    #[test]
    fn a_shorter_file_is_an_error_and_nobody_waits_for_ever() {
        let (file, bytes) = file(100);
        let mut target = vec![0; bytes.len() + 1];
        for workers in [1, 4] {
            let batches = Batches { chunks: 10, classes: 5, first: 0, workers };
            let error = load(&file, &mut target, batches).expect_err("too short");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        let none = Batches { chunks: 0, classes: 0, first: 3, workers: 2 };
        assert_eq!(load(&file, &mut [], none).expect("nothing").classes.len(), 1);
    }
}
