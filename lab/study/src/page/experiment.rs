//! The section of an experiment: claims, findings and charts.

use anyhow::Result;
use maud::{Markup, html};

use super::figure::{FigureData, figures};
use super::frame;
use super::ink::{RADIUS, Ranks, shape};
use super::number::{interval, percent};
use crate::results::{
    Claimed, Finding, Folder, Holds, Measured, Progress, Results, heading_of,
};
use swath_profile::stats::NOISY_SPREAD;

/// The explanation of shares of a limit above 100 %.
pub(super) const BEYOND: &str = "More than all of it: the limit is one plain way of doing as much, in the \
    same rounds, and may be beaten by another way, or by chance.";

/// Renders all experiments, by study.
pub(super) fn experiments(results: &Results) -> Result<Markup> {
    let ranks = Ranks::of(results);
    let studies = results.experiments.chunk_by(|left, right| left.study == right.study);
    let sections: Result<Vec<Markup>> = studies
        .map(|study| {
            let articles: Result<Vec<Markup>> =
                study.iter().map(|measured| experiment(measured, &ranks, results)).collect();
            let name = study.first().map_or("", |first| first.study.as_str());
            Ok(html! {
                section class="study" {
                    h2 { (heading_of(name)) }
                    @for article in articles? { (article) }
                }
            })
        })
        .collect();
    Ok(html! { @for section in sections? { (section) } })
}

fn experiment<'r>(
    measured: &'r Measured,
    ranks: &Ranks<'r>,
    results: &'r Results,
) -> Result<Markup> {
    let slots = ranks.slots(measured);
    let folders: &[Folder] = &results.folders;
    let drawn = FigureData { runs: &measured.runs, slots: &slots, folders };
    let charts: Result<Vec<Markup>> = if measured.runs.is_empty() {
        Ok(Vec::new())
    } else {
        measured.charts.iter().map(|chart| figures(chart, &drawn)).collect()
    };
    Ok(html! {
        article id=(anchor(&measured.id)) class="experiment" {
            div class="words" {
                h3 { (measured.id) " " span class="figure" { (measured.figure) } }
                @for claim in &measured.claims { (claimed(measured, claim)) }
                @if !measured.scale.is_empty() { p class="note" { (measured.scale) } }
                (progress(&measured.state))
                (noise(measured.noise))
                (absent(&measured.absent))
            }
            div class="charts" {
                @if !slots.is_empty() { (legend(&slots, Sign::Line)) }
                @for chart in charts? { (chart) }
                @if measured.runs.is_empty() { p class="empty" { "There are no runs to draw." } }
            }
        }
    })
}

/// Returns the anchor of an experiment.
pub(super) fn anchor(id: &str) -> String {
    format!("experiment-{id}")
}

/// Renders a verdict in words, with a class for its colour.
pub(super) fn badge(measured: &Measured, finding: Option<&Finding>) -> Markup {
    let (class, words) = match (&measured.state, finding.map(|finding| finding.verdict)) {
        (Progress::Skipped(_), None) => ("open", "skipped"),
        (Progress::Failed(_), None) => ("no", "failed"),
        (_, None) => ("open", "not judged"),
        (_, Some(Holds::Yes)) => ("yes", Holds::Yes.word()),
        (_, Some(Holds::No)) => ("no", Holds::No.word()),
        (_, Some(Holds::Undecided)) => ("open", Holds::Undecided.word()),
        (_, Some(Holds::NotHere)) => ("open", Holds::NotHere.word()),
        (_, Some(Holds::Told)) => ("measured", Holds::Told.word()),
    };
    html! { span class={ "badge " (class) } { (words) } }
}

/// Renders the words of the study, the rule, and the findings.
fn claimed(measured: &Measured, claim: &Claimed) -> Markup {
    html! {
        p class="claim" { (claim.source) }
        @if !claim.rule.is_empty() { p class="note" { b { "Rule: " } (claim.rule) } }
        @if claim.verdicts.is_empty() { p class="finding" { (badge(measured, None)) } }
        @for one in &claim.verdicts { (finding(measured, one)) }
    }
}

fn finding(measured: &Measured, finding: &Finding) -> Markup {
    html! {
        p class="finding" {
            @if finding.state.files() != super::number::NONE { b { (finding.state.files()) ": " } }
            (badge(measured, Some(finding))) " "
            span class="noise" { "(control " (measured.noise_words()) ")" }
            @if !finding.because.is_empty() { " " (finding.because) }
        }
        @if let Some(share) = &finding.of_limit {
            p class="limit" {
                "Swath's best reaches " b { (percent(share.estimate)) } " of the limit "
                "(" (percent(share.lower)) " to " (percent(share.upper)) ")."
                @if share.upper > 1.0 { " " (BEYOND) }
            }
        }
    }
}

fn progress(state: &Progress) -> Markup {
    html! {
        @match state {
            Progress::Done => {}
            Progress::Stopped => p class="note" { "Stopped early: these are the rounds that were finished." }
            Progress::Skipped(why) => p class="note" { b { "Skipped: " } (why) }
            Progress::Failed(why) => p class="note warning" { b { "Failed: " } (why) }
        }
    }
}

fn noise(noise: Option<f64>) -> Markup {
    html! {
        @if let Some(spread) = noise.filter(|spread| spread.is_finite()) {
            @if spread > NOISY_SPREAD {
                p class="note warning" {
                    b { "Noisy machine: " }
                    "the control, always the same work, was spread by " (percent(spread))
                    " of its median. Small differences mean nothing here."
                }
            } @else {
                p class="note" { "The control was spread by " (percent(spread)) " of its median." }
            }
        }
    }
}

fn absent(absent: &[(String, String)]) -> Markup {
    html! {
        @if !absent.is_empty() {
            div class="note" {
                b { "Not here" }
                ul { @for (who, why) in absent { li { (who) ": " (why) } } }
            }
        }
    }
}

/// The sign beside a name in a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A line with its marker.
    Line,
    /// A box in the colour of the series.
    Box,
}

/// Renders the legend. A button hides and shows a series.
pub(super) fn legend(slots: &[(&str, u8)], sign: Sign) -> Markup {
    html! {
        div class="legend" role="group" aria-label="Series" {
            @for (name, slot) in slots {
                button type="button" class={ "k" (slot) } data-slot=(slot) aria-pressed="true" {
                    svg viewBox="-24 -14 48 28" aria-hidden="true" {
                        @if sign == Sign::Box {
                            rect class={ "box k" (slot) } x="-20" y="-10" width="40" height="20" {}
                        } @else {
                            path class={ "l k" (slot) } d="M-24 0L24 0" {}
                            @match shape(*slot) {
                                [] => circle class={ "m k" (slot) } r=(RADIUS) {},
                                corners => polygon class={ "m k" (slot) } points=(joined(corners)) {},
                            }
                        }
                    }
                    (name)
                }
            }
        }
    }
}

fn joined(corners: &[(i32, i32)]) -> String {
    let pairs: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
    pairs.join(" ")
}

/// Renders the limits of the machine and its folders.
pub(super) fn limits(results: &Results) -> Markup {
    let rows = html! {
        @for limit in &results.limits {
            tr {
                th { (limit.name) }
                td { @match limit.folder {
                    None => "machine",
                    Some(index) => (super::figure::folder_name(&results.folders, index)),
                } }
                td { (interval(&limit.value)) }
                td { (limit.unit) }
            }
        }
    };
    html! {
        section id="limits" {
            h2 { "Limits" }
            p { "What this machine can do at best, measured in the same run: medians and their 95 % intervals." }
            @if results.limits.is_empty() { p class="empty" { "No limit was measured." } }
            @else { (frame::table(&["limit", "where", "value", "unit"], None, &rows)) }
        }
    }
}
