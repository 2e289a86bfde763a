//! What `swath study` takes.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, Subcommand, ValueHint};
use swath_study::experiment::Extent;
use swath_study::experiments::ALL;

use super::fib::Fib;

/// `swath study`
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  swath study
  swath study --list
  swath study --only a-threads,b --data /mnt/fast --data /mnt/large
  swath study --full --out here && swath study --full --out here --resume
  swath study compare before/study.json after/study.json
  swath study report before
  swath study fib 23 --bytes 10KiB -o fib.bin

Ctrl-C lets the run on its way end and keeps what is finished; a second one ends it at once.

Exit status: 0 all is done; 1 an experiment failed or was stopped, the others are kept; 2 not done."
)]
pub struct Study {
    /// Instead of measuring
    #[command(subcommand)]
    pub with: Option<With>,

    /// Small files and few places: all experiments in some minutes (what it does anyway)
    #[arg(long)]
    pub quick: bool,

    /// As large as the studies, except where --list --json says what is other and why; it says how
    /// long it takes, about two and a quarter hours for all on two cores
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Files of some kilobytes and a single round, which decides nothing: to see it run
    #[arg(long, hide = true, conflicts_with_all = ["quick", "full"])]
    pub smoke: bool,

    /// Only these experiments, or all of a study by its letter
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    #[arg(value_parser = Names, hide_possible_values = true)]
    pub only: Vec<String>,

    /// Where to measure, in a hidden folder that is removed again; several give several devices or
    /// file systems in one report [default: the folder for temporary files, or the current one if
    /// that is in memory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Vec<PathBuf>,

    /// Where to leave report.html, study.json, summary.md and a table for each experiment
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "swath-study")]
    pub out: PathBuf,

    /// Go on with a study that was stopped, if it had the same settings
    #[arg(long)]
    pub resume: bool,

    /// Decides the order of the runs, and what is in the files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the experiments, what the studies say and the rules, and measure nothing
    #[arg(long)]
    pub list: bool,

    /// Print JSON: all that is left in study.json, or the list
    #[arg(long)]
    pub json: bool,
}

/// What is done instead of measuring all.
#[derive(Debug, Subcommand)]
pub enum With {
    /// Run study E's benchmark: a Fibonacci tree whose every call writes
    Fib(Fib),
    /// Put two studies side by side: two machines, two folders or two versions
    Compare(Compare),
    /// Judge a study anew by the rules of this version, and make its page and summary again
    Report(Report),
}

/// `swath study report`
#[derive(Debug, Args)]
pub struct Report {
    /// The folder of the study; its study.json, report.html and summary.md are replaced
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub study: PathBuf,

    /// Leave them in another folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// Print JSON: the claims, the rules and the verdicts
    #[arg(long)]
    pub json: bool,
}

/// The names of experiments, for a shell that completes them. Whether one is right is said later,
/// with what to try.
#[derive(Clone)]
struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(ALL.iter().map(|one| PossibleValue::new(one.id))))
    }
}

/// `swath study compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// A: a study.json, or the folder that it is in
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub left: PathBuf,

    /// B: how many times as fast it is as A is what is told
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub right: PathBuf,

    /// Where to leave the page of both
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    #[arg(default_value = "compared.html")]
    pub out: PathBuf,

    /// Print JSON: a row for each series at each place
    #[arg(long)]
    pub json: bool,
}

impl Study {
    /// How much is to be done.
    pub fn extent(&self) -> Extent {
        match (self.smoke, self.full) {
            (true, _) => Extent::Smoke,
            (_, true) => Extent::Full,
            _ => Extent::Quick,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        study: Study,
    }

    #[test]
    fn one_extent_is_chosen_and_quick_is_the_usual_one() {
        let extent = |words: &[&str]| {
            let words = ["only"].iter().chain(words);
            Only::try_parse_from(words).map(|only| only.study.extent()).ok()
        };
        assert_eq!(extent(&[]), Some(Extent::Quick));
        assert_eq!(extent(&["--quick"]), Some(Extent::Quick));
        assert_eq!(extent(&["--full"]), Some(Extent::Full));
        assert_eq!(extent(&["--smoke"]), Some(Extent::Smoke));
        assert_eq!(extent(&["--full", "--quick"]), None);
    }

    #[test]
    fn two_studies_are_compared_and_nothing_is_measured_beside() {
        let parsed = |words: &[&str]| {
            Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.study.with)
        };
        let with = parsed(&["compare", "a", "b"]).expect("two studies");
        assert!(matches!(with, Some(With::Compare(Compare { json: false, .. }))));
        assert!(
            parsed(&["compare", "a"]).is_err()
                && parsed(&["--full", "compare", "a", "b"]).is_err()
        );
    }

    #[test]
    fn experiments_and_folders_are_lists() {
        let words = ["only", "--only", "a,b-small", "--data", "x", "--data", "y"];
        let study = Only::try_parse_from(words).expect("lists").study;
        assert_eq!(study.only, ["a", "b-small"]);
        assert_eq!(study.data, [PathBuf::from("x"), PathBuf::from("y")]);
    }
}
