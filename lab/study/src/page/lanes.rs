//! Draws one run of each engine: a lane for each worker and each read in flight, with its work from left
//! to right.

use std::collections::BTreeMap;

use anyhow::Result;
use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::draw::{AxisSpan, Context, WIDTH, drawn, mesh, text_style};
use super::experiment::{Sign, legend};
use super::frame;
use super::number::{Unit, short};
use super::scale::Axis;
use super::svg::{Canvas, Ink};
use crate::results::{Measure, Moment, Results, Timeline};

/// The height of a lane, including a gap of a third.
const LANE: u32 = 30;
/// The most lanes to draw; reads in flight may have more.
const MOST_LANES: usize = 24;

/// Renders all timelines, with a legend and their numbers.
///
/// # Errors
///
/// If a timeline cannot be laid out.
pub(super) fn timelines(results: &Results) -> Result<Markup> {
    let mut activities: Vec<&str> = Vec::new();
    for moment in results.timelines.iter().flat_map(|timeline| &timeline.moments) {
        if !activities.contains(&moment.activity.as_str()) {
            activities.push(&moment.activity);
        }
    }
    activities.sort_unstable();
    let slots: Vec<(&str, u8)> = activities.into_iter().zip(0..).collect();
    let figures: Result<Vec<Markup>> =
        results.timelines.iter().map(|timeline| figure(timeline, &slots)).collect();
    Ok(html! {
        section id="timelines" {
            h2 { "Timelines" }
            p { "Who did what, and when, in one run of each engine: lanes are workers, and reads that the kernel has in flight. " code { "--timeline FILE" } " of any command writes one of any run, for Perfetto." }
            @if slots.is_empty() { p class="empty" { "None was recorded." } }
            @else {
                article class="lanes" {
                    (legend(&slots, Sign::Box))
                    div class="charts" { @for figure in figures? { (figure) } }
                }
            }
        }
    })
}

fn figure(timeline: &Timeline, slots: &[(&str, u8)]) -> Result<Markup> {
    let (height, body) = draw(timeline, slots)?;
    let label = format!("{}, {}: what its lanes did over time", timeline.name, timeline.what);
    Ok(html! {
        div class="chart" {
            h4 { (timeline.name) }
            figure {
                figcaption { (timeline.what) }
                div class="plot" {
                    svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(label) {
                        (PreEscaped(body))
                    }
                }
                (numbers(timeline))
            }
        }
    })
}

fn draw(timeline: &Timeline, slots: &[(&str, u8)]) -> Result<(u32, String)> {
    let end = |moment: &Moment| moment.start + moment.seconds;
    let shown = timeline.lanes.len().min(MOST_LANES);
    let moments = timeline.moments.iter().filter(|moment| {
        moment.lane < shown && moment.start.is_finite() && moment.seconds.is_finite()
    });
    let last = moments.clone().map(end).fold(0.0, f64::max);
    let unit = Unit::of(&Measure::Seconds, last);
    let axis = Axis::linear([0.0, unit.scaled(last)].into_iter());
    let lanes = u32::try_from(shown.max(1))?;
    let height = 20 + lanes * LANE + 88;
    let mut body = String::new();
    let area = Canvas::new(&mut body, WIDTH, height).into_drawing_area();
    let down = AxisSpan::new(f64::from(lanes * LANE), 0.0, Vec::new());
    let mut context: Context<'_, '_> = drawn(
        ChartBuilder::on(&area)
            .margin_top(20)
            .margin_right(40)
            .x_label_area_size(88)
            .y_label_area_size(190)
            .build_cartesian_2d(AxisSpan::of(&axis, short), down),
    )?;
    mesh(&mut context, &format!("time, {}", unit.name), false)?;
    for (lane, name) in timeline.lanes.iter().take(shown).enumerate() {
        let middle = (lane as f64 + 0.5) * f64::from(LANE);
        let (left, y) = context.backend_coord(&(axis.from, middle));
        let style = text_style(HPos::Right, VPos::Center);
        drawn(area.draw(&Text::new(name.as_str(), (left - 14, y), style)))?;
    }
    for moment in moments {
        let slot = slots.iter().find(|(name, _)| *name == moment.activity);
        let top = moment.lane as f64 * f64::from(LANE);
        let corners = [
            (axis.place(unit.scaled(moment.start)), top + f64::from(LANE) * 0.15),
            (axis.place(unit.scaled(end(moment))), top + f64::from(LANE) * 0.85),
        ];
        let style = Ink::bar(slot.map_or(0, |(_, slot)| *slot)).style();
        drawn(context.draw_series([Rectangle::new(corners, style)]))?;
    }
    // Both write to the body until they are dropped.
    drop(context);
    drop(area);
    Ok((height, body))
}

/// Renders the count and the time of each activity on each lane.
fn numbers(timeline: &Timeline) -> Markup {
    let mut sums: BTreeMap<(usize, &str), (usize, f64, u64)> = BTreeMap::new();
    for moment in &timeline.moments {
        let sum = sums.entry((moment.lane, &moment.activity)).or_default();
        *sum = (sum.0 + 1, sum.1 + moment.seconds, sum.2 + moment.bytes);
    }
    let longest = sums.values().map(|sum| sum.1).fold(0.0, f64::max);
    let unit = Unit::of(&Measure::Seconds, longest);
    let together = format!("together, {}", unit.name);
    let rows = html! {
        @for ((lane, activity), (count, seconds, bytes)) in &sums {
            tr {
                td { (timeline.lanes.get(*lane).map_or("", String::as_str)) }
                td { (activity) } td { (count) } td { (bytes) }
                td { (unit.number(*seconds)) }
            }
        }
    };
    html! {
        details class="numbers" {
            summary { "Numbers" }
            (frame::table(&["lane", "what", "times", "bytes", &together], None, &rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(lane: usize, activity: &str, start: f64) -> Moment {
        Moment { lane, activity: activity.into(), start, seconds: 0.001, bytes: 10 }
    }

    fn page(timelines: Vec<Timeline>) -> String {
        timelines_of(&Results { timelines, ..Results::default() })
    }

    fn timelines_of(results: &Results) -> String {
        timelines(results).expect("drawn").into_string()
    }

    #[test]
    fn each_moment_is_a_box_on_its_lane_in_the_colour_of_its_activity() {
        let moments =
            vec![moment(0, "read", 0.0), moment(0, "wait", 0.001), moment(1, "read", 0.0)];
        let lanes = vec!["worker 0".into(), "worker <1>".into()];
        let html =
            page(vec![Timeline { name: "pool".into(), what: "1 MB".into(), lanes, moments }]);
        assert_eq!(html.matches("class=\"b k0\"").count(), 2, "{html}");
        assert_eq!(html.matches("class=\"b k1\"").count(), 1);
        assert!(html.contains(">worker 0</text>") && html.contains("worker &lt;1&gt;"));
        assert!(html.contains("time, ms") && !html.contains("<1>"));
    }

    #[test]
    fn without_any_it_says_so_and_what_is_no_number_is_not_drawn() {
        assert!(page(Vec::new()).contains("None was recorded"));
        let moments = vec![moment(0, "read", f64::NAN), moment(7, "read", 0.0)];
        let html = page(vec![Timeline {
            lanes: vec!["worker 0".into()],
            moments,
            ..Timeline::default()
        }]);
        assert!(!html.contains("class=\"b ") && !html.contains("NaN"), "{html}");
    }
}
