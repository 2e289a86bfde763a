//! Chunks folded by any worker, values combined in file order.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};

use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;
use swath_plan::schedule::{Lease, Way};

use super::Chunk;
use crate::buffer::Buffer;
use crate::engine::fill::Hands;
use crate::engine::{Job, Trouble, Visit};
use crate::error::Result;
use crate::options::ReadOptions;
use crate::timeline::Activity;

/// Folds leases chunk by chunk.
pub(super) struct Fold<'f, T, F, C> {
    job: &'f Job<'f>,
    options: &'f ReadOptions,
    plan: ChunkPlan,
    chunk_size: u64,
    extent: Extent,
    room: usize,
    /// Read a lease at once: fewer, larger reads for a device.
    by_lease: bool,
    fold: F,
    combine: C,
    combined: Mutex<InOrder<T>>,
}

impl<'f, T, F, C> Fold<'f, T, F, C> {
    /// Folds chunks of `chunk_size` bytes of an extent.
    pub(super) fn new(
        job: &'f Job<'f>,
        options: &'f ReadOptions,
        extent: Extent,
        chunk_size: NonZeroU64,
        fold: F,
        combine: C,
    ) -> Self {
        let combined = InOrder { next: extent.offset(), value: None, early: BTreeMap::new() };
        Self {
            job,
            options,
            plan: ChunkPlan::new(extent, chunk_size),
            chunk_size: chunk_size.get(),
            extent,
            room: 0,
            by_lease: false,
            fold,
            combine,
            combined: Mutex::new(combined),
        }
    }

    /// Gives each worker `room` bytes; it reads whole leases into them if `by_lease` says so.
    pub(super) fn with_room(self, room: usize, by_lease: bool) -> Self {
        Self { room, by_lease, ..self }
    }

    /// The combined value, when all workers have ended.
    pub(super) fn into_value(self) -> Option<T> {
        self.combined.into_inner().unwrap_or_else(PoisonError::into_inner).value
    }
}

/// Values that came early wait here for those before them.
struct InOrder<T> {
    /// The offset up to which values are combined.
    next: u64,
    value: Option<T>,
    early: BTreeMap<u64, (u64, Vec<T>)>,
}

impl<T> InOrder<T> {
    fn put(&mut self, lease: Extent, values: Vec<T>, combine: &impl Fn(T, T) -> T) -> u64 {
        self.early.insert(lease.offset(), (lease.end(), values));
        while let Some((end, values)) = self.early.remove(&self.next) {
            self.next = end;
            for value in values {
                self.value = Some(match self.value.take() {
                    None => value,
                    Some(before) => combine(before, value),
                });
            }
        }
        self.next
    }
}

impl<T, F, C> Visit for Fold<'_, T, F, C>
where
    T: Send,
    F: Fn(Chunk<'_>) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    type Scratch = Buffer;

    fn scratch(&self) -> Result<Buffer> {
        self.job.source.block(&self.options.pool, self.room)
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        scratch: &mut Buffer,
        lease: &Lease,
    ) -> std::result::Result<(), Trouble> {
        let mut values = Vec::new();
        let mut whole = None;
        if lease.way == Way::Direct {
            whole = Some(hands.fill_widened(lease.extent, scratch)?);
        } else if self.by_lease {
            let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
            hands.fill_at_once(lease.extent.offset(), &mut scratch[..len])?;
            whole = Some(0);
        }
        let mut index = (lease.extent.offset() - self.extent.offset()) / self.chunk_size;
        while let Some(chunk) =
            self.plan.chunk(index).filter(|at| at.offset() < lease.extent.end())
        {
            let from = chunk.offset() - lease.extent.offset();
            let len = usize::try_from(chunk.len()).unwrap_or(usize::MAX);
            let start = match whole {
                Some(skip) => skip + usize::try_from(from).unwrap_or(usize::MAX),
                None => {
                    hands.fill_at_once(chunk.offset(), &mut scratch[..len])?;
                    0
                }
            };
            let bytes = &scratch[start..start + len];
            values.push((self.fold)(Chunk { index, offset: chunk.offset(), bytes }));
            hands.recorder.lap(Activity::Compute, chunk.offset(), len as u64);
            index += 1;
        }
        let mut combined = self.combined.lock().unwrap_or_else(PoisonError::into_inner);
        let next = combined.put(lease.extent, values, &self.combine);
        drop(combined);
        self.job.release(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_combined_from_left_to_right_whatever_order_they_come_in() {
        let mut order = InOrder { next: 0, value: None, early: BTreeMap::new() };
        let combine = |left: String, right: String| format!("({left}{right})");
        let mut put = |offset: u64, end: u64, values: &[&str]| {
            let values = values.iter().map(|&value| String::from(value)).collect();
            order.put(Extent::between(offset, end), values, &combine)
        };
        assert_eq!(put(4, 6, &["c"]), 0);
        assert_eq!(put(6, 7, &["d"]), 0);
        assert_eq!(put(0, 4, &["a", "b"]), 7);
        assert_eq!(order.value.as_deref(), Some("(((ab)c)d)"));
    }
}
