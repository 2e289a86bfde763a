//! `swath job run`: does parts by a command.

use std::ffi::OsString;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use swath::job::Plan;
use swath_os::locks::Mutex;

use super::attempt::{Finished, Trouble, Work};
use super::{FolderArg, no_part};
use crate::args::{Files, PartList, TimelineArgs, count, whole};
use crate::command::{Command, Outcome};
use crate::failure::{describe, is_closed_pipe};
use crate::output::{complain, left_out, print_json, tell};
use crate::report::{ReportName, counted, object, size_text, time_text};
use crate::signal::{Held, let_it_end};

/// `swath job run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job run out.txt.job-5f3a9c0e 3 -- tr a-z A-Z
  swath job run \"$folder\" \"$SLURM_ARRAY_TASK_ID\" -- ./work
  swath job run \"$folder\" 0-99 --workers 8 -- sh -c 'sort | uniq -c'
  swath job run \"$folder\" --missing --accept 1 -- grep -F ' 500 '")]
pub struct JobRun {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// The parts, counted from 0: one, or several as in 0-9 or 3,7-9
    #[arg(value_name = "PART", required_unless_present_any = ["all", "missing"], conflicts_with_all = ["all", "missing"])]
    pub part: Option<PartList>,

    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, num_args = 1.., value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,

    /// Run all parts, also those that are done
    #[arg(long, conflicts_with = "missing")]
    pub all: bool,

    /// Run the parts that are not done
    #[arg(long)]
    pub missing: bool,

    /// How many parts to run at the same time; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Also keep the output of a command that exits with this status, as grep does with 1 if it finds
    /// nothing; may be repeated
    #[arg(long, value_name = "STATUS", value_parser = whole::<i32>(1..=255))]
    pub accept: Vec<i32>,

    /// Print a line of JSON for each part, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for JobRun {
    fn run(&self) -> Result<Outcome> {
        let plan = self.folder.open_for_parts()?;
        let parts = self.parts(&plan)?;
        if parts.is_empty() {
            let text = format!("{}: no part is missing\n", plan.folder().shown());
            if !self.json {
                tell(false, &(), text)?;
            }
            return Ok(Outcome::Done);
        }
        let workers = self.workers(parts.len());
        let mut read = super::stream::read_options(&self.timeline);
        if workers > 1 {
            // Parts are already read in parallel.
            read = read.with_workers(1);
        }
        let (command, accepted) = (&self.command, &self.accept);
        let work = Work { plan: &plan, command, accepted, read };
        let crew = Crew { args: self, work, parts, state: Mutex::default() };
        thread::scope(|scope| {
            for _ in 1..workers {
                // If no more threads can be started, the existing ones do all parts.
                if thread::Builder::new().spawn_scoped(scope, || crew.work()).is_err() {
                    break;
                }
            }
            crew.work();
        });
        crew.outcome()
    }

    fn held(&self) -> Held {
        Held::All
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).folder(&self.folder.folder))
    }
}

impl JobRun {
    fn parts(&self, plan: &Plan) -> Result<Vec<usize>> {
        let count = plan.parts().len();
        match &self.part {
            Some(list) => Ok(list.below(count).map_err(|index| no_part(plan, index))?),
            None if self.all => Ok((0..count).collect()),
            None => {
                let missing = plan.status()?.missing;
                let indices = missing.iter().flat_map(|it| it.offset()..it.end());
                Ok(indices.filter_map(|index| usize::try_from(index).ok()).collect())
            }
        }
    }

    fn workers(&self, parts: usize) -> usize {
        let wanted = match self.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        wanted.min(parts)
    }
}

/// The threads that run parts.
struct Crew<'r> {
    args: &'r JobRun,
    work: Work<'r>,
    parts: Vec<usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of parts that have been taken.
    next: usize,
    /// Parts to be taken again.
    again: Vec<usize>,
    /// Number of running parts.
    running: usize,
    done: usize,
    failed: Vec<anyhow::Error>,
    /// The error after which no further part begins.
    fatal: Option<anyhow::Error>,
    /// The error of printing a report.
    unprinted: Option<anyhow::Error>,
}

impl Crew<'_> {
    fn next(&self) -> Option<usize> {
        self.state.lock().take(&self.parts)
    }

    fn work(&self) {
        while let Some(part) = self.next() {
            let start = Instant::now();
            let ended = self.work.attempt(part);
            // A signal that ended the command ends this program too, and needs no report.
            let_it_end();
            let mut state = self.state.lock();
            state.running -= 1;
            match ended {
                Ok(finished) => {
                    state.done += 1;
                    let printed = self.report(&finished, start.elapsed());
                    state.note(printed);
                }
                // Running parts will end, and this part is run after one of them.
                Err(Trouble::Shortage(error)) if state.running > 0 => {
                    let why = describe(&error);
                    complain(format!("note: running fewer commands at the same time: {why}"));
                    state.again.push(part);
                    return;
                }
                Err(Trouble::Part(error) | Trouble::Shortage(error)) => {
                    if self.parts.len() > 1 {
                        let printed = self.report_failure(part, &error);
                        state.note(printed);
                    }
                    state.failed.push(error);
                }
                Err(Trouble::All(error)) => state.fatal = state.fatal.take().or(Some(error)),
            }
        }
    }

    fn report(&self, finished: &Finished, elapsed: Duration) -> Result<()> {
        let Finished { done, bytes_in } = finished;
        let json = object! {
            part: done.part,
            bytes_in: *bytes_in,
            bytes_out: done.len,
            elapsed_s: elapsed.as_secs_f64(),
            receipt: done,
        };
        let text = format!(
            "part {}: {} in, {} out, in {}\n",
            done.part,
            size_text(*bytes_in),
            size_text(done.len),
            time_text(elapsed)
        );
        tell(self.args.json, &json, text)
    }

    fn report_failure(&self, part: usize, error: &anyhow::Error) -> Result<()> {
        let error = describe(error);
        complain(&error);
        if self.args.json { print_json(&object! { part, error }) } else { Ok(()) }
    }

    fn outcome(self) -> Result<Outcome> {
        let state = self.state.into_inner();
        if let Some(error) = state.fatal {
            return Err(error);
        }
        let failed = state.failed.len();
        if let (1, Some(error)) = (self.parts.len(), state.failed.into_iter().next()) {
            return Err(error);
        }
        if let Some(error) = state.unprinted {
            let (parts, folder) = (counted(state.done as u64, "part"), self.work.plan.folder());
            let did = format!("did {parts} of {}, but cannot report it", folder.shown());
            left_out(Err(error)).context(did)?;
        }
        Ok(match (state.done, failed) {
            (_, 0) => Outcome::Done,
            (0, _) => Outcome::NotDone,
            _ => Outcome::Differs,
        })
    }
}

impl State {
    fn take(&mut self, parts: &[usize]) -> Option<usize> {
        if self.fatal.is_some() {
            return None;
        }
        let part = self.again.pop().or_else(|| {
            let part = parts.get(self.next).copied();
            self.next += 1;
            part
        })?;
        self.running += 1;
        Some(part)
    }

    /// Records an error of printing; the work continues, and a reader that has read enough is not an error.
    fn note(&mut self, printed: Result<()>) {
        if let Err(error) = printed
            && !is_closed_pipe(&error)
        {
            self.unprinted = self.unprinted.take().or(Some(error));
        }
    }
}
