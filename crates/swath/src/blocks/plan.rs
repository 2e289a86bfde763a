//! The settings with which all sources of a call are read.

use std::num::NonZeroU64;
use std::sync::Arc;

use swath_os::machine;
use swath_plan::extent::Extent;

use crate::blocks::Records;
use crate::blocks::starting::Starts;
use crate::error::{Error, Operation, Reason, Result};
use crate::options::ReadOptions;
use crate::records::Cut;
use crate::source::OpenSource;
use crate::timeline::Activity;

/// Bytes between cuts by default.
pub(super) const BLOCK_SIZE: u64 = 1 << 20;

/// The settings with which all sources are read.
#[derive(Debug)]
pub(crate) struct BlockPlan {
    pub(crate) options: ReadOptions,
    pub(crate) cut: Cut,
    pub(super) starting_in: Option<Extent>,
    pub(crate) block_size: NonZeroU64,
    pub(crate) record_limit: u64,
    pub(crate) memory: fn() -> u64,
    pub(crate) words: VerbWords,
}

/// The words with which a verb describes itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerbWords {
    /// The activity in a timeline.
    pub(crate) activity: Activity,
    /// The hint if a map was requested.
    pub(crate) map_hint: &'static str,
}

impl VerbWords {
    pub(crate) const RECORDS: Self =
        Self { activity: Activity::Parse, map_hint: "use `records_mapped`" };
    pub(crate) const SCAN: Self =
        Self { activity: Activity::Compute, map_hint: "use `sum_mapped` or `count_mapped`" };
}

/// The numbers with which a source begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceStart {
    pub(crate) piece: u64,
    pub(crate) block: u64,
    pub(crate) source: usize,
}

impl BlockPlan {
    pub(super) fn of(records: &Records<'_>) -> Self {
        let block_size = [records.block_size, records.options.wishes.chunk_size, BLOCK_SIZE];
        let block_size = block_size.into_iter().find_map(NonZeroU64::new);
        let block_size = block_size.unwrap_or(NonZeroU64::MIN);
        let mut options = records.options.clone();
        options.wishes.chunk_size = block_size.get();
        Self {
            options,
            cut: records.cut,
            starting_in: records.starting_in,
            block_size,
            record_limit: records.record_limit,
            memory: || machine::memory_at_hand().unwrap_or(u64::MAX),
            words: records.words,
        }
    }

    /// Refuses a cut that makes no records.
    pub(super) fn check_cut(&self, source: &OpenSource) -> Result<()> {
        let Some(fault) = self.cut.fault() else { return Ok(()) };
        Err(Error::new(Operation::Read, Reason::Invalid, source.name()).detail(fault))
    }

    /// The bytes to read of a source of `len` bytes.
    pub(super) fn extent_of(&self, source: &Arc<OpenSource>, len: u64) -> Result<Extent> {
        let whole = self.options.extent_of(source, len)?;
        let Some(part) = self.starting_in else { return Ok(whole) };
        Starts { source, options: &self.options, cut: self.cut, whole }.within(part)
    }
}
