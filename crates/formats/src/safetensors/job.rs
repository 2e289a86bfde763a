//! Fills blocks of memory: large ones one after another, each with all workers; small ones side by
//! side. They share one progress report.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::classes::ClassPlan;
use swath::{Buffer, Progress, ReadOptions, Report};

use super::layout::MemoryBlock;
use super::shard::OpenShard;
use crate::error::Result;
use crate::share::{share, workers};

/// Up to this many bytes, starting a thread or counting the cores would take longer than reading.
const ALONE: u64 = 256 << 10;
/// Shorter reads gain nothing from several workers.
const SMALL: u64 = 4 << 20;

/// A block of memory to fill.
pub(super) struct TensorJob<'o> {
    pub(super) opened: &'o OpenShard,
    pub(super) block: MemoryBlock,
}

/// Fills all blocks, in the order of the jobs. Returns a report for each block that is not empty.
pub(super) fn run(
    jobs: &[TensorJob<'_>],
    options: &ReadOptions,
) -> Result<(Vec<Buffer>, Vec<Report>)> {
    let total = jobs.iter().map(TensorJob::len).sum();
    let options = Alike { read: options.clone(), total, done: Arc::default() };
    let (small, large): (Vec<_>, Vec<_>) =
        jobs.iter().enumerate().partition(|(_, job)| jobs.len() > 1 && job.len() < SMALL);
    let mut done = Vec::with_capacity(jobs.len());
    for (index, job) in large {
        done.push((index, job.read(&options.next())?));
    }
    let bytes: u64 = small.iter().map(|(_, job)| job.len()).sum();
    let threads = if bytes < ALONE { 1 } else { workers(options.read.workers()) };
    for (index, read) in
        share(small, threads, |(index, job)| (index, job.read(&options.next().with_workers(1))))
    {
        done.push((index, read?));
    }
    done.sort_by_key(|&(index, _)| index);
    let (mut memories, mut reports) = (Vec::with_capacity(jobs.len()), Vec::new());
    for (_, (buffer, report)) in done {
        memories.push(buffer);
        reports.extend(report);
    }
    Ok((memories, reports))
}

impl TensorJob<'_> {
    /// Returns the number of bytes to read.
    fn len(&self) -> u64 {
        self.block.runs.iter().map(|run| run.end - run.start).sum()
    }

    /// Reads the block. A single run with the layout of its file is an ordinary read. Otherwise a
    /// read with one class puts the runs next to each other.
    fn read(&self, options: &ReadOptions) -> Result<(Buffer, Option<Report>)> {
        let source = self.opened.source();
        match &self.block.runs[..] {
            [] => Ok((Buffer::default(), None)),
            [run] if self.block.is_as_in_file => {
                let options =
                    options.clone().with_offset(run.start).with_len(run.end - run.start);
                let loaded = options.read(source)?;
                Ok((loaded.buffer, Some(loaded.report)))
            }
            runs => {
                let mut plan = ClassPlan::new();
                for run in runs {
                    plan.push(run.clone(), 0);
                }
                let loaded = options.read_prioritised(source, plan)?.finish()?;
                let report = loaded.report.read.clone();
                Ok((loaded.into_buffer(), Some(report)))
            }
        }
    }
}

/// Options for reads that share their progress.
struct Alike {
    read: ReadOptions,
    total: u64,
    done: Arc<AtomicU64>,
}

impl Alike {
    /// Returns the options of the next read.
    fn next(&self) -> ReadOptions {
        let options = self.read.clone();
        let Some(told) = self.read.progress() else { return options };
        let (done, total, last) = (Arc::clone(&self.done), self.total, AtomicU64::new(0));
        options.with_progress(move |progress| {
            // Relaxed: counters for display. Calls of one read may overtake each other, so each
            // adds only the bytes beyond the furthest before it.
            let before = last.fetch_max(progress.bytes, Ordering::Relaxed);
            let more = progress.bytes.saturating_sub(before);
            let all = done.fetch_add(more, Ordering::Relaxed) + more;
            told(Progress::new(all, Some(total)));
        })
    }
}
