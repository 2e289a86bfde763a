//! The time budget of rounds.

use std::time::{Duration, Instant};

use super::Turn;

/// A deadline for rounds. The first round always runs to its end.
///
/// ```text
/// began |--- 0 ---|--- 1 ---|--- 2 ---|    | ends
///                                     ^ the next would end too late: it does not begin
/// ```
///
/// ```
/// use std::time::Duration;
/// use swath_study::measure::{Budget, Turn};
///
/// let none_left = Budget::of(Duration::ZERO);
/// assert!(none_left.allows(Turn { round: 0, order: 3 }));
/// assert!(!none_left.allows(Turn { round: 1, order: 0 }));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    began: Instant,
    ends: Instant,
}

impl Budget {
    /// Returns a budget of `time` that begins now.
    pub fn of(time: Duration) -> Self {
        let began = Instant::now();
        Self { began, ends: began + time }
    }

    /// Begins the rounds now, after a long preparation; the deadline stays the same.
    pub fn begin(self) -> Self {
        Self { began: Instant::now(), ..self }
    }

    /// Returns whether the run at a turn may begin: never after the deadline, and a new round only if it
    /// would end in time at the average length of the earlier rounds.
    pub fn allows(&self, Turn { round, order }: Turn) -> bool {
        if round == 0 {
            return true;
        }
        let now = Instant::now();
        let one = (now - self.began) / u32::try_from(round).unwrap_or(u32::MAX);
        let expected = if order == 0 { now + one } else { now };
        expected < self.ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_would_end_too_late_does_not_begin() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let in_a_minute = Instant::now() + Duration::from_secs(60);
        let began = ago(100).expect("this machine has been up for longer");
        let budget = Budget { began, ends: in_a_minute };
        // A round took 100 s; a round took 50 s; a round is half done.
        assert!(!budget.allows(Turn { round: 1, order: 0 }));
        assert!(budget.allows(Turn { round: 2, order: 0 }));
        assert!(budget.allows(Turn { round: 1, order: 1 }));
        assert!(budget.begin().allows(Turn { round: 1, order: 0 }));
        let ended = Budget { ends: began, ..budget };
        assert!(!ended.allows(Turn { round: 9, order: 9 }));
        assert!(ended.allows(Turn { round: 0, order: 9 }));
    }
}
