//! Bars for places with names: a group for each name, with a bar for each series.
//!
//! Bars are horizontal, so that names fit on a phone. On an axis that does not begin at 0, such as a
//! logarithmic one, a point replaces the bar.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::BackendCoord;

use super::draw::{
    Area, AxisSpan, Context, WIDTH, axis_name, drawn, marker, measure_name, mesh, range,
    text_style, value_axis,
};
use super::number::{Unit, number, short};
use super::points::{ChartPoint, View};
use super::svg::{Canvas, Ink};
use crate::results::Chart;

/// The width of a bar with the gap to the next.
const BAR: u32 = 34;
const GROUP_GAP: u32 = 26;

/// Draws bars into `body`, and a vertical line at `mark`; returns the height of the drawing, and the
/// places of its points.
///
/// # Errors
///
/// If the chart cannot be laid out.
pub(super) fn names(
    chart: &Chart,
    view: &View,
    unit: &Unit,
    mark: Option<f64>,
    body: &mut String,
) -> Result<(u32, Vec<(i32, i32)>)> {
    let rows = Rows::of(view);
    let height = 58 + rows.height + 88;
    let area = Canvas::new(body, WIDTH, height).into_drawing_area();
    let values = value_axis(chart, view, unit, mark);
    let down = AxisSpan::new(f64::from(rows.height), 0.0, Vec::new());
    let mut context: Context<'_, '_> = drawn(
        ChartBuilder::on(&area)
            .margin_top(58)
            .margin_right(40)
            .x_label_area_size(88)
            .y_label_area_size(270)
            .build_cartesian_2d(AxisSpan::of(&values, short), down),
    )?;
    let name = axis_name(&measure_name(&chart.y, unit), chart.y_log);
    mesh(&mut context, &name, false)?;
    drawn(area.draw(&Text::new(chart.x.as_str(), (4, 6), text_style(HPos::Left, VPos::Top))))?;
    for (x, top, bottom) in &rows.groups {
        let center = f64::midpoint(f64::from(*top), f64::from(*bottom));
        let (left, middle) = context.backend_coord(&(values.from, center));
        let lines = wrapped(&place_name(chart, *x));
        for (index, text) in lines.iter().enumerate() {
            let index = i32::try_from(index)? * 2 + 1 - i32::try_from(lines.len())?;
            let place = (left - 18, middle + index * 15);
            drawn(area.draw(&Text::new(
                text.as_str(),
                place,
                text_style(HPos::Right, VPos::Center),
            )))?;
        }
    }
    if let Some(mark) = mark {
        let at = values.place(unit.scaled(mark));
        let ends = [(at, 0.0), (at, f64::from(rows.height))];
        drawn(context.draw_series([PathElement::new(ends, Ink::AXIS.style())]))?;
    }
    let mut places = Vec::new();
    for (line, line_rows) in view.lines.iter().zip(&rows.of_lines) {
        for (point, top) in line.points.iter().zip(line_rows) {
            let center = f64::from(*top) + f64::from(BAR) / 2.0;
            let at =
                |value: f64| context.backend_coord(&(values.place(unit.scaled(value)), center));
            places.push(bar(&area, at, values.is_from_zero(), line.slot, point)?);
        }
    }
    Ok((height, places))
}

/// Draws a bar; `at` maps a value to its place.
fn bar(
    area: &Area<'_>,
    at: impl Fn(f64) -> BackendCoord,
    is_from_zero: bool,
    slot: u8,
    point: &ChartPoint,
) -> Result<BackendCoord> {
    let middle = at(point.middle);
    if is_from_zero {
        let (zero, _) = at(0.0);
        let (up, down) = (middle.1 - 12, middle.1 + 12);
        let corners = [(zero, up), (middle.0.max(zero + 1), down)];
        drawn(area.draw(&Rectangle::new(corners, Ink::bar(slot).style())))?;
    }
    let (low, high) = (at(point.low), at(point.high));
    if low != high {
        range(area, slot, low, high)?;
    }
    marker(area, slot, middle)?;
    Ok(middle)
}

/// Returns the name of a place, or its number.
pub(crate) fn place_name(chart: &Chart, x: f64) -> String {
    let named = chart.x_names.iter().enumerate().find(|(index, _)| *index as f64 == x);
    named.map_or_else(|| number(x), |(_, name)| name.clone())
}

/// Wraps a text into at most three lines of about 17 letters; `…` ends a text that is cut.
fn wrapped(text: &str) -> Vec<String> {
    const LETTERS: usize = 17;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > 3 {
        lines.truncate(3);
        lines[2].push('…');
    }
    for line in &mut lines {
        if line.chars().count() > LETTERS {
            *line = line.chars().take(LETTERS - 1).chain(['…']).collect();
        }
    }
    lines
}

/// The vertical layout of the bars.
struct Rows {
    height: u32,
    /// Each group's place, top and bottom.
    groups: Vec<(f64, u32, u32)>,
    /// The top of each point's bar, by line.
    of_lines: Vec<Vec<u32>>,
}

impl Rows {
    fn of(view: &View) -> Self {
        let mut places: Vec<f64> = view.points().map(|point| point.x).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        let mut of_lines: Vec<Vec<u32>> = vec![Vec::new(); view.lines.len()];
        let (mut height, mut groups) = (GROUP_GAP / 2, Vec::new());
        for x in places {
            let top = height;
            for (line, tops) in view.lines.iter().zip(&mut of_lines) {
                if line.points.iter().any(|point| point.x == x) {
                    tops.push(height);
                    height += BAR;
                }
            }
            // A name of three lines is higher than one bar.
            height = height.max(top + 2 * BAR);
            groups.push((x, top, height));
            height += GROUP_GAP;
        }
        Self { height: height.max(BAR), groups, of_lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::figure::draw;
    use crate::page::points::views;
    use crate::page::tests::{chart, run};
    use crate::results::Measure;

    #[test]
    fn names_have_a_bar_for_each_series() {
        let chart = Chart {
            x_names: vec!["500 small".into(), "a very long name of 31 files".into()],
            ..chart(Measure::Seconds)
        };
        let runs = [
            run("pool", 0.0, 0, 1.0),
            run("pool", 1.0, 0, 2.0),
            run("serial", 0.0, 0, 3.0),
            run("serial", 7.0, 0, 4.0),
        ];
        let drawing = |chart: &Chart| {
            let views = views(chart, &runs, &[("serial", 0), ("pool", 1)]);
            draw(chart, &views[0], &Unit::plain("s"), None).expect("drawn")
        };
        let found = drawing(&chart);
        assert_eq!(found.places.len(), 4);
        assert_eq!(found.body.matches("class=\"b ").count(), 4);
        assert!(found.body.contains(">500 small</text>"), "{}", found.body);
        assert!(found.body.contains(">7</text>"), "a place without a name has its number");
        let logarithmic = drawing(&Chart { y_log: true, ..chart.clone() });
        assert!(!logarithmic.body.contains("class=\"b "), "no bar can begin at 0");
        assert_eq!(logarithmic.body.matches("class=\"m ").count(), 4);
    }

    #[test]
    fn names_are_wrapped_and_cut() {
        assert_eq!(wrapped("124 × 1 MB"), ["124 × 1 MB"]);
        assert_eq!(wrapped("separate files by rename"), ["separate files by", "rename"]);
        assert_eq!(wrapped("a_name_without_any_gap_in_it"), ["a_name_without_a…"]);
        assert_eq!(wrapped(&"word ".repeat(20)).len(), 3);
    }
}
