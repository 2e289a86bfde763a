//! The page of a synthetic study: its size, and its display in a browser.
//!
//! The tests in a browser are skipped without Chromium. If `SWATH_SCREENSHOTS` names a folder, screenshots
//! are written to it.

mod chromium;
mod made_up;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use chromium::Chromium;
use serde_json::{Value, json};
use swath_reference::battery::BatterySize;
use swath_study::page::{compare, render, render_comparison};
use swath_study::results::{Progress, Results};
use tempfile::TempDir;

/// The bytes below which a page must stay.
const LARGEST: usize = 3_000_000;

#[test]
fn the_page_of_a_full_study_is_below_three_megabytes() {
    let page = render(&made_up::study(1)).expect("a page");
    assert!(page.len() < LARGEST, "{} bytes", page.len());
}

#[test]
fn no_chart_of_a_full_study_has_what_is_no_number() {
    let page = render(&made_up::study(2)).expect("a page");
    for chart in page.split("<svg ").skip(1) {
        let chart = chart.split("</svg>").next().expect("it ends");
        assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
    }
}

#[test]
fn the_same_results_give_the_same_page() {
    let study = made_up::study(3);
    assert_eq!(render(&study).expect("a page"), render(&study).expect("a page"));
}

/// A page that a browser has open.
struct Opened {
    browser: Chromium,
    _folder: TempDir,
    url: String,
}

impl Opened {
    /// Opens a page; without a browser, reports a skip and returns `None`.
    fn new(page: &str, width: u32) -> Option<Self> {
        let mut browser = match Chromium::start() {
            Ok(browser) => browser,
            Err(reason) => {
                swath_reference::skip("chromium", reason);
                return None;
            }
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.html");
        std::fs::write(&path, page).expect("written");
        let url = format!("file://{}", path.display());
        browser.resize(width, 900);
        browser.open(&url);
        Some(Self { browser, _folder: folder, url })
    }

    fn value(&mut self, expression: &str) -> Value {
        self.browser.value(expression)
    }

    fn count(&mut self, query: &str) -> usize {
        let count = self.value(&format!("document.querySelectorAll({}).length", json!(query)));
        usize::try_from(count.as_u64().expect("a number")).expect("few")
    }

    /// Returns the number of visible figures in a state.
    fn shown(&mut self, state: &str) -> u64 {
        let expression = format!(
            "[...document.querySelectorAll('figure[data-state={state}]')]
               .filter((figure) => figure.getClientRects().length > 0).length"
        );
        self.value(&expression).as_u64().expect("a number")
    }

    /// Asserts that nothing is wider than the window, except content that scrolls in its own box.
    ///
    /// `width` is given, because a phone shows a page that is too wide in a wider window.
    fn assert_no_overflow(&mut self, width: u32) {
        let wide = self.value(&format!(
            "[document.documentElement.scrollWidth,
              ...[...document.querySelectorAll('body *')]
                .filter((it) => !it.closest('.scroll *, svg *'))
                .filter((it) => it.getBoundingClientRect().right > {width} + 1)
                .map((it) => it.outerHTML.slice(0, 120))]",
        ));
        assert_eq!(wide, json!([width]), "nothing is wider than the window");
    }

    fn assert_nothing_amiss(&self) {
        let complaints = self.browser.complaints();
        assert!(complaints.is_empty(), "{complaints:?}");
        for request in self.browser.requests() {
            let is_own = request == self.url || request.starts_with("data:");
            assert!(is_own, "{request} was asked for");
        }
    }

    /// Writes a screenshot, if requested.
    fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SWATH_SCREENSHOTS").map(PathBuf::from) else {
            return;
        };
        std::fs::create_dir_all(&folder).expect("a folder for pictures");
        let params = json!({ "format": "png", "captureBeyondViewport": false });
        let picture = self.browser.call("Page.captureScreenshot", params);
        let text = picture["data"].as_str().expect("base64");
        let file = std::fs::File::create(folder.join(format!("{name}.png"))).expect("created");
        let mut decoder = Command::new("base64");
        decoder.arg("-d").stdin(Stdio::piped()).stdout(file);
        let mut decoder = decoder.spawn().expect("coreutils are there");
        decoder.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
        assert!(decoder.wait().expect("it ends").success());
    }
}

/// Returns the number of points in all charts of an experiment, warm and cold: one for each series, place,
/// state and folder that has a run.
fn expected_points(study: &Results, id: &str) -> usize {
    let measured = study.experiments.iter().find(|it| it.id == id).expect("it is there");
    let mut keys: Vec<String> = measured
        .runs
        .iter()
        .map(|run| format!("{} {:?} {} {}", run.folder, run.state, run.series, run.x))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len() * measured.charts.len()
}

#[test]
fn every_experiment_has_its_charts_with_all_points_in_a_browser() {
    let study = made_up::study(1);
    let page = render(&study).expect("a page");
    let Some(mut opened) = Opened::new(&page, 1600) else { return };
    for measured in &study.experiments {
        let article = format!("article#experiment-{}", measured.id);
        assert_eq!(opened.count(&article), 1, "{}", measured.id);
        let points = opened.count(&format!("{article} .plot .m"));
        assert_eq!(points, expected_points(&study, &measured.id), "{}", measured.id);
        let has_run = matches!(measured.state, Progress::Done | Progress::Stopped);
        let charts = if has_run { measured.charts.len() } else { 0 };
        assert_eq!(opened.count(&format!("{article} .chart")), charts, "{}", measured.id);
    }
    let all_promised = opened.value(
        "[...document.querySelectorAll('.plot svg')].every((svg) =>
           Number(svg.dataset.points) === svg.querySelectorAll('.m').length &&
           Number(svg.dataset.points) === svg.closest('figure').querySelectorAll('tbody tr').length)",
    );
    assert_eq!(all_promised, json!(true), "each chart has as many points as it says");
    let all_lie_inside = opened.value(
        "[...document.querySelectorAll('.plot svg')].every((svg) =>
           [...svg.querySelectorAll('.m')].every((it) =>
             it.getBBox().x >= 0 && it.getBBox().x <= svg.viewBox.baseVal.width &&
             it.getBBox().y >= 0 && it.getBBox().y <= svg.viewBox.baseVal.height))",
    );
    assert_eq!(all_lie_inside, json!(true), "points lie inside their charts");
    opened.assert_nothing_amiss();
}

#[test]
fn the_switches_of_the_page_work_in_a_browser() {
    let page = render(&made_up::study(1)).expect("a page");
    let Some(mut opened) = Opened::new(&page, 1600) else { return };
    assert!(opened.shown("warm") > 0 && opened.shown("cold") == 0, "warm comes first");
    let warm = opened.shown("warm");
    opened.value("document.querySelector('input[value=cold]').click()");
    assert_eq!((opened.shown("warm"), opened.shown("cold")), (0, warm));
    opened.value(
        "{ const folders = document.querySelector('select'); folders.value = 'all';
           folders.dispatchEvent(new Event('change')); 0 }",
    );
    assert_eq!(opened.shown("cold"), 2 * warm, "both folders side by side");
    opened.assert_no_overflow(1600);
    opened.value("document.querySelector('article').scrollIntoView()");
    opened.picture("page-cold");
    opened.value("document.querySelector('article .chart:nth-of-type(4)').scrollIntoView()");
    opened.picture("page-zeros");
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = opened.value(paper);
    opened.value("document.getElementById('scheme').click()");
    assert_ne!(opened.value(paper), light, "the button makes it dark");
    let hidden = opened.value(
        "(() => {
           const article = document.querySelector('article');
           const slot = article.querySelector('.legend button').dataset.slot;
           const seen = () => [...article.querySelectorAll('figure .m.k' + slot)]
             .filter((it) => it.getClientRects().length > 0).length;
           const before = seen();
           article.querySelector('.legend button').click();
           return [before > 0, seen()];
         })()",
    );
    assert_eq!(hidden, json!([true, 0]), "a series is hidden by its name");
    opened.assert_nothing_amiss();
}

#[test]
fn a_point_says_its_numbers_to_pointer_and_keys_in_a_browser() {
    let page = render(&made_up::study(1)).expect("a page");
    let Some(mut opened) = Opened::new(&page, 400) else { return };
    let said = opened.value(
        "(async () => {
           const svg = document.querySelector('.plot svg');
           svg.scrollIntoView({ block: 'center', behavior: 'instant' });
           // Scrolling removes the message, so let it end.
           await new Promise((later) => setTimeout(later, 300));
           const at = svg.querySelector('.m').getBoundingClientRect();
           const tip = document.getElementById('tip');
           const clientX = at.left + at.width / 2, clientY = at.top + at.height / 2;
           svg.dispatchEvent(new PointerEvent('pointerdown', { clientX, clientY, pointerType: 'touch' }));
           const touched = [tip.hidden, tip.textContent, tip.getBoundingClientRect().right <= innerWidth];
           svg.focus({ preventScroll: true });
           svg.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
           return [...touched, tip.textContent];
         })()",
    );
    opened.picture("page-says");
    let gone = opened.value(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' })),
         document.getElementById('tip').hidden",
    );
    assert_eq!(gone, json!(true));
    assert_eq!((&said[0], &said[2]), (&json!(false), &json!(true)));
    let (touched, next) = (said[1].as_str().expect("text"), said[3].as_str().expect("text"));
    assert!(touched.contains("\n1 threads: ") && touched.contains("7 runs"), "{touched}");
    assert!(next.contains("\n2 threads: "), "{next}");
    opened.assert_nothing_amiss();
}

#[test]
fn on_paper_everything_is_shown_and_light_in_a_browser() {
    let page = render(&made_up::study(1)).expect("a page");
    let Some(mut opened) = Opened::new(&page, 800) else { return };
    opened.value("document.getElementById('scheme').click()");
    opened.browser.print();
    let all = opened.count("figure.view");
    let shown = "[...document.querySelectorAll('figure.view')]
                   .filter((figure) => figure.getClientRects().length > 0).length";
    assert_eq!(opened.value(shown), json!(all), "warm and cold, all folders");
    let paper = opened.value("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, json!("rgb(255, 255, 255)"));
    let bar = opened.value("getComputedStyle(document.querySelector('.bar')).display");
    assert_eq!(bar, json!("none"), "nothing on paper can be switched");
    let opened_tables = "dispatchEvent(new Event('beforeprint')),
        document.querySelectorAll('details:not([open])').length";
    assert_eq!(opened.value(opened_tables), json!(0), "tables are opened");
    opened.assert_no_overflow(800);
    opened.value("document.querySelector('article').scrollIntoView()");
    opened.picture("page-print");
    opened.assert_nothing_amiss();
}

#[test]
fn nothing_overflows_on_a_phone_and_a_wide_screen_in_a_browser() {
    let study = made_up::study(1);
    let Some(mut opened) = Opened::new(&render(&study).expect("a page"), 400) else { return };
    for (width, scheme) in [(400, "light"), (400, "dark"), (1600, "light"), (1600, "dark")] {
        opened.browser.resize(width, if width < 600 { 860 } else { 1000 });
        opened.browser.prefer(scheme);
        opened.assert_no_overflow(width);
        for (index, place) in
            ["main", "#findings", "#limits", "article:nth-of-type(1)", "article:nth-of-type(3)"]
                .iter()
                .enumerate()
        {
            opened.value(&format!("document.querySelector('{place}').scrollIntoView()"));
            opened.picture(&format!("page-{width}-{scheme}-{index}"));
        }
    }
    opened.value("document.querySelectorAll('details').forEach((it) => { it.open = true; })");
    for width in [400, 1600] {
        opened.browser.resize(width, 900);
        opened.assert_no_overflow(width);
    }
    opened.assert_nothing_amiss();
}

#[test]
fn two_studies_are_compared_on_a_page_in_a_browser() {
    let (left, right) = (few(1), few(9));
    let rows = compare(&left, &right);
    assert!(!rows.is_empty());
    let page = render_comparison(&left, &right).expect("a page");
    assert!(page.len() < LARGEST, "{} bytes", page.len());
    let Some(mut opened) = Opened::new(&page, 400) else { return };
    assert_eq!(opened.count(".plot .m"), rows.len());
    for width in [400, 1600] {
        opened.browser.resize(width, 900);
        opened.assert_no_overflow(width);
        opened.value("document.querySelector('#summary').scrollIntoView()");
        opened.picture(&format!("compare-{width}"));
    }
    opened.assert_nothing_amiss();
}

/// Returns a few experiments of a synthetic study, because intervals take time.
fn few(seed: u64) -> Results {
    const SIZE: BatterySize = BatterySize { slice: 1, full: 3 };
    let mut study = made_up::study(seed);
    study.experiments.truncate(usize::try_from(SIZE.count()).expect("few"));
    study
}
