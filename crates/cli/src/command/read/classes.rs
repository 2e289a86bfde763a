//! `swath read --classes`: reads by priority, and reports the time of each class.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use swath::classes::{ClassPlan, ClassReport};

use crate::args::{count, whole};
use crate::report::{counted, details, headline, object, report_json, time_text};

/// Priorities.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Priorities")]
pub struct ClassArgs {
    /// Read by priority, in this many classes of adjacent chunks, and report when each was complete
    #[arg(long, value_name = "P", value_parser = whole::<u32>(1..=u32::MAX.into()))]
    pub classes: Option<u32>,

    /// Number of chunks, of one size, that the classes divide among them [default: one for each class]
    #[arg(long, value_name = "N", requires = "classes", value_parser = whole::<u64>(1..=u64::MAX))]
    pub chunks: Option<u64>,

    /// Begin a class only when the previous one is complete: the same as --window 1
    #[arg(long, requires = "classes", conflicts_with = "window")]
    pub strict: bool,

    /// At most this many classes in flight; 0 chooses
    #[arg(long, value_name = "W", requires = "classes", value_parser = count(), default_value_t = 0)]
    pub window: usize,
}

/// The division of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Cut {
    /// Number of chunks, of one size.
    chunks: u64,
    /// Number of classes of adjacent chunks.
    classes: u32,
}

impl ClassArgs {
    /// Returns the division of the file; `None` without --classes.
    pub(super) fn cut(&self) -> Option<Cut> {
        let classes = self.classes?;
        Some(Cut { chunks: self.chunks.unwrap_or(u64::from(classes)), classes })
    }

    /// Returns the plan for these words.
    pub(super) fn plan(&self, cut: Cut) -> ClassPlan {
        let window = if self.strict { 1 } else { self.window };
        ClassPlan::of_whole(cut.chunks, cut.classes).with_window(window)
    }
}

/// Returns the report of one run, for programs.
pub(super) fn json(report: &ClassReport) -> impl Serialize + use<> {
    let times = report.classes.iter().map(|time| time.elapsed.as_secs_f64());
    let [first, median, last] = first_median_last(report).map(|time| time.as_secs_f64());
    object! {
        elapsed_s: report.read.elapsed.as_secs_f64(),
        bytes: report.read.bytes,
        first_class_s: first,
        median_class_s: median,
        last_class_s: last,
        // One for each class, by its number.
        class_elapsed_s: times.collect::<Vec<_>>(),
        // Classes that were allowed in flight.
        window: report.window,
        // The most classes in flight.
        max_skew: report.max_skew,
        report: report_json(&report.read),
    }
}

/// Returns the report of one run, for people.
pub(super) fn text(report: &ClassReport) -> String {
    let [first, median, last] = first_median_last(report).map(time_text);
    let count = counted(report.classes.len() as u64, "class").replace("classs", "classes");
    format!(
        "{}\n  {count}: first after {first}, median {median}, last {last}; \
         at most {} in flight, window {}\n  {}",
        headline(&report.read),
        report.max_skew,
        report.window,
        details(&report.read).trim_start(),
    )
}

fn first_median_last(report: &ClassReport) -> [Duration; 3] {
    report.first_median_last().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        classes: ClassArgs,
    }

    fn parsed(words: &[&str]) -> Result<ClassArgs, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.classes)
    }

    #[test]
    fn nothing_said_means_no_classes_and_chunks_are_as_many_as_classes() {
        assert_eq!(parsed(&[]).expect("nothing is required").cut(), None);
        let cut = parsed(&["--classes", "7"]).expect("enough").cut();
        assert_eq!(cut, Some(Cut { chunks: 7, classes: 7 }));
        let cut =
            parsed(&["--classes", "7", "--chunks", "70", "--strict"]).expect("fine").cut();
        assert_eq!(cut, Some(Cut { chunks: 70, classes: 7 }));
    }

    #[test]
    fn words_that_contradict_each_other_are_refused() {
        for wrong in [
            &["--chunks", "5"][..],
            &["--strict"],
            &["--classes", "0"],
            &["--classes", "2", "--chunks", "0"],
            &["--classes", "2", "--strict", "--window", "3"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
