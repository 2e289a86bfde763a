//! Goals: the number that a series must reach, mostly compared with its rivals, and the outcome.

use std::fmt;

use serde::Deserialize;

use crate::results::Selected;
use swath_profile::stats::{
    Bound, Interval, Verdict, median_interval, paired_difference, paired_ratio,
};

const MIB: f64 = 1024.0 * 1024.0;
const MICROSECOND: f64 = 1e-6;

/// The number that a goal bounds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Gauge {
    /// Speed as a share of the best rival's.
    SpeedAgainst(Vec<String>),
    /// Time as a multiple of the best rival's.
    TimeAgainst(Vec<String>),
    /// Time beyond a rival's, in microseconds.
    TimeBeyond(String),
    /// The size of the output, as a multiple of a rival's.
    SizeAgainst(String),
    /// Seconds on the clock.
    Seconds,
    /// CPU seconds.
    CpuSeconds,
    /// Peak memory beyond the start, in MiB.
    PeakMib,
    /// System calls for each file.
    CallsPerFile,
}

/// A goal for one series.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Goal {
    subject: String,
    gauge: Gauge,
    bound: Bound,
}

/// The outcome of a goal.
#[derive(Clone, Debug, PartialEq)]
pub enum Reached {
    /// The subject and, for a goal with rivals, a rival ran.
    Measured {
        /// The measured number.
        interval: Interval,
        /// The rival that the subject was compared with.
        rival: Option<String>,
        /// Whether the goal was met.
        verdict: Verdict,
    },
    /// The subject, or all rivals, did not run.
    Open,
}

fn owned<R: AsRef<str>>(names: &[R]) -> Vec<String> {
    names.iter().map(|name| name.as_ref().to_owned()).collect()
}

impl Goal {
    fn at_most(subject: &str, gauge: Gauge, most: f64) -> Self {
        Self { subject: subject.to_owned(), gauge, bound: Bound::AtMost(most) }
    }

    /// Requires `share` or more of the speed of the best of `rivals`.
    pub fn speed<R: AsRef<str>>(subject: &str, share: f64, rivals: &[R]) -> Self {
        let gauge = Gauge::SpeedAgainst(owned(rivals));
        Self { bound: Bound::AtLeast(share), ..Self::at_most(subject, gauge, share) }
    }

    /// Requires `multiple` or less of the time of the best of `rivals`.
    pub fn time<R: AsRef<str>>(subject: &str, multiple: f64, rivals: &[R]) -> Self {
        Self::at_most(subject, Gauge::TimeAgainst(owned(rivals)), multiple)
    }

    /// Requires `seconds` or less on the clock.
    pub fn seconds(subject: &str, seconds: f64) -> Self {
        Self::at_most(subject, Gauge::Seconds, seconds)
    }

    /// Requires `seconds` or less of CPU time.
    pub fn cpu_seconds(subject: &str, seconds: f64) -> Self {
        Self::at_most(subject, Gauge::CpuSeconds, seconds)
    }

    /// Requires `mib` or less of memory beyond the start.
    pub fn peak_mib(subject: &str, mib: f64) -> Self {
        Self::at_most(subject, Gauge::PeakMib, mib)
    }

    /// Requires `multiple` or less of the size of the output of `rival`.
    pub fn size(subject: &str, multiple: f64, rival: &str) -> Self {
        Self::at_most(subject, Gauge::SizeAgainst(rival.to_owned()), multiple)
    }

    /// Requires `calls` or fewer system calls a file.
    pub fn calls_per_file(subject: &str, calls: f64) -> Self {
        Self::at_most(subject, Gauge::CallsPerFile, calls)
    }

    /// Judges the goal by the runs.
    pub fn judge(&self, runs: &Selected<'_>, seed: u64) -> Reached {
        match self.measured(runs, seed) {
            Some((interval, rival)) => {
                let (rival, verdict) =
                    (rival.map(str::to_owned), self.bound.verdict(&interval));
                Reached::Measured { interval, rival, verdict }
            }
            None => Reached::Open,
        }
    }

    fn measured(&self, runs: &Selected<'_>, seed: u64) -> Option<(Interval, Option<&str>)> {
        let seconds = |series: &str| runs.seconds(runs.key_of(series));
        let metric = |series: &str, name| runs.metric(runs.key_of(series), name);
        let alone = |samples: &[f64]| Some((median_interval(samples, seed)?, None));
        let own = || seconds(&self.subject);
        let counted = |name| alone(&metric(&self.subject, name));
        match &self.gauge {
            Gauge::SpeedAgainst(rivals) => {
                let rival = runs.fastest(rivals)?;
                Some((paired_ratio(&seconds(rival), &own(), seed)?, Some(rival)))
            }
            Gauge::TimeAgainst(rivals) => {
                let rival = runs.fastest(rivals)?;
                Some((paired_ratio(&own(), &seconds(rival), seed)?, Some(rival)))
            }
            Gauge::TimeBeyond(rival) => {
                let beyond = paired_difference(&own(), &seconds(rival), seed)?;
                Some((beyond.scaled(1.0 / MICROSECOND), Some(rival)))
            }
            Gauge::SizeAgainst(rival) => {
                let left = |series| metric(series, "left_bytes");
                Some((paired_ratio(&left(&self.subject), &left(rival), seed)?, Some(rival)))
            }
            Gauge::Seconds => alone(&own()),
            Gauge::CpuSeconds => counted("cpu_seconds"),
            Gauge::PeakMib => {
                let (bytes, _) = counted("peak_bytes")?;
                Some((bytes.scaled(1.0 / MIB), None))
            }
            Gauge::CallsPerFile => counted("calls_per_file"),
        }
    }

    /// Returns whether the rival is the best of several, so that a report must name it.
    pub fn has_choice(&self) -> bool {
        matches!(
            &self.gauge,
            Gauge::SpeedAgainst(rivals) | Gauge::TimeAgainst(rivals) if rivals.len() > 1
        )
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, gauge, bound } = self;
        write!(out, "{subject}: {bound}")?;
        match gauge {
            Gauge::SpeedAgainst(rivals) => write!(out, " × the speed of {}", Rivals(rivals)),
            Gauge::TimeAgainst(rivals) => write!(out, " × the time of {}", Rivals(rivals)),
            Gauge::TimeBeyond(rival) => write!(out, " µs more than {rival}"),
            Gauge::SizeAgainst(rival) => write!(out, " × the size of {rival}"),
            Gauge::Seconds => out.write_str(" s"),
            Gauge::CpuSeconds => out.write_str(" CPU-s"),
            Gauge::PeakMib => out.write_str(" MiB of memory"),
            Gauge::CallsPerFile => out.write_str(" system calls a file"),
        }
    }
}

/// Names one rival, or the number of rivals.
struct Rivals<'r>(&'r [String]);

impl fmt::Display for Rivals<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => out.write_str("no rival"),
            [one] => out.write_str(one),
            [one, other] => write!(out, "the better of {one} and {other}"),
            [first, .., last] => {
                write!(out, "the best of {} ({first} … {last})", self.0.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Run;

    fn runs_of(times: &[(&str, f64)]) -> Vec<Run> {
        let run = |round: usize, series: &str, seconds: f64| Run {
            round,
            series: series.to_owned(),
            seconds,
            metrics: [("cpu_seconds".to_owned(), seconds / 2.0)].into(),
            ..Run::default()
        };
        (0..9).flat_map(|r| times.iter().map(move |&(name, s)| run(r, name, s))).collect()
    }

    fn judged(goal: &Goal, times: &[(&str, f64)]) -> Reached {
        goal.judge(&Selected::new(&runs_of(times), 0, 1), 1)
    }

    #[test]
    fn a_speed_is_compared_with_the_best_rival_that_ran() {
        let goal = Goal::speed("ours", 0.95, &["slow", "fast", "never ran"]);
        let reached = judged(&goal, &[("ours", 1.0), ("slow", 3.0), ("fast", 0.9)]);
        let Reached::Measured { interval, rival, verdict } = reached else {
            panic!("both ran");
        };
        assert_eq!((rival.as_deref(), verdict), (Some("fast"), Verdict::Missed));
        assert!((interval.estimate - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_time_and_cpu_seconds_have_upper_bounds() {
        let verdict = |goal: &Goal| match judged(goal, &[("ours", 1.0), ("rival", 1.0)]) {
            Reached::Measured { verdict, .. } => Some(verdict),
            Reached::Open => None,
        };
        assert_eq!(verdict(&Goal::time("ours", 1.05, &["rival"])), Some(Verdict::Met));
        assert_eq!(verdict(&Goal::cpu_seconds("ours", 0.4)), Some(Verdict::Missed));
        assert_eq!(verdict(&Goal::seconds("ours", 1.1)), Some(Verdict::Met));
    }

    #[test]
    fn a_goal_without_its_rival_stays_open() {
        let goal = Goal::speed("ours", 1.5, &["absent"]);
        assert_eq!(judged(&goal, &[("ours", 1.0)]), Reached::Open);
    }

    #[test]
    fn a_goal_of_another_program_is_read_and_told() {
        let text =
            r#"{"subject": "ours", "gauge": {"time_beyond": "bare"}, "bound": {"at_most": 5}}"#;
        let goal: Goal = serde_json::from_str(text).expect("a goal");
        assert_eq!(goal.to_string(), "ours: ≤ 5 µs more than bare");
        let reached = judged(&goal, &[("ours", 12e-6), ("bare", 8e-6)]);
        let Reached::Measured { interval, verdict, .. } = reached else { panic!("both ran") };
        assert!((interval.estimate - 4.0).abs() < 1e-9 && verdict == Verdict::Met);
    }
}
