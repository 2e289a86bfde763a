//! A cluster of processes on this machine, which runs small jobs with [`swath::job`].
//!
//! ```text
//! this process  ──tasks──▶  command, command, …     who does what: the simulation's own code
//!               ◀─answers─
//! ```

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use swath::job::{Division, Done, JobOptions, Plan};
use swath_os::ending;

use super::model::{Death, Strategy};
use super::parts::{Next, Parts};
use super::worker::{Answer, READY, Task};

/// The arguments of the command that start a worker.
pub const WORDS: [&str; 2] = ["study", "worker"];
/// The silence after which a worker counts as stuck.
const SILENCE: Duration = Duration::from_secs(60);

/// A small job.
#[derive(Clone, Debug)]
pub struct SmallJob {
    /// Processes.
    pub workers: usize,
    /// The distribution of parts to workers.
    pub strategy: Strategy,
    /// Parts.
    pub parts: usize,
    /// The number of times that a part sums its bytes.
    pub passes: u32,
    /// Seconds that a part sleeps.
    pub wait_s: f64,
    /// The factor by which the first worker is slower.
    pub slow_factor: u32,
    /// A worker that is killed.
    pub death: Option<Death>,
}

/// The result of a small job.
#[derive(Clone, Debug)]
pub struct LocalOutcome {
    /// Seconds from the first task to the last receipt.
    pub seconds: f64,
    /// Seconds of the commit.
    pub commit_s: f64,
    /// The answers that counted, in order of arrival.
    pub answers: Vec<Answer>,
    /// Attempts that began.
    pub attempts: usize,
}

/// Runs a job of `input` into `output` with processes of `program`, and commits it.
///
/// # Errors
///
/// If a process cannot be started, fails, or is silent for a minute; the errors of the job.
pub fn run(
    program: &Path,
    input: &Path,
    output: &Path,
    small: &SmallJob,
) -> Result<LocalOutcome> {
    ensure!(small.workers > 0 && small.parts > 0, "a job needs a worker and a part");
    let plan = JobOptions::new()
        .with_parts(small.parts)
        .with_division(Division::Bytes)
        .with_output(swath::OutputOptions::new().with_durability(swath::sink::Durability::None))
        .plan([input], output)?;
    let ran = on(program, &plan, small);
    let removed = match &ran {
        Ok(_) => plan.remove(),
        Err(_) => plan.abort(),
    };
    let ran = ran?;
    removed?;
    Ok(ran)
}

fn on(program: &Path, plan: &Plan, small: &SmallJob) -> Result<LocalOutcome> {
    let mut cluster = Cluster::start(program, plan, small)?;
    cluster.begin()?;
    while cluster.parts.done < small.parts {
        cluster.step()?;
    }
    let seconds = cluster.now();
    let (answers, attempts) = (std::mem::take(&mut cluster.answers), cluster.attempts);
    // Stop attempts that still run.
    drop(cluster);
    let done: Vec<Done> = answers.iter().map(|answer| answer.done.clone()).collect();
    let begun = Instant::now();
    plan.commit(&done)?;
    Ok(LocalOutcome { seconds, commit_s: begun.elapsed().as_secs_f64(), answers, attempts })
}

/// A message of a worker.
enum Said {
    Line(usize, String),
    Gone(usize),
}

/// A process that ends when its handle is dropped.
struct Process {
    child: Child,
    input: BufWriter<ChildStdin>,
    given: VecDeque<u32>,
    is_gone: bool,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Cluster<'c> {
    plan: &'c Plan,
    small: &'c SmallJob,
    processes: Vec<Process>,
    said: Receiver<Said>,
    begun: Instant,
    parts: Parts,
    /// The time at which each part was last given to a worker.
    given_at: Vec<f64>,
    idle: VecDeque<usize>,
    check_at: f64,
    death: Option<Death>,
    answers: Vec<Answer>,
    attempts: usize,
}

impl<'c> Cluster<'c> {
    /// Starts all processes and waits until they are ready.
    fn start(program: &Path, plan: &'c Plan, small: &'c SmallJob) -> Result<Self> {
        let (say, said) = channel();
        let processes = (0..small.workers).map(|worker| process(program, worker, say.clone()));
        let processes = processes.collect::<Result<Vec<_>>>()?;
        let (parts, workers) = (u32::try_from(small.parts)?, u32::try_from(small.workers)?);
        for _ in 0..small.workers {
            match said.recv_timeout(SILENCE) {
                Ok(Said::Line(_, line)) if line == READY => {}
                _ => bail!("a worker cannot be started: {}", program.display()),
            }
        }
        Ok(Self {
            plan,
            small,
            processes,
            said,
            begun: Instant::now(),
            parts: Parts::new(parts, workers, small.strategy),
            given_at: vec![0.0; small.parts],
            idle: VecDeque::new(),
            check_at: f64::INFINITY,
            death: small.death,
            answers: Vec::new(),
            attempts: 0,
        })
    }

    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn begin(&mut self) -> Result<()> {
        self.begun = Instant::now();
        for worker in 0..self.small.workers {
            if self.small.strategy != Strategy::Static {
                self.give(worker)?;
                continue;
            }
            while let Some(part) = self.parts.own(u32::try_from(worker)?) {
                self.send(worker, part)?;
            }
            self.flush(worker);
        }
        Ok(())
    }

    /// Handles the next answer, or an event that is due before it.
    fn step(&mut self) -> Result<()> {
        let now = self.now();
        let due = self.death.map_or(f64::INFINITY, |death| death.at_s).min(self.check_at);
        let until = Duration::from_secs_f64((due - now).clamp(0.0, SILENCE.as_secs_f64()));
        match self.said.recv_timeout(until) {
            Ok(Said::Line(worker, line)) => self.answered(worker, &line),
            Ok(Said::Gone(worker)) => self.gone(worker),
            Err(RecvTimeoutError::Timeout) if due.is_finite() => self.due(),
            Err(_) => bail!("no worker has said anything for {} s", SILENCE.as_secs()),
        }
    }

    fn due(&mut self) -> Result<()> {
        let now = self.now();
        if let Some(death) = self.death.take_if(|death| death.at_s <= now) {
            self.processes[death.worker as usize]
                .child
                .kill()
                .context("cannot kill a worker")?;
        }
        if self.check_at <= now {
            self.check_at = f64::INFINITY;
            self.wake()?;
        }
        Ok(())
    }

    fn give(&mut self, worker: usize) -> Result<()> {
        match self.parts.next(self.now()) {
            Next::Part(part) | Next::Late(part) => {
                self.send(worker, part)?;
                self.flush(worker);
            }
            Next::Wait(at) => {
                self.idle.push_back(worker);
                self.check_at = self.check_at.min(at.unwrap_or(f64::INFINITY));
            }
        }
        Ok(())
    }

    fn wake(&mut self) -> Result<()> {
        for worker in std::mem::take(&mut self.idle) {
            self.give(worker)?;
        }
        Ok(())
    }

    fn send(&mut self, worker: usize, part: u32) -> Result<()> {
        let now = self.now();
        self.parts.begin(part, now);
        self.given_at[part as usize] = now;
        self.attempts += 1;
        let factor = if worker == 0 { self.small.slow_factor.max(1) } else { 1 };
        let task = Task {
            part: self.plan.part(part as usize).context("a part of the plan")?,
            passes: self.small.passes * factor,
            wait_s: self.small.wait_s * f64::from(factor),
        };
        let process = &mut self.processes[worker];
        process.given.push_back(part);
        // The reader of its output reports a process that is gone.
        let _ = writeln!(process.input, "{}", serde_json::to_string(&task)?);
        Ok(())
    }

    fn flush(&mut self, worker: usize) {
        let _ = self.processes[worker].input.flush();
    }

    fn answered(&mut self, worker: usize, line: &str) -> Result<()> {
        let answer: Answer = serde_json::from_str(line)
            .with_context(|| format!("a worker said {line:?} instead of an answer"))?;
        let part = self.processes[worker].given.pop_front();
        let part = part.filter(|&part| u64::from(part) == answer.done.part);
        let part = part.context("a worker answered to what it was not given")?;
        if self.parts.end(part, self.now() - self.given_at[part as usize]) {
            self.answers.push(answer);
        }
        if self.processes[worker].given.is_empty() {
            self.give(worker)?;
        }
        Ok(())
    }

    /// Gives the parts of a lost worker to others.
    fn gone(&mut self, worker: usize) -> Result<()> {
        let is_expected = self.small.death.is_some_and(|death| death.worker as usize == worker);
        ensure!(is_expected, "a worker has ended before the job was done");
        let process = &mut self.processes[worker];
        if std::mem::replace(&mut process.is_gone, true) {
            return Ok(());
        }
        let given = std::mem::take(&mut process.given);
        self.idle.retain(|&idle| idle != worker);
        for part in given {
            self.parts.lose(part);
            self.parts.miss(part);
        }
        ensure!(self.processes.iter().any(|process| !process.is_gone), "no worker is left");
        self.wake()
    }
}

fn process(program: &Path, worker: usize, say: Sender<Said>) -> Result<Process> {
    let mut command = Command::new(program);
    command.args(WORDS).stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = ending::spawn(&mut command);
    let mut child = started.with_context(|| format!("cannot start {}", program.display()))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (input, output) = input.zip(output).context("both are pipes")?;
    let input = BufWriter::with_capacity(1 << 20, input);
    let process = Process { child, input, given: VecDeque::new(), is_gone: false };
    thread::Builder::new().spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if say.send(Said::Line(worker, line)).is_err() {
                return;
            }
        }
        let _ = say.send(Said::Gone(worker));
    })?;
    Ok(process)
}

/// The command that starts workers, and their files.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The command.
    pub program: PathBuf,
    /// The input.
    pub input: PathBuf,
    /// The output.
    pub output: PathBuf,
}

impl Bench {
    /// Runs a job; see [`run`].
    ///
    /// # Errors
    ///
    /// As [`run`].
    pub fn run(&self, small: &SmallJob) -> Result<LocalOutcome> {
        run(&self.program, &self.input, &self.output, small)
    }
}
