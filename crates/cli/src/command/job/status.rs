//! `swath job status`: shows the state of a job, from its folder.

use std::time::{Duration, SystemTime};

use anyhow::Result;
use clap::Args;
use swath::Extent;
use swath::job::{Plan, State, Status as JobStatus};

use super::FolderArg;
use super::plan::division_text;
use crate::command::{Command, Outcome};
use crate::output::{print, tell};
use crate::report::{PathJson, ReportName, counted, object, size_text};

/// `swath job status`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job status out.txt.job-5f3a9c0e
  sbatch --array=$(swath job status --missing \"$folder\") part.sbatch")]
pub struct Status {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// Print only the parts that are not done, on one line, as `run` and `sbatch --array` take them
    #[arg(long, conflicts_with = "json")]
    pub missing: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Status {
    fn run(&self) -> Result<Outcome> {
        let plan = self.folder.open()?;
        let status = plan.status()?;
        if self.missing {
            print(ranges_text(&status.missing) + "\n")?;
            return Ok(Outcome::Done);
        }
        let age = status.changed.and_then(|last| SystemTime::now().duration_since(last).ok());
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(plan.folder()),
            id: status.id.clone(),
            target: PathJson::from(&status.target),
            form: status.form.to_string(),
            division: division_text(plan.division()),
            state: status.state.to_string(),
            inputs: plan.inputs().len(),
            parts: status.parts,
            done: status.done,
            attempts: status.attempts,
            bytes: status.bytes,
            missing: ranges_text(&status.missing),
            age_s: age.map(|age| age.as_secs_f64()),
        };
        tell(self.json, &json, text(&plan, &status, age))?;
        Ok(Outcome::Done)
    }

    fn writes(&self) -> bool {
        false
    }
}

/// Returns parts in the form for `run`: `3,7-9`.
fn ranges_text(ranges: &[Extent]) -> String {
    let range = |it: &Extent| match it.len() {
        1 => it.offset().to_string(),
        _ => format!("{}-{}", it.offset(), it.end() - 1),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

fn text(plan: &Plan, status: &JobStatus, age: Option<Duration>) -> String {
    const SHOWN: usize = 10;
    let mut text = format!("{}: {}\n", plan.folder().shown(), status.state);
    text += &format!("  target: {} ({})\n", status.target.shown(), status.form);
    let inputs = counted(plan.inputs().len() as u64, "input");
    text += &format!("  divided: {inputs}, {}\n", division_text(plan.division()));
    let (parts, size) = (counted(status.parts, "part"), size_text(status.bytes));
    text += &format!("  done: {} of {parts}, {size}", status.done);
    // A commit removes the attempts.
    if status.state != State::Committed {
        text += &format!(", {}", counted(status.attempts, "attempt"));
    }
    text.push('\n');
    if status.state == State::Committing {
        text += "  commit: begun; if no process is running it, run `swath job commit` again\n";
    }
    if !status.missing.is_empty() {
        let shown = &status.missing[..status.missing.len().min(SHOWN)];
        text += &format!("  missing: {}", ranges_text(shown));
        if let more @ 1.. = status.missing.len() - shown.len() {
            text += &format!(" and {}", counted(more as u64, "more range"));
        }
        text.push('\n');
    }
    if let Some(age) = age {
        text += &format!("  last change: {} ago\n", age_text(age));
    }
    text
}

/// Returns an age in its largest whole unit.
fn age_text(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(24 * 3600, "day"), (3600, "hour"), (60, "minute")];
    match units.into_iter().find(|&(unit, _)| seconds >= unit) {
        Some((unit, name)) => counted(seconds / unit, name),
        None => counted(seconds, "second"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::PartList;

    #[test]
    fn missing_parts_are_what_run_takes() {
        let ranges = [Extent::between(0, 1), Extent::between(3, 5), Extent::between(7, 12)];
        let text = ranges_text(&ranges);
        assert_eq!(text, "0,3-4,7-11");
        let list: PartList = text.parse().expect("its own");
        assert_eq!(list.below(12), Ok(vec![0, 3, 4, 7, 8, 9, 10, 11]));
        assert_eq!(ranges_text(&[]), "");
    }

    #[test]
    fn an_age_is_a_count_of_its_largest_unit() {
        for (seconds, text) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "1 minute"),
            (7200, "2 hours"),
            (86_400, "1 day"),
        ] {
            assert_eq!(age_text(Duration::from_secs(seconds)), text);
        }
    }
}
