//! Numbers that are written as numbers are: without zeros before them, and without a plus.
//!
//! `007` may be an article number or a postal code, whose zeros must stay. The parsers of
//! [`decimals`](crate::decimals) take it for 7, so this looks at the first bytes of tokens.

use crate::decimals::Tokens;

/// Which numbers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpadded {
    /// Whole numbers. A negative zero is not one.
    Whole,
    /// Any numbers.
    Any,
}

/// Tokens that are looked at without a branch.
const STEP: usize = 8;

/// Returns how many tokens precede the first that begins with a plus, with a zero before another
/// digit of its whole part, or, among whole numbers, with `-0`. A few others may be counted as
/// such.
///
/// ```
/// use swath_simd::{Tokens, Unpadded, unpadded};
///
/// let tokens = Tokens { text: b"0.5,-10,007,1", starts: &[0, 4, 8, 12], ends: &[3, 7, 11, 13] };
/// assert_eq!(unpadded(tokens, Unpadded::Any), 2);
/// ```
#[must_use]
pub fn unpadded(tokens: Tokens<'_>, wanted: Unpadded) -> usize {
    let count = tokens.count();
    let starts = &tokens.starts[..count];
    let (steps, _) = starts.as_chunks::<STEP>();
    let is_padded = |&start: &u32| is_padded(tokens.text, start as usize, wanted);
    for (index, step) in steps.iter().enumerate() {
        if step.iter().fold(false, |found, start| found | is_padded(start)) {
            let within = step.iter().position(is_padded).unwrap_or(0);
            return index * STEP + within;
        }
    }
    let rest = &starts[steps.len() * STEP..];
    steps.len() * STEP + rest.iter().position(is_padded).unwrap_or(rest.len())
}

/// Whether a token is padded. Bytes after a short token are looked at too.
#[inline(always)]
fn is_padded(text: &[u8], start: usize, wanted: Unpadded) -> bool {
    let Some(first) = text.get(start..).and_then(|text| text.first_chunk::<4>()) else {
        return is_padded_near_end(text, start, wanted);
    };
    let first = u32::from_le_bytes(*first);
    let is_negative = first & 0xff == u32::from(b'-');
    let digits = if is_negative { first >> 8 } else { first };
    let is_zero = digits & 0xff == u32::from(b'0');
    let is_followed = (digits >> 8 & 0xff).wrapping_sub(u32::from(b'0')) < 10;
    let is_odd = is_followed | (is_negative & (wanted == Unpadded::Whole));
    (is_zero & is_odd) | (first & 0xff == u32::from(b'+'))
}

#[cold]
fn is_padded_near_end(text: &[u8], start: usize, wanted: Unpadded) -> bool {
    let mut first = [b','; 4];
    let rest = text.get(start..).unwrap_or_default();
    first[..rest.len().min(4)].copy_from_slice(&rest[..rest.len().min(4)]);
    is_padded(&first, 0, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(tokens: &[&str], wanted: Unpadded) -> usize {
        let text = tokens.join(",");
        let (mut starts, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
        for token in tokens {
            starts.push(u32::try_from(at).expect("short"));
            at += token.len();
            ends.push(u32::try_from(at).expect("short"));
            at += 1;
        }
        unpadded(Tokens { text: text.as_bytes(), starts: &starts, ends: &ends }, wanted)
    }

    #[test]
    fn numbers_are_counted_up_to_the_first_that_is_padded() {
        let plain = ["0", "10", "-1", "0.5", "-0.5", ".5", "9", "100", "-0e5", "5"];
        for len in 0..=plain.len() {
            assert_eq!(count(&plain[..len], Unpadded::Any), len);
        }
        assert_eq!(count(&plain, Unpadded::Whole), 4, "-0 is not whole");
        for padded in ["00", "007", "-01", "+1", "-00.5", "+0"] {
            for at in 0..=plain.len() {
                let mut tokens = plain.to_vec();
                tokens.insert(at, padded);
                assert_eq!(count(&tokens, Unpadded::Any), at, "{padded}");
            }
        }
        assert_eq!(count(&["1", "-0"], Unpadded::Whole), 1);
        assert_eq!(count(&["1", "-0"], Unpadded::Any), 2);
    }
}
