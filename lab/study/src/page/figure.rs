//! A figure on the page: the drawing, its hover values, the numbers as a table.

use anyhow::Result;
use maud::{Markup, PreEscaped, html};

use super::bars::{names, place_name};
use super::draw::{Drawing, HEIGHT, WIDTH, numbers};
use super::number::{Unit, number};
use super::points::{ChartPoint, SeriesLine, View, views};
use crate::results::{Chart, Folder, Measure, Run, State};

/// The data for all figures of an experiment.
#[derive(Clone, Copy)]
pub(super) struct FigureData<'r> {
    pub(super) runs: &'r [Run],
    pub(super) slots: &'r [(&'r str, u8)],
    pub(super) folders: &'r [Folder],
}

/// Renders the figures of a chart: one for each folder and state.
pub(super) fn figures(chart: &Chart, drawn: &FigureData<'_>) -> Result<Markup> {
    let views = views(chart, drawn.runs, drawn.slots);
    let has_numbers = !views.is_empty();
    let figures: Result<Vec<Markup>> =
        views.iter().map(|view| figure(chart, view, drawn.folders, None)).collect();
    Ok(html! {
        div class="chart" {
            h4 { (chart.title) }
            @if let Some(beside) = beside(chart) { p class="note" { (beside) } }
            @for figure in figures? { (figure) }
            @if !has_numbers { p class="empty" { "Not available here: no run could count it." } }
        }
    })
}

/// Returns the base of a ratio, in words.
fn beside(chart: &Chart) -> Option<String> {
    let Chart { x, y, .. } = chart;
    match y {
        Measure::SpeedUp { series, x: Some(place) } => {
            Some(format!("1 is {series} at {} {x}, in the same round.", number(*place)))
        }
        Measure::SpeedUp { series, x: None } => {
            Some(format!("1 is {series} at the same place, in the same round."))
        }
        Measure::Efficiency => Some(format!(
            "The speed-up of a series over itself at 1 {x}, divided by the {x}: 1 is all that could \
             be gained."
        )),
        _ => None,
    }
}

/// Renders one drawing with its title, table and legend. With a line at `mark` the values are estimates
/// with intervals.
pub(super) fn figure(
    chart: &Chart,
    view: &View,
    folders: &[Folder],
    mark: Option<f64>,
) -> Result<Markup> {
    let largest = view.points().map(|point| point.middle.abs()).fold(0.0, f64::max);
    let unit = Unit::of(&chart.y, largest);
    let drawing = draw(chart, view, &unit, mark)?;
    let columns = match mark {
        None => ["median", "lower quartile", "upper quartile"],
        Some(_) => ["estimate", "lower end", "upper end"],
    };
    let folder = folder_name(folders, view.folder);
    let caption = caption(view, (folders.len() > 1).then_some(folder.as_str()));
    Ok(html! {
        figure class="view" data-state=[switched(view)]
            data-folder=[(folders.len() > 1).then_some(view.folder)] {
            @if let Some(caption) = &caption { figcaption { (caption) } }
            (svg(chart, &unit, &drawing))
            (table(chart, view, &unit, columns))
        }
    })
}

/// Draws `view` of `chart` in `unit`, with a line at `mark`.
///
/// # Errors
///
/// If the chart cannot be laid out.
pub(super) fn draw(
    chart: &Chart,
    view: &View,
    unit: &Unit,
    mark: Option<f64>,
) -> Result<Drawing> {
    let mut body = String::new();
    let (height, places) = if chart.x_names.is_empty() {
        (HEIGHT, numbers(chart, view, unit, mark, &mut body)?)
    } else {
        names(chart, view, unit, mark, &mut body)?
    };
    Ok(Drawing { width: WIDTH, height, body, places })
}

/// Returns the state that a switch shows or hides, if there is a switch.
fn switched(view: &View) -> Option<&'static str> {
    match view.state {
        State::Warm if view.has_both => Some("warm"),
        State::Cold if view.has_both => Some("cold"),
        _ => None,
    }
}

fn caption(view: &View, folder: Option<&str>) -> Option<String> {
    let state = match view.state {
        State::Warm => Some("warm files"),
        State::Cold => Some("cold files"),
        State::None => None,
    };
    match (state, folder) {
        (Some(state), Some(folder)) => Some(format!("{state}, {folder}")),
        (Some(only), None) | (None, Some(only)) => Some(only.to_owned()),
        (None, None) => None,
    }
}

/// Returns the path of a folder, or its number if it has none.
pub(super) fn folder_name(folders: &[Folder], index: usize) -> String {
    let folder = folders.get(index);
    folder.map_or_else(|| format!("folder {}", index + 1), |folder| folder.path.clone())
}

fn svg(chart: &Chart, unit: &Unit, drawing: &Drawing) -> Markup {
    let Drawing { width, height, body, places } = drawing;
    let points = places.len();
    let label = format!("{}: {points} points. Arrow keys go through them.", chart.title);
    let place = if chart.x_names.is_empty() { chart.x.as_str() } else { "" };
    html! {
        div class="plot" {
            svg viewBox=(format!("0 0 {width} {height}")) role="img" tabindex="0"
                aria-label=(label) data-points=(points) data-unit=(unit.name) data-place=(place) {
                (PreEscaped(body))
            }
        }
    }
}

/// Renders the numbers, with a row for each point in drawing order, from which the script takes its hover
/// text. `columns` name the number and the ends of its range.
fn table(chart: &Chart, view: &View, unit: &Unit, columns: [&str; 3]) -> Markup {
    let [middle, low, high] = columns;
    let middle = match unit.name.as_str() {
        "" => middle.to_owned(),
        name => format!("{middle}, {name}"),
    };
    let PreEscaped(table) = html! {
        table {
            thead { tr {
                th { "series" } th { (chart.x) } th { (middle) } th { (low) } th { (high) }
                th { "runs" }
            } }
            @for line in &view.lines {
                tbody { @for index in 0..line.points.len() { (row(chart, unit, line, index)) } }
            }
        }
    };
    html! {
        details class="numbers" {
            summary { "Numbers" }
            div class="scroll" tabindex="0" { (PreEscaped(without_ends(&table))) }
        }
    }
}

fn row(chart: &Chart, unit: &Unit, line: &SeriesLine, index: usize) -> Markup {
    let ChartPoint { x, middle, low, high, count } = line.points[index];
    html! {
        tr {
            @if index == 0 { th rowspan=(line.points.len()) { (line.series) } }
            td { (place_name(chart, x)) }
            td { (unit.number(middle)) }
            td { (unit.number(low)) }
            td { (unit.number(high)) }
            td { @if let Some(count) = count { (count) } }
        }
    }
}

/// Removes the end tags of rows and cells, which HTML does not require: a sixth of the table's size. Its
/// text must have no `<`.
fn without_ends(table: &str) -> String {
    ["</td>", "</th>", "</tr>", "</tbody>", "</thead>"]
        .into_iter()
        .fold(table.to_owned(), |table, end| table.replace(end, ""))
}
