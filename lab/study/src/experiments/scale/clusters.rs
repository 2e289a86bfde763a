//! The simulated clusters. Their numbers are assumptions.

use crate::scale::{Bandwidth, Client, Job, Storage, Trouble, Work};

/// A node with one fast disk, which many processes share.
pub(super) const DISK: Storage = Storage {
    name: "one fast disk",
    source: "assumed",
    read: Bandwidth { all: 6e9, each: 2e9 },
    write: Bandwidth { all: 3e9, each: 1.5e9 },
    operations_per_s: 200_000.0,
    one_folder_per_s: 100_000.0,
    latency_s: 10e-6,
    names_per_s: 1e6,
};

/// A file server on a network of 10 Gbit/s.
pub(super) const SERVER: Storage = Storage {
    name: "file server",
    source: "assumed",
    read: Bandwidth { all: 1.2e9, each: 1.1e9 },
    write: Bandwidth { all: 1.0e9, each: 1.0e9 },
    operations_per_s: 20_000.0,
    one_folder_per_s: 10_000.0,
    latency_s: 0.4e-3,
    names_per_s: 100_000.0,
};

/// Many data servers and a few metadata servers.
pub(super) const PARALLEL: Storage = Storage {
    name: "parallel file system",
    source: "assumed",
    read: Bandwidth { all: 200e9, each: 2e9 },
    write: Bandwidth { all: 100e9, each: 1.5e9 },
    operations_per_s: 100_000.0,
    one_folder_per_s: 20_000.0,
    latency_s: 0.5e-3,
    names_per_s: 50_000.0,
};

/// A scheduler in Python that handles each task on its own.
const CLIENT: Client = Client { requests_per_s: 2_000.0, latency_s: 1e-3, notices_s: 30.0 };

/// Bytes that a part reads and writes: the default size of a job's parts.
pub(super) const PART: u64 = 64 << 20;

/// The work of a job on thousands of workers: 64 MiB in and out, and ten seconds of a core.
const HEAVY: Work = Work {
    parts: 100_000,
    bytes_in: PART as f64,
    bytes_out: PART as f64,
    compute_s: 10.0,
    spread: 0.3,
    wait_s: 0.0,
    opens: 5.0,
    closes: 4.0,
};

/// Seconds of a core for a part at 100 MB/s, as a Python function on lines takes.
const LIGHT_S: f64 = 0.67;

/// The share of slow workers, and their slowness.
pub(super) const SLOW: Trouble = Trouble {
    slow_share: 0.05,
    slow_factor: 3.0,
    failures_per_hour: 0.0,
    restart_s: 60.0,
    client_failures_per_hour: 0.0,
    client_restart_s: 60.0,
    deaths: Vec::new(),
};

/// Returns a job of heavy parts on workers of equal speed.
pub(super) fn heavy(storage: Storage, parts: usize) -> Job {
    let trouble = Trouble { slow_share: 0.0, slow_factor: 1.0, ..SLOW };
    Job { storage, client: CLIENT, work: HEAVY, trouble, ..Job::default() }.with_parts(parts)
}

/// Returns a job of light parts on workers of equal speed.
pub(super) fn light(storage: Storage, parts: usize) -> Job {
    let job = heavy(storage, parts);
    Job { work: Work { compute_s: LIGHT_S, ..job.work }, ..job }
}
