//! The bytes of a text that must be quoted or escaped: control bytes, and a few others.
//!
//! ```text
//! text     a , b " c \n      set: control bytes, `,` and `"`
//! bits     · 1 · 1 · 1       one for each byte, 64 to a word
//! ```
//!
//! Most texts have no such bytes, so a whole column is searched first.

use crate::level::{Detected, Level, detected};
use crate::masks::{CHUNK, Kernel, Masks, run};

/// The highest control byte below space.
const LAST_CONTROL: u8 = 0x1f;
/// The number of bytes that a set has room for.
const ROOM: usize = 6;

/// Control bytes (below 32) and up to six others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    others: [u8; ROOM],
}

impl Special {
    /// Makes the set of control bytes and of `others`. Only the first six of `others` count.
    ///
    /// ```
    /// use swath_simd::Special;
    ///
    /// let mut bits = Vec::new();
    /// assert!(Special::new(b",\"").find(b"a,b\"c\n", &mut bits));
    /// assert_eq!(bits, [0b10_1010]);
    /// assert!(!Special::new(b",\"").find(b"plain; text", &mut bits));
    /// ```
    #[must_use]
    pub fn new(others: &[u8]) -> Self {
        // A control byte is always in the set.
        let mut set = [0; ROOM];
        for (slot, other) in set.iter_mut().zip(others) {
            *slot = *other;
        }
        Self { others: set }
    }

    /// Whether a byte is in the set.
    #[must_use]
    pub fn has(&self, byte: u8) -> bool {
        byte <= LAST_CONTROL || self.others.contains(&byte)
    }

    /// Replaces `bits` by one bit for each byte of `text`, the first one lowest: 1 if it is in the
    /// set. Returns whether any bit is set.
    pub fn find(&self, text: &[u8], bits: &mut Vec<u64>) -> bool {
        self.find_by(detected(), text, bits)
    }

    /// Like [`find`](Self::find), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    pub fn find_at(&self, level: Level, text: &[u8], bits: &mut Vec<u64>) -> bool {
        self.find_by(level.detected(), text, bits)
    }

    fn find_by(&self, level: Detected, text: &[u8], bits: &mut Vec<u64>) -> bool {
        bits.clear();
        bits.resize(text.len().div_ceil(CHUNK), 0);
        run(level, SpecialSearch { set: *self, text, bits })
    }
}

struct SpecialSearch<'t> {
    set: Special,
    text: &'t [u8],
    bits: &'t mut [u64],
}

impl Kernel for SpecialSearch<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> bool {
        let look = |chunk: &[u8; CHUNK]| {
            let controls = masks.at_most(chunk, LAST_CONTROL);
            self.set.others.iter().fold(controls, |all, byte| all | masks.equal(chunk, *byte))
        };
        let (chunks, rest) = self.text.as_chunks::<CHUNK>();
        let mut any = 0;
        for (slot, chunk) in self.bits.iter_mut().zip(chunks) {
            *slot = look(chunk);
            any |= *slot;
        }
        if let (Some(slot), false) = (self.bits.last_mut(), rest.is_empty()) {
            let mut last = [0; CHUNK];
            last[..rest.len()].copy_from_slice(rest);
            *slot = look(&last) & ((1 << rest.len()) - 1);
            any |= *slot;
        }
        any != 0
    }
}

#[cfg(test)]
mod tests {
    use swath_reference::bytes;

    use super::*;

    #[test]
    fn every_level_marks_the_bytes_of_the_set_and_no_others() {
        let set = Special::new(b",\"\xff");
        let mut bits = Vec::new();
        for len in (0..200).chain([1000]) {
            let text = bytes(len as u64, len);
            let wanted = |at: usize| text[at] < 32 || b",\"\xff".contains(&text[at]);
            for level in Level::ALL.into_iter().filter(|it| it.available()) {
                let any = set.find_at(level, &text, &mut bits);
                assert_eq!(bits.len(), len.div_ceil(64), "{level}");
                assert_eq!(any, (0..len).any(wanted), "{level} {len}");
                for at in 0..bits.len() * 64 {
                    let is_set = bits[at / 64] >> (at % 64) & 1 == 1;
                    assert_eq!(is_set, at < len && wanted(at), "{level} {len} {at}");
                }
            }
        }
    }

    #[test]
    fn a_byte_alone_is_found_wherever_it_stands() {
        let set = Special::new(b"\\\"");
        let mut bits = Vec::new();
        for byte in 0..=255 {
            assert_eq!(set.has(byte), byte < 32 || byte == b'\\' || byte == b'"');
            for at in [0, 1, 63, 64, 100] {
                let mut text = [b'a'; 101];
                text[at] = byte;
                for level in Level::ALL.into_iter().filter(|it| it.available()) {
                    assert_eq!(set.find_at(level, &text, &mut bits), set.has(byte), "{byte}");
                }
            }
        }
    }
}
