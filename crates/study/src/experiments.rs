//! Every experiment of the five studies, each asked again.
//!
//! One that is not listed in [`ALL`] does not exist: `swath study --list` prints this list, and
//! the report has a chart for each of them.

mod appends;
mod contracts;
mod cores;
mod files;
mod graphs;
mod limit;
mod loading;
mod memory;
mod orders;
mod priorities;
mod shape;
mod sums;

use crate::experiment::Experiment;

/// All of them, in the order of the studies.
pub const ALL: &[Experiment] = &[
    loading::THREADS,
    loading::THREADS_LARGE,
    loading::SIZES,
    loading::CHUNKS,
    loading::COPIES,
    loading::WAYS,
    cores::CORES,
    memory::MEMORY,
    priorities::THREADS,
    priorities::CLASSES,
    priorities::CHUNKS,
    files::SMALL,
    files::MEDIUM,
    files::LARGE,
    files::HUGE,
    files::BY_LINES,
    contracts::SCALING,
    sums::BY_ADVICE,
    sums::BY_BLOCK,
    graphs::LOADING,
    appends::TREE,
    appends::FILES,
    orders::OPERATIONS,
];

/// The experiments whose names are in `words`: `a-threads`, or a study's letter for all of it.
///
/// # Errors
///
/// A word that names none.
pub fn chosen(words: &[String]) -> Result<Vec<&'static Experiment>, String> {
    let is_meant = |word: &str, experiment: &Experiment| {
        experiment.id == word || experiment.study.letter().eq_ignore_ascii_case(word)
    };
    if let Some(word) = words.iter().find(|word| !ALL.iter().any(|one| is_meant(word, one))) {
        return Err(word.clone());
    }
    let chosen = ALL
        .iter()
        .filter(|one| words.is_empty() || words.iter().any(|word| is_meant(word, one)));
    Ok(chosen.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_begin_with_the_letter_of_their_study() {
        let names: BTreeSet<&str> = ALL.iter().map(|experiment| experiment.id).collect();
        assert_eq!(names.len(), ALL.len());
        for experiment in ALL {
            let letter = experiment.study.letter().to_lowercase();
            assert!(experiment.id.starts_with(&format!("{letter}-")), "{}", experiment.id);
            assert!(!(experiment.charts)().is_empty(), "{}", experiment.id);
        }
        assert!(ALL.is_sorted_by_key(|experiment| experiment.study));
    }

    #[test]
    fn words_choose_experiments_or_whole_studies() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            chosen(&words).map(|chosen| chosen.len())
        };
        assert_eq!(names(&[]), Ok(ALL.len()));
        assert_eq!(names(&["a-threads", "a-chunk-size"]), Ok(2));
        let of_a = ALL.iter().filter(|experiment| experiment.study.letter() == "A").count();
        assert_eq!(names(&["a"]), Ok(of_a));
        assert_eq!(names(&["a-threads", "z-nothing"]), Err("z-nothing".to_owned()));
    }
}
