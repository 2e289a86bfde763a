//! The top of the page, with the counts, and its end: all findings in one table, machine and method.

use maud::{Markup, html};

use super::experiment::{BEYOND, anchor, badge};
use super::frame;
use super::number::{NONE, date, percent};
use crate::results::{Claimed, Counts, Finding, Measured, QUICK, Results};

/// Renders the title and one line of description.
pub(super) fn heading(results: &Results) -> Markup {
    html! {
        h1 { "What holds here" }
        p class="lead" {
            "The experiments of five studies of parallel file I/O, run again on this machine by Swath "
            (results.version) ", " (date(results.started)) ", " (results.method.words()) "."
        }
        p class="counts" { (Counts::of(results)) }
        @if results.method.is_quick() { p class="warning" { (QUICK) } }
    }
}

/// Renders machine and method.
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
                        "says so. If the control varied by more than 15 % of its median, every interval is "
                        "widened by that much."
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

/// Renders the table of findings: claim and rule, files, verdict, noise, share of the limit, reason.
pub(super) fn findings(results: &Results) -> Markup {
    let heads = ["claim and rule", "files", "holds here?", "control", "of the limit", "why"];
    let rows = html! {
        @for measured in &results.experiments {
            @for claim in &measured.claims { (claim_rows(measured, claim)) }
        }
    };
    html! {
        section id="findings" {
            h2 { "Findings" }
            p class="note" {
                "Quotation marks enclose a study's own words. Everything else is our reading of it, or our own "
                "question. The rule below it is ours."
            }
            (frame::table(&heads, Some("findings"), &rows))
        }
    }
}

fn claim_rows(measured: &Measured, claim: &Claimed) -> Markup {
    let link = html! { a href={ "#" (anchor(&measured.id)) } { (claim.id) } };
    html! {
        @if claim.verdicts.is_empty() {
            tr {
                td { (link) (words(claim)) }
                td { (NONE) } td { (badge(measured, None)) } td { (NONE) } td { (NONE) }
                td { (measured.not_judged()) }
            }
        }
        @for (index, finding) in claim.verdicts.iter().enumerate() {
            tr {
                td { (link) @if index == 0 { (words(claim)) } }
                td { (finding.state.files()) }
                td { (badge(measured, Some(finding))) }
                td { (measured.noise_words()) }
                td { (limit(finding)) }
                td { (finding.because) }
            }
        }
    }
}

fn words(claim: &Claimed) -> Markup {
    html! {
        span class="claim" { (claim.source) }
        @if !claim.rule.is_empty() { span class="rule" { (claim.rule) } }
    }
}

fn limit(finding: &Finding) -> Markup {
    html! {
        @match &finding.of_limit {
            Some(share) => {
                (percent(share.estimate)) (meter(share.estimate))
                @if share.estimate > 1.0 { span class="rule" { (BEYOND) } }
            }
            None => (NONE),
        }
    }
}

/// Renders a share as a number and a bar.
fn meter(share: f64) -> Markup {
    let width = if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 };
    html! {
        svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect width="100" height="6" {}
            rect class="part" width=(format!("{width:.1}")) height="6" {}
        }
    }
}
