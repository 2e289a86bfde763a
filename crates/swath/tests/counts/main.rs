//! The cost of the same work, by number of workers: allocations, and the calls by which threads
//! disturb each other. Locks and wake-ups are counted inside the library (`src/locks/tests.rs`).

mod allocations;
mod calls;
mod cases;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The allowance for each unit of work, for each worker, and once.
#[derive(Clone, Copy)]
struct Most {
    unit: f64,
    worker: f64,
    once: f64,
}

impl Most {
    fn allows(self, count: u64, units: u64, workers: usize) -> bool {
        count as f64 <= self.unit * units as f64 + self.worker * workers as f64 + self.once
    }
}

/// The same work for any number of workers, and what it may take.
struct Case {
    name: &'static str,
    run: cases::Run,
    units: u64,
    allocations: Most,
    /// Calls of futex(2): a thread waits or wakes another.
    futex: Most,
}

const fn most(unit: f64, worker: f64, once: f64) -> Most {
    Most { unit, worker, once }
}

/// Units in blocks whose results are in order.
const BLOCKS: Case = Case {
    name: "",
    run: cases::scan,
    units: cases::CHUNKS,
    // A list of results for each block. A worker has a thread with a name, memory to read into, counts.
    allocations: most(1.5, 16.0, 150.0),
    // No thread waits for another, except for a lock that is taken just then.
    futex: most(1.0, 16.0, 50.0),
};

/// Units whose threads wait for their turn: one wait and one wake-up each, and a lock that is taken
/// before and after.
const WAITING: Most = most(6.0, 16.0, 50.0);

const CASES: [Case; 8] = [
    Case {
        name: "read",
        run: cases::read,
        units: 8,
        // Before the first read, the library learns about the machine.
        allocations: most(1.5, 16.0, 400.0),
        ..BLOCKS
    },
    Case { name: "scan", ..BLOCKS },
    Case { name: "records", run: cases::map_blocks, ..BLOCKS },
    Case {
        name: "records in turn",
        run: cases::in_turn,
        // Two lists, and one of the threads to wake.
        allocations: most(4.0, 16.0, 150.0),
        futex: WAITING,
        ..BLOCKS
    },
    Case {
        name: "transform",
        run: cases::transform,
        // Buffers are used again: there are two for each worker.
        allocations: most(1.5, 24.0, 150.0),
        futex: WAITING,
        ..BLOCKS
    },
    Case {
        name: "ingest",
        run: cases::ingest,
        units: cases::FILES,
        allocations: most(0.1, 16.0, 150.0),
        futex: most(0.1, 16.0, 50.0),
    },
    Case {
        name: "append, tickets",
        run: cases::tickets,
        allocations: most(0.5, 16.0, 150.0),
        futex: most(3.0, 16.0, 50.0),
        ..BLOCKS
    },
    Case {
        name: "append, forks",
        run: cases::forks,
        // The threads of the pool look for work and sleep again: rayon's part.
        allocations: most(2.0, 24.0, 150.0),
        futex: most(4.0, 120.0, 100.0),
        ..BLOCKS
    },
];
