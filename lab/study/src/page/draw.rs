//! Draws a view: lines over numbers here, bars for names in [`super::bars`].
//!
//! ```text
//! ms                                   serial  ═════════════╪═
//!  │ ●─┼─●                      small  pool    ══════╪
//!  │      ╲                            serial  ════════╪══
//!  │       ●─┼─●                large  pool    ═══╪
//!  └────────────── threads                    └────────────── ms
//! ```
//!
//! `plotters` lays out axes, maps numbers to places and makes the shapes. All drawings have the same
//! width, and the height that they need.

use anyhow::{Result, anyhow};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::BackendCoord;

use super::ink::{RADIUS, shape};
use super::number::{Unit, short};
use super::points::{ChartPoint, SeriesLine, View};
use super::scale::Axis;
use super::svg::{Canvas, Ink};
use crate::results::{Chart, Measure};

/// The width of a drawing in units; on a phone a unit is less than half a pixel.
pub(super) const WIDTH: u32 = 960;
pub(super) const HEIGHT: u32 = 620;
const FONT: u32 = 27;

/// A drawing, and the places of its points.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) width: u32,
    pub(super) height: u32,
    /// The content of the `<svg>`, escaped.
    pub(super) body: String,
    /// The places of the points, in the order of the view's lines and their points.
    pub(super) places: Vec<(i32, i32)>,
}

pub(super) type Area<'t> = DrawingArea<Canvas<'t>, Shift>;
pub(super) type Context<'a, 't> = ChartContext<'a, Canvas<'t>, Cartesian2d<AxisSpan, AxisSpan>>;

/// Converts an error of `plotters` to text, because its type cannot cross threads.
pub(super) fn drawn<T, E: std::fmt::Display>(outcome: Result<T, E>) -> Result<T> {
    outcome.map_err(|error| anyhow!("a chart cannot be drawn: {error}"))
}

pub(super) fn value_axis(chart: &Chart, view: &View, unit: &Unit, mark: Option<f64>) -> Axis {
    let ends = view.points().flat_map(|point| [point.low, point.middle, point.high]);
    let values = ends.chain(mark).map(|value| unit.scaled(value));
    if chart.y_log { Axis::log(values) } else { Axis::linear(values) }
}

pub(super) fn text_style(horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    let font = ("sans-serif", f64::from(FONT) * 1.24).into_font();
    font.color(&Ink::TEXT.color()).pos(Pos::new(horizontal, vertical))
}

/// Returns the label of a number on a horizontal axis.
fn place_label(chart: &Chart, number: f64) -> String {
    let is_bytes = chart.x.contains("byte") || chart.x.contains("size");
    let named = if is_bytes { bytes(number) } else { None };
    named.unwrap_or_else(|| short(number))
}

/// Formats bytes in binary units, as in `64Ki`; `None` unless it is a whole number of KiB.
fn bytes(number: f64) -> Option<String> {
    let (mut number, mut name) = (number, "");
    for next in ["Ki", "Mi", "Gi", "Ti"] {
        if number < 1024.0 || number % 1024.0 != 0.0 {
            break;
        }
        (number, name) = (number / 1024.0, next);
    }
    (!name.is_empty()).then(|| format!("{number}{name}"))
}

/// An axis for `plotters`: the places of its lines, and their labels.
pub(super) struct AxisSpan {
    coordinate: RangedCoordf64,
    labels: Vec<(f64, String)>,
}

impl AxisSpan {
    pub(super) fn new(from: f64, to: f64, labels: Vec<(f64, String)>) -> Self {
        Self { coordinate: (from..to).into(), labels }
    }

    /// Returns the span of `axis` with its lines.
    pub(super) fn of(axis: &Axis, label: impl Fn(f64) -> String) -> Self {
        let labels = axis.ticks.iter().map(|(place, number)| (*place, label(*number)));
        Self::new(axis.from, axis.to, labels.collect())
    }
}

impl Ranged for AxisSpan {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.coordinate.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.labels.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.coordinate.range()
    }
}

impl ValueFormatter<f64> for AxisSpan {
    fn format_ext(&self, value: &f64) -> String {
        let found = self.labels.iter().find(|(place, _)| place == value);
        found.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Draws lines into `body`, and a horizontal line at `mark`; returns the places of the points.
///
/// # Errors
///
/// If the chart cannot be laid out.
pub(super) fn numbers(
    chart: &Chart,
    view: &View,
    unit: &Unit,
    mark: Option<f64>,
    body: &mut String,
) -> Result<Vec<(i32, i32)>> {
    let area = Canvas::new(body, WIDTH, HEIGHT).into_drawing_area();
    let across: Vec<f64> = view.points().map(|point| point.x).collect();
    let x = Axis::of_places(&across, chart.x_log);
    let y = value_axis(chart, view, unit, mark);
    let longest = y.ticks.iter().map(|(_, number)| short(*number).chars().count()).max();
    let left = 34 + 15 * u32::try_from(longest.unwrap_or(1))?;
    let mut context: Context<'_, '_> = drawn(
        ChartBuilder::on(&area)
            .margin_top(58)
            .margin_right(28)
            .x_label_area_size(88)
            .y_label_area_size(left)
            .build_cartesian_2d(
                AxisSpan::of(&x, |it| place_label(chart, it)),
                AxisSpan::of(&y, short),
            ),
    )?;
    mesh(&mut context, &axis_name(&chart.x, chart.x_log), true)?;
    let heading = axis_name(&measure_name(&chart.y, unit), chart.y_log);
    drawn(area.draw(&Text::new(heading, (4, 6), text_style(HPos::Left, VPos::Top))))?;
    if let Some(mark) = mark {
        let at = y.place(unit.scaled(mark));
        let line = PathElement::new([(x.from, at), (x.to, at)], Ink::AXIS.style());
        drawn(context.draw_series([line]))?;
    }
    let mut places = Vec::new();
    let is_swept = across.iter().any(|&x| Some(&x) != across.first());
    for line in &view.lines {
        if let ([only], true) = (line.points.as_slice(), is_swept) {
            // A line across the whole width, for comparison.
            let at = y.place(unit.scaled(only.middle));
            let level =
                PathElement::new([(x.from, at), (x.to, at)], Ink::level(line.slot).style());
            drawn(context.draw_series([level]))?;
        }
        places.extend(series(&area, &context, line, |point| {
            let value = |number| y.place(unit.scaled(number));
            let x = x.place(point.x);
            [(x, value(point.low)), (x, value(point.middle)), (x, value(point.high))]
        })?);
    }
    Ok(places)
}

/// Draws the axes and the grid: lines up from the axis with the name `x`, and horizontal lines if
/// `across`.
///
/// # Errors
///
/// If there is no room for them.
pub(super) fn mesh(context: &mut Context<'_, '_>, x: &str, across: bool) -> Result<()> {
    let mut mesh = context.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(Ink::GRID.style())
        .axis_style(Ink::AXIS.style())
        .label_style(text_style(HPos::Center, VPos::Top))
        .x_desc(x)
        .axis_desc_style(text_style(HPos::Center, VPos::Top));
    if !across {
        mesh.disable_y_mesh();
    }
    drawn(mesh.draw())
}

/// Returns the label of an axis: its quantity, and whether it is logarithmic.
pub(super) fn axis_name(what: &str, is_log: bool) -> String {
    if is_log { format!("{what} (log scale)") } else { what.to_owned() }
}

/// Returns the label above the value axis.
pub(super) fn measure_name(measure: &Measure, unit: &Unit) -> String {
    let what = match measure {
        Measure::Seconds => "time",
        Measure::Rate => "rate",
        Measure::SpeedUp { series, .. } => return format!("times as fast as {series}"),
        Measure::Efficiency => return "efficiency".to_owned(),
        Measure::Metric { name, .. } | Measure::Course { name, .. } => {
            // The unit says it already.
            let name = name.trim_end_matches("_seconds").trim_end_matches("_bytes");
            let name = name.replace('_', " ");
            return if unit.name.is_empty() { name } else { format!("{name}, {}", unit.name) };
        }
    };
    format!("{what}, {}", unit.name)
}

/// Draws one line with its ranges and markers; returns the places of its points.
fn series(
    area: &Area<'_>,
    context: &Context<'_, '_>,
    line: &SeriesLine,
    placed: impl Fn(&ChartPoint) -> [(f64, f64); 3],
) -> Result<Vec<(i32, i32)>> {
    let pixels: Vec<[(i32, i32); 3]> = line
        .points
        .iter()
        .map(|point| placed(point).map(|place| context.backend_coord(&place)))
        .collect();
    let middles: Vec<(i32, i32)> = pixels.iter().map(|[_, middle, _]| *middle).collect();
    if middles.len() > 1 {
        drawn(area.draw(&PathElement::new(middles.clone(), Ink::line(line.slot).style())))?;
    }
    for [low, middle, high] in pixels {
        if low != high {
            range(area, line.slot, low, high)?;
        }
        marker(area, line.slot, middle)?;
    }
    Ok(middles)
}

pub(super) fn range(
    area: &Area<'_>,
    slot: u8,
    low: BackendCoord,
    high: BackendCoord,
) -> Result<()> {
    drawn(area.draw(&PathElement::new([low, high], Ink::range(slot).style())))
}

pub(super) fn marker(area: &Area<'_>, slot: u8, at: BackendCoord) -> Result<()> {
    let style = Ink::marker(slot).style();
    match shape(slot) {
        [] => drawn(area.draw(&Circle::new(at, u32::from(RADIUS), style))),
        corners => {
            let corners: Vec<(i32, i32)> =
                corners.iter().map(|(right, down)| (at.0 + right, at.1 + down)).collect();
            drawn(area.draw(&Polygon::new(corners, style)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::figure::draw;
    use crate::page::points::views;
    use crate::page::tests::{chart, run};
    use crate::results::Run;

    fn drawing(chart: &Chart, runs: &[Run]) -> Drawing {
        let views = views(chart, runs, &[("serial", 0), ("pool", 1)]);
        draw(chart, &views[0], &Unit::plain("s"), Some(1.0)).expect("drawn")
    }

    fn sweep() -> Vec<Run> {
        let places = [1.0, 2.0, 4.0];
        let one = |x: f64, round: usize| run("pool", x, round, (1.0 + round as f64) / x);
        places.into_iter().flat_map(|x| (0..3).map(move |round| one(x, round))).collect()
    }

    #[test]
    fn lines_go_down_where_times_do() {
        let found = drawing(&chart(Measure::Seconds), &sweep());
        assert_eq!(found.places.len(), 3);
        let [first, second, third] = found.places[..] else { panic!("three points") };
        assert!(first.0 < second.0 && second.0 < third.0, "{:?}", found.places);
        assert!(first.1 < second.1 && second.1 < third.1, "down is more: {:?}", found.places);
        assert_eq!(found.body.matches("class=\"m k1\"").count(), 3);
        assert_eq!(found.body.matches("class=\"e k1\"").count(), 3);
        assert_eq!(found.body.matches("class=\"l k1\"").count(), 1);
    }

    #[test]
    fn one_point_has_a_marker_and_no_line() {
        for (x_log, y_log) in [(false, false), (true, false), (false, true), (true, true)] {
            let chart = Chart { x_log, y_log, ..chart(Measure::Seconds) };
            let found = drawing(&chart, &[run("pool", 8.0, 0, 0.5)]);
            assert_eq!(found.places.len(), 1);
            assert!(!found.body.contains("class=\"l"), "{}", found.body);
            assert!(!found.body.contains("class=\"e"), "one run has no range");
            assert!(!found.body.contains("NaN") && !found.body.contains("inf"));
        }
    }

    #[test]
    fn a_series_at_one_place_is_a_level_beside_one_at_several() {
        let mut runs = sweep();
        runs.push(run("serial", 1.0, 0, 2.0));
        let found = drawing(&chart(Measure::Seconds), &runs);
        assert_eq!(found.body.matches("class=\"d k0\"").count(), 1, "{}", found.body);
        assert_eq!((found.body.matches("class=\"d k1\"").count(), found.places.len()), (0, 4));
    }

    #[test]
    fn zeros_on_logarithmic_axes_lie_on_a_line_of_their_own() {
        let runs = [run("pool", 0.0, 0, 0.0), run("pool", 1.0, 0, 10.0)];
        let chart = Chart { x_log: true, y_log: true, ..chart(Measure::Seconds) };
        let found = drawing(&chart, &runs);
        assert!(!found.body.contains("NaN") && !found.body.contains("inf"));
        let [zero, ten] = found.places[..] else { panic!("two points") };
        assert!(zero.0 < ten.0 && zero.1 > ten.1, "{:?}", found.places);
        assert!(found.body.contains(">0</text>"), "{}", found.body);
    }

    #[test]
    fn sizes_are_named_by_powers_of_two() {
        assert_eq!(bytes(65536.0).as_deref(), Some("64Ki"));
        assert_eq!(bytes(1048576.0).as_deref(), Some("1Mi"));
        assert_eq!(bytes(1000.0), None);
    }
}
