//! A case: contestants, the goals that compare them, and what came of it.

use anyhow::Result;
use std::fmt;
use swath_study::harness::{Contestant, Record, Rounds, Row, interleave};
use swath_study::peers::Absent;
use swath_study::stats::{Bound, Interval, Verdict, median_interval, paired_ratio};

/// The contestant that does the same fixed work in every case.
pub(crate) const CONTROL: &str = "control";

/// What a goal looks at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measure {
    /// Speed as a share of the best rival's.
    SpeedAgainst(Vec<String>),
    /// Time as a multiple of the best rival's.
    TimeAgainst(Vec<String>),
    /// Seconds on the clock.
    Seconds,
    /// CPU seconds.
    CpuSeconds,
    /// Peak memory beyond the start, in MiB.
    PeakMib,
    /// What was left behind, as a multiple of a rival's.
    SizeAgainst(String),
    /// System calls for each file.
    CallsPerFile,
}

/// What is asked of one contestant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Goal {
    pub(crate) subject: String,
    pub(crate) measure: Measure,
    pub(crate) bound: Bound,
}

impl Goal {
    /// Asks for `share` or more of the speed of the best of `rivals`.
    pub(crate) fn speed<R: AsRef<str>>(subject: &str, share: f64, rivals: &[R]) -> Self {
        let measure = Measure::SpeedAgainst(owned(rivals));
        Self { subject: subject.to_owned(), measure, bound: Bound::AtLeast(share) }
    }

    /// Asks for `multiple` or less of the time of the best of `rivals`.
    pub(crate) fn time<R: AsRef<str>>(subject: &str, multiple: f64, rivals: &[R]) -> Self {
        let measure = Measure::TimeAgainst(owned(rivals));
        Self { subject: subject.to_owned(), measure, bound: Bound::AtMost(multiple) }
    }

    /// Asks for `seconds` or less on the clock.
    pub(crate) fn seconds(subject: &str, seconds: f64) -> Self {
        let bound = Bound::AtMost(seconds);
        Self { subject: subject.to_owned(), measure: Measure::Seconds, bound }
    }

    /// Asks for `seconds` or less of CPU time.
    pub(crate) fn cpu_seconds(subject: &str, seconds: f64) -> Self {
        let bound = Bound::AtMost(seconds);
        Self { subject: subject.to_owned(), measure: Measure::CpuSeconds, bound }
    }

    /// Asks for `mib` or less of memory beyond the start.
    pub(crate) fn peak_mib(subject: &str, mib: f64) -> Self {
        let bound = Bound::AtMost(mib);
        Self { subject: subject.to_owned(), measure: Measure::PeakMib, bound }
    }

    /// Asks for `multiple` or less of what `rival` leaves behind.
    pub(crate) fn size(subject: &str, multiple: f64, rival: &str) -> Self {
        let measure = Measure::SizeAgainst(rival.to_owned());
        Self { subject: subject.to_owned(), measure, bound: Bound::AtMost(multiple) }
    }

    /// Asks for `calls` or fewer system calls a file.
    pub(crate) fn calls_per_file(subject: &str, calls: f64) -> Self {
        let bound = Bound::AtMost(calls);
        Self { subject: subject.to_owned(), measure: Measure::CallsPerFile, bound }
    }

    /// Decides from the runs whether it was reached.
    pub(crate) fn judge(&self, record: &Record, seed: u64) -> Reached {
        match self.measured(record, seed) {
            Some((interval, rival)) => {
                Reached::Measured { interval, rival, verdict: self.bound.verdict(&interval) }
            }
            None => Reached::Open,
        }
    }

    fn measured(&self, record: &Record, seed: u64) -> Option<(Interval, Option<String>)> {
        let alone = |samples: &[f64]| Some((median_interval(samples, seed)?, None));
        let own = record.seconds(&self.subject);
        match &self.measure {
            Measure::SpeedAgainst(rivals) => {
                let rival = best_of(rivals, record)?;
                Some((
                    paired_ratio(&record.seconds(rival), &own, seed)?,
                    Some(rival.to_owned()),
                ))
            }
            Measure::TimeAgainst(rivals) => {
                let rival = best_of(rivals, record)?;
                Some((
                    paired_ratio(&own, &record.seconds(rival), seed)?,
                    Some(rival.to_owned()),
                ))
            }
            Measure::Seconds => alone(&own),
            Measure::CallsPerFile => alone(&record.calls_per_file(&self.subject)),
            Measure::CpuSeconds => alone(&record.cpu_seconds(&self.subject)),
            Measure::PeakMib => {
                let bytes = record.peak_bytes(&self.subject);
                let mib: Vec<f64> = bytes.iter().map(|bytes| bytes / 1024.0 / 1024.0).collect();
                alone(&mib)
            }
            Measure::SizeAgainst(rival) => {
                let (own, theirs) =
                    (record.left_bytes(&self.subject), record.left_bytes(rival));
                Some((paired_ratio(&own, &theirs, seed)?, Some(rival.clone())))
            }
        }
    }
}

fn owned<R: AsRef<str>>(names: &[R]) -> Vec<String> {
    names.iter().map(|name| name.as_ref().to_owned()).collect()
}

fn best_of<'n>(rivals: &'n [String], record: &Record) -> Option<&'n str> {
    let rivals: Vec<&str> = rivals.iter().map(String::as_str).collect();
    record.fastest(&rivals)
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, measure, bound } = self;
        match measure {
            Measure::SpeedAgainst(rivals) => {
                write!(out, "{subject}: {bound} × the speed of {}", Rivals(rivals))
            }
            Measure::TimeAgainst(rivals) => {
                write!(out, "{subject}: {bound} × the time of {}", Rivals(rivals))
            }
            Measure::Seconds => write!(out, "{subject}: {bound} s"),
            Measure::CpuSeconds => write!(out, "{subject}: {bound} CPU-s"),
            Measure::CallsPerFile => write!(out, "{subject}: {bound} system calls a file"),
            Measure::PeakMib => write!(out, "{subject}: {bound} MiB of memory"),
            Measure::SizeAgainst(rival) => {
                write!(out, "{subject}: {bound} × the size of {rival}")
            }
        }
    }
}

/// Names one rival, or how many the best is looked for among.
struct Rivals<'r>(&'r [String]);

impl fmt::Display for Rivals<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => out.write_str(one),
            [one, other] => write!(out, "the better of {one} and {other}"),
            many => write!(
                out,
                "the best of {} ({} … {})",
                many.len(),
                many[0],
                many[many.len() - 1]
            ),
        }
    }
}

/// What a goal came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reached {
    /// The subject and, if there is one, a rival ran.
    Measured { interval: Interval, rival: Option<String>, verdict: Verdict },
    /// One of them did not run.
    Open,
}

/// Ways to do the same work, and how they are compared.
pub(crate) struct Case<'b> {
    /// Who runs; the first is what the others' speeds are given as a share of.
    pub(crate) contestants: Vec<Contestant<'b>>,
    pub(crate) absent: Vec<Absent>,
    pub(crate) goals: Vec<Goal>,
}

/// What a case came to.
pub(crate) enum Outcome {
    Ran { reference: String, record: Record, absent: Vec<Absent>, goals: Vec<(Goal, Reached)> },
    Failed(String),
}

impl Case<'_> {
    /// Runs all rounds and judges all goals.
    pub(crate) fn run(mut self, rounds: Rounds) -> Result<Outcome> {
        let reference = self.contestants[0].name().to_owned();
        let mut say = |row: &Row| {
            if row.order == 0 {
                eprintln!("  round {} of {}", row.round + 1, rounds.count);
            }
        };
        let record = interleave(&mut self.contestants, rounds, &mut say)?;
        let judged = self.goals.into_iter().map(|goal| {
            let reached = goal.judge(&record, rounds.seed);
            (goal, reached)
        });
        let goals = judged.collect();
        Ok(Outcome::Ran { reference, record, absent: self.absent, goals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swath_study::harness::Work;

    fn record_of(times: &[(&str, f64)]) -> Record {
        let row = |round: usize, name: &str, seconds: f64| Row {
            round,
            order: 0,
            contestant: name.to_owned(),
            work: Work {
                seconds: Some(seconds),
                cpu_seconds: Some(seconds / 2.0),
                ..Work::new(0, 0)
            },
        };
        let rounds = 0..9;
        let rows = rounds.flat_map(|r| times.iter().map(move |&(name, s)| row(r, name, s)));
        Record { rows: rows.collect() }
    }

    #[test]
    fn a_speed_is_compared_with_the_best_rival_that_ran() {
        let record = record_of(&[("ours", 1.0), ("slow", 3.0), ("fast", 0.9)]);
        let goal = Goal::speed("ours", 0.95, &["slow", "fast", "never ran"]);
        let Reached::Measured { interval, rival, verdict } = goal.judge(&record, 1) else {
            panic!("both ran");
        };
        assert_eq!((rival.as_deref(), verdict), (Some("fast"), Verdict::Missed));
        assert!((interval.estimate - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_time_and_cpu_seconds_have_upper_bounds() {
        let record = record_of(&[("ours", 1.0), ("rival", 1.0)]);
        let verdict = |goal: &Goal| match goal.judge(&record, 1) {
            Reached::Measured { verdict, .. } => Some(verdict),
            Reached::Open => None,
        };
        assert_eq!(verdict(&Goal::time("ours", 1.05, &["rival"])), Some(Verdict::Met));
        assert_eq!(verdict(&Goal::cpu_seconds("ours", 0.4)), Some(Verdict::Missed));
        assert_eq!(verdict(&Goal::seconds("ours", 1.1)), Some(Verdict::Met));
    }

    #[test]
    fn a_goal_without_its_rival_stays_open() {
        let record = record_of(&[("ours", 1.0)]);
        let goal = Goal::speed("ours", 1.5, &["absent"]);
        assert_eq!(goal.judge(&record, 1), Reached::Open);
    }
}
