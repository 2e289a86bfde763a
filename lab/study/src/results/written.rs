//! The file format of an experiment. Files of schema 1 have one claim without a source, and one finding
//! for all states.

use serde::Deserialize;

use swath_profile::stats::NOISY_SPREAD;

use super::{Chart, Claimed, Finding, Measured, Progress, Run, Source, State};

#[derive(Deserialize)]
pub(super) struct Written {
    id: String,
    study: String,
    figure: String,
    #[serde(default)]
    scale: String,
    #[serde(default)]
    claims: Vec<Claimed>,
    /// The claim in schema 1.
    #[serde(default)]
    claim: String,
    /// The finding in schema 1.
    finding: Option<Earlier>,
    charts: Vec<Chart>,
    state: Progress,
    absent: Vec<(String, String)>,
    noise: Option<f64>,
    noise_below: Option<f64>,
    wall_seconds: Option<f64>,
    runs: Vec<Run>,
}

/// A finding of schema 1.
#[derive(Deserialize)]
struct Earlier {
    verdict: super::Holds,
    because: String,
    of_limit: Option<swath_profile::stats::Interval>,
}

impl From<Written> for Measured {
    fn from(written: Written) -> Self {
        let Written { id, study, figure, scale, mut claims, claim, finding, .. } = written;
        let (noise, mut noise_below) = (written.noise, written.noise_below);
        if let Some(Earlier { verdict, because, of_limit }) = finding {
            let finding = Finding { state: State::None, verdict, because, of_limit };
            let source = Source { words: claim.into(), ..Source::default() };
            let (id, verdicts) = (id.clone(), vec![finding]);
            // Schema 1 did not store smaller spreads.
            noise_below = noise.is_none().then_some(NOISY_SPREAD);
            claims.push(Claimed { id, source, rule: String::new(), verdicts });
        }
        let Written { charts, state, absent, wall_seconds, runs, .. } = written;
        Self {
            id,
            study,
            figure,
            scale,
            claims,
            charts,
            state,
            absent,
            noise,
            noise_below,
            wall_seconds,
            runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Holds, WordsAuthor};

    #[test]
    fn a_study_of_schema_1_keeps_its_claim_and_its_verdict() {
        let text = r#"{"id": "a-threads", "study": "A", "figure": "f", "claim": "More is more.",
            "charts": [], "state": "done", "absent": [], "noise": null, "runs": [],
            "finding": {"verdict": "no", "because": "1.5", "of_limit": null}}"#;
        let measured: Measured = serde_json::from_str(text).expect("schema 1");
        let [claim] = measured.claims.as_slice() else { panic!("{measured:?}") };
        assert_eq!(
            (claim.source.kind, claim.source.words.as_ref()),
            (WordsAuthor::Read, "More is more.")
        );
        let [finding] = claim.verdicts.as_slice() else { panic!("{measured:?}") };
        assert_eq!((finding.verdict, finding.state), (Holds::No, State::None));
        assert_eq!(finding.because, "1.5");
        assert_eq!(measured.noise_words(), "below 15 %");
        // The new format is read unchanged.
        let text = serde_json::to_string(&measured).expect("text");
        assert_eq!(serde_json::from_str::<Measured>(&text).expect("schema 2"), measured);
    }
}
