//! The simulation: the events of a job, in the order of a virtual clock.

use std::collections::VecDeque;

use anyhow::{Result, bail, ensure};

use super::event::{Event, EventQueue, What};
use super::fleet::{Chance, Doing, Worker};
use super::line::ServerLine;
use super::model::{Bandwidth, Job, Simulated, Strategy, Use};
use super::parts::{Next, Parts};
use super::pool::Pool;

const READ: usize = 0;
const CORES: usize = 1;
const WRITE: usize = 2;

/// The state of a running job.
struct Engine<'j> {
    job: &'j Job,
    chance: Chance,
    now: f64,
    events: EventQueue,
    client: ServerLine,
    names: ServerLine,
    pools: [Pool; 3],
    parts: Parts,
    workers: Vec<Worker>,
    /// Counts the failures of each worker; events of an earlier epoch are void.
    epochs: Vec<u32>,
    idle: VecDeque<(u32, u32)>,
    check_at: f64,
    receipts: usize,
    segments: usize,
    client_failures: u32,
    found: Simulated,
}

/// Simulates a job from the first request to the last receipt. For the commit, see
/// [`commit`](super::commit).
///
/// It takes about a microsecond for each part. The same job and seed give the same numbers on every
/// machine.
///
/// # Errors
///
/// If the job has impossible numbers, or never ends: all workers died, or they fail before any part is
/// done.
pub fn simulate(job: &Job, seed: u64) -> Result<Simulated> {
    job.check()?;
    let mut engine = Engine::new(job, seed)?;
    engine.begin();
    while engine.receipts < job.work.parts {
        engine.step()?;
    }
    Ok(engine.finish())
}

impl<'j> Engine<'j> {
    fn new(job: &'j Job, seed: u64) -> Result<Self> {
        let (parts, workers) = (u32::try_from(job.work.parts)?, u32::try_from(job.workers)?);
        let endless = Bandwidth { all: f64::INFINITY, each: f64::INFINITY };
        let cores = job.cores.map_or(endless, |cores| Bandwidth { all: cores, each: 1.0 });
        Ok(Self {
            job,
            chance: Chance::new(job, seed),
            now: 0.0,
            events: EventQueue::default(),
            client: ServerLine::new(job.client.requests_per_s),
            names: ServerLine::new(job.operations_per_s()),
            pools: [job.storage.read, cores, job.storage.write].map(Pool::new),
            parts: Parts::new(parts, workers, job.strategy),
            workers: vec![Worker::default(); job.workers],
            epochs: vec![0; job.workers],
            idle: VecDeque::new(),
            check_at: f64::INFINITY,
            receipts: 0,
            segments: 0,
            client_failures: 0,
            found: Simulated::default(),
        })
    }

    /// Adds the first events: each worker asks for its first part, or for its share.
    fn begin(&mut self) {
        for worker in (0_u32..).take(self.job.workers) {
            self.push(0.0, What::Message { receipt: false, request: true }, worker);
            self.expect_failure(worker);
        }
        for death in &self.job.trouble.deaths {
            // A death comes in any epoch.
            self.events.push(death.at_s, What::Fail { for_good: true }, death.worker, u32::MAX);
        }
        self.expect_client_failure();
    }

    fn push(&mut self, after: f64, what: What, worker: u32) {
        let epoch = self.epochs[worker as usize];
        self.events.push(self.now + after, what, worker, epoch);
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<()> {
        let mut first = self.events.first();
        let mut pool = None;
        for index in [READ, CORES, WRITE] {
            match self.pools[index].next(&self.epochs) {
                Some(at) if at < first => (first, pool) = (at, Some(index)),
                _ => {}
            }
        }
        if let Some(index) = pool {
            self.now = first;
            let worker = self.pools[index].leave(first);
            self.workers[worker as usize].doing = Doing::Other;
            self.taken(index, worker);
            return Ok(());
        }
        let Some(event) = self.events.pop() else {
            bail!("the job never ends: no worker is left");
        };
        self.now = event.at;
        self.happen(event)
    }

    fn happen(&mut self, event: Event) -> Result<()> {
        let Event { what, worker, epoch, .. } = event;
        let is_current = epoch == self.epochs[worker as usize];
        match what {
            What::Message { receipt, request } => {
                let served = self.client.serve(self.now, 1.0);
                if receipt {
                    self.receive(served);
                }
                if request && is_current {
                    self.give(worker, served);
                }
            }
            What::Fail { for_good } if is_current || epoch == u32::MAX => {
                self.fail(worker, for_good)?;
            }
            What::Missed(part) => {
                if self.parts.miss(part) {
                    self.wake();
                }
            }
            What::Check => {
                self.check_at = f64::INFINITY;
                self.wake();
            }
            What::ClientFails => self.client_fails(),
            _ if !is_current => {}
            What::Begin => {
                self.found.spent.asking += self.lap(worker);
                let opened = self.names_after(self.job.work.opens);
                self.events.push(opened, What::Opened, worker, epoch);
            }
            What::Opened => {
                self.found.spent.naming += self.lap(worker);
                self.take(READ, worker);
            }
            What::Waited => {
                self.found.spent.computing += self.lap(worker);
                self.take(WRITE, worker);
            }
            What::Named => {
                self.found.spent.naming += self.lap(worker);
                self.named(worker);
            }
            What::Back => self.back(worker),
            What::Fail { .. } => {}
        }
        Ok(())
    }

    /// Begins the next step of a worker; returns the seconds since the current one began.
    fn lap(&mut self, worker: u32) -> f64 {
        let state = &mut self.workers[worker as usize];
        let seconds = self.now - state.step_began;
        state.step_began = self.now;
        seconds
    }

    /// Returns the time at which this many operations on names are done, one after the other.
    fn names_after(&mut self, operations: f64) -> f64 {
        self.names.serve(self.now, operations) + operations * self.job.storage.latency_s
    }

    /// Begins to take the amount for a worker's part from a pool.
    fn take(&mut self, pool: usize, worker: u32) {
        let state = self.workers[worker as usize];
        let Some(part) = state.part else { return };
        let work = &self.job.work;
        let factor = self.chance.factor(worker);
        let amount = match pool {
            READ => work.bytes_in,
            WRITE => work.bytes_out,
            _ => factor * self.chance.compute_s(work, part, state.attempt),
        };
        if !self.pools[pool].is_endless() && amount > 0.0 {
            self.pools[pool].join(self.now, amount, worker, self.epochs[worker as usize]);
            self.workers[worker as usize].doing = Doing::Pool(pool);
            return;
        }
        match pool {
            CORES => self.push(amount + factor * work.wait_s, What::Waited, worker),
            _ => self.taken(pool, worker),
        }
    }

    /// Continues after a worker has taken the whole amount from a pool.
    fn taken(&mut self, pool: usize, worker: u32) {
        match pool {
            READ => {
                self.found.spent.reading += self.lap(worker);
                self.take(CORES, worker);
            }
            CORES => {
                let wait_s = self.chance.factor(worker) * self.job.work.wait_s;
                self.push(wait_s, What::Waited, worker);
            }
            _ => {
                self.found.spent.writing += self.lap(worker);
                let named = self.names_after(self.job.work.closes);
                let epoch = self.epochs[worker as usize];
                self.events.push(named, What::Named, worker, epoch);
            }
        }
    }

    /// Answers the request of a worker; the message leaves at `served`.
    fn give(&mut self, worker: u32, served: f64) {
        let own = self.parts.own(worker);
        match own.map_or_else(|| self.parts.next(self.now), Next::Part) {
            Next::Wait(at) => {
                self.idle.push_back((worker, self.epochs[worker as usize]));
                self.expect_late(at);
            }
            next => self.hand(next, worker, served),
        }
    }

    fn hand(&mut self, next: Next, worker: u32, served: f64) {
        let (Next::Part(part) | Next::Late(part)) = next else { return };
        self.found.hedges += usize::from(next == Next::Late(part));
        self.assign(worker, part);
        let epoch = self.epochs[worker as usize];
        self.events.push(served + self.job.client.latency_s, What::Begin, worker, epoch);
    }

    /// Makes the client look for late parts at a time.
    fn expect_late(&mut self, at: Option<f64>) {
        if let Some(at) = at.filter(|&at| at < self.check_at) {
            self.check_at = at;
            self.events.push(at, What::Check, 0, 0);
        }
    }

    fn assign(&mut self, worker: u32, part: u32) {
        let attempt = self.parts.begin(part, self.now);
        self.found.attempts += 1;
        let state = &mut self.workers[worker as usize];
        (state.part, state.attempt) = (Some(part), attempt);
        (state.began, state.step_began) = (self.now, self.now);
    }

    /// Gives parts to idle workers, while there are any.
    fn wake(&mut self) {
        while let Some((worker, epoch)) = self.idle.pop_front() {
            if self.epochs[worker as usize] != epoch {
                continue;
            }
            match self.parts.next(self.now) {
                Next::Wait(at) => {
                    self.idle.push_front((worker, epoch));
                    return self.expect_late(at);
                }
                next => {
                    let served = self.client.serve(self.now, 1.0);
                    self.hand(next, worker, served);
                }
            }
        }
    }

    fn named(&mut self, worker: u32) {
        let state = &mut self.workers[worker as usize];
        let Some(part) = state.part.take() else { return };
        let seconds = self.now - state.began;
        self.segments += 1;
        let is_first = self.parts.end(part, seconds);
        if is_first {
            self.found.useful_s += seconds;
            self.found.longest_s = self.found.longest_s.max(seconds);
        } else {
            self.found.extra_s += seconds;
        }
        let latency_s = self.job.client.latency_s;
        if self.job.strategy != Strategy::Static {
            return self.push(
                latency_s,
                What::Message { receipt: is_first, request: true },
                worker,
            );
        }
        match self.parts.own(worker) {
            Some(next) => {
                self.push(
                    latency_s,
                    What::Message { receipt: is_first, request: false },
                    worker,
                );
                self.assign(worker, next);
                self.push(0.0, What::Begin, worker);
            }
            None => {
                self.push(
                    latency_s,
                    What::Message { receipt: is_first, request: true },
                    worker,
                );
            }
        }
    }

    fn receive(&mut self, served: f64) {
        self.receipts += 1;
        self.found.seconds = self.found.seconds.max(served);
    }

    fn fail(&mut self, worker: u32, for_good: bool) -> Result<()> {
        let index = worker as usize;
        if self.workers[index].is_dead {
            return Ok(());
        }
        let state = &mut self.workers[index];
        state.is_dead = for_good;
        state.failures += 1;
        if let Doing::Pool(pool) = std::mem::take(&mut state.doing) {
            self.pools[pool].abandon(self.now);
        }
        self.epochs[index] += 1;
        let notices_s = self.job.client.notices_s;
        if let Some(part) = state.part.take() {
            self.found.lost += 1;
            self.found.lost_s += self.now - state.began;
            self.parts.lose(part);
            self.push(notices_s, What::Missed(part), worker);
        }
        let most = 100 * self.job.work.parts + 10_000;
        ensure!(
            self.found.lost <= most,
            "the job never ends: workers fail before a part is done"
        );
        if for_good {
            self.parts.inherit(worker);
        } else {
            self.push(self.job.trouble.restart_s, What::Back, worker);
        }
        Ok(())
    }

    fn back(&mut self, worker: u32) {
        let latency_s = self.job.client.latency_s;
        self.push(latency_s, What::Message { receipt: false, request: true }, worker);
        self.expect_failure(worker);
    }

    fn expect_failure(&mut self, worker: u32) {
        let per_hour = self.job.trouble.failures_per_hour;
        if per_hour > 0.0 {
            let failures = self.workers[worker as usize].failures;
            let after = self.chance.failure_s(worker, failures, per_hour);
            self.push(after, What::Fail { for_good: false }, worker);
        }
    }

    /// Closes the client until it is back, has listed the folder and has looked at each segment.
    fn client_fails(&mut self) {
        let away = self.job.trouble.client_restart_s + self.job.relist_s(self.segments);
        self.client.close(self.now, away);
        self.expect_client_failure();
    }

    fn expect_client_failure(&mut self) {
        let per_hour = self.job.trouble.client_failures_per_hour;
        let after = self.chance.client_failure_s(self.client_failures, per_hour);
        self.client_failures += 1;
        // The next failure comes after the client is back.
        let at = self.now.max(self.client.free_at) + after;
        self.events.push(at, What::ClientFails, 0, 0);
    }

    /// Ends the job. Attempts that still run are extra work.
    fn finish(mut self) -> Simulated {
        let end = self.found.seconds;
        for state in &self.workers {
            if state.part.is_some() {
                self.found.extra_s += (end - state.began).max(0.0);
            }
        }
        let share = |seconds: f64| if end > 0.0 { seconds / end } else { 0.0 };
        let [read, _, write] = &self.pools;
        let found = &mut self.found;
        found.parts = self.receipts;
        found.busy = Use {
            client: share(self.client.busy_s),
            names: share(self.names.busy_s),
            read: read.used(end),
            write: write.used(end),
        };
        debug_assert_eq!(self.parts.done, self.receipts, "a receipt is of one part");
        self.found
    }
}
