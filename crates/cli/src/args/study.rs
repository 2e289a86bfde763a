//! What `swath study` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use swath_study::experiment::Extent;

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

Exit status: 0 all is done; 1 an experiment failed or was stopped, the others are kept; 2 not done."
)]
pub struct Study {
    /// Instead of measuring
    #[command(subcommand)]
    pub with: Option<With>,

    /// Small files and few places: all experiments in two minutes (what it does anyway)
    #[arg(long)]
    pub quick: bool,

    /// As large as the studies: an hour or more
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Files of some kilobytes and a single round, which decides nothing: to see it run
    #[arg(long, hide = true, conflicts_with_all = ["quick", "full"])]
    pub smoke: bool,

    /// Only these experiments, or all of a study by its letter
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Where to measure, in a hidden folder that is removed again; several give several devices or
    /// file systems in one report [default: the folder for temporary files, or the current one if
    /// that is in memory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Vec<PathBuf>,

    /// Where to leave report.html, study.json and a table for each experiment
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "swath-study")]
    pub out: PathBuf,

    /// Go on with a study that was stopped, if it had the same settings
    #[arg(long)]
    pub resume: bool,

    /// Decides the order of the runs, and what is in the files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the experiments and what the studies claim, and measure nothing
    #[arg(long)]
    pub list: bool,

    /// Print JSON: all that is left in study.json
    #[arg(long)]
    pub json: bool,
}

/// What is done with studies that are there.
#[derive(Debug, Subcommand)]
pub enum With {
    /// Put two studies side by side: two machines, two folders or two versions
    Compare(Compare),
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
