//! Numbers that are written as numbers are: without zeros before them, and without a plus.
//!
//! ```text
//! 007,-01,+1      padded      the first four bytes of eight tokens at a time
//! 0,-10,0.5       not
//! -0              padded, if whole numbers are wanted
//! ```
//!
//! `007` may be an article number or a postal code, whose zeros must stay. The parsers of
//! [`decimals`](super) take it for 7, so this looks at the first bytes of tokens.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::Tokens;
use crate::level::{Detected, Level, detected};

/// Which numbers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpadded {
    /// Whole numbers. A negative zero is not one.
    Whole,
    /// Any numbers.
    Any,
}

/// Returns how many tokens precede the first that begins with a plus, with a zero before another
/// digit of its whole part, or, among whole numbers, with `-0`. A token of one or two bytes may be
/// counted as such because of the bytes after it. An empty one, which may start past its end, is
/// not padded, whatever is there.
///
/// ```
/// use swath_simd::{Tokens, Unpadded, unpadded};
///
/// let tokens = Tokens { text: b"0.5,-10,007,1", starts: &[0, 4, 8, 12], ends: &[3, 7, 11, 13] };
/// assert_eq!(unpadded(tokens, Unpadded::Any), 2);
/// ```
#[must_use]
pub fn unpadded(tokens: Tokens<'_>, wanted: Unpadded) -> usize {
    at(detected(), tokens, wanted)
}

/// As [`unpadded`], with the kernel of one `level`, to compare them.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
#[must_use]
pub fn unpadded_at(level: Level, tokens: Tokens<'_>, wanted: Unpadded) -> usize {
    at(level.detected(), tokens, wanted)
}

fn at(level: Detected, tokens: Tokens<'_>, wanted: Unpadded) -> usize {
    let done = match level.level() {
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { avx2::unpadded(tokens, wanted) },
        _ => 0,
    };
    let count = tokens.count();
    (done..count).find(|&index| is_padded(tokens, index, wanted)).unwrap_or(count)
}

/// Whether a token is padded; an empty one never is.
#[inline(always)]
pub(crate) fn is_padded(tokens: Tokens<'_>, index: usize, wanted: Unpadded) -> bool {
    let (text, start) = (tokens.text, tokens.starts[index] as usize);
    if tokens.starts[index] >= tokens.ends[index] {
        return false;
    }
    match text.get(start..).and_then(|text| text.first_chunk::<4>()) {
        Some(first) => is_padded_number(u32::from_le_bytes(*first), wanted),
        None => is_padded_near_end(text, start, wanted),
    }
}

#[inline(always)]
fn is_padded_number(first: u32, wanted: Unpadded) -> bool {
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
    first[..rest.len()].copy_from_slice(rest);
    is_padded_number(u32::from_le_bytes(first), wanted)
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
        let tokens = Tokens { text: text.as_bytes(), starts: &starts, ends: &ends };
        let found = unpadded_at(Level::Portable, tokens, wanted);
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            assert_eq!(unpadded_at(level, tokens, wanted), found, "{level}: {text}");
        }
        found
    }

    #[test]
    fn numbers_are_counted_up_to_the_first_that_is_padded() {
        let plain = [
            "0", "10", "-1", "0.5", "-0.5", ".5", "9", "100", "-0e5", "5", "-10", "1", "0",
            "3e-5",
        ];
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

    #[test]
    fn every_level_counts_alike() {
        let mut next = swath_reference::splitmix(3);
        for _ in 0..20_000 {
            let mut tokens = Vec::new();
            for _ in 0..next() % 30 {
                let len = 1 + next() % 4;
                let bytes = b"00123456789.-+,x";
                let byte =
                    |bits: u64| char::from(bytes[usize::try_from(bits % 16).expect("small")]);
                tokens.push((0..len).map(|_| byte(next() >> 8)).collect::<String>());
            }
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let _ = (count(&tokens, Unpadded::Any), count(&tokens, Unpadded::Whole));
        }
    }

    #[test]
    fn tokens_outside_the_text_are_not_read() {
        let starts = [0, 1, 2, 3, 4, 5, 6, u32::MAX - 1, 7, 8, 9];
        let ends = starts.map(|start| start + 1);
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            let tokens = Tokens { text: b"123456789", starts: &starts, ends: &ends };
            assert_eq!(unpadded_at(level, tokens, Unpadded::Any), starts.len(), "{level}");
        }
    }

    #[test]
    fn empty_tokens_are_not_padded_whatever_is_after_them() {
        let text = b"007,-0,+1,10";
        for at in 0..20 {
            for empty in [(0, 0), (4, 3), (4, 4), (7, 6), (7, 7)] {
                let mut places = vec![(10, 12); 20];
                places[at] = empty;
                let (starts, ends): (Vec<u32>, Vec<u32>) = places.into_iter().unzip();
                let tokens = Tokens { text, starts: &starts, ends: &ends };
                for level in Level::ALL.into_iter().filter(|level| level.available()) {
                    assert_eq!(unpadded_at(level, tokens, Unpadded::Whole), 20, "{level} {at}");
                }
            }
        }
    }
}
