//! Reading by priority: study A's classes, from the front of a file to its back.

use clap::{Args, value_parser};
use swath::classes::ClassPlan;

/// What is needed first.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "What is needed first")]
pub struct ClassArgs {
    /// Read by priority, in so many classes of neighbouring chunks, and say when each is there
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(1..))]
    pub classes: Option<u32>,

    /// Chunks of one size that the classes consist of [default: one for each class]
    #[arg(long, value_name = "N", requires = "classes", value_parser = value_parser!(u64).range(1..))]
    pub chunks: Option<u64>,

    /// Begin no class before the one before it is complete: --window 1
    #[arg(long, requires = "classes", conflicts_with = "window")]
    pub strict: bool,

    /// At most so many classes in flight; 0 chooses
    #[arg(long, value_name = "W", requires = "classes", default_value_t = 0)]
    pub window: usize,
}

/// How a file is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Chunks of one size.
    pub chunks: u64,
    /// Classes of neighbouring chunks.
    pub classes: u32,
}

impl ClassArgs {
    /// Returns how the file is cut; `None` if nobody asked for classes.
    pub fn cut(&self) -> Option<Cut> {
        let classes = self.classes?;
        Some(Cut { chunks: self.chunks.unwrap_or(u64::from(classes)), classes })
    }

    /// Returns the plan for these words.
    pub fn plan(&self, cut: Cut) -> ClassPlan {
        let window = if self.strict { 1 } else { self.window };
        ClassPlan::of_whole(cut.chunks, cut.classes).with_window(window)
    }
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
