//! A study's claims, quoted, and the findings here.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use swath_plan::words;

use super::{Results, State};
use swath_profile::stats::Interval;

/// The author of a claim's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordsAuthor {
    /// The study; the words are quoted.
    Quoted,
    /// We, for a study's claim, as in earlier versions.
    #[default]
    Read,
    /// We, for a question that judges no claim of the study.
    Asked,
}

/// The words of a claim, and their place in the study.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The author of the words.
    pub kind: WordsAuthor,
    /// A sentence; `…` stands for words that are left out.
    pub words: Cow<'static, str>,
    /// The section, as in `§5.7`.
    pub section: Cow<'static, str>,
}

impl Source {
    /// Returns words quoted from the study.
    pub fn quoted(words: impl Into<Cow<'static, str>>, section: &'static str) -> Self {
        Self { kind: WordsAuthor::Quoted, words: words.into(), section: section.into() }
    }

    /// Returns a question of our own.
    pub fn asked(words: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: WordsAuthor::Asked, words: words.into(), section: "".into() }
    }
}

/// Writes the words, and their author.
impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, words, section } = self;
        match (kind, section.is_empty()) {
            (WordsAuthor::Quoted, true) => write!(out, "“{words}”"),
            (WordsAuthor::Quoted, false) => write!(out, "“{words}” ({section})"),
            (WordsAuthor::Read, true) => write!(out, "{words} (our words)"),
            (WordsAuthor::Read, false) => write!(out, "{words} (our words, {section})"),
            (WordsAuthor::Asked, _) => write!(out, "{words} (our question, no claim)"),
        }
    }
}

/// A claim and its findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The experiment's id, with a suffix if it has several claims.
    pub id: String,
    /// The study's words.
    pub source: Source,
    /// The condition under which the claim holds.
    pub rule: String,
    /// A finding for each measured state of the files.
    pub verdicts: Vec<Finding>,
}

/// The finding on files in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The state of the page cache.
    pub state: State,
    /// Whether the claim holds here.
    pub verdict: Holds,
    /// The reason, with the numbers.
    pub because: String,
    /// Swath's best, as a share of the machine's limit.
    pub of_limit: Option<Interval>,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The whole interval supports the claim.
    Yes,
    /// The whole interval contradicts the claim.
    No,
    /// The runs do not decide it, or there are none.
    #[default]
    Undecided,
    /// This machine lacks a requirement of the question, such as cores.
    NotHere,
    /// The numbers are reported; there is no claim to judge.
    Told,
}

words!(Holds {
    Yes = "holds", No = "does not hold", Undecided = "undecided",
    NotHere = "cannot be asked here", Told = "measured",
});

/// The numbers of claims by verdict; [`Display`](fmt::Display) writes them as one sentence.
///
/// ```
/// use swath_study::results::{Counts, Results};
///
/// let nothing = Counts::of(&Results::default()).to_string();
/// assert!(nothing.starts_with("0 claims"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    claims: usize,
    /// Claims without a measurement.
    unjudged: usize,
    holds: usize,
    fails: usize,
    undecided: usize,
    /// Verdicts that need another machine.
    not_here: usize,
}

impl Counts {
    /// Counts the claims of a study, without questions of our own.
    pub fn of(results: &Results) -> Self {
        let claims = || {
            let all = results.experiments.iter().flat_map(|one| &one.claims);
            all.filter(|claim| claim.source.kind != WordsAuthor::Asked)
        };
        let with = |verdict| {
            let verdicts = claims().flat_map(|claim| &claim.verdicts);
            verdicts.filter(|finding| finding.verdict == verdict).count()
        };
        Self {
            claims: claims().count(),
            unjudged: claims().filter(|claim| claim.verdicts.is_empty()).count(),
            holds: with(Holds::Yes),
            fails: with(Holds::No),
            undecided: with(Holds::Undecided),
            not_here: with(Holds::NotHere),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claims, unjudged, holds, fails, undecided, not_here } = self;
        let claims = counted(*claims, ["claim", "claims"]);
        let verdicts = counted(holds + fails + undecided + not_here, ["verdict", "verdicts"]);
        let holds = counted(*holds, ["holds", "hold"]);
        let fails = counted(*fails, ["does not hold", "do not hold"]);
        let undecided = counted(*undecided, ["is undecided", "are undecided"]);
        let not_here = counted(*not_here, ["cannot be asked here", "cannot be asked here"]);
        write!(
            out,
            "{claims} of the five studies, judged separately for warm and cold files, gave \
             {verdicts}: {holds} here, {fails}, {undecided}, {not_here}"
        )?;
        if *unjudged > 0 {
            write!(out, "; {} not judged", counted(*unjudged, ["claim was", "claims were"]))?;
        }
        out.write_str(".")
    }
}

/// Returns a count with its noun in the singular or the plural.
pub(super) fn counted(count: usize, [one, more]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Measured;

    #[test]
    fn words_say_whose_they_are() {
        for (source, told) in [
            (Source::quoted("more is more", "§2"), "“more is more” (§2)"),
            (Source::asked("How much?"), "How much? (our question, no claim)"),
        ] {
            assert_eq!(source.to_string(), told);
        }
    }

    #[test]
    fn verdicts_are_counted_and_questions_are_not() {
        let claim = |source: Source, verdicts: &[Holds]| Claimed {
            source,
            verdicts: verdicts
                .iter()
                .map(|&verdict| Finding { verdict, ..Finding::default() })
                .collect(),
            ..Claimed::default()
        };
        let said = || Source::quoted("x", "§1");
        let claims = vec![
            claim(said(), &[Holds::Yes, Holds::No]),
            claim(said(), &[Holds::Yes, Holds::Undecided]),
            claim(said(), &[Holds::NotHere]),
            claim(said(), &[]),
            claim(Source::asked("x"), &[Holds::Told, Holds::Told]),
        ];
        let experiments = vec![Measured { claims, ..Measured::default() }];
        let counts = Counts::of(&Results { experiments, ..Results::default() }).to_string();
        assert_eq!(
            counts,
            "4 claims of the five studies, judged separately for warm and cold files, gave 5 \
             verdicts: 2 hold here, 1 does not hold, 1 is undecided, 1 cannot be asked here; 1 claim \
             was not judged."
        );
    }
}
