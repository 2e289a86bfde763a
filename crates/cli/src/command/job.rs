//! `swath job`: the contract of `swath::job` for batch systems and shells.
//!
//! ```text
//! plan     inputs → parts, and a folder for their output
//! run      a part's records → a command → the part's output, kept only if the command succeeds
//! read     the same by hand: a part's records to standard output
//! write                      standard input as a part's output
//! commit   all parts → one file, or a folder of segments
//! status, abort, sweep       the state of a folder, and its end
//! ```

mod attempt;
mod child;
mod end;
mod feed;
mod plan;
mod run;
mod status;
mod stream;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand, ValueHint};
use swath::job::{Division, Plan};

use super::{Command, Outcome};
use crate::args::{Files, path};
use crate::failure::Refused;
use crate::report::ReportName;
use crate::signal::Held;

/// `swath job`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  folder=$(swath job plan out.txt in.log --parts 16)
  sbatch --array=0-15 --wrap=\"swath job run $folder \\$SLURM_ARRAY_TASK_ID -- ./work\"
  swath job run \"$folder\" --missing -- ./work
  swath job status \"$folder\"
  swath job commit \"$folder\"")]
pub struct Job {
    /// The verb of the command.
    #[command(subcommand)]
    pub what: JobVerb,
}

/// The verbs for jobs.
#[derive(Debug, Subcommand)]
pub enum JobVerb {
    /// Divide inputs into parts, create a folder for their output, and print its path
    Plan(plan::PlanArgs),
    /// Run a command on parts; keep its output only if it succeeds
    ///
    /// The records of a part go to the command's standard input. Its standard output becomes the part's
    /// output if it exits with 0. If it fails, or if the command, swath or the machine is killed,
    /// no output is kept, and the part is still missing. A part may be run several times, also at
    /// the same time: one of its outputs counts.
    ///
    /// The command finds the number of its part in SWATH_PART, the number of parts in SWATH_PARTS and the
    /// folder in SWATH_JOB. It need not read all of its input. As in a pipe of a shell, a part ends when the
    /// command has ended and no program that it started holds its input or output.
    ///
    /// The command has a process group of its own and no terminal: a program that asks for a
    /// password on /dev/tty fails. Ctrl-C, Ctrl-Z and other signals are passed on to all programs
    /// of the group.
    ///
    /// Exit status: 0, all of these parts are done; 1, some are; 2, none, or all are done and the report
    /// cannot be printed. The message says which.
    Run(run::JobRun),
    /// Write the records of a part to standard output
    Read(stream::JobRead),
    /// Keep standard input as the output of a part, and print its receipt
    ///
    /// Prefer `swath job run`. At the end of a pipe, a complete output looks like one whose program
    /// has died: `work | swath job write FOLDER 3` keeps half an output if `work` is killed. Use
    /// this command for an output that is complete, such as a file.
    Write(stream::Write),
    /// Show which parts of a job are done, and which are missing
    Status(status::Status),
    /// Join the output of all parts, in order, into the target, and remove the folder of the job
    ///
    /// The target is complete, or what it was before. If a commit failed or was killed, run it again.
    /// Every part must be done; if it was done several times, the newest output counts.
    Commit(end::Commit),
    /// Abandon a job: remove its folder, and leave the target as it was
    Abort(end::Abort),
    /// Remove the folders of abandoned jobs
    ///
    /// Removes from FOLDER the folder of each job in which nothing has changed for the given time.
    /// Committed outputs stay, and so do folders of other users and everything else. Choose a time
    /// longer than any part takes: a running part cannot always be detected.
    Sweep(end::Sweep),
}

impl Job {
    fn verb(&self) -> &dyn Command {
        match &self.what {
            JobVerb::Plan(it) => it,
            JobVerb::Run(it) => it,
            JobVerb::Read(it) => it,
            JobVerb::Write(it) => it,
            JobVerb::Status(it) => it,
            JobVerb::Commit(it) => it,
            JobVerb::Abort(it) => it,
            JobVerb::Sweep(it) => it,
        }
    }
}

impl Command for Job {
    fn run(&self) -> Result<Outcome> {
        self.verb().run()
    }

    fn writes(&self) -> bool {
        self.verb().writes()
    }

    fn held(&self) -> Held {
        self.verb().held()
    }

    fn timeline(&self) -> Option<Files<'_>> {
        self.verb().timeline()
    }
}

/// The folder of a job.
#[derive(Clone, Debug, Args)]
pub struct FolderArg {
    /// The folder of the job, as `swath job plan` printed it
    #[arg(value_name = "FOLDER", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

impl FolderArg {
    /// Opens the job.
    fn open(&self) -> Result<Plan> {
        Ok(swath::job::open(&self.folder)?)
    }

    /// Opens the job to read parts.
    ///
    /// # Errors
    ///
    /// Also if it is divided by records, which only the program that planned it can find.
    fn open_for_reading(&self) -> Result<Plan> {
        let plan = self.open()?;
        if plan.division() != Division::Records || plan.inputs().len() == 0 {
            return Ok(plan);
        }
        let what = format!(
            "cannot do parts of {}: the job is divided by records, and where these end is known only to \
             the program that planned it",
            self.folder.shown()
        );
        let hint = "do its parts with that program, or plan the job with `swath job plan`; \
                    `swath job commit` joins the parts of any job";
        Err(Refused::new(what, hint).into())
    }

    /// Opens the job to do parts.
    ///
    /// # Errors
    ///
    /// As [`open_for_reading`](Self::open_for_reading); also if it is committed.
    fn open_for_parts(&self) -> Result<Plan> {
        let plan = self.open_for_reading()?;
        match plan.outcome()? {
            None => Ok(plan),
            Some(_) => {
                let what =
                    format!("cannot do parts of {}: it is committed", self.folder.shown());
                Err(Refused::new(what, "plan a new job to do the work again").into())
            }
        }
    }
}

/// Returns the error of a part that does not exist.
fn no_part(plan: &Plan, index: usize) -> Refused {
    let (folder, count) = (plan.folder().shown(), plan.parts().len());
    let what = match count {
        1 => format!("cannot do part {index} of {folder}: it has only part 0"),
        _ => format!("cannot do part {index} of {folder}: it has parts 0 to {}", count - 1),
    };
    Refused::new(what, "choose a part that the job has; `swath job status` counts them")
}
