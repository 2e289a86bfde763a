//! The study as one page: `report.html`, and the page that compares two studies.
//!
//! A page is one self-contained file: its policy forbids the browser to load anything. `plotters` draws
//! the charts when the page is made, a style sheet sets their colours, and a few lines of script show hover
//! values and switch between warm and cold files. Without the script all charts are shown, one below the
//! other.
//!
//! ```text
//! Results → points (median, quartiles) → draw (axes, places) → svg (classes)
//!                └→ figure: table, which is also what a point says
//! ```
//!
//! ```
//! use swath_study::{page, results::Results};
//!
//! let html = page::render(&Results::default())?;
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! # anyhow::Ok(())
//! ```

mod bars;
mod compare;
mod draw;
mod experiment;
mod figure;
mod frame;
mod grid;
mod ink;
mod lanes;
mod number;
mod points;
mod scale;
mod side;
mod summary;
mod svg;

pub(crate) use bars::place_name;
pub use compare::{Changed, Compared, Differs, changed, compare};
pub(crate) use grid::grid;
pub use number::{date, size};
pub use side::render_comparison;

use anyhow::Result;
use maud::html;

use crate::results::{Results, State};

/// Makes `report.html` from the results of a study, finished or not.
///
/// All text from `results` is escaped. A point of a chart, with its row of the table, takes about 250
/// bytes: 12,000 points are 3 MB. The call takes a second or less.
///
/// # Errors
///
/// If a chart cannot be laid out.
pub fn render(results: &Results) -> Result<String> {
    let sections = [
        ("experiments", "Experiments"),
        ("timelines", "Timelines"),
        ("limits", "Limits"),
        ("findings", "Findings"),
        ("machine", "Machine"),
    ];
    let switches = frame::switches(&states(results), &results.folders, &sections);
    let body = html! {
        (summary::heading(results))
        div id="experiments" { (experiment::experiments(results)?) }
        (lanes::timelines(results)?)
        (experiment::limits(results))
        (summary::findings(results))
        (summary::machine(results))
        footer { p class="note" { "Made by swath study " (results.version) "." } }
    };
    Ok(frame::page("Swath study", &switches, &body))
}

/// Returns the states of all runs.
fn states(results: &Results) -> Vec<State> {
    let all = results.experiments.iter().flat_map(|measured| &measured.runs);
    let has = |state| all.clone().any(|run| run.state == state);
    [State::Warm, State::Cold, State::None].into_iter().filter(|state| has(*state)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{
        Chart, Claimed, Finding, Folder, Holds, Limit, Measure, Measured, Progress, Run, Source,
    };
    use swath_profile::stats::Interval;

    pub(super) fn run(series: &str, x: f64, round: usize, seconds: f64) -> Run {
        Run { series: series.into(), x, round, seconds, bytes: 1 << 30, ..Run::default() }
    }

    pub(super) fn chart(y: Measure) -> Chart {
        Chart {
            title: "time by threads".into(),
            x: "threads".into(),
            x_log: false,
            x_names: Vec::new(),
            y,
            y_log: false,
        }
    }

    pub(super) fn measured(id: &str, runs: Vec<Run>) -> Measured {
        Measured {
            id: id.into(),
            study: "A".into(),
            figure: "figure 1".into(),
            claims: vec![Claimed {
                id: id.into(),
                source: Source::quoted("More threads are faster", "§1"),
                rule: "Two are at least 1.1 × as fast as one.".into(),
                verdicts: vec![Finding::default()],
            }],
            charts: vec![chart(Measure::Seconds)],
            state: Progress::Done,
            runs,
            ..Measured::default()
        }
    }

    fn page_of(experiments: Vec<Measured>) -> String {
        render(&Results { experiments, ..Results::default() }).expect("a page")
    }

    #[test]
    fn nothing_measured_is_a_page_all_the_same() {
        let page = page_of(Vec::new());
        assert!(page.contains("0 claims"), "{page}");
        assert!(!page.contains("<fieldset"), "there is nothing to switch");
    }

    #[test]
    fn each_chart_has_its_points() {
        let runs = vec![run("pool", 1.0, 0, 2.0), run("pool", 2.0, 0, 1.0)];
        let page = page_of(vec![measured("a-threads", runs)]);
        assert!(page.contains("data-points=\"2\""));
        assert_eq!(page.matches("class=\"m k0\"").count(), 1 + 2, "the legend has one, too");
        assert!(page.contains("href=\"#experiment-a-threads\""));
        assert!(page.contains("id=\"experiment-a-threads\""));
    }

    #[test]
    fn a_claim_has_its_words_its_rule_and_a_verdict_for_each_state_beside_the_noise() {
        let mut experiment = measured("a-threads", vec![run("pool", 1.0, 0, 2.0)]);
        experiment.noise = Some(0.36);
        let share = Interval { estimate: 5.065, lower: 5.0, upper: 5.1 };
        experiment.claims[0].verdicts = vec![
            Finding {
                verdict: Holds::Yes,
                because: "warm because".into(),
                of_limit: Some(share),
                ..Finding::default()
            },
            Finding {
                state: State::Cold,
                verdict: Holds::No,
                because: "cold because".into(),
                ..Finding::default()
            },
        ];
        let page = page_of(vec![experiment]);
        let table = page.split("id=\"findings\"").nth(1).expect("findings");
        let table = table.split("</table>").next().expect("a table");
        for words in [
            "“More threads are faster” (§1)",
            "at least 1.1 × as fast as one",
            ">warm<",
            ">cold<",
            "holds</span>",
            "does not hold</span>",
            "noisy: 36 %",
            "warm because",
            "cold because",
            "506.5 %",
            "More than all of it",
        ] {
            assert!(table.contains(words), "{words}: {table}");
        }
        assert_eq!(table.matches("noisy: 36 %").count(), 2, "beside each verdict");
        assert!(
            page.contains("gave 2 verdicts: 1 holds here, 1 does not hold, 0 are undecided")
        );
    }

    #[test]
    fn ratios_say_what_they_are_compared_with() {
        let mut experiment = measured("a", vec![run("pool", 1.0, 0, 2.0)]);
        experiment.charts = vec![
            chart(Measure::SpeedUp { series: "serial".into(), x: Some(1.0) }),
            chart(Measure::SpeedUp { series: "serial".into(), x: None }),
            chart(Measure::Efficiency),
        ];
        let page = page_of(vec![experiment]);
        for words in [
            "1 is serial at 1 threads",
            "1 is serial at the same place",
            "The speed-up of a series over itself at 1 threads, divided by the threads",
        ] {
            assert!(page.contains(words), "{words}");
        }
    }

    #[test]
    fn what_did_not_run_says_why() {
        let states = [
            Progress::Skipped("no memory cgroup".into()),
            Progress::Failed("disk full".into()),
            Progress::Stopped,
        ];
        let claim = Claimed::default;
        let experiments = states.map(|state| Measured {
            state,
            claims: vec![claim()],
            ..measured("a", Vec::new())
        });
        let page = page_of(experiments.into());
        for words in ["skipped</span>", "no memory cgroup", "failed</span>", "disk full"] {
            assert!(page.contains(words), "{words}");
        }
        assert!(page.contains("Stopped early") && page.contains("; 3 claims were not judged"));
    }

    #[test]
    fn what_comes_from_outside_is_escaped_everywhere() {
        let evil = "</script><script>alert(1)</script>\"'<b>&";
        let both = || (evil.to_owned(), evil.to_owned());
        let mut experiment =
            measured(evil, vec![run(evil, 0.0, 0, 1.0), run("b", 0.0, 0, 1.0)]);
        experiment.study = evil.into();
        experiment.figure = evil.into();
        experiment.scale = evil.into();
        let said = |text: &'static str| Source::quoted(text, text);
        let claim = &mut experiment.claims[0];
        (claim.id, claim.source, claim.rule) = (evil.into(), said(evil), evil.into());
        experiment.absent = vec![both()];
        experiment.claims[0].verdicts[0].because = evil.into();
        let named = Chart {
            title: evil.into(),
            x: evil.into(),
            x_names: vec![evil.into()],
            ..chart(Measure::Metric { name: evil.into(), unit: evil.into() })
        };
        let seconds = Chart { y: Measure::Seconds, ..named.clone() };
        experiment.charts =
            vec![named.clone(), seconds, Chart { x_names: Vec::new(), ..named }];
        experiment.runs[0].metrics.insert(evil.into(), 1.0);
        let folder = || Folder { path: evil.into(), facts: vec![both()] };
        let value = Interval { estimate: 1.0, lower: 1.0, upper: 1.0 };
        let results = Results {
            version: evil.into(),
            machine: vec![both()],
            folders: vec![folder(), folder()],
            limits: vec![Limit {
                name: evil.into(),
                folder: Some(1),
                value,
                unit: evil.into(),
            }],
            experiments: vec![experiment],
            ..Results::default()
        };
        let comparison = render_comparison(&results, &results).expect("a page");
        for page in [render(&results).expect("a page"), comparison] {
            assert_eq!(page.matches("<script").count(), 1, "only our own");
            assert!(!page.contains("<b>&"), "no tag of theirs");
            assert!(page.contains("&lt;script&gt;alert(1)"));
        }
    }

    #[test]
    fn what_is_no_number_is_never_shown_as_one() {
        let mut experiment = measured("a", vec![run("pool", 1.0, 0, f64::NAN)]);
        experiment.runs.push(Run { x: f64::INFINITY, ..run("pool", 1.0, 0, 1.0) });
        experiment.runs.push(run("pool", 2.0, 0, 0.0));
        experiment.charts.push(Chart { y_log: true, x_log: true, ..chart(Measure::Seconds) });
        experiment.charts.push(Chart { y_log: true, ..chart(Measure::Rate) });
        experiment.charts.push(chart(Measure::Efficiency));
        experiment.noise = Some(f64::NAN);
        let no_number = Interval { estimate: f64::NAN, lower: f64::NAN, upper: f64::INFINITY };
        experiment.claims[0].verdicts[0].of_limit = Some(no_number);
        let limit =
            Limit { name: "sum".into(), folder: None, value: no_number, unit: "GB/s".into() };
        let results = Results {
            limits: vec![limit],
            experiments: vec![experiment],
            ..Results::default()
        };
        let page = render(&results).expect("a page");
        let shown = page.split("<script>").next().expect("before the script");
        assert!(!shown.contains("NaN"), "no number is a dash");
        assert!(!shown.contains(">inf") && !shown.contains("\"inf") && !shown.contains(" inf"));
    }
}
