//! The last records of a file, which options can exclude from the table.
//!
//! ```text
//! text      a,b¶1,2¶3,4¶Total,"6¶"¶        skip_footer 1
//! table     a,b¶1,2¶3,4¶                   ends where the last record begins
//! ```
//!
//! Which newlines are in quotes depends on all text before, so a pass covers that. Only records
//! near the end are examined.

use std::collections::BTreeSet;

use swath::Extent;
use swath::machine::Mutex;

use super::pass::{PassEnd, RecordPass, RecordPiece};
use super::record::RecordText;
use crate::error::{Error, FormatReason, Result};

/// The most records that can be skipped: the start of each is kept.
pub(in crate::table) const MOST: usize = 1_000_000;
/// Bytes before the end that are searched first.
const LOOK: u64 = if cfg!(test) { 100 } else { 1 << 20 };

/// Returns the start of the last `count` records before `end`, or of all if there are fewer.
pub(in crate::table) fn begin(pass: RecordPass<'_>, end: u64, count: usize) -> Result<u64> {
    pass.input.reached_end();
    let read = pass.read.clone().without_progress();
    let (data, mut look) = (pass.data, LOOK);
    loop {
        // The length of a long compressed text is unknown until its end.
        let from = if end == u64::MAX { data } else { end.saturating_sub(look).max(data) };
        let last = Mutex::new(BTreeSet::new());
        let pass = RecordPass { read: &read, wanted: Extent::between(from, end), ..pass };
        pass.each(&|piece: RecordPiece<'_>| {
            let mut last = last.lock();
            each_last(&pass, &piece, count, |at| {
                last.insert(at);
            });
            while last.len() > count {
                last.pop_first();
            }
            Ok(())
        })?;
        let last = last.into_inner();
        if last.len() == count || from == data {
            return Ok(last.first().copied().unwrap_or(end));
        }
        look = look.saturating_mul(16);
    }
}

/// Whether at least `count` records begin in the wanted extent.
pub(in crate::table) fn has_as_many(pass: RecordPass<'_>, count: usize) -> Result<bool> {
    let found = Mutex::new(0);
    // In order, by one worker: usually the first ones suffice.
    let read = pass.read.clone().without_progress().with_workers(1);
    let pass = RecordPass { read: &read, ..pass };
    pass.each(&|piece: RecordPiece<'_>| {
        let mut found = found.lock();
        each_last(&pass, &piece, count, |_| *found += 1);
        if *found < count { Ok(()) } else { Err(PassEnd::Enough) }
    })?;
    let found = found.into_inner();
    Ok(found >= count)
}

fn each_last(
    pass: &RecordPass<'_>,
    piece: &RecordPiece<'_>,
    count: usize,
    mut each: impl FnMut(u64),
) {
    for part in piece.parts() {
        let records = RecordText { text: part.bytes, dialect: pass.dialect, layout: None };
        records.last(count).into_iter().for_each(|at| each(part.offset + at as u64));
    }
}

/// Whether an error reports an open quote, so that the last record is unknown.
pub(in crate::table) fn is_open(error: &Error) -> bool {
    error.reason() == FormatReason::Malformed
}
