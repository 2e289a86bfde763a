//! A chart as a table for papers: a row for each series, a column for each place.

use super::bars::place_name;
use super::number::{NONE, Unit};
use super::points::{SeriesLine, views};
use crate::results::{Chart, Run};

/// Medians of a chart.
pub(crate) struct Grid {
    /// The quantity of the places, and the unit of the medians, if they have one.
    pub(crate) corner: String,
    /// The places.
    pub(crate) places: Vec<String>,
    /// The name of a series, and its median at each place.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

/// Returns the medians of a chart in the first folder; `None` without numbers.
pub(crate) fn grid(chart: &Chart, runs: &[Run]) -> Option<Grid> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.series.as_str()) {
            names.push(&run.series);
        }
    }
    names.sort_unstable();
    let slots: Vec<(&str, u8)> = names.into_iter().map(|name| (name, 0)).collect();
    let view = views(chart, runs, &slots).into_iter().next()?;
    let largest = view.points().map(|point| point.middle.abs()).fold(0.0, f64::max);
    let unit = Unit::of(&chart.y, largest);
    let mut places: Vec<f64> = view.points().map(|point| point.x).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    let cells = |line: &SeriesLine| {
        let at = |x: &f64| line.points.iter().find(|point| point.x.total_cmp(x).is_eq());
        let text = |x| at(x).map_or_else(|| NONE.to_owned(), |point| unit.number(point.middle));
        places.iter().map(text).collect()
    };
    let rows = view.lines.iter().map(|line| (line.series.clone(), cells(line))).collect();
    let corner = match unit.name.as_str() {
        "" => chart.x.clone(),
        unit => format!("{unit}, by {}", chart.x),
    };
    Some(Grid { corner, places: places.iter().map(|&x| place_name(chart, x)).collect(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{chart, run};
    use crate::results::Measure;

    #[test]
    fn each_series_has_its_median_at_each_place_and_a_dash_where_it_did_not_run() {
        let mut runs = vec![run("pull", 10.0, 0, 3.0), run("fixed", 10.0, 0, 4.5)];
        runs.extend((0..3).map(|round| run("pull", 100.0, round, 1.0 + round as f64)));
        let grid = grid(&chart(Measure::Seconds), &runs).expect("numbers");
        assert_eq!(grid.corner, "s, by threads");
        assert_eq!(grid.places, ["10", "100"]);
        let row =
            |name: &str, cells: [&str; 2]| (name.to_owned(), cells.map(Into::into).to_vec());
        assert_eq!(grid.rows, [row("fixed", ["4.5", NONE]), row("pull", ["3", "2"])]);
        assert!(super::grid(&chart(Measure::Seconds), &[]).is_none());
    }
}
