//! The workers of a simulated job, and their random numbers.

use std::f64::consts::TAU;

use super::model::{Job, Trouble, Work};
use swath_plan::random::{fraction, word};

/// The current action of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing, or an action without a pool.
    #[default]
    Other,
    /// It takes from the pool with this index.
    Pool(usize),
}

/// One worker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    pub(super) part: Option<u32>,
    /// The number of the attempt at the part.
    pub(super) attempt: u32,
    pub(super) began: f64,
    /// The time at which the current step began.
    pub(super) step_began: f64,
    pub(super) doing: Doing,
    pub(super) failures: u32,
    pub(super) is_dead: bool,
}

/// The random numbers of a job: the same for every strategy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    parts: u64,
    failures: u64,
    client: u64,
    slow: usize,
    slow_factor: f64,
}

/// The number of attempts of one part that have their own random numbers.
const ATTEMPTS: u64 = 1 << 20;

impl Chance {
    pub(super) fn new(job: &Job, seed: u64) -> Self {
        let Trouble { slow_share, slow_factor, .. } = job.trouble;
        let slow = (slow_share * job.workers as f64).ceil();
        // At most the number of workers.
        let slow = (0..job.workers).take_while(|&count| (count as f64) < slow).count();
        let (parts, failures, client) = (word(seed, 1), word(seed, 2), word(seed, 3));
        Self { parts, failures, client, slow, slow_factor }
    }

    /// Returns the factor by which a worker is slower.
    pub(super) fn factor(&self, worker: u32) -> f64 {
        if (worker as usize) < self.slow { self.slow_factor } else { 1.0 }
    }

    /// Returns the CPU seconds of an attempt on a worker that is not slow.
    pub(super) fn compute_s(&self, work: &Work, part: u32, attempt: u32) -> f64 {
        if work.spread == 0.0 {
            return work.compute_s;
        }
        let index = u64::from(part) * ATTEMPTS + 2 * u64::from(attempt);
        // The argument is above 0, so the logarithm is finite.
        let radius = (-2.0 * (1.0 - fraction(self.parts, index)).ln()).sqrt();
        let normal = radius * (TAU * fraction(self.parts, index + 1)).cos();
        work.compute_s * (work.spread * normal - work.spread * work.spread / 2.0).exp()
    }

    /// Returns the seconds from a worker's last start to its next failure.
    pub(super) fn failure_s(&self, worker: u32, failures: u32, per_hour: f64) -> f64 {
        let index = (u64::from(worker) << 32) + u64::from(failures);
        exponential(self.failures, index, per_hour)
    }

    /// Returns the seconds until the client fails.
    pub(super) fn client_failure_s(&self, failures: u32, per_hour: f64) -> f64 {
        exponential(self.client, u64::from(failures), per_hour)
    }
}

fn exponential(seed: u64, index: u64, per_hour: f64) -> f64 {
    if per_hour == 0.0 {
        return f64::INFINITY;
    }
    -(1.0 - fraction(seed, index)).ln() * 3600.0 / per_hour
}
