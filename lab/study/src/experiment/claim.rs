//! A study's claim, the rule that judges it, and a verdict for each state of the files.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::results::{Claimed, Finding, Holds, Run, Selected, Source, State};

use super::Experiment;

/// The prefix of series that are limits.
const LIMITS: &str = "limit:";

/// A claim of a study, or a question of our own. The words are in `experiments/claims.txt`.
#[derive(Clone)]
pub struct Claim {
    /// The experiment's id, with a suffix if it has several claims.
    pub id: &'static str,
    /// Judges the runs on files in a state.
    pub judge: fn(&Selected<'_>, State) -> Finding,
}

impl Claim {
    /// Returns the claim `id`.
    pub const fn new(id: &'static str, judge: fn(&Selected<'_>, State) -> Finding) -> Self {
        Self { id, judge }
    }

    /// Returns the words of the claim.
    pub fn source(&self) -> Source {
        self.wording().map_or_else(Source::default, |it| it.source.clone())
    }

    /// Returns the condition under which the claim holds, in a sentence.
    pub fn rule(&self) -> &'static str {
        self.wording().map_or("", |it| it.rule.as_str())
    }

    fn wording(&self) -> Option<&'static ClaimWords> {
        WORDS.get(self.id)
    }
}

/// The words of a claim, and its rule.
struct ClaimWords {
    source: Source,
    rule: String,
}

/// The words of each claim, by id.
static WORDS: LazyLock<BTreeMap<&'static str, ClaimWords>> =
    LazyLock::new(|| all_words(include_str!("../experiments/claims.txt")));

/// Parses blocks of lines: id and section, then the words in quotation marks or after `?`, the rule after
/// `=`.
fn all_words(text: &'static str) -> BTreeMap<&'static str, ClaimWords> {
    let blocks = text.split("\n\n").filter(|block| !block.starts_with('#'));
    blocks.filter_map(words_of).collect()
}

fn words_of(block: &'static str) -> Option<(&'static str, ClaimWords)> {
    let (head, rest) = block.trim().split_once('\n')?;
    let rest = rest.replace('\n', " ");
    if let Some(question) = rest.strip_prefix("? ") {
        let rule = "None: the numbers are reported, and nothing is judged by them.".to_owned();
        let source = Source::asked(question.to_owned());
        return Some((head, ClaimWords { source, rule }));
    }
    let (id, section) = head.split_once(", ")?;
    let (words, rule) = rest.strip_prefix('“')?.split_once("” = ")?;
    let source = Source::quoted(words.to_owned(), section);
    Some((id, ClaimWords { source, rule: rule.to_owned() }))
}

/// The size of an experiment with `--full`, compared with that of the study.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The study's size; empty for questions of our own.
    pub study: &'static str,
    /// The differences with `--full`, and why; empty if there are none.
    pub other: &'static str,
    /// Minutes with `--full` on two cores and a disk of 2 GB/s.
    pub minutes: u32,
}

impl Scale {
    /// Returns the sentence for a full or a smaller run.
    pub fn sentence(&self, is_full: bool) -> String {
        let Self { study, other, .. } = self;
        match (is_full, other.is_empty()) {
            (true, false) if study.is_empty() => format!("With --full: {other}."),
            (false, _) if study.is_empty() => format!("Smaller than with --full: {other}."),
            (true, true) => format!("As large as in the study: {study}."),
            (true, false) => format!("In the study: {study}. Here: {other}."),
            (false, _) => format!("Smaller than with --full. In the study: {study}."),
        }
    }
}

/// The folders and the machine of the runs.
#[derive(Clone, Copy, Debug)]
pub struct Places<'p> {
    /// The folders that were measured, by number.
    pub folders: &'p [String],
    /// The seed of the intervals.
    pub seed: u64,
    /// The spread of the control.
    pub noise: Option<f64>,
    /// Processors of the machine; 0 if unknown.
    pub cores: usize,
}

impl Experiment {
    /// Judges each claim by the runs, for each measured state.
    pub fn judged(&self, runs: &[Run], places: Places<'_>) -> Vec<Claimed> {
        let has = |state: &State| {
            let mut own = runs.iter().filter(|run| !run.series.starts_with(LIMITS));
            own.any(|run| run.state == *state)
        };
        let states: Vec<State> =
            [State::Warm, State::Cold, State::None].into_iter().filter(has).collect();
        let claimed = self.claims.iter().map(|claim| Claimed {
            id: claim.id.to_owned(),
            source: claim.source(),
            rule: claim.rule().to_owned(),
            verdicts: states.iter().map(|&state| verdict(claim, runs, places, state)).collect(),
        });
        claimed.collect()
    }
}

/// Merges the findings of all folders: if the verdicts differ, the result is undecided.
fn verdict(claim: &Claim, runs: &[Run], places: Places<'_>, state: State) -> Finding {
    let in_folder = |folder| {
        let runs = Selected::new(runs, folder, places.seed)
            .with_noise(places.noise)
            .with_cores(places.cores);
        Finding { state, ..(claim.judge)(&runs, state) }
    };
    let findings: Vec<Finding> = (0..places.folders.len().max(1)).map(in_folder).collect();
    if let [one] = findings.as_slice() {
        return one.clone();
    }
    let first = findings.first().map_or(Holds::Undecided, |finding| finding.verdict);
    let agree = findings.iter().all(|finding| finding.verdict == first);
    let texts = places.folders.iter().zip(&findings).map(|(folder, finding)| {
        format!("{folder}: {} ({})", finding.verdict.word(), finding.because)
    });
    Finding {
        state,
        verdict: if agree { first } else { Holds::Undecided },
        because: texts.collect::<Vec<_>>().join("; "),
        of_limit: findings.first().and_then(|finding| finding.of_limit),
    }
}
