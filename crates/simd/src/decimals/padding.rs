//! Detects padded numbers: those that begin with a plus, or with a zero before another digit.
//!
//! ```text
//! 007,-01,+1      padded
//! 0,-10,0.5       not
//! -0              padded, if whole numbers are wanted
//! ```
//!
//! `007` may be an article number or a postal code, whose zeros must stay.

use super::Tokens;

/// The kind of numbers that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedNumbers {
    /// Whole numbers. A negative zero is not one.
    Whole,
    /// Any numbers.
    Any,
}

/// Whether a token is padded; an empty one, or one outside the text, is not.
#[inline(always)]
pub(super) fn is_padded(tokens: Tokens<'_>, index: usize, wanted: WantedNumbers) -> bool {
    match tokens.get(index) {
        Some([b'+', ..] | [b'0', b'0'..=b'9', ..] | [b'-', b'0', b'0'..=b'9', ..]) => true,
        Some([b'-', b'0', ..]) => wanted == WantedNumbers::Whole,
        _ => false,
    }
}

/// Whether one of several tokens begins with a zero before another digit, possibly after a minus;
/// among whole numbers, also with `-0`. The masks have a bit per byte: of the tokens' first bytes,
/// of leading minuses, of zeros, of digits. A token of one byte may count as padded because of the
/// next byte.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn begin_padded<const WHOLE: bool>(
    first: u64,
    minuses: u64,
    zeros: u64,
    digits: u64,
) -> bool {
    let negative = minuses << 1 & zeros;
    let followed = (first & zeros | negative) << 1 & digits;
    followed != 0 || (WHOLE && negative != 0)
}
