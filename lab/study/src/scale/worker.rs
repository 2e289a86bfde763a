//! A worker of a [local cluster](super::local), which does the parts that it reads from its input.
//!
//! A task is a line of JSON, as is the answer. The worker ends with its input, so it does not outlive the
//! process that started it.

use std::io::{BufRead, Write};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use swath::job::{Done, Part};
use swath::{PageCache, ReadOptions};

use crate::limits;

/// The message of a worker before its first task.
pub const READY: &str = "ready";

/// One attempt of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The part.
    pub part: Part,
    /// The number of times that its bytes are summed, to use the processor.
    pub passes: u32,
    /// Seconds that it sleeps, to wait without a processor.
    pub wait_s: f64,
}

/// The costs of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The receipt.
    pub done: Done,
    /// Seconds to begin the attempt.
    pub open_s: f64,
    /// Seconds to read its bytes.
    pub read_s: f64,
    /// Seconds of summing.
    pub compute_s: f64,
    /// Seconds of sleep.
    pub wait_s: f64,
    /// Seconds to write the same bytes.
    pub write_s: f64,
    /// Seconds to give them their name.
    pub close_s: f64,
}

impl Answer {
    /// Returns the sum of all steps.
    pub fn seconds(&self) -> f64 {
        self.open_s + self.read_s + self.compute_s + self.wait_s + self.write_s + self.close_s
    }
}

/// Does all tasks of `input`, one after the other.
///
/// # Errors
///
/// The first task that cannot be parsed or done; the errors of `output`.
pub fn work(input: impl BufRead, mut output: impl Write) -> Result<()> {
    writeln!(output, "{READY}")?;
    output.flush()?;
    for line in input.lines() {
        let task: Task = serde_json::from_str(&line?).context("this is not a task")?;
        let answer = serde_json::to_string(&attempt(&task)?)?;
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn attempt(task: &Task) -> Result<Answer> {
    ensure!(
        task.wait_s.is_finite() && (0.0..=3600.0).contains(&task.wait_s),
        "a task cannot wait for {} s",
        task.wait_s
    );
    let mut clock = StepClock(Instant::now());
    let mut writer = task.part.writer()?;
    let open_s = clock.lap();
    let mut bytes = Vec::new();
    for piece in task.part.pieces() {
        let options = ReadOptions::new().with_workers(1).with_page_cache(PageCache::Keep);
        let options = options.with_offset(piece.offset).with_len(piece.len);
        bytes.push(options.read(piece.open()?)?.buffer);
    }
    let read_s = clock.lap();
    for _ in 0..task.passes {
        for piece in &bytes {
            std::hint::black_box(limits::memory_sum(piece, 1));
        }
    }
    let compute_s = clock.lap();
    if task.wait_s > 0.0 {
        thread::sleep(Duration::from_secs_f64(task.wait_s));
    }
    let wait_s = clock.lap();
    for piece in &bytes {
        writer.write_all(piece)?;
    }
    writer.flush()?;
    let write_s = clock.lap();
    let done = writer.finish()?;
    let close_s = clock.lap();
    Ok(Answer { done, open_s, read_s, compute_s, wait_s, write_s, close_s })
}

/// A clock for successive steps.
struct StepClock(Instant);

impl StepClock {
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.0).as_secs_f64();
        self.0 = now;
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swath::job::{Division, JobOptions};

    #[test]
    fn a_worker_does_its_tasks_and_ends_with_its_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
        std::fs::write(&input, vec![7; 1000]).expect("room");
        let options = JobOptions::new().with_parts(3).with_division(Division::Bytes);
        let plan = options.plan([&input], &output).expect("a plan");
        let tasks = plan.parts().map(|part| {
            let task = Task { part, passes: 1, wait_s: 0.0 };
            serde_json::to_string(&task).expect("plain data") + "\n"
        });
        let mut said = Vec::new();
        work(tasks.collect::<String>().as_bytes(), &mut said).expect("done");
        let said = String::from_utf8(said).expect("text");
        let mut lines = said.lines();
        assert_eq!(lines.next(), Some(READY));
        let answers = lines.map(|line| serde_json::from_str(line).expect("an answer"));
        let answers: Vec<Answer> = answers.collect();
        assert!(answers.len() == 3 && answers.iter().all(|answer| answer.seconds() > 0.0));
        let done: Vec<Done> = answers.into_iter().map(|answer| answer.done).collect();
        plan.commit(&done).expect("committed");
        assert_eq!(std::fs::read(&output).expect("there"), vec![7; 1000]);
    }

    #[test]
    fn what_is_not_a_task_is_an_error() {
        for line in ["{}", "nothing", ""] {
            let error = work(format!("{line}\n").as_bytes(), Vec::new()).expect_err(line);
            assert_eq!(error.to_string(), "this is not a task");
        }
    }
}
