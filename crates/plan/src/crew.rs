//! How many workers read a source of which nobody knows how long it takes to answer.
//!
//! Reads wait, and what hides a wait is more reads in flight. A [`Crew`] begins with few workers,
//! learns from the first answers, and says how many there are to be. It has no clock and no threads:
//! time is a number that is handed in.
//!
//! ```text
//! asked                patience: what memory would take       answers: rate × shortest = busy
//!   |--- first workers ---|--- all that there may be ------------|--- twice as many as are busy ---
//! ```
//!
//! **The beginning.** Memory answers at once. If nothing has come back after what memory would have
//! taken, the source is waited for, and all workers there may be are started: what a wait costs is
//! a wait for each round, and threads that only wait cost next to nothing. So a source of 20 ms has
//! all of its reads in flight after 2 to 5 ms, not after several waits.
//!
//! **After that** the law of Little says how many requests a source works on at one time: answers a
//! second × the shortest time that one took. Requests beyond that stand in a queue of the source's,
//! where they gain nothing. Twice as many are kept, so that a source that could do more shows it: the
//! number doubles in each round of two answering times as long as that is so. It sinks where there are
//! more than four times as many: where a source takes one request after the other, for example.
//!
//! **Where some answers come at once** and others are waited for, as behind a cache, the shortest time
//! says nothing of the others. There the number is doubled as long as that brings a quarter more
//! answers a second.
//!
//! **Large requests** pay a wait once for more bytes, and cost more where nothing is waited for: memory
//! that was just cleared is out of the cache when its bytes come. So they are small at first, and large
//! as long as they are waited for.
//!
//! **The floor** of `n` requests that take `t` each, `w` at one time, is `n / w × t`; the beginning adds
//! the patience once.
//!
//! ```
//! use swath_plan::crew::{Answers, Bounds, Crew, Step};
//!
//! const MIB: u64 = 1 << 20;
//! let bounds = Bounds { first: 2, most: 64, request_size: MIB, waited_size: 4 * MIB };
//! let ms = 1_000_000;
//! let mut crew = Crew::new(bounds);
//! crew.asked(0);
//! assert_eq!(crew.step(0), Step::WaitUntil(Crew::patience(MIB)));
//! assert_eq!(crew.step(2 * ms), Step::Start(2), "nothing has come back: a worker more");
//!
//! let mut quick = Crew::new(bounds);
//! quick.asked(0);
//! quick.landed(ms / 5, Answers { count: 1, shortest: ms / 5, waited: ms / 5 });
//! assert_eq!(quick.step(2 * ms), Step::Wait, "as fast as memory: two are enough");
//! ```

use crate::schedule::Nanos;

/// A request that takes no longer than this waits for nothing.
const LATENCY: Nanos = 500_000;
/// And for each MiB: what memory takes.
const NANOS_PER_MIB: u64 = 250_000;
/// Answers are looked at together for so long at least.
const LEAST_ROUND: Nanos = 1_000_000;

/// Rounds between a doubling that gained nothing and the next.
const REST: u32 = 16;
const SECOND: u128 = 1_000_000_000;

/// What a [`Crew`] keeps within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Workers that begin, and that always stay.
    pub first: usize,
    /// Workers at most.
    pub most: usize,
    /// Bytes of one request.
    pub request_size: u64,
    /// Bytes of one request as long as requests are waited for.
    pub waited_size: u64,
}

/// Requests that one worker made since it last told of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// How many came back.
    pub count: u64,
    /// What the shortest of them took.
    pub shortest: Nanos,
    /// What they took, all together.
    pub waited: Nanos,
}

/// What whoever starts workers does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
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
    /// What the last round came to: one slow round alone sends nobody away.
    last: usize,
    /// When the first request was made.
    asked: Option<Nanos>,
    /// Whether any came back.
    answered: bool,
    /// Bytes of one request.
    request_size: u64,
    /// The shortest time, and the best rate, as long as the source stays what it is.
    shortest: Nanos,
    best: Rate,
    round: Round,
    /// Workers before they were doubled, and what they brought.
    trial: Option<(usize, Rate)>,
    /// Rounds until they are doubled again.
    rest: u32,
}

/// Answers in a thousand seconds.
type Rate = u128;

/// Answers that are looked at together.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Nanos,
    count: u64,
    /// What they took, all together.
    waited: Nanos,
}

impl Round {
    fn new(began: Nanos) -> Self {
        Self { began, count: 0, waited: 0 }
    }
}

impl Crew {
    /// Those that begin, running already.
    #[must_use]
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

    /// What a request of so many bytes may take before it counts as waited for.
    #[must_use]
    pub fn patience(request_size: u64) -> Nanos {
        LATENCY.saturating_add(request_size.saturating_mul(NANOS_PER_MIB) >> 20)
    }

    /// Workers that begin.
    #[must_use]
    pub fn first(&self) -> usize {
        self.bounds.first
    }

    /// Bytes of the next request.
    #[must_use]
    pub fn request_size(&self) -> u64 {
        self.request_size
    }

    /// The same, if it is not what it was at first.
    #[must_use]
    pub fn grown_size(&self) -> Option<u64> {
        Some(self.request_size).filter(|&size| size > self.bounds.request_size)
    }

    /// The most workers that ran at one time.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// What a request takes if nobody else asks, as far as that was seen.
    #[must_use]
    pub fn shortest(&self) -> Option<Nanos> {
        Some(self.shortest).filter(|&shortest| shortest != Nanos::MAX)
    }

    /// A worker makes its first request. Returns whether it is the first of all.
    pub fn asked(&mut self, now: Nanos) -> bool {
        let is_first = self.asked.is_none();
        if is_first {
            self.asked = Some(now);
            self.round.began = now;
        }
        is_first
    }

    /// Requests of one worker came back. Returns whether workers are to be started.
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

    /// A request came back without its bytes: more at one time are no help.
    pub fn failed(&mut self) {
        self.answered = true;
        self.wanted = (self.wanted / 2).max(self.bounds.first);
        self.last = self.wanted;
    }

    /// What whoever starts workers does at `now`.
    pub fn step(&mut self, now: Nanos) -> Step {
        if let (Some(asked), false) = (self.asked, self.answered) {
            let until = asked.saturating_add(Self::patience(self.request_size));
            if now < until {
                return Step::WaitUntil(until);
            }
            // The first round is not full: it alone sends nobody away.
            (self.wanted, self.last) = (self.bounds.most, self.bounds.most);
            self.waits();
        }
        if self.running >= self.wanted {
            return Step::Wait;
        }
        let slot = self.running;
        self.running += 1;
        self.peak = self.peak.max(self.running);
        Step::Start(slot)
    }

    /// Whether a worker that was started later, and has nothing in hand, is to end.
    pub fn leaves(&mut self) -> bool {
        let leaves = self.running > self.wanted;
        self.running -= usize::from(leaves);
        leaves
    }

    /// A worker that was to be started could not be: no more are asked for.
    pub fn refused(&mut self) {
        self.running = self.running.saturating_sub(1).max(self.bounds.first);
        self.peak = self.peak.min(self.running).max(self.bounds.first);
        self.bounds.most = self.running;
        self.wanted = self.wanted.min(self.running);
    }

    /// Requests are waited for.
    fn waits(&mut self) {
        self.request_size = self.request_size.max(self.bounds.waited_size);
    }

    /// Whether no answer came as fast as memory would have given it.
    fn all_wait(&self) -> bool {
        self.shortest > Self::patience(self.request_size)
    }

    /// A round is over: how many workers are worth it.
    fn judge(&mut self, took: Nanos) -> usize {
        let Round { count, waited, .. } = self.round;
        let rate = u128::from(count) * 1000 * SECOND / u128::from(took.max(1));
        if waited / count.max(1) <= Self::patience(self.request_size) {
            self.trial = None;
            self.request_size = self.bounds.request_size;
            return self.bounds.first;
        }
        self.waits();
        match self.all_wait() {
            true => self.by_little(rate),
            false => self.by_trial(rate),
        }
    }

    /// Twice as many as the source works on at one time, or as there are, if those are not far more.
    fn by_little(&mut self, rate: Rate) -> usize {
        if rate < self.best / 2 {
            // Not the source that it was: learned anew.
            (self.shortest, self.best) = (Nanos::MAX, 0);
            return self.running;
        }
        self.best = self.best.max(rate);
        let busy_twice = rate * u128::from(self.shortest) * 2 / SECOND;
        let busy_twice = usize::try_from((busy_twice + 500) / 1000).unwrap_or(usize::MAX);
        // Answers that wait for a processor look like requests that queue: some more are no harm.
        if busy_twice.saturating_mul(2) >= self.running {
            busy_twice.max(self.running)
        } else {
            busy_twice
        }
    }

    /// Twice as many as long as that brings a quarter more.
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
