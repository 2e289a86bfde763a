//! Workers and clients of jobs that are killed in each phase, on the real file system.
//!
//! ```text
//! worker   reading → segment → done           a missing part, and the next
//! client   commit → place → name → removal    what the folder says is done
//! ```
//!
//! The children are this test program again. They print each phase when it begins; the parent waits
//! for one, and kills at a random moment after it. Whatever was killed, the target is the old
//! version, the new one, or absent, and the next client makes the new one from the same folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use swath::OutputOptions;
use swath::append;
use swath::job::{self, Division, Done, Form, JobOptions, Part, Plan};
use swath::sink::{Durability, Fs, Replace};

use swath_reference::battery::{Battery, BatterySize};

use crate::crash::kill::{HOW, Random, WHERE, names, number_of, spawn, version};
use crate::crash::slow::Slow;
use crate::hooked::{Call, Hook, Hooked};

const CHILD: &str = "crash::kill_jobs::a_process_of_a_job_does_its_part_when_told_to";
const WORKER: [&str; 3] = ["reading", "segment", "done"];
const CLIENT: [&str; 4] = ["commit", "place", "name", "removal"];
const PARTS: usize = 4;
/// Microseconds from the beginning of a phase to the kill, at most.
const PATIENCE: u64 = 2500;

type Ended = Result<(), Box<dyn std::error::Error>>;

/// Prints a phase. A parent that has killed this process does not read it.
fn tell(phase: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "\n{phase}");
    let _ = out.flush();
    drop(out);
    // A part is soon done, and a kill is to fall into it.
    std::thread::sleep(Duration::from_micros(600));
}

/// Slow, and prints the phases of a commit as its calls begin them.
#[derive(Debug)]
struct Telling {
    slow: Slow,
    told: Mutex<Vec<&'static str>>,
}

impl Hook for Telling {
    fn before(&self, call: Call) -> io::Result<()> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let has_placed = told.contains(&"place");
        let phase = match call {
            Call::Allocate | Call::Clone | Call::Copy | Call::Write => "place",
            Call::Link | Call::Rename | Call::RenameNew => "name",
            Call::Remove if has_placed => "removal",
            _ => "",
        };
        if !phase.is_empty() && !told.contains(&phase) {
            told.push(phase);
            tell(phase);
        }
        drop(told);
        self.slow.before(call)
    }

    fn after(&self, call: Call) {
        self.slow.after(call);
    }
}

fn telling() -> Arc<dyn Fs> {
    let nameless = !std::process::id().is_multiple_of(3);
    let slow = Slow { nameless };
    Arc::new(Hooked(Arc::new(Telling { slow, told: Mutex::default() })))
}

fn work_on(part: &Part, fs: &dyn Fs) -> Ended {
    tell("reading");
    let mut bytes = Vec::new();
    for piece in part.pieces() {
        let mut read = vec![0; usize::try_from(piece.len)?];
        File::open(&piece.path)?.read_exact_at(&mut read, piece.offset)?;
        bytes.extend(read);
    }
    let mut out = part.writer_on(fs)?;
    tell("segment");
    for chunk in bytes.chunks(10_000) {
        out.write_all(chunk)?;
        out.flush()?;
    }
    tell("done");
    out.finish()?;
    Ok(())
}

fn work(folder: &Path) -> Ended {
    let plan = Plan::open_with(folder, OutputOptions::new())?;
    let fs: Arc<dyn Fs> = Arc::new(Hooked(Arc::new(Slow { nameless: true })));
    while let Some(missing) = plan.status()?.missing.first() {
        let part = plan.part(usize::try_from(missing.offset())?).ok_or("a part")?;
        work_on(&part, &*fs)?;
    }
    Ok(())
}

fn commit(folder: &Path, how: &str) -> Ended {
    let output = OutputOptions::new().with_fs(telling());
    let plan = match Plan::open_with(folder, output) {
        // It was killed while it removed the folder, which gives up its name first.
        Err(error) if error.io_kind() == io::ErrorKind::NotFound => {
            if how == "place and delete" {
                drop(fs::remove_dir_all(folder));
            }
            return Ok(());
        }
        plan => plan?,
    };
    tell("commit");
    let done = plan.done()?;
    if how == "place and delete" {
        return place_then_delete(&plan, &done);
    }
    plan.commit(&done)?;
    plan.remove()?;
    Ok(())
}

/// Commits as a prototype did: the parts that it has placed are gone before the output is there.
fn place_then_delete(plan: &Plan, done: &[Done]) -> Ended {
    let placing = plan.target().with_file_name(".placing");
    let mut out = File::create(&placing)?;
    let mut done = done.to_vec();
    done.dedup_by_key(|it| it.part);
    if done.len() < PARTS {
        return Err("parts are lost".into());
    }
    tell("place");
    for it in &done {
        let name = names(plan.folder()).into_iter().find(|name| name.contains(&it.attempt));
        let path = plan.folder().join(name.ok_or("it is gone")?);
        io::copy(&mut File::open(&path)?, &mut out)?;
        fs::remove_file(path)?;
        std::thread::sleep(Duration::from_micros(500));
    }
    tell("name");
    fs::rename(placing, plan.target())?;
    tell("removal");
    fs::remove_dir_all(plan.folder())?;
    Ok(())
}

/// The child's part; does nothing unless the environment says so.
#[test]
fn a_process_of_a_job_does_its_part_when_told_to() {
    let (Ok(how), Some(path)) = (std::env::var(HOW), std::env::var_os(WHERE)) else { return };
    let path = Path::new(&path);
    let ended = if how == "work" { work(path) } else { commit(path, &how) };
    ended.unwrap_or_else(|error| panic!("{how}: {error}"));
}

/// The parent's side: a job, and what its target may be.
struct Job {
    folder: tempfile::TempDir,
    form: Form,
    how: &'static str,
    random: Random,
    /// Kills in each phase.
    killed: BTreeMap<&'static str, u32>,
}

impl Job {
    fn new(form: Form, how: &'static str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        Self { folder, form, how, random: Random::new(0), killed: BTreeMap::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn job_folder(&self) -> PathBuf {
        self.path(if self.form == Form::Segments { "out" } else { "job" })
    }

    /// A phase in which no process was killed yet. Segments are not moved, and so are not removed.
    fn unkilled(&self) -> Option<&'static str> {
        let is_there =
            |phase: &str| self.form == Form::File || !["place", "removal"].contains(&phase);
        let mut all = WORKER.into_iter().chain(CLIENT);
        all.find(|phase| is_there(phase) && !self.killed.contains_key(phase))
    }

    /// Plans version `number`: the bytes of its input.
    fn plan(&self, number: u64) {
        fs::write(self.path("in"), version(number)).expect("room");
        if self.form == Form::Segments && self.path("out").exists() {
            fs::remove_dir_all(self.path("out")).expect("ours");
        }
        let sync = if number.is_multiple_of(8) { Durability::Full } else { Durability::None };
        let output = OutputOptions::new().with_replace(Replace::Allowed).with_durability(sync);
        let options = JobOptions::new()
            .with_parts(PARTS)
            .with_division(Division::Bytes)
            .with_form(self.form)
            .with_folder(self.path("job"))
            .with_output(output);
        options.plan([self.path("in")], self.path("out")).expect("planned");
    }

    /// Starts processes, and kills them at a random moment after `phase` of the first.
    fn kill_in(&mut self, phase: &'static str, how: &str, count: usize) {
        let folder = self.job_folder();
        let mut children: Vec<Child> = (0..count).map(|_| spawn(CHILD, how, &folder)).collect();
        let out = children[0].stdout.take().expect("piped");
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let has_begun = lines.any(|line| line == phase);
        std::thread::sleep(Duration::from_micros(self.random.below(PATIENCE)));
        for child in &mut children {
            // One that has ended already is as well.
            let _ = child.kill();
        }
        for (index, mut child) in children.into_iter().enumerate() {
            let ended = child.wait().expect("ended");
            if index == 0 && has_begun && ended.code().is_none() {
                *self.killed.entry(phase).or_default() += 1;
            }
        }
    }

    /// Runs a process to its end.
    fn finish(&self, how: &str) -> Result<(), String> {
        let mut child = spawn(CHILD, how, &self.job_folder());
        let out = child.stdout.take().expect("piped");
        // Libtest prints to its end.
        let lines: Vec<String> = BufReader::new(out).lines().map_while(Result::ok).collect();
        let ended = child.wait().expect("ended");
        ended.success().then_some(()).ok_or_else(|| format!("{how}: {ended}: {lines:?}"))
    }

    /// The version at the target, 0 if it is absent.
    fn found(&self) -> Result<u64, String> {
        let path = self.path("out");
        let is_there = path.join("MANIFEST").exists() || path.is_file();
        if !is_there {
            return Ok(0);
        }
        let mut bytes = Vec::new();
        let mut opened = append::open(&path).map_err(|error| format!("{error:?}"))?;
        io::Read::read_to_end(&mut opened, &mut bytes).map_err(|error| format!("{error:?}"))?;
        number_of(&bytes).ok_or_else(|| format!("{} bytes are torn", bytes.len()))
    }

    fn expect(&self, versions: &[u64]) -> Result<(), String> {
        let found = self.found()?;
        versions.contains(&found).then_some(()).ok_or_else(|| format!("{found} is there"))
    }

    /// One job from its plan to its end, with a kill in each of its phases.
    fn round(&mut self, number: u64) -> Result<(), String> {
        self.plan(number);
        let old = if self.form == Form::Segments { 0 } else { number - 1 };
        for phase in WORKER {
            self.kill_in(phase, "work", 2);
            self.expect(&[old])?;
        }
        self.finish("work")?;
        // Each phase is the first in some round: a kill in the last one leaves no more to kill.
        for index in 0..CLIENT.len() {
            let first = usize::try_from(number).expect("small");
            let phase = CLIENT[(first + index) % CLIENT.len()];
            self.kill_in(phase, self.how, 1);
            self.expect(&[old, number])?;
        }
        self.finish(self.how)?;
        self.expect(&[number])?;
        self.check_clean()
    }

    fn check_clean(&self) -> Result<(), String> {
        // A process that was killed while it removed the folder has left it under a hidden name.
        let swept = job::sweep(self.folder.path(), Duration::ZERO);
        let swept = swept.map_err(|error| error.to_string())?;
        if let Some(error) = swept.failed.first() {
            return Err(error.to_string());
        }
        let left = names(self.folder.path());
        (left == ["in", "out"]).then_some(()).ok_or_else(|| format!("{left:?}"))
    }
}

/// Rounds of kills, one in each phase.
const SIZE: BatterySize = BatterySize { slice: 5, full: 60 };
/// Rounds after which each phase was killed in one at least.
const ENOUGH: u64 = 30;

/// Kills the processes of job after job: one for each seed, and then until each phase was killed once.
///
/// # Errors
///
/// With what is torn, lost or left over.
fn kill_jobs(
    form: Form,
    how: &'static str,
    seeds: impl Iterator<Item = u64>,
) -> Result<(), String> {
    let mut job = Job::new(form, how);
    let mut number = 0;
    for seed in seeds {
        number += 1;
        job.random = Random::new(seed);
        job.round(number).map_err(|wrong| format!("round {number}: {wrong}"))?;
    }
    while number < ENOUGH && job.unkilled().is_some() {
        number += 1;
        job.round(number).map_err(|wrong| format!("round {number}: {wrong}"))?;
    }
    println!("{form}: {:?}", job.killed);
    match job.unkilled() {
        Some(phase) => Err(format!("no kill in the phase {phase}: {:?}", job.killed)),
        None => Ok(()),
    }
}

#[test]
fn killed_workers_and_clients_of_a_file_leave_the_old_version_or_the_new_one() {
    kill_jobs(Form::File, "commit", Battery::new("killed-jobs", SIZE))
        .unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn killed_workers_and_clients_of_segments_leave_the_new_version_or_nothing() {
    kill_jobs(Form::Segments, "commit", Battery::new("killed-jobs", SIZE))
        .unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn a_client_that_removes_what_it_has_placed_is_found_when_it_is_killed() {
    let wrong =
        kill_jobs(Form::File, "place and delete", 0..ENOUGH).expect_err("parts are lost");
    assert!(wrong.contains("place and delete"), "{wrong}");
}
