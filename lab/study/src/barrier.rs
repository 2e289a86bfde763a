//! Study A's priorities as published: batch after batch, with a barrier between them.
//!
//! A baseline for [`swath::classes::read_prioritised`], not a way to read. The chunks of a batch are
//! shared out evenly among the threads, each thread reads its own one by one, and all of them wait for
//! the slowest before the next batch begins.
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

/// How a file is cut, and how many threads read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Chunks of one size; the last one takes what the division leaves over. At most one for each
    /// byte, and at least one.
    pub chunks: usize,
    /// Batches of neighbouring chunks; at most one for each chunk, and at least one.
    pub classes: usize,
    /// Where in the file the batch lies that is read first; the others follow, the front of the
    /// file after its end.
    pub first: usize,
    /// Threads; 1 is the study's sequential way, which has no barrier.
    pub workers: usize,
}

/// The times of a run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// When each batch was complete, in the order in which they were read, from the first read on.
    pub classes: Vec<Duration>,
    /// When the last thread had ended.
    pub total: Duration,
}

/// A chunk that one thread reads: where it is in the file, and where it goes.
type Chunk<'t> = (u64, &'t mut [u8]);

impl Batches {
    /// The chunks of each batch, in the order in which batches are read.
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

/// Reads all of `file` into `target`, which is as long as it.
///
/// Cutting and sharing out are not part of the time.
///
/// # Errors
///
/// The first error of a thread; `UnexpectedEof` if the file is shorter than `target`; if a thread cannot
/// be started.
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
            // After a failure too: no thread may wait for one that has gone.
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
            // Threads that wait for a share get nothing, and end: they are not at the barrier yet.
            started.map_err(|error| not_started(&error, thread, workers))?;
            ready.push(give);
        }
        // A thread that waits for its share takes it.
        ready.into_iter().zip(shares).for_each(|(give, share)| drop(give.send(share)));
        Ok::<(), io::Error>(())
    })?;
    let total = start.elapsed();
    match failure.into_inner() {
        Some(error) => Err(error),
        None => {
            let mut classes = classes.into_inner();
            // Two leaders may have overtaken each other on the way to the list.
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
