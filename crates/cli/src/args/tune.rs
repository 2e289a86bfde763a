//! What `swath tune` takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

/// `swath tune`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath tune
  swath tune --path /mnt/fast --budget 60
  swath tune --path /mnt/fast --show
  swath tune --path /mnt/fast --clear
  swath read --no-profile data.bin        without what was measured

Exit status: 0 done; 1 there is no profile to show; 2 not done, also if it was stopped.")]
pub struct Tune {
    /// A folder of the file system; a hidden folder is made in it, and removed again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
    pub path: PathBuf,

    /// How many seconds it may take, all in all
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub budget: u64,

    /// Decides the order of the runs, and what is in the files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the profile of the file system, and measure nothing; exit status 1 if there is none
    #[arg(long, conflicts_with_all = ["clear", "all"])]
    pub show: bool,

    /// Remove the profile of the file system, and measure nothing
    #[arg(long)]
    pub clear: bool,

    /// With --clear, the profiles of all file systems
    #[arg(long, requires = "clear")]
    pub all: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Tune {
    /// How long it may take.
    pub fn budget(&self) -> Duration {
        Duration::from_secs(self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        tune: Tune,
    }

    fn parsed(words: &[&str]) -> Result<Tune, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.tune)
    }

    #[test]
    fn one_thing_is_done_at_a_time() {
        let plain = parsed(&[]).expect("nothing is required");
        assert_eq!((plain.path, plain.budget), (PathBuf::from("."), 20));
        assert!(parsed(&["--show", "--clear"]).is_err());
        assert!(parsed(&["--all"]).is_err() && parsed(&["--show", "--all"]).is_err());
        assert!(parsed(&["--clear", "--all"]).expect("all of them").all);
        for wrong in ["0", "-1", "3601", "soon"] {
            assert!(parsed(&["--budget", wrong]).is_err(), "{wrong}");
        }
    }
}
