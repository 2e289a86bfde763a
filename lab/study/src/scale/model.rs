//! The parts of a simulated job, and its result.

use anyhow::{Result, ensure};

/// Bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// The rate of all users together.
    pub all: f64,
    /// The highest rate of one user.
    pub each: f64,
}

/// Storage that all workers share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// The name in charts.
    pub name: &'static str,
    /// The origin of the numbers: `measured here`, or `assumed`.
    pub source: &'static str,
    /// Reads.
    pub read: Bandwidth,
    /// Writes.
    pub write: Bandwidth,
    /// Operations on names (open, stat, create, link, remove) a second, of all users and folders.
    pub operations_per_s: f64,
    /// Operations on names a second in one folder, whose lock serialises them.
    pub one_folder_per_s: f64,
    /// Seconds of an operation beyond the wait for its turn.
    pub latency_s: f64,
    /// Names that a listing returns a second.
    pub names_per_s: f64,
}

/// The process that hands out parts and collects receipts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Client {
    /// Requests and receipts that it handles a second.
    pub requests_per_s: f64,
    /// Seconds of a message, one way.
    pub latency_s: f64,
    /// Seconds until it detects the loss of a worker.
    pub notices_s: f64,
}

/// The work of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Parts.
    pub parts: usize,
    /// Bytes that a part reads.
    pub bytes_in: f64,
    /// Bytes that a part writes.
    pub bytes_out: f64,
    /// Seconds of one core that a part takes, on average.
    pub compute_s: f64,
    /// The spread of these seconds: sigma of a log-normal distribution with that mean.
    pub spread: f64,
    /// Seconds that a part waits without a core.
    pub wait_s: f64,
    /// Operations on names before a part reads.
    pub opens: f64,
    /// Operations on names after it has written.
    pub closes: f64,
}

/// A worker that dies at a known time and does not come back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Death {
    /// The index of the worker.
    pub worker: u32,
    /// Seconds from the beginning.
    pub at_s: f64,
}

/// The faults of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trouble {
    /// The share of workers that are slow; rounded up.
    pub slow_share: f64,
    /// The factor by which slow workers compute and wait longer; 1 or more.
    pub slow_factor: f64,
    /// Failures of one worker an hour.
    pub failures_per_hour: f64,
    /// Seconds until a failed worker is back.
    pub restart_s: f64,
    /// Failures of the client an hour.
    pub client_failures_per_hour: f64,
    /// Seconds until the client is back; it then lists the job's folder.
    pub client_restart_s: f64,
    /// Deaths at known times.
    pub deaths: Vec<Death>,
}

/// The distribution of parts to workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strategy {
    /// Each worker has a fixed share from the start.
    Static,
    /// A free worker takes the next part.
    Pull,
    /// A free worker takes the next part; if there is none, it makes a second attempt at a late part.
    Hedged {
        /// A part is late when it has taken this many times the mean.
        late: f64,
    },
}

/// A job on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Workers.
    pub workers: usize,
    /// Cores that all workers share, if there are fewer than workers.
    pub cores: Option<f64>,
    /// Storage.
    pub storage: Storage,
    /// The client.
    pub client: Client,
    /// The work.
    pub work: Work,
    /// The faults of the job.
    pub trouble: Trouble,
    /// The distribution of parts to workers.
    pub strategy: Strategy,
    /// The number of folders that hold the segments.
    pub folders: usize,
}

impl Default for Job {
    /// Returns 10 workers and 100 parts of 64 MiB in and out, 1 s each; storage and client take no time.
    fn default() -> Self {
        let endless = Bandwidth { all: f64::INFINITY, each: f64::INFINITY };
        Self {
            workers: 10,
            cores: None,
            storage: Storage {
                name: "free",
                source: "assumed",
                read: endless,
                write: endless,
                operations_per_s: f64::INFINITY,
                one_folder_per_s: f64::INFINITY,
                latency_s: 0.0,
                names_per_s: f64::INFINITY,
            },
            client: Client { requests_per_s: f64::INFINITY, latency_s: 0.0, notices_s: 0.0 },
            work: Work {
                parts: 100,
                bytes_in: 67_108_864.0,
                bytes_out: 67_108_864.0,
                compute_s: 1.0,
                spread: 0.0,
                wait_s: 0.0,
                opens: 5.0,
                closes: 4.0,
            },
            trouble: Trouble { slow_factor: 1.0, ..Trouble::default() },
            strategy: Strategy::Pull,
            folders: 1,
        }
    }
}

impl Job {
    /// Sets the number of workers.
    pub fn with_workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Sets the number of parts, of the same size.
    #[must_use]
    pub fn with_parts(mut self, parts: usize) -> Self {
        self.work.parts = parts;
        self
    }

    /// Divides the same bytes and the same work into another number of parts.
    #[must_use]
    pub fn divided_into(mut self, parts: usize) -> Self {
        let factor = self.work.parts as f64 / parts.max(1) as f64;
        self.work.parts = parts;
        self.work.bytes_in *= factor;
        self.work.bytes_out *= factor;
        self.work.compute_s *= factor;
        self.work.wait_s *= factor;
        self
    }

    /// Returns the operations on names a second that all folders of the job allow together.
    pub fn operations_per_s(&self) -> f64 {
        let folders = self.storage.one_folder_per_s * self.folders.max(1) as f64;
        self.storage.operations_per_s.min(folders)
    }

    /// Checks that the numbers are possible.
    ///
    /// # Errors
    ///
    /// The first impossible number, with its name.
    pub fn check(&self) -> Result<()> {
        let Self { workers, cores, storage, client, work, trouble, strategy, folders } = self;
        ensure!(*workers > 0, "a job needs at least one worker");
        ensure!(*workers < u32::MAX as usize, "{workers} workers are too many to simulate");
        ensure!(work.parts > 0, "a job needs at least one part");
        ensure!(work.parts < u32::MAX as usize, "{} parts are too many", work.parts);
        ensure!(*folders > 0, "segments need at least one folder");
        let rates = [
            ("cores", cores.unwrap_or(1.0)),
            ("read bandwidth", storage.read.all),
            ("read bandwidth of one worker", storage.read.each),
            ("write bandwidth", storage.write.all),
            ("write bandwidth of one worker", storage.write.each),
            ("operations per second", storage.operations_per_s),
            ("operations per second in one folder", storage.one_folder_per_s),
            ("names per second", storage.names_per_s),
            ("requests per second", client.requests_per_s),
        ];
        for (name, rate) in rates {
            ensure!(rate > 0.0, "{name}: {rate} is not above 0");
        }
        let amounts = [
            ("latency of storage", storage.latency_s),
            ("latency of messages", client.latency_s),
            ("time to notice a lost worker", client.notices_s),
            ("bytes read", work.bytes_in),
            ("bytes written", work.bytes_out),
            ("compute time", work.compute_s),
            ("spread", work.spread),
            ("wait time", work.wait_s),
            ("operations before", work.opens),
            ("operations after", work.closes),
            ("share of slow workers", trouble.slow_share),
            ("failures per hour", trouble.failures_per_hour),
            ("restart time", trouble.restart_s),
            ("failures of the client per hour", trouble.client_failures_per_hour),
            ("restart time of the client", trouble.client_restart_s),
        ];
        for (name, amount) in amounts {
            ensure!(amount.is_finite() && amount >= 0.0, "{name}: {amount} is not 0 or more");
        }
        ensure!(trouble.slow_share <= 1.0, "more workers are slow than there are");
        ensure!(
            trouble.slow_factor.is_finite() && trouble.slow_factor >= 1.0,
            "slow workers: the factor {} is not 1 or more",
            trouble.slow_factor
        );
        let is_known = |death: &Death| (death.worker as usize) < *workers && death.at_s >= 0.0;
        ensure!(trouble.deaths.iter().all(is_known), "a worker dies that does not exist");
        if let Strategy::Hedged { late } = strategy {
            ensure!(late.is_finite() && *late > 0.0, "late: {late} is not above 0");
        }
        Ok(())
    }
}

/// The use of each shared resource, as a share of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Use {
    /// The client.
    pub client: f64,
    /// Operations on names.
    pub names: f64,
    /// Bandwidth of reads.
    pub read: f64,
    /// Bandwidth of writes.
    pub write: f64,
}

/// Worker seconds of all attempts, by step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// From the arrival of a request at the client to the arrival of the part.
    pub asking: f64,
    /// Operations on names.
    pub naming: f64,
    /// Reading.
    pub reading: f64,
    /// Computing, and the waits of parts.
    pub computing: f64,
    /// Writing.
    pub writing: f64,
}

/// The result of a simulated job, from the first request to the last receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Simulated {
    /// Seconds of the virtual clock.
    pub seconds: f64,
    /// Parts whose receipts arrived; all of them.
    pub parts: usize,
    /// Attempts that began.
    pub attempts: usize,
    /// Attempts that ended with their worker.
    pub lost: usize,
    /// Worker seconds of lost attempts.
    pub lost_s: f64,
    /// Second attempts that began because the first was late.
    pub hedges: usize,
    /// Worker seconds of attempts that were not the first to end.
    pub extra_s: f64,
    /// Worker seconds of attempts that counted.
    pub useful_s: f64,
    /// The longest attempt that counted.
    pub longest_s: f64,
    /// The use of the shared resources.
    pub busy: Use,
    /// The time of the workers, by use.
    pub spent: Spent,
}
