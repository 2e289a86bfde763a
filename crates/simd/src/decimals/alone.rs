//! The fields of a column, one after the other.

use super::padding::{WantedNumbers, is_padded};
use super::{Tokens, each, scalar};

/// Parses tokens starting at `first`, one by one; returns the number before the first that is not
/// plain.
pub(super) fn doubles(
    tokens: Tokens<'_>,
    first: usize,
    is_strict: bool,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    each(out, |index| match token(tokens, first + index, is_strict, WantedNumbers::Any)? {
        [] => Some(0.0),
        token => scalar::decimal(token)?.to_nearest(doubt),
    })
}

/// Like [`doubles`], for integers.
pub(super) fn integers(
    tokens: Tokens<'_>,
    first: usize,
    is_strict: bool,
    out: &mut [i64],
) -> usize {
    each(out, |index| match token(tokens, first + index, is_strict, WantedNumbers::Whole)? {
        [] => Some(0),
        token => scalar::decimal(token)?.to_integer(),
    })
}

/// Returns the bytes of a token, unless it is padded or not in the text.
fn token<'t>(
    tokens: Tokens<'t>,
    index: usize,
    is_strict: bool,
    wanted: WantedNumbers,
) -> Option<&'t [u8]> {
    let (start, end) = (tokens.starts[index], tokens.ends[index]);
    if start >= end {
        return Some(&[]);
    }
    let is_refused = is_strict && is_padded(tokens, index, wanted);
    if is_refused { None } else { tokens.get(index) }
}
