//! One running write: threads that take chunk after chunk.

use std::sync::atomic::Ordering;

use swath_os::writeback::start_writeback;
use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;

use crate::error::{Error, Operation, Result};
use crate::failures::FailureLog;
use crate::locks::AtomicU64;
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::fs::write_all_at;
use crate::threads;
use crate::timeline::Activity;
use crate::write::parts::Parts;

/// The shared state of the workers of one write.
pub(super) struct WriteJob<'w> {
    draft: &'w Draft,
    parts: Parts<'w>,
    chunks: ChunkPlan,
    observer: Observer,
    /// The next chunk to hand out; past the last after a failure.
    next: AtomicU64,
    failures: FailureLog<Error>,
    /// Whether to start writeback at once, because the commit will wait for the device.
    is_eager: bool,
}

impl<'w> WriteJob<'w> {
    pub(super) fn new(
        draft: &'w Draft,
        parts: Parts<'w>,
        chunks: ChunkPlan,
        observer: Observer,
        is_eager: bool,
    ) -> Self {
        let next = AtomicU64::new(0);
        Self { draft, parts, chunks, observer, next, failures: FailureLog::default(), is_eager }
    }

    /// Writes all chunks with `workers` threads, including this one; returns the number of threads.
    pub(super) fn run(self, workers: usize, fallbacks: &mut Vec<Fallback>) -> Result<usize> {
        let mut there = workers.max(1);
        if let Some((started, error)) = threads::run(workers, &|_| self.work()) {
            fallbacks.push(Fallback::not_started(started, &error));
            there = started;
        }
        self.failures.end()?;
        Ok(there)
    }

    fn work(&self) {
        let mut recorder = self.observer.recorder(self.draft.path());
        loop {
            // Relaxed: only gives each chunk to one worker.
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = self.chunks.chunk(index) else { return };
            let written = self.failures.attempt(index, || {
                let written = self.write_chunk(chunk);
                recorder.lap_if(&written, Activity::Write, chunk.offset(), chunk.len());
                written
            });
            if written.is_none() {
                self.next.store(self.chunks.count(), Ordering::Relaxed);
                return;
            }
        }
    }

    fn write_chunk(&self, chunk: Extent) -> Result<()> {
        self.observer.hooks().check(Operation::Write, self.draft.path(), chunk)?;
        let file = self.draft.file();
        self.parts.each(chunk, |bytes, offset| {
            write_all_at(&**file, bytes, offset).map_err(|(error, done)| {
                Error::io(Operation::Write, self.draft.path(), error)
                    .at(Extent::between(offset + done, chunk.end()))
            })
        })?;
        if let (true, Some(descriptor)) = (self.is_eager, file.descriptor()) {
            // A failure is reported again when the file is synced.
            let _ = start_writeback(descriptor, chunk.offset(), chunk.len());
        }
        self.observer.delivered(chunk.len());
        Ok(())
    }
}
