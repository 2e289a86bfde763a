//! All experiments of the five studies, and those on jobs of many processes and on many cores.
//!
//! [`ALL`] is the complete list: `swath study --list` prints it, and the report has a chart for each
//! experiment.

mod appends;
mod auto;
mod contracts;
mod cores;
mod files;
mod graphs;
mod limit;
mod loading;
mod memory;
mod orders;
mod priorities;
mod scale;
mod shape;
mod sums;
#[cfg(test)]
mod verdicts;

use crate::experiment::Experiment;

/// All experiments, in the order of the studies.
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
    priorities::FAMILY,
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
    appends::ORDERS,
    orders::OPERATIONS,
    auto::AUTO_AND_FIXED,
    scale::COSTS,
    scale::CLUSTER,
    scale::PULL,
    scale::HEDGE,
    scale::STORAGE,
    scale::SIZE,
    scale::COMMIT,
    scale::VERBS,
];

/// Returns the experiments that `words` name: `a-threads` or `threads`, or the letter of a whole study.
///
/// # Errors
///
/// The first word that names no experiment.
pub fn chosen(words: &[String]) -> Result<Vec<&'static Experiment>, String> {
    let is_meant = |word: &str, experiment: &Experiment| {
        let without_letter = experiment.id.split_once('-').map(|(_, name)| name);
        experiment.id == word
            || without_letter == Some(word)
            || experiment.study.word().eq_ignore_ascii_case(word)
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
    use crate::experiment::Study;
    use crate::results::WordsAuthor;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_begin_with_the_letter_of_their_study() {
        let names: BTreeSet<&str> = ALL.iter().map(|experiment| experiment.id).collect();
        assert_eq!(names.len(), ALL.len());
        for experiment in ALL {
            let letter = experiment.study.word().to_lowercase();
            assert!(experiment.id.starts_with(&format!("{letter}-")), "{}", experiment.id);
            assert!(!(experiment.charts)().is_empty(), "{}", experiment.id);
        }
        assert!(ALL.is_sorted_by_key(|experiment| experiment.study));
    }

    #[test]
    fn every_claim_is_quoted_with_its_section_or_ours_and_has_a_rule() {
        let mut names = BTreeSet::new();
        for experiment in ALL {
            assert!(!experiment.claims.is_empty(), "{}", experiment.id);
            assert_eq!(experiment.claims[0].id.split('/').next(), Some(experiment.id));
            for claim in experiment.claims {
                let (id, source, rule) = (claim.id, claim.source(), claim.rule());
                assert!(names.insert(id) && id.starts_with(experiment.id), "{id}");
                assert!(
                    source.words.len() > 10 && rule.len() > 20 && rule.ends_with('.'),
                    "{id}"
                );
                assert_ne!(source.kind, WordsAuthor::Read, "{id}");
                assert_eq!(
                    source.kind == WordsAuthor::Quoted,
                    !source.section.is_empty(),
                    "{id}"
                );
            }
            let is_ours = experiment.study == Study::S;
            assert_eq!(experiment.scale.study.is_empty(), is_ours, "{}", experiment.id);
            assert!(experiment.scale.minutes > 0);
        }
        let written = include_str!("experiments/claims.txt").split("\n\n").count() - 1;
        assert_eq!(written, names.len(), "each claim of the file has its experiment");
    }

    #[test]
    fn words_choose_experiments_or_whole_studies() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            chosen(&words).map(|chosen| chosen.len())
        };
        assert_eq!(names(&[]), Ok(ALL.len()));
        assert_eq!(names(&["a-threads", "a-chunk-size"]), Ok(2));
        let of_a = ALL.iter().filter(|experiment| experiment.study.word() == "A").count();
        assert_eq!(names(&["a"]), Ok(of_a));
        assert_eq!(names(&["a-threads", "z-nothing"]), Err("z-nothing".to_owned()));
    }
}
