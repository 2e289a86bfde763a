//! Predicts a verb of the library on more cores than this machine has.
//!
//! A verb is a job inside one process: its blocks are parts, its threads are workers, and the lock that
//! hands out blocks is the client. So [`simulate`] computes it from the cost of one block here:
//!
//! ```text
//! the lock ──▶ memory ──▶ a core ──▶ the file ──▶ the lock …
//!   Line         Pool       Pool       Pool
//! ```
//!
//! The library's tests bound the number of locks for each block (`locks/tests.rs` in `crates/swath`). The
//! time of one lock, one wake-up and one byte is [measured](Machine::measure), except for the bandwidth of
//! a memory that this machine does not have.
//!
//! ```
//! use swath_study::scale::Bandwidth;
//! use swath_study::scale::cores::{Block, Machine, predict};
//!
//! // A block of 1 MB; one core reads 1 GB/s, all together 4 GB/s.
//! let machine = Machine { read: Bandwidth { all: 4e9, each: 1e9 }, ..Machine::default() };
//! let block = Block { bytes_in: 1e6, ..Block::default() };
//! let [one, many] = [1, 64].map(|cores| predict(&block, &machine, 6_400, cores));
//! assert!((one?.seconds - 6.4).abs() < 1e-6);
//! let many = many?;
//! assert!((many.seconds - 1.6).abs() < 1e-6 && many.first == "memory");
//! # anyhow::Ok(())
//! ```

mod measured;

use anyhow::Result;

use super::{Bandwidth, Client, Job, Storage, Strategy, Use, Work, simulate};

/// The costs of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// Locks, and changes of shared counters, on cache lines that all workers use.
    pub locks: f64,
    /// Threads woken for the block.
    pub wake_ups: f64,
    /// Bytes read from memory.
    pub bytes_in: f64,
    /// Further CPU seconds.
    pub compute_s: f64,
    /// Bytes written to one file.
    pub bytes_out: f64,
}

/// The speed of a machine, and the costs that its threads cause each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Seconds of one lock that another core held last.
    pub lock_s: f64,
    /// Seconds to wake another thread.
    pub wake_s: f64,
    /// Seconds to start another thread.
    pub thread_s: f64,
    /// The bandwidth of reads from memory.
    pub read: Bandwidth,
    /// The bandwidth of writes to one file in the page cache.
    pub write: Bandwidth,
}

/// The speed of one core with the bytes of a block, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Reading into existing memory.
    pub to_memory: f64,
    /// Reading into a buffer that stays in the core's cache.
    pub to_cache: f64,
    /// Summing bytes in the cache.
    pub sum: f64,
    /// Counting line ends in the cache.
    pub lines: f64,
    /// Copying bytes in the cache.
    pub copy: f64,
}

const ENDLESS: Bandwidth = Bandwidth { all: f64::INFINITY, each: f64::INFINITY };

impl Default for Machine {
    /// Returns a machine on which nothing takes time.
    fn default() -> Self {
        Self { lock_s: 0.0, wake_s: 0.0, thread_s: 0.0, read: ENDLESS, write: ENDLESS }
    }
}

/// The prediction for a verb on some cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Seconds, including the starts of the threads.
    pub seconds: f64,
    /// The busiest shared resource; `cores` if no shared resource is busy most of the time.
    pub first: &'static str,
    /// The use of each resource.
    pub busy: Use,
}

/// The share of the time from which a busy resource keeps more cores from helping.
pub const BUSY: f64 = 0.8;

/// The names of the shared resources.
pub const SHARED: [&str; 3] = ["lock", "memory", "file"];

/// Predicts `blocks` blocks on this many cores, a worker each.
///
/// # Errors
///
/// If a number is impossible for a machine.
pub fn predict(
    block: &Block,
    machine: &Machine,
    blocks: usize,
    cores: usize,
) -> Result<Predicted> {
    let found = simulate(&job(block, machine, blocks, cores), 1)?;
    let busy = found.busy;
    let shares = SHARED.into_iter().zip([busy.client, busy.read, busy.write]);
    let most = shares.max_by(|one, other| one.1.total_cmp(&other.1));
    let first = most.filter(|(_, share)| *share >= BUSY).map_or("cores", |(name, _)| name);
    let started = machine.thread_s * starts(cores) as f64;
    Ok(Predicted { seconds: found.seconds + started, first, busy })
}

/// Returns the number of thread starts, one after the other, until there is a thread for each core: each
/// thread starts two more before it works.
fn starts(cores: usize) -> usize {
    let steps = (cores + 1).next_power_of_two().ilog2().saturating_sub(1);
    cores.saturating_sub(1).min(2 * steps as usize)
}

/// Returns the verb as a job.
fn job(block: &Block, machine: &Machine, blocks: usize, cores: usize) -> Job {
    // One core alone never waits for a cache line of another.
    let lock_s = if cores > 1 { block.locks * machine.lock_s } else { 0.0 };
    let free = Job::default();
    Job {
        workers: cores,
        cores: Some(cores as f64),
        storage: Storage {
            name: "memory",
            source: "measured here",
            read: machine.read,
            write: machine.write,
            ..free.storage
        },
        client: Client { requests_per_s: 1.0 / lock_s, ..free.client },
        work: Work {
            parts: blocks,
            bytes_in: block.bytes_in,
            bytes_out: block.bytes_out,
            compute_s: block.compute_s + block.wake_ups * machine.wake_s,
            opens: 0.0,
            closes: 0.0,
            ..free.work
        },
        strategy: Strategy::Pull,
        ..free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.02
    }

    /// A block takes the lock for 1 ms and a core for 9 ms.
    #[test]
    fn cores_help_until_the_lock_is_never_free() {
        let block = Block { locks: 1.0, compute_s: 0.009, ..Block::default() };
        let machine = Machine { lock_s: 0.001, ..Machine::default() };
        let on = |cores| predict(&block, &machine, 1_000, cores).expect("possible");
        // Alone, the lock costs nothing: 1,000 × 9 ms.
        assert!(near(on(1).seconds, 9.0), "{:?}", on(1));
        // Two cores: each block takes 10 ms of one of them.
        assert!(near(on(2).seconds, 5.0), "{:?}", on(2));
        assert_eq!(on(2).first, "cores");
        // The lock takes 1 ms for each block, and for each worker that finds none.
        for cores in [16_u32, 64] {
            let found = on(cores as usize);
            assert!(near(found.seconds, 0.001 * f64::from(1_000 + cores)), "{found:?}");
            assert_eq!(found.first, "lock");
        }
    }

    #[test]
    fn the_file_or_the_memory_is_named_if_it_is_what_ends_the_growth() {
        let block = Block { bytes_in: 1e6, bytes_out: 1e6, ..Block::default() };
        let read = Bandwidth { all: 20e9, each: 1e9 };
        let write = Bandwidth { all: 2e9, each: 1e9 };
        let machine = Machine { read, write, ..Machine::default() };
        let file = predict(&block, &machine, 1_000, 32).expect("possible");
        // 31.25 times, all cores read 32 blocks in 1.6 ms, then write them in 16 ms.
        assert!(near(file.seconds, 0.55) && file.first == "file", "{file:?}");
        let machine = Machine { write: ENDLESS, ..machine };
        let memory = predict(&block, &machine, 10_000, 64).expect("possible");
        assert!(near(memory.seconds, 0.5) && memory.first == "memory", "{memory:?}");
    }

    #[test]
    fn threads_take_time_to_start_and_to_wake() {
        let block = Block { compute_s: 0.001, wake_ups: 1.0, ..Block::default() };
        let machine = Machine { wake_s: 0.001, thread_s: 0.01, ..Machine::default() };
        let found = predict(&block, &machine, 100, 10).expect("possible");
        // Ten blocks of 2 ms each, and three steps in which threads start two more threads.
        assert!(near(found.seconds, 0.02 + 0.06), "{found:?}");
        assert_eq!([1, 2, 3, 4, 7, 8, 64].map(starts), [0, 1, 2, 3, 4, 6, 12]);
        let wrong = Machine { lock_s: -1.0, ..machine };
        let block = Block { locks: 1.0, ..block };
        assert!(predict(&block, &wrong, 100, 10).is_err());
    }
}
