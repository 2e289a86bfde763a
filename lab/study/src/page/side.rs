//! The page that compares two studies: the speed-up of the right one.

use anyhow::Result;
use maud::{Markup, html};

use super::compare::{Changed, Compared, Differs, changed, compare};
use super::experiment::{Sign, anchor, legend};
use super::figure::{figure, folder_name};
use super::frame;
use super::ink::Ranks;
use super::number::{Unit, date, interval};
use super::points::{ChartPoint, SeriesLine, View};
use crate::results::{Chart, Holds, Measure, Measured, Results, State};

/// Makes a page of the measurements of both studies, in the style of [`super::render`].
///
/// # Errors
///
/// If a chart cannot be laid out.
pub fn render_comparison(left: &Results, right: &Results) -> Result<String> {
    let rows = compare(left, right);
    let ranks = Ranks::of(left);
    let of = |measured: &Measured| -> Vec<&Compared> {
        rows.iter().filter(|row| row.id == measured.id).collect()
    };
    let articles: Result<Vec<Markup>> = left
        .experiments
        .iter()
        .filter(|measured| !of(measured).is_empty())
        .map(|measured| experiment(left, measured, &of(measured), &ranks))
        .collect();
    let states: Vec<State> = rows.iter().map(|row| row.state).collect();
    let sections = [
        ("verdicts", "Verdicts"),
        ("studies", "Studies"),
        ("summary", "Summary"),
        ("experiments", "Experiments"),
    ];
    let body = html! {
        h1 { "Two studies side by side" }
        p class="lead" { "How many times as fast B is as A: above 1, B is faster." }
        (verdicts(&changed(left, right)))
        (studies(left, right))
        (summary(left, &rows))
        section id="experiments" {
            h2 { "Experiments" }
            @for article in articles? { (article) }
        }
    };
    let switches = frame::switches(&states, &left.folders, &sections);
    Ok(frame::page("Swath study: A and B", &switches, &body))
}

/// Renders the verdicts that differ.
fn verdicts(changed: &[Changed]) -> Markup {
    let word = |verdict: Option<Holds>| verdict.map_or("not judged", Holds::word);
    let rows = html! {
        @for one in changed {
            tr {
                th { (one.id) " " (one.claim) }
                td { (one.state.files()) }
                td { (word(one.left)) } td { (word(one.right)) }
                td { (one.left_noise) ", " (one.right_noise) }
                td { "A: " (one.left_because) " B: " (one.right_because) }
            }
        }
    };
    let heads = ["claim", "files", "A", "B", "control, A and B", "why"];
    html! {
        section id="verdicts" {
            h2 { "Changed verdicts" }
            @if changed.is_empty() { p class="empty" { "No verdict changed." } }
            @else { (frame::table(&heads, None, &rows)) }
        }
    }
}

fn studies(left: &Results, right: &Results) -> Markup {
    let value = |facts: &[(String, String)], what: &str| {
        facts.iter().find(|(name, _)| name == what).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = left.machine.iter().map(|(name, _)| name).collect();
    names.extend(right.machine.iter().map(|(name, _)| name));
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.as_str()));
    let dash = || super::number::NONE.to_owned();
    let paths = |study: &Results| {
        study.folders.iter().map(|it| it.path.as_str()).collect::<Vec<_>>().join(", ")
    };
    let rows = html! {
        tr { th { "Swath" } td { (left.version) } td { (right.version) } }
        tr { th { "begun" } td { (date(left.started)) } td { (date(right.started)) } }
        tr { th { "extent" } td { (left.method.extent) } td { (right.method.extent) } }
        tr { th { "rounds" } td { (left.method.rounds) } td { (right.method.rounds) } }
        tr { th { "folders" } td { (paths(left)) } td { (paths(right)) } }
        @for name in names {
            tr {
                th { (name) }
                td { (value(&left.machine, name).unwrap_or_else(dash)) }
                td { (value(&right.machine, name).unwrap_or_else(dash)) }
            }
        }
    };
    html! {
        section id="studies" {
            h2 { "Studies" }
            (frame::table(&["", "A", "B"], None, &rows))
        }
    }
}

fn summary(left: &Results, rows: &[Compared]) -> Markup {
    let count = |id: &str, differs: Differs| {
        rows.iter().filter(|row| row.id == id && row.differs() == differs).count()
    };
    let summed = html! {
        @for measured in &left.experiments {
            @if rows.iter().any(|row| row.id == measured.id) {
                tr {
                    th { a href={ "#" (anchor(&measured.id)) } { (measured.id) } }
                    td { (count(&measured.id, Differs::Faster)) }
                    td { (count(&measured.id, Differs::Slower)) }
                    td { (count(&measured.id, Differs::Undecided)) }
                }
            }
        }
    };
    html! {
        section id="summary" {
            h2 { "Summary" }
            @if rows.is_empty() {
                p class="empty" { "No series of an experiment was measured by both." }
            } @else {
                (frame::table(&["B is", "faster", "slower", "undecided"], None, &summed))
            }
        }
    }
}

fn experiment<'r>(
    left: &'r Results,
    measured: &'r Measured,
    rows: &[&Compared],
    ranks: &Ranks<'r>,
) -> Result<Markup> {
    let slots = ranks.slots(measured);
    let chart = ratio_chart(measured);
    let figures: Result<Vec<Markup>> = views(rows, &slots)
        .iter()
        .map(|view| figure(&chart, view, &left.folders, Some(1.0)))
        .collect();
    Ok(html! {
        article id=(anchor(&measured.id)) class="experiment" {
            div class="words" {
                h3 { (measured.id) " " span class="figure" { (measured.figure) } }
                @for claim in &measured.claims { p class="claim" { (claim.source) } }
            }
            div class="charts" {
                @if !slots.is_empty() { (legend(&slots, Sign::Line)) }
                div class="chart" { h4 { (chart.title) } @for figure in figures? { (figure) } }
                (table(left, rows))
            }
        }
    })
}

/// Returns a chart of the ratio over the experiment's horizontal axis.
fn ratio_chart(measured: &Measured) -> Chart {
    let first = measured.charts.first();
    let named = measured.charts.iter().find(|chart| !chart.x_names.is_empty());
    Chart {
        title: "times as fast".to_owned(),
        x: first.map(|chart| chart.x.clone()).unwrap_or_default(),
        x_log: first.is_some_and(|chart| chart.x_log),
        x_names: named.map(|chart| chart.x_names.clone()).unwrap_or_default(),
        y: Measure::SpeedUp { series: "A".to_owned(), x: None },
        y_log: false,
    }
}

fn views(rows: &[&Compared], slots: &[(&str, u8)]) -> Vec<View> {
    let mut kinds: Vec<(usize, State)> =
        rows.iter().map(|row| (row.folder, row.state)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let view = |(folder, state): (usize, State)| {
        let here = |row: &&&Compared| row.folder == folder && row.state == state;
        let of = |series: &str| -> Vec<ChartPoint> {
            rows.iter()
                .filter(here)
                .filter(|row| row.series == series)
                .map(|row| at(row))
                .collect()
        };
        let lines = slots.iter().map(|(series, slot)| SeriesLine {
            series: (*series).to_owned(),
            slot: *slot,
            points: of(series),
        });
        let has = |state| kinds.contains(&(folder, state));
        View {
            folder,
            state,
            has_both: has(State::Warm) && has(State::Cold),
            lines: lines.filter(|line| !line.points.is_empty()).collect(),
        }
    };
    kinds.iter().copied().map(view).collect()
}

fn at(row: &Compared) -> ChartPoint {
    ChartPoint {
        x: row.x,
        middle: row.ratio.estimate,
        low: row.ratio.lower,
        high: row.ratio.upper,
        count: None,
    }
}

fn table(left: &Results, rows: &[&Compared]) -> Markup {
    let heads = ["series", "place", "files", "folder", "A", "B", "times as fast", "B is"];
    let rows = html! { @for row in rows { (table_row(left, row)) } };
    html! {
        details class="whole" {
            summary { "Medians and intervals" }
            (frame::table(&heads, None, &rows))
        }
    }
}

fn table_row(left: &Results, row: &Compared) -> Markup {
    let unit = Unit::of(&Measure::Seconds, row.left.max(row.right));
    let differs = match row.differs() {
        Differs::Faster => "faster",
        Differs::Slower => "slower",
        Differs::Undecided => "undecided",
    };
    html! {
        tr {
            th { (row.series) } td { (row.place) } td { (row.state.files()) }
            td { (folder_name(&left.folders, row.folder)) }
            td { (unit.text(row.left)) } td { (unit.text(row.right)) }
            td { (interval(&row.ratio)) } td { (differs) }
        }
    }
}
