//! The rules for every lease, in any order: the number of attempts, the meaning of a refused way,
//! and the rate limit.

use core::num::NonZeroU64;

use super::{Nanos, Outcome, Pause, Verdict, Way};

/// The terms of one read, and the bytes handed out under them.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    retries: u32,
    pause: Pause,
    rate_bytes_per_s: Option<NonZeroU64>,
    given_bytes: u64,
    in_flight: usize,
    stopped: bool,
}

impl Terms {
    pub(crate) fn new(
        retries: u32,
        pause: Pause,
        rate_bytes_per_s: Option<NonZeroU64>,
    ) -> Self {
        let (given_bytes, in_flight, stopped) = (0, 0, false);
        Self { retries, pause, rate_bytes_per_s, given_bytes, in_flight, stopped }
    }

    /// Returns the number of leases handed out and not reported yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Records that a lease of this many bytes is handed out.
    pub(crate) fn give(&mut self, bytes: u64) {
        self.given_bytes = self.given_bytes.saturating_add(bytes);
        self.in_flight += 1;
    }

    /// Judges a returned lease by its way, its earlier attempts and its outcome.
    pub(crate) fn judge(&mut self, way: Way, tried: u32, outcome: Outcome) -> Verdict {
        self.in_flight = self.in_flight.saturating_sub(1);
        match outcome {
            Outcome::Complete => Verdict::Continue,
            Outcome::Passing { .. } if tried < self.retries => Verdict::Retry,
            Outcome::Refused if way == Way::Direct => Verdict::FellBack,
            Outcome::Passing { .. } | Outcome::Refused | Outcome::Fatal => {
                self.stopped = true;
                Verdict::Failed
            }
        }
    }

    /// Returns the time at which a lease that failed at `now`, after `tried` earlier attempts, may
    /// be retried.
    pub(crate) fn retry_at(&mut self, tried: u32, outcome: Outcome, now: Nanos) -> Nanos {
        let after = match outcome {
            Outcome::Passing { after } => after,
            Outcome::Complete | Outcome::Refused | Outcome::Fatal => 0,
        };
        now.saturating_add(self.pause.draw(tried, after))
    }

    /// Returns the time at which the rate limit allows another lease, if that is after `now`.
    pub(crate) fn allows_at(&self, now: Nanos) -> Option<Nanos> {
        let rate = u128::from(self.rate_bytes_per_s?.get());
        let paid_at = u128::from(self.given_bytes) * 1_000_000_000 / rate;
        let paid_at = Nanos::try_from(paid_at).unwrap_or(Nanos::MAX);
        (paid_at > now).then_some(paid_at)
    }
}
