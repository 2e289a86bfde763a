//! Finds the columns of fixed width in the first lines.

use super::sniff::{BYTES, RECORDS};
use crate::error::Result;
use crate::table::text::dialect::Dialect;
use crate::table::text::fixed::{FixedLayout, TextPositions};
use crate::table::text::prefix::Prefix;
use crate::table::text::record::RecordText;

/// Finds the columns of fixed width in the lines of the sample.
pub(in crate::table) fn layout(
    prefix: &mut Prefix<'_>,
    dialect: Dialect,
) -> Result<FixedLayout> {
    loop {
        if let Some(found) = layout_of(prefix.sample(dialect), prefix.is_enough(), dialect) {
            return Ok(found.layout());
        }
        prefix.grow()?;
    }
}

/// Finds the columns in these bytes; `None` if it needs more of them.
fn layout_of(text: &[u8], is_all: bool, dialect: Dialect) -> Option<TextPositions> {
    let records = RecordText { text, dialect, layout: None };
    let (mut found, mut at, mut count) = (TextPositions::default(), 0, 0);
    let mut limit = usize::MAX;
    while at < text.len() && at < limit && count <= RECORDS {
        let next = records.end(at).unwrap_or(text.len());
        if next == text.len() && !is_all {
            return None;
        }
        // The reader reports a fault with its place.
        let Ok(skipped) = records.skipped(at) else { break };
        if skipped.is_none() {
            let Ok(_) = found.add(text, at) else { break };
            limit = limit.min(next.saturating_add(BYTES));
            count += 1;
        }
        at = next;
    }
    let is_known = is_all || at < text.len();
    is_known.then_some(found)
}
