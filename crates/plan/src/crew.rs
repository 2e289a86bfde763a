//! The number of workers for a source with unknown response time.
//!
//! Reads wait, and more reads in flight hide the wait. A [`Crew`] begins with few workers, learns
//! from the first responses, and decides their number. It has no clock and no threads: time is a
//! number that is passed in.
//!
//! ```text
//! request              patience: what memory would take      responses: rate × shortest = busy
//!   |--- first workers ---|--- the maximum ------------------------|--- twice the busy ones ---
//! ```
//!
//! **The beginning.** Memory responds at once. If no response has come in the time that memory
//! would have taken, the source makes readers wait, and the maximum number of workers is started:
//! each round of reads costs a wait, and waiting threads cost next to nothing. So a source of 20 ms
//! has all of its reads in flight after 2 to 5 ms, not after several waits.
//!
//! **After that**, Little's law gives the number of requests that a source works on at a time:
//! responses per second × the shortest response time. Requests beyond that wait in a queue of the
//! source, where they gain nothing. Twice as many are kept in flight, so that a source with
//! capacity to spare shows it: as long as it does, the number doubles in each round of two response
//! times. It shrinks if there are more than four times as many, for example because the source
//! handles one request after another.
//!
//! **If some responses come at once** and others take long, as with a cache, the shortest time says
//! nothing about the others. Then the number is doubled as long as that brings a quarter more
//! responses per second.
//!
//! **Large requests** pay for one wait with more bytes, but are slower if there is no wait: memory
//! that was just cleared has left the cache when its bytes arrive. So requests are small at first,
//! and large as long as they have to wait.
//!
//! **The floor** for `n` requests of duration `t` each, `w` at a time, is `n / w × t`; the
//! beginning adds the patience once.
//!
//! ```
//! use swath_plan::crew::{Answers, Bounds, Crew, CrewStep};
//!
//! const MIB: u64 = 1 << 20;
//! let bounds = Bounds { first: 2, most: 64, request_size: MIB, waited_size: 4 * MIB };
//! let ms = 1_000_000;
//! let mut crew = Crew::new(bounds);
//! crew.asked(0);
//! assert_eq!(crew.step(0), CrewStep::WaitUntil(Crew::patience(MIB)));
//! assert_eq!(crew.step(2 * ms), CrewStep::Start(2), "nothing has come back: a worker more");
//!
//! let mut quick = Crew::new(bounds);
//! quick.asked(0);
//! quick.landed(ms / 5, Answers { count: 1, shortest: ms / 5, waited: ms / 5 });
//! assert_eq!(quick.step(2 * ms), CrewStep::Wait, "as fast as memory: two are enough");
//! ```

use crate::schedule::Nanos;

/// The longest time of a request that did not have to wait.
const LATENCY: Nanos = 500_000;
/// The additional time that memory takes for each MiB.
const NANOS_PER_MIB: u64 = 250_000;
/// The shortest time over which responses are evaluated together.
const LEAST_ROUND: Nanos = 1_000_000;

/// Rounds between a doubling that gained nothing and the next.
const REST: u32 = 16;
const SECOND: u128 = 1_000_000_000;

/// The limits of a [`Crew`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Workers that begin and always stay.
    pub first: usize,
    /// The most workers.
    pub most: usize,
    /// Size of one request in bytes.
    pub request_size: u64,
    /// Size of one request in bytes while requests have to wait.
    pub waited_size: u64,
}

/// Requests of one worker since its last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The number of answered requests.
    pub count: u64,
    /// The shortest time of a request.
    pub shortest: Nanos,
    /// The total time of the requests.
    pub waited: Nanos,
}

/// The next step of the thread that starts workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrewStep {
    /// Start the worker of this slot, and ask again.
    Start(usize),
    /// Ask again at this time, or after the next answer.
    WaitUntil(Nanos),
    /// Ask again after the next answer.
    Wait,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Crew {
    bounds: Bounds,
    running: usize,
    peak: usize,
    wanted: usize,
    /// The result of the last round: a single slow round sends no worker away.
    last: usize,
    /// The time of the first request.
    asked: Option<Nanos>,
    /// Whether any response has come back.
    answered: bool,
    /// Size of one request in bytes.
    request_size: u64,
    /// The shortest time, and the best rate, while the source stays the same.
    shortest: Nanos,
    best: Rate,
    round: Round,
    /// The number of workers before they were doubled, and their rate.
    trial: Option<(usize, Rate)>,
    /// Rounds until they are doubled again.
    rest: u32,
}

/// Responses in a thousand seconds.
type Rate = u128;

/// Responses that are evaluated together.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Nanos,
    count: u64,
    /// Their total time.
    waited: Nanos,
}

impl Round {
    fn new(began: Nanos) -> Self {
        Self { began, count: 0, waited: 0 }
    }
}

impl Crew {
    /// Returns a crew whose first workers are already running.
    pub fn new(bounds: Bounds) -> Self {
        let first = bounds.first.max(1);
        let bounds = Bounds { first, most: bounds.most.max(first), ..bounds };
        Self {
            bounds,
            running: first,
            peak: first,
            wanted: first,
            last: first,
            asked: None,
            answered: false,
            request_size: bounds.request_size,
            shortest: Nanos::MAX,
            best: 0,
            round: Round::new(0),
            trial: None,
            rest: 0,
        }
    }

    /// Returns the time after which a request of this many bytes counts as waiting.
    pub fn patience(request_size: u64) -> Nanos {
        LATENCY.saturating_add(request_size.saturating_mul(NANOS_PER_MIB) >> 20)
    }

    /// Returns the number of workers to begin with.
    pub fn first(&self) -> usize {
        self.bounds.first
    }

    /// Returns the size of the next request in bytes.
    pub fn request_size(&self) -> u64 {
        self.request_size
    }

    /// Returns the size of the next request, if it differs from the initial size.
    pub fn grown_size(&self) -> Option<u64> {
        Some(self.request_size).filter(|&size| size > self.bounds.request_size)
    }

    /// Returns the most workers that ran at one time.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// Returns the shortest observed response time, as without other requests.
    pub fn shortest(&self) -> Option<Nanos> {
        Some(self.shortest).filter(|&shortest| shortest != Nanos::MAX)
    }

    /// Records a worker's first request. Returns whether it is the first of all.
    pub fn asked(&mut self, now: Nanos) -> bool {
        let is_first = self.asked.is_none();
        if is_first {
            self.asked = Some(now);
            self.round.began = now;
        }
        is_first
    }

    /// Records answers to requests of one worker. Returns whether workers should be started.
    pub fn landed(&mut self, now: Nanos, answers: Answers) -> bool {
        self.answered = true;
        self.shortest = self.shortest.min(answers.shortest);
        self.round.count += answers.count;
        self.round.waited = self.round.waited.saturating_add(answers.waited);
        let took = now.saturating_sub(self.round.began);
        let is_over = match self.all_wait() {
            true => took >= self.shortest.saturating_mul(2),
            false => took >= LEAST_ROUND && self.round.count >= 8.max(self.running as u64),
        };
        if is_over {
            let now_wanted = self.judge(took).clamp(self.bounds.first, self.bounds.most);
            self.wanted = now_wanted.max(self.last);
            self.last = now_wanted;
            self.round = Round::new(now);
        }
        self.running < self.wanted
    }

    /// Records a request that came back without its bytes: more at a time would not help.
    pub fn failed(&mut self) {
        self.answered = true;
        self.wanted = (self.wanted / 2).max(self.bounds.first);
        self.last = self.wanted;
    }

    /// Returns the step at `now` for the thread that starts workers.
    pub fn step(&mut self, now: Nanos) -> CrewStep {
        if let (Some(asked), false) = (self.asked, self.answered) {
            let until = asked.saturating_add(Self::patience(self.request_size));
            if now < until {
                return CrewStep::WaitUntil(until);
            }
            // The first round is incomplete: by itself it sends no worker away.
            (self.wanted, self.last) = (self.bounds.most, self.bounds.most);
            self.waits();
        }
        if self.running >= self.wanted {
            return CrewStep::Wait;
        }
        let slot = self.running;
        self.running += 1;
        self.peak = self.peak.max(self.running);
        CrewStep::Start(slot)
    }

    /// Whether an idle worker beyond the first ones should end.
    pub fn leaves(&mut self) -> bool {
        let leaves = self.running > self.wanted;
        self.running -= usize::from(leaves);
        leaves
    }

    /// Records that a worker could not be started: no more are started.
    pub fn refused(&mut self) {
        self.running = self.running.saturating_sub(1).max(self.bounds.first);
        self.peak = self.peak.min(self.running).max(self.bounds.first);
        self.bounds.most = self.running;
        self.wanted = self.wanted.min(self.running);
    }

    /// Records that requests have to wait.
    fn waits(&mut self) {
        self.request_size = self.request_size.max(self.bounds.waited_size);
    }

    /// Whether no response came as fast as from memory.
    fn all_wait(&self) -> bool {
        self.shortest > Self::patience(self.request_size)
    }

    /// Ends a round; returns the number of workers to use.
    fn judge(&mut self, took: Nanos) -> usize {
        let Round { count, waited, .. } = self.round;
        let rate = u128::from(count) * 1000 * SECOND / u128::from(took.max(1));
        if waited / count.max(1) <= Self::patience(self.request_size) {
            self.trial = None;
            self.request_size = self.bounds.request_size;
            return self.bounds.first;
        }
        self.waits();
        if self.all_wait() { self.by_little(rate) } else { self.by_trial(rate) }
    }

    /// Returns twice the number of requests that the source works on at a time; the present number
    /// of workers if that is at most twice as many.
    fn by_little(&mut self, rate: Rate) -> usize {
        if rate < self.best / 2 {
            // The source has changed: learn anew.
            (self.shortest, self.best) = (Nanos::MAX, 0);
            return self.running;
        }
        self.best = self.best.max(rate);
        let busy_twice = rate * u128::from(self.shortest) * 2 / SECOND;
        let busy_twice = usize::try_from((busy_twice + 500) / 1000).unwrap_or(usize::MAX);
        // Responses that wait for a processor look like requests in a queue: a few more do no harm.
        if busy_twice.saturating_mul(2) >= self.running {
            busy_twice.max(self.running)
        } else {
            busy_twice
        }
    }

    /// Doubles the number as long as that brings a quarter more responses.
    fn by_trial(&mut self, rate: Rate) -> usize {
        match self.trial.take() {
            Some((before, brought)) if rate * 4 < brought * 5 => {
                self.rest = REST;
                (self.wanted, self.last) = (before, before);
                before
            }
            _ if self.rest > 0 => {
                self.rest -= 1;
                self.running
            }
            _ => {
                self.trial = Some((self.running, rate));
                self.running.saturating_mul(2)
            }
        }
    }
}

#[cfg(test)]
mod tests;
