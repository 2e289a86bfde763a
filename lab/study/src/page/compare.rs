//! Compares two studies: of two machines, two folders or two versions.
//!
//! It covers measurements of both, by experiment, series, place, state and folder. Rounds of two studies
//! are not paired, so each side is resampled on its own.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::results::{
    Finding, Folder, Holds, LEAST_ROUNDS, Measured, Results, Run, State, WordsAuthor,
};
use swath_profile::stats::{Interval, median, ratio_of_medians};

/// A series at one place, in both studies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The experiment.
    pub id: String,
    /// The folder's number in the left study.
    pub folder: usize,
    /// The folder's number in the right study.
    pub right_folder: usize,
    /// The series.
    pub series: String,
    /// The value of the varied parameter.
    pub x: f64,
    /// The name of that place, if it has one.
    pub place: String,
    /// The state of the page cache.
    pub state: State,
    /// The median of the left seconds.
    pub left: f64,
    /// The median of the right seconds.
    pub right: f64,
    /// The speed-up of the right study: left seconds over right seconds.
    pub ratio: Interval,
    /// Rounds of the side that has fewer.
    pub rounds: usize,
}

/// The side of 1 that an interval is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Differs {
    /// The right study is faster.
    Faster,
    /// The right study is slower.
    Slower,
    /// The interval contains 1.
    Undecided,
}

impl Compared {
    /// Returns the side of 1 that the whole interval is on; undecided with fewer than five rounds.
    pub fn differs(&self) -> Differs {
        if self.rounds < LEAST_ROUNDS {
            Differs::Undecided
        } else if self.ratio.lower > 1.0 {
            Differs::Faster
        } else if self.ratio.upper < 1.0 {
            Differs::Slower
        } else {
            Differs::Undecided
        }
    }
}

/// A verdict that differs between both studies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// The claim.
    pub id: String,
    /// The words of the claim, and their author.
    pub claim: String,
    /// The state of the page cache.
    pub state: State,
    /// The left verdict; `None` without one.
    pub left: Option<Holds>,
    /// The right verdict.
    pub right: Option<Holds>,
    /// The left reason.
    pub left_because: String,
    /// The right reason.
    pub right_because: String,
    /// The left spread of the control, in words.
    pub left_noise: String,
    /// The right spread of the control, in words.
    pub right_noise: String,
}

/// Returns the verdicts that differ between two studies, in the order of the left one, without claims that
/// only one study has.
pub fn changed(left: &Results, right: &Results) -> Vec<Changed> {
    let mut all = Vec::new();
    for own in &left.experiments {
        let Some(other) = right.experiments.iter().find(|other| other.id == own.id) else {
            continue;
        };
        for claim in own.claims.iter().filter(|claim| claim.source.kind != WordsAuthor::Asked) {
            let Some(theirs) = other.claims.iter().find(|theirs| theirs.id == claim.id) else {
                continue;
            };
            for state in [State::Warm, State::Cold, State::None] {
                let of = |verdicts: &[Finding]| -> Option<Finding> {
                    verdicts.iter().find(|finding| finding.state == state).cloned()
                };
                let (before, after) = (of(&claim.verdicts), of(&theirs.verdicts));
                let verdict = |of: &Option<Finding>| of.as_ref().map(|finding| finding.verdict);
                if verdict(&before) == verdict(&after) {
                    continue;
                }
                all.push(Changed {
                    id: claim.id.clone(),
                    claim: claim.source.to_string(),
                    state,
                    left: verdict(&before),
                    right: verdict(&after),
                    left_because: before.map(|it| it.because).unwrap_or_default(),
                    right_because: after.map(|it| it.because).unwrap_or_default(),
                    left_noise: own.noise_words(),
                    right_noise: other.noise_words(),
                });
            }
        }
    }
    all
}

/// The key of a row: folders, series, bits of the place (ordered as non-negative numbers are), state, and
/// bytes, because rows of different sizes cannot be compared.
type RowKey<'r> = (usize, usize, &'r str, u64, State, u64);

/// Compares the measurements of both studies, in the order of the left one.
///
/// Folders with the same path are paired, then the remaining ones in order. The intervals depend on the
/// left study's seed alone.
pub fn compare(left: &Results, right: &Results) -> Vec<Compared> {
    let folders = paired(&left.folders, &right.folders);
    let mut rows = Vec::new();
    for own in &left.experiments {
        let Some(other) = right.experiments.iter().find(|other| other.id == own.id) else {
            continue;
        };
        rows.extend(compared(own, other, &folders, left.method.seed));
    }
    rows
}

fn compared(
    left: &Measured,
    right: &Measured,
    folders: &[(usize, usize)],
    seed: u64,
) -> Vec<Compared> {
    let (own, theirs) = (seconds(&left.runs, folders, |pair| pair.0), {
        seconds(&right.runs, folders, |pair| pair.1)
    });
    let both: Vec<(&RowKey<'_>, &Vec<f64>, &Vec<f64>)> =
        own.iter().filter_map(|(key, left)| Some((key, left, theirs.get(key)?))).collect();
    let rows = both.into_par_iter().filter_map(|(key, own, theirs)| {
        let (folder, right_folder, series, place, state, _) = *key;
        let x = f64::from_bits(place);
        Some(Compared {
            id: left.id.clone(),
            folder,
            right_folder,
            series: series.to_owned(),
            x,
            place: name(left, x),
            state,
            left: median(own)?,
            right: median(theirs)?,
            ratio: ratio_of_medians(own, theirs, seed)?,
            rounds: own.len().min(theirs.len()),
        })
    });
    rows.collect()
}

/// Returns the seconds of each series and place, without folders that have no partner.
fn seconds<'r>(
    runs: &'r [Run],
    folders: &[(usize, usize)],
    side: impl Fn(&(usize, usize)) -> usize,
) -> BTreeMap<RowKey<'r>, Vec<f64>> {
    let mut found: BTreeMap<RowKey<'r>, Vec<f64>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.seconds.is_finite() && run.x.is_finite()) {
        if let Some((left, right)) = folders.iter().find(|pair| side(pair) == run.folder) {
            let place = run.x.to_bits();
            let key = (*left, *right, run.series.as_str(), place, run.state, run.bytes);
            found.entry(key).or_default().push(run.seconds);
        }
    }
    found
}

fn name(measured: &Measured, x: f64) -> String {
    let named = measured.charts.iter().find(|chart| !chart.x_names.is_empty());
    named.map_or_else(|| super::number::number(x), |chart| super::bars::place_name(chart, x))
}

/// Returns the pairs of left and right folders.
fn paired(left: &[Folder], right: &[Folder]) -> Vec<(usize, usize)> {
    if left.is_empty() || right.is_empty() {
        return vec![(0, 0)];
    }
    let same = |(index, folder): (usize, &Folder)| {
        let other = right.iter().position(|other| other.path == folder.path)?;
        Some((index, other))
    };
    let mut pairs: Vec<(usize, usize)> = left.iter().enumerate().filter_map(same).collect();
    let lone_left: Vec<usize> =
        (0..left.len()).filter(|index| pairs.iter().all(|pair| pair.0 != *index)).collect();
    let lone_right: Vec<usize> =
        (0..right.len()).filter(|index| pairs.iter().all(|pair| pair.1 != *index)).collect();
    pairs.extend(lone_left.into_iter().zip(lone_right));
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{measured, run};

    fn study(factor: f64, paths: &[&str]) -> Results {
        let mut runs = Vec::new();
        for round in 0..9 {
            let drift = 1.0 + round as f64 / 100.0;
            runs.push(run("pool", 4.0, round, factor * drift));
            runs.push(run("pool", 16.0, round, drift));
            runs.push(Run { folder: 1, ..run("serial", 1.0, round, 3.0) });
        }
        let folder = |path: &&str| Folder { path: (*path).to_owned(), facts: Vec::new() };
        Results {
            folders: paths.iter().map(folder).collect(),
            experiments: vec![measured("a", runs)],
            ..Results::default()
        }
    }

    #[test]
    fn the_right_one_is_faster_only_if_its_whole_interval_says_so() {
        let (slow, fast) = (study(2.0, &["/a", "/b"]), study(1.0, &["/a", "/b"]));
        let rows = compare(&slow, &fast);
        let seen: Vec<(&str, f64, Differs)> =
            rows.iter().map(|row| (row.series.as_str(), row.x, row.differs())).collect();
        assert_eq!(
            seen,
            [
                ("pool", 4.0, Differs::Faster),
                ("pool", 16.0, Differs::Undecided),
                ("serial", 1.0, Differs::Undecided)
            ]
        );
        assert_eq!(rows[0].ratio.estimate, 2.0);
        assert_eq!(compare(&fast, &slow)[0].differs(), Differs::Slower);
    }

    #[test]
    fn folders_are_paired_by_path_and_then_by_order() {
        let folder = |path: &str| Folder { path: path.into(), facts: Vec::new() };
        let left = [folder("/x"), folder("/data"), folder("/y")];
        let right = [folder("/data"), folder("/z")];
        assert_eq!(paired(&left, &right), [(0, 1), (1, 0)]);
        assert_eq!(paired(&[], &right), [(0, 0)]);
        let rows = compare(&study(1.0, &["/a", "/b"]), &study(1.0, &["/b", "/a"]));
        assert_eq!(rows, [], "no series ran in the same folder");
    }

    #[test]
    fn a_verdict_that_changed_is_told_with_both_reasons() {
        let study = |warm, cold: Option<Holds>| {
            let mut results = study(1.0, &["/a"]);
            let finding = |state, verdict: Holds| Finding {
                state,
                verdict,
                because: format!("because {}", verdict.word()),
                ..Finding::default()
            };
            let claim = &mut results.experiments[0].claims[0];
            claim.verdicts = vec![finding(State::Warm, warm)];
            claim.verdicts.extend(cold.map(|cold| finding(State::Cold, cold)));
            results
        };
        let left = study(Holds::Yes, Some(Holds::No));
        assert_eq!(changed(&left, &left), []);
        let found = changed(&left, &study(Holds::No, Some(Holds::No)));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (one.state, one.left, one.right),
            (State::Warm, Some(Holds::Yes), Some(Holds::No))
        );
        assert_eq!(one.left_because, "because holds");
        assert_eq!(one.right_because, "because does not hold");
        let found = changed(&left, &study(Holds::Yes, None));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.state, one.left, one.right), (State::Cold, Some(Holds::No), None));
    }

    #[test]
    fn what_was_measured_of_other_sizes_is_not_compared() {
        let (left, mut right) = (study(1.0, &["/a", "/b"]), study(1.0, &["/a", "/b"]));
        let pool = right.experiments[0].runs.iter_mut().filter(|run| run.series == "pool");
        pool.for_each(|run| run.bytes /= 2);
        let rows = compare(&left, &right);
        assert!(!rows.is_empty() && rows.iter().all(|row| row.series == "serial"), "{rows:?}");
    }

    #[test]
    fn experiments_of_one_study_alone_are_left_out() {
        let mut other = study(1.0, &["/a", "/b"]);
        other.experiments[0].id = "b".into();
        assert_eq!(compare(&study(1.0, &["/a", "/b"]), &other), []);
    }
}
