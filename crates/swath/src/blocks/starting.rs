//! Finds the bytes of the records that begin in an extent.
//!
//! ```text
//! file      |record 0   |record 1      |record 2 |record 3     |
//! extent           |------------------------|
//! bytes                 |record 1      |record 2 |
//! ```
//!
//! So if a file is split into extents, each record begins in exactly one of them, wherever the
//! splits are.

use std::sync::Arc;

use swath_plan::extent::Extent;

use crate::error::Result;
use crate::options::ReadOptions;
use crate::records::Cut;
use crate::source::{OpenSource, Source, SourceForm};

/// Bytes to search first for the end of a record.
const LOOK: u64 = 64 << 10;

/// A source of which `whole` is read, and how it is split into records.
pub(super) struct Starts<'s> {
    pub(super) source: &'s Arc<OpenSource>,
    pub(super) options: &'s ReadOptions,
    pub(super) cut: Cut,
    pub(super) whole: Extent,
}

impl Starts<'_> {
    /// Returns the bytes of the records that begin in `part`.
    pub(super) fn within(&self, part: Extent) -> Result<Extent> {
        let (mut from, mut inside) = (self.whole.offset(), false);
        let mut bounds = [0; 2];
        for (bound, offset) in bounds.iter_mut().zip([part.offset(), part.end()]) {
            let offset = offset.clamp(self.whole.offset(), self.whole.end());
            inside ^= self.is_odd(Extent::between(from, offset))?;
            from = offset;
            *bound = self.first_from(offset, inside)?;
        }
        Ok(Extent::between(bounds[0], bounds[1]))
    }

    /// Returns the start of the first record at or after `offset`; `inside`: `offset` is between quotes.
    fn first_from(&self, offset: u64, inside: bool) -> Result<u64> {
        let end = self.whole.end();
        if offset <= self.whole.offset() || offset >= end {
            return Ok(offset);
        }
        let skipped = offset - self.whole.offset();
        if let Cut::Fixed(width) = self.cut {
            let start = skipped.checked_next_multiple_of(width);
            let start = start.and_then(|start| start.checked_add(self.whole.offset()));
            return Ok(start.map_or(end, |start| start.min(end)));
        }
        // The byte before may be the end of a record.
        let from = offset - 1;
        let mut len = LOOK;
        loop {
            let look = Extent::between(from, from.saturating_add(len).min(end));
            let bytes = self.quietly(look).read(self.input())?.buffer;
            match self.cut.first_start(&bytes, inside, skipped) {
                Some(start) => return Ok(from + start as u64),
                None if look.end() == end => return Ok(end),
                None => len = len.saturating_mul(4),
            }
        }
    }

    /// Whether the number of quotes in `extent` is odd.
    fn is_odd(&self, extent: Extent) -> Result<bool> {
        let Some(quote) = self.cut.quote().filter(|_| !extent.is_empty()) else {
            return Ok(false);
        };
        Ok(self.quietly(extent).count(self.input(), quote)?.value % 2 == 1)
    }

    fn input(&self) -> Source {
        Source(SourceForm::Opened(Arc::clone(self.source)))
    }

    /// Returns the options for a search without progress reports.
    fn quietly(&self, extent: Extent) -> ReadOptions {
        let options = self.options.clone().without_progress().with_chunk_size(0);
        options.with_offset(extent.offset()).with_len(extent.len())
    }
}
