//! Plans and commits of jobs under attack: the parts are done, and their workers gone.
//!
//! A commit that was killed is run again, by a client that knows nothing but the folder. So a
//! commit that removes what it has placed loses the job: the attack must find it.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use swath::OutputOptions;
use swath::job::{Done, Form, JobOptions, Plan, Sweep};
use swath::sink::Fs;

use swath_reference::battery::Battery;

use crate::crash::appended::read_segments;
use crate::crash::attack::{Failure, Reached, State, Subject, attack, crash_somewhere, target};
use crate::crash::simulated::{Abilities, SimulatedFs};

const OLD: &[u8] = b"the old bytes, longer than one block";
/// The bytes of the parts; one of them writes nothing.
const PARTS: [&[u8]; 4] =
    [b"the first part, ", b"", b"a part that has more than a block, ", b"the end"];

/// How the job is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Well,
    /// Removes what a part wrote as soon as it has its place.
    PlaceThenDelete,
}

struct Job {
    form: Form,
    how: How,
    old: State,
    /// The part that is done after everything was synced.
    unsynced: Option<u64>,
}

fn output(fs: Arc<dyn Fs>) -> OutputOptions {
    OutputOptions::new().with_fs(fs)
}

impl Job {
    /// A folder of segments is the output itself.
    fn job_folder(&self) -> PathBuf {
        target(if self.form == Form::Segments { "out" } else { "job" })
    }

    /// Commits with these receipts, and removes the job.
    fn end(
        &self,
        fs: &Arc<dyn Fs>,
        plan: &Plan,
        done: &[Done],
        reached: &Reached,
    ) -> Result<(), Failure> {
        match self.how {
            How::Well => drop(plan.commit(done)?),
            How::PlaceThenDelete => return place_then_delete(&**fs, plan, done),
        }
        reached.durable(1);
        plan.clone().remove()?;
        let gone = fs.locate(&self.job_folder())?.folder.facts("job".as_ref())?;
        assert!(gone.is_none(), "the folder of the job is left");
        Ok(())
    }

    fn done(&self, fs: &Arc<dyn Fs>) -> Result<Option<(Plan, Vec<Done>)>, Failure> {
        match Plan::open_with(&self.job_folder(), output(Arc::clone(fs))) {
            Ok(plan) => {
                let done = plan.done()?;
                Ok(Some((plan, done)))
            }
            // It was over already when the power failed.
            Err(error) if error.io_kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Does all parts, or one; returns their receipts.
fn do_parts(fs: &Arc<dyn Fs>, plan: &Plan, only: Option<u64>) -> Result<Vec<Done>, Failure> {
    let all = plan.parts().zip(PARTS);
    let wanted = all.filter(|(part, _)| only.is_none_or(|only| part.index() == only));
    let done = wanted.map(|(part, bytes)| {
        let mut out = part.writer_on(&**fs)?;
        out.write_all(bytes)?;
        Ok(out.finish()?)
    });
    done.collect()
}

/// Copies part by part, and removes each at once: what a prototype did.
fn place_then_delete(fs: &dyn Fs, plan: &Plan, done: &[Done]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::NotDone(error.to_string());
    let out = fs.locate(plan.target()).map_err(failed)?.folder;
    let parts = out.open_folder("job".as_ref()).map_err(failed)?;
    let _ = out.remove(".out.placing".as_ref());
    let file = out.create_new(".out.placing".as_ref(), 0o666).map_err(failed)?;
    let mut place = 0;
    for name in parts.list().map_err(failed)? {
        let text = name.to_str().expect("text");
        let Some(it) = done.iter().find(|it| text.contains(&it.attempt)) else { continue };
        let mut bytes = vec![0; usize::try_from(it.len).expect("short")];
        parts.open(&name).and_then(|from| from.read_at(&mut bytes, 0)).map_err(failed)?;
        file.write_at(&bytes, place).map_err(failed)?;
        parts.remove(&name).map_err(failed)?;
        place += it.len;
    }
    file.sync().map_err(failed)?;
    out.rename(".out.placing".as_ref(), "out".as_ref()).map_err(failed)?;
    out.sync().map_err(|error| Failure::Unknown(error.to_string()))
}

/// Removes what a removal that was killed has left, under a name of its own.
fn sweep(fs: &Arc<dyn Fs>) -> Result<(), Failure> {
    let swept = Sweep::run(&target(""), Duration::ZERO, &output(Arc::clone(fs)))?;
    swept.failed.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
}

/// For a job that is over: its output must be there.
fn found_over(fs: &dyn Fs) -> Result<(), Failure> {
    let expected = PARTS.concat();
    let mut found = vec![0; expected.len()];
    fs.locate(&target("out"))?.folder.open("out".as_ref())?.read_at(&mut found, 0)?;
    assert_eq!(found, expected, "the job is over, and its output is lost");
    Ok(())
}

impl Subject for Job {
    fn prepare(&self, fs: &SimulatedFs) {
        if let Some(old) = &self.old {
            fs.prepare(&target("out"), old);
        }
        let disk: Arc<dyn Fs> = Arc::new(fs.clone());
        let options = JobOptions::new()
            .with_parts(PARTS.len())
            .with_form(self.form)
            .with_folder(target("job"))
            .with_output(output(Arc::clone(&disk)));
        let none: [&str; 0] = [];
        let plan = options.plan(none, target("out")).expect("planned");
        // The second part is done twice. Parts of a file are not synced: a power cut may take what they wrote.
        for part in [0, 1, 1, 3, 2] {
            if Some(part) == self.unsynced {
                fs.settle();
            }
            do_parts(&disk, &plan, Some(part)).expect("done");
        }
        if self.unsynced.is_none() {
            fs.settle();
        }
    }

    fn states(&self) -> Vec<State> {
        vec![self.old.clone(), Some(PARTS.concat())]
    }

    fn write(&self, fs: Arc<dyn Fs>, reached: &Reached) -> Result<(), Failure> {
        let Some((plan, done)) = self.done(&fs)? else { return found_over(&*fs) };
        self.end(&fs, &plan, &done, reached)
    }

    fn write_again(&self, fs: Arc<dyn Fs>) -> Result<(), Failure> {
        if self.write(Arc::clone(&fs), &Reached::default()).is_err() {
            // As the error says: what the parts wrote is lost.
            let (plan, _) = self.done(&fs)?.expect("it is not over");
            let done = do_parts(&fs, &plan, None)?;
            self.end(&fs, &plan, &done, &Reached::default())?;
        }
        sweep(&fs)
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        match self.form {
            // Before the commit there are parts, and nothing to read.
            Form::Segments if !fs.names(&target("out")).contains(&"MANIFEST".into()) => {
                Ok(None)
            }
            Form::Segments => read_segments(fs),
            _ => Ok(fs.read(&target("out"))),
        }
    }

    fn names(&self, state: &State) -> Vec<String> {
        let is_there = state.is_some() || self.form == Form::Segments;
        let out = is_there.then(|| String::from("out"));
        // Until it is committed, and removed. A power cut may bring back what the commit has
        // removed next to the target; its next writer removes that.
        let others = ["job", ".out.swath-lock", ".out.swath-tmp"];
        out.into_iter().chain(others.map(String::from)).collect()
    }
}

/// Plans a job without inputs.
struct Planning(Form);

impl Planning {
    fn folder(&self) -> &'static str {
        if self.0 == Form::Segments { "out" } else { "job" }
    }
}

impl Subject for Planning {
    fn prepare(&self, _fs: &SimulatedFs) {}

    fn states(&self) -> Vec<State> {
        vec![None, Some(b"planned".to_vec())]
    }

    fn write(&self, fs: Arc<dyn Fs>, reached: &Reached) -> Result<(), Failure> {
        sweep(&fs)?;
        let options = JobOptions::new()
            .with_form(self.0)
            .with_folder(target("job"))
            .with_output(output(Arc::clone(&fs)));
        let none: [&str; 0] = [];
        options.plan(none, target("out"))?;
        reached.durable(1);
        Ok(())
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        let folder = target(self.folder());
        if !fs.names(&target("")).contains(&self.folder().into()) {
            return Ok(None);
        }
        // A folder under its own name has a whole plan, whatever happened.
        let plan = fs.read(&folder.join("JOB")).ok_or("a folder without a plan")?;
        let plan = String::from_utf8(plan).map_err(|error| error.to_string())?;
        Plan::from_json(&plan).map_err(|error| format!("{error:?}"))?;
        Ok(Some(b"planned".to_vec()))
    }

    fn names(&self, state: &State) -> Vec<String> {
        state.is_some().then(|| self.folder().into()).into_iter().collect()
    }
}

#[test]
fn a_plan_that_fails_or_is_killed_leaves_no_folder_or_a_whole_one() {
    for abilities in Abilities::KINDS {
        for form in [Form::File, Form::Segments] {
            let found = attack(&Planning(form), abilities);
            found.unwrap_or_else(|wrong| panic!("{abilities:?}, {form}: {wrong}"));
        }
    }
}

#[test]
fn a_job_survives_every_failure_and_every_crash_of_its_commit() {
    let outputs =
        [(Form::File, None), (Form::File, Some(OLD.to_vec())), (Form::Segments, None)];
    let all = Abilities::KINDS.into_iter().flat_map(|it| outputs.clone().map(|one| (it, one)));
    for (abilities, (form, old)) in Battery::of_list("power-cuts", 1, all) {
        let found = attack(&Job { form, how: How::Well, old, unsynced: None }, abilities);
        found.unwrap_or_else(|wrong| panic!("{abilities:?}, {form}: {wrong}"));
    }
}

#[test]
fn a_job_whose_parts_a_power_cut_takes_is_committed_or_done_again() {
    for old in [None, Some(OLD.to_vec())] {
        let job = Job { form: Form::File, how: How::Well, old, unsynced: Some(2) };
        let found = crash_somewhere(&job, Abilities::ALL, 5);
        found.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn a_commit_that_removes_what_it_has_placed_is_found() {
    let job = Job { form: Form::File, how: How::PlaceThenDelete, old: None, unsynced: None };
    let wrong = attack(&job, Abilities::ALL).expect_err("it loses the job");
    assert!(wrong.contains("a reader finds"), "{wrong}");
}
