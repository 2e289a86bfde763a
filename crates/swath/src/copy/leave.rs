//! Copies bytes with workers that read and write.

use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::policy::in_order;
use swath_plan::schedule::{Lease, Way};

use super::holes::only_data;
use super::{Copied, CopyOptions};
use crate::buffer::Buffer;
use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, ReadJob, Visit, worker};
use crate::error::Result;
use crate::observe::Observer;
use crate::planned::{Planned, decide_to_consume};
use crate::sink::draft::Draft;
use crate::source::OpenSource;
use crate::timeline::Activity;

/// Writes each lease at the offset of its read.
struct LeaseCopier<'l> {
    job: &'l ReadJob<'l>,
    options: &'l CopyOptions,
    draft: &'l Draft,
    chunk_size: usize,
    room: usize,
    /// Whether to read a whole lease at a time: fewer, larger reads for a device.
    by_lease: bool,
}

impl CopyOptions {
    /// Reads as a scan does, and writes the bytes.
    pub(super) fn leave(
        &self,
        source: &Arc<OpenSource>,
        extent: Extent,
        data: &[Extent],
        draft: &Draft,
        observer: &Observer,
        copied: &mut Copied,
    ) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let mut by_lease = false;
        let planned = Planned::of(source, extent, &self.read, |facts| {
            let (decision, leases) = decide_to_consume(facts, &self.read);
            by_lease = leases;
            let mut decision = in_order(decision, extent);
            for queue in &mut decision.queues {
                *queue = only_data(queue, data);
            }
            decision
        });
        let job = planned.job(observer.clone(), None)?;
        let Planned { decision, .. } = &planned;
        let visit = LeaseCopier {
            job: &job,
            options: self,
            draft,
            chunk_size: usize::try_from(decision.chunk_size.get()).unwrap_or(usize::MAX),
            room: planned.scratch_size(by_lease),
            by_lease,
        };
        worker::run(&job, &visit, decision.workers.len(), None);
        if let Some(error) = job.running.failure() {
            return Err(error);
        }
        // Not `finish`: the caller checks once, for all ways of copying, whether the source has changed.
        let mut report = planned.report;
        job.tell(&mut report);
        (copied.workers, copied.fallbacks) = (report.workers, report.fallbacks);
        Ok(())
    }
}

impl Visit for LeaseCopier<'_> {
    type Scratch = Buffer;

    fn scratch(&self) -> Result<Buffer> {
        self.job.source.block(&self.options.read.pool, self.room)
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        scratch: &mut Buffer,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
        if lease.way == Way::Direct {
            let skip = hands.fill_units(lease.extent, scratch)?;
            return self.write(hands, &scratch[skip..skip + len], lease.extent.offset());
        }
        let step = if self.by_lease { len } else { self.chunk_size };
        let mut at = lease.extent.offset();
        while at < lease.extent.end() {
            let left = usize::try_from(lease.extent.end() - at).unwrap_or(usize::MAX);
            let bytes = &mut scratch[..left.min(step)];
            hands.fill_once(Way::Buffered, at, bytes)?;
            self.write(hands, bytes, at)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }
}

impl LeaseCopier<'_> {
    fn write(
        &self,
        hands: &mut Hands<'_>,
        bytes: &[u8],
        offset: u64,
    ) -> std::result::Result<(), LeaseTrouble> {
        let written = self.options.write(self.draft, bytes, offset);
        hands.recorder.lap_if(&written, Activity::Write, offset, bytes.len() as u64);
        written.map_err(LeaseTrouble::fatal)
    }
}
