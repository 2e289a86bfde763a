//! The time of each test, from the reports of the programs that ran them; printed, never judged.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// Number of the slowest tests that are shown.
const SHOWN: usize = 10;

/// One test of a report.
#[derive(Debug, PartialEq)]
struct TestTime {
    name: String,
    seconds: f64,
    is_skipped: bool,
}

/// The time of a step.
pub(crate) struct StepTime {
    pub(crate) name: &'static str,
    pub(crate) seconds: f64,
    /// The processor time of all processes that it started: steps run at the same time, so only
    /// this shows which of them grows.
    pub(crate) processor: f64,
}

impl fmt::Display for StepTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StepTime { name, seconds, processor } = self;
        write!(f, "{name:9} {seconds:7.1} s, {processor:7.1} s of processor time")
    }
}

/// Returns the seconds of processor time of this process and of all that it has waited for.
pub(crate) fn processor_time() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // The second field, a name, ends with the last parenthesis; the times are the 14th to the 17th.
    let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat has no name")?;
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: f64 = times.filter_map(|it| it.parse::<f64>().ok()).sum();
    // To programs, Linux reports a hundred ticks in a second on every machine.
    Ok(ticks / 100.0)
}

/// Forgets the reports of the last run.
pub(crate) fn start(workspace: &Workspace) -> Result<()> {
    let folder = workspace.steps();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Keeps a report in JUnit's format, which nextest and pytest write, under the name of its step.
/// Returns the number of its tests.
pub(crate) fn keep(workspace: &Workspace, step: &str, report: &Path) -> Result<u64> {
    if !report.exists() {
        return Ok(0);
    }
    fs::copy(report, workspace.steps().join(format!("{step}.xml")))?;
    Ok(parse(&fs::read_to_string(report)?).len() as u64)
}

/// Prints the slowest steps and tests; returns the line that counts the tests.
pub(crate) fn print(workspace: &Workspace, mut steps: Vec<StepTime>) -> Result<String> {
    steps.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("slowest steps:");
    for step in steps.iter().take(SHOWN) {
        println!("  {step}");
    }
    let processor: f64 = steps.iter().map(|it| it.processor).sum();
    println!("all steps: {processor:.0} s of processor time");
    let mut tests = Vec::new();
    for entry in fs::read_dir(workspace.steps())? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "xml") {
            tests.extend(parse(&fs::read_to_string(path)?));
        }
    }
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("slowest tests, in seconds:");
    for TestTime { name, seconds, .. } in tests.iter().take(SHOWN) {
        println!("  {seconds:7.1}  {name}");
    }
    let skipped = tests.iter().filter(|it| it.is_skipped).count();
    Ok(format!("{} passed, 0 failed, {skipped} skipped", tests.len() - skipped))
}

/// Returns the names of the tests of a report that took longer than this many seconds.
pub(crate) fn longer_than(seconds: f64, xml: &str) -> Vec<String> {
    let tests = parse(xml).into_iter().filter(|it| it.seconds > seconds);
    tests.map(|it| it.name).collect()
}

/// The elements `testcase` of a report.
fn parse(xml: &str) -> Vec<TestTime> {
    let cases = xml.split("<testcase ").skip(1);
    let times = cases.filter_map(|case| {
        let (head, rest) = case.split_once('>')?;
        let head = format!(" {head}");
        let of = |name: &str| {
            let (_, value) = head.split_once(&format!(" {name}=\""))?;
            Some(value.split('"').next()?.to_owned())
        };
        Some(TestTime {
            name: format!("{} {}", of("classname")?, of("name")?),
            seconds: of("time")?.parse().ok()?,
            is_skipped: !head.ends_with('/') && rest.trim_start().starts_with("<skipped"),
        })
    });
    times.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_grows_with_work() {
        let before = processor_time().expect("Linux");
        let start = std::time::Instant::now();
        while processor_time().expect("Linux") < before + 0.02 {
            assert!(start.elapsed().as_secs() < 60, "it does not grow");
        }
    }

    #[test]
    fn the_times_of_a_report_are_read() {
        let xml = "<testsuite><testcase name=\"a::b\" classname=\"c\" time=\"1.250\">\n\
                   </testcase><testcase classname=\"d\" name=\"e\" time=\"0.5\"><skipped/></testcase>\
                   <testcase classname=\"d\" name=\"f\" time=\"0.5\" /></testsuite>";
        let times = parse(xml);
        let shown: Vec<_> =
            times.iter().map(|it| (it.name.as_str(), it.seconds, it.is_skipped)).collect();
        assert_eq!(shown, [("c a::b", 1.25, false), ("d e", 0.5, true), ("d f", 0.5, false)]);
    }
}
