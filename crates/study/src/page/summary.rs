//! The top of the page: machine, method, and all findings in one table.

use maud::{Markup, html};

use super::experiment::{anchor, badge};
use super::number::{date, percent};
use crate::results::{Holds, Progress, Results};

/// Title and one line of what this is.
pub(super) fn heading(results: &Results) -> Markup {
    html! {
        h1 { "What holds here" }
        p class="lead" {
            "The experiments of five studies of parallel file I/O, run again on this machine by Swath "
            (results.version) ", " (date(results.started)) "."
        }
    }
}

/// What was measured on, and how.
pub(super) fn machine(results: &Results) -> Markup {
    let method = &results.method;
    html! {
        section id="machine" {
            h2 { "Machine and method" }
            div class="cards" {
                div class="card" { h3 { "Machine" } (facts(&results.machine)) }
                div class="card" {
                    h3 { "Method" }
                    (facts(&[
                        ("extent".to_owned(), method.extent.clone()),
                        ("rounds".to_owned(), method.rounds.to_string()),
                        ("seed of the order".to_owned(), method.seed.to_string()),
                        ("made cold by".to_owned(), method.cold_by.clone()),
                        ("runs that count".to_owned(), runs(results).to_string()),
                    ]))
                    p {
                        "In each round every contestant runs once, in shuffled order; a control runs all "
                        "along. Each run is verified by its checksum. Points are medians, whiskers reach "
                        "from quartile to quartile, and a claim is decided only if a whole 95 % interval "
                        "says so."
                    }
                }
                @for folder in &results.folders {
                    div class="card" { h3 class="path" { (folder.path) } (facts(&folder.facts)) }
                }
            }
        }
    }
}

fn runs(results: &Results) -> usize {
    results.experiments.iter().map(|measured| measured.runs.len()).sum()
}

fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl {
            @for (what, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (what) } dd { (value) } }
            }
        }
    }
}

/// Finding → holds here? → ratio to the limit.
pub(super) fn findings(results: &Results) -> Markup {
    html! {
        section id="findings" {
            h2 { "Findings" }
            p class="counts" { (counts(results)) }
            div class="scroll" tabindex="0" {
                table class="findings" {
                    thead {
                        tr { th { "finding" } th { "holds here?" } th { "of the limit" } th { "why" } }
                    }
                    tbody {
                        @for measured in &results.experiments {
                            tr {
                                td {
                                    a href={ "#" (anchor(&measured.id)) } { (measured.id) }
                                    span class="claim" { (measured.claim) }
                                }
                                td { (badge(measured)) }
                                td {
                                    @match &measured.finding.of_limit {
                                        Some(share) => { (percent(share.estimate)) (meter(share.estimate)) }
                                        None => (super::number::NONE),
                                    }
                                }
                                td { (why(&measured.state, &measured.finding.because)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A bar as long as a share; the number stands before it.
fn meter(share: f64) -> Markup {
    let width = if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 };
    html! {
        svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect width="100" height="6" {}
            rect class="part" width=(format!("{width:.1}")) height="6" {}
        }
    }
}

fn why<'r>(state: &'r Progress, because: &'r str) -> &'r str {
    match state {
        Progress::Skipped(why) | Progress::Failed(why) => why,
        Progress::Done | Progress::Stopped => because,
    }
}

fn counts(results: &Results) -> String {
    let ran = || {
        let all = results.experiments.iter();
        all.filter(|it| matches!(it.state, Progress::Done | Progress::Stopped))
    };
    let with = |verdict| ran().filter(|it| it.finding.verdict == verdict).count();
    let others = results.experiments.len() - ran().count();
    let mut text = format!(
        "Of {} claims {} hold here, {} do not hold, {} are undecided",
        results.experiments.len(),
        with(Holds::Yes),
        with(Holds::No),
        with(Holds::Undecided),
    );
    if others > 0 {
        text.push_str(&format!("; {others} did not run"));
    }
    text.push('.');
    text
}
