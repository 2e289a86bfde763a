//! Finds the last record within a limit on rows.

use swath::machine::Mutex;

use super::pass::{PassEnd, RecordPart, RecordPass, RecordPiece};
use super::rows::Rows;
use super::shape::RecordShape;
use crate::error::Result;

/// Returns the byte of a file before which its first `limit` wanted rows begin, and no others, and
/// the number of these rows.
pub(in crate::table) fn end(
    pass: RecordPass<'_>,
    shape: &RecordShape,
    limit: u64,
) -> Result<(u64, u64)> {
    if limit == 0 {
        return Ok((pass.wanted.offset(), 0));
    }
    let found = Mutex::new(LimitState { left: limit, end: None, known: pass.input.len() });
    // In order, by one worker: limits are usually small.
    let read = pass.read.clone().without_progress().with_workers(1);
    let pass = RecordPass { read: &read, ..pass };
    let ended = pass.each(&|piece: RecordPiece<'_>| {
        let mut found = found.lock();
        piece.parts().try_for_each(|part| found.count(part, shape))
    });
    let found = found.into_inner();
    if found.known >= pass.input.len() {
        pass.input.reached_end();
    }
    // Reading the rows finds a fault again, after the rows before it.
    let end = found.end.filter(|_| ended.is_ok()).unwrap_or(pass.wanted.end());
    Ok((end, limit - found.left))
}

struct LimitState {
    left: u64,
    end: Option<u64>,
    /// The end of the text needed to know this.
    known: u64,
}

impl LimitState {
    /// Counts rows until there are enough.
    fn count(
        &mut self,
        part: RecordPart<'_>,
        shape: &RecordShape,
    ) -> std::result::Result<(), PassEnd> {
        let (mut rows, mut at) = (Rows::default(), 0);
        while at < part.bytes.len() {
            let filled = rows.fill(part.bytes, at, shape);
            let count = rows.count() as u64;
            if count >= self.left {
                let last = usize::try_from(self.left - 1).unwrap_or(usize::MAX);
                self.end = Some(part.offset + rows.start(last) as u64 + 1);
                self.known = part.offset + filled.unwrap_or(at) as u64;
                self.left = 0;
                return Err(PassEnd::Enough);
            }
            self.left -= count;
            // Reading the rows finds a fault again.
            at = filled.map_err(|_| {
                self.known = part.end();
                PassEnd::Enough
            })?;
        }
        Ok(())
    }
}
