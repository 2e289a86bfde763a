//! Finds the marks that begin blocks and end streams, at any bit.

/// Begins a block: digits of π.
pub(crate) const BLOCK: u64 = 0x3141_5926_5359;
/// Ends a stream: digits of the square root of π.
pub(crate) const END: u64 = 0x1772_4538_5090;
/// Length of a mark in bits.
pub(crate) const MARK: u64 = 48;

const KINDS: [u64; 2] = [BLOCK, END];

/// For each value of a byte: the marks, and their shifts, that contain it. Bit `8 * kind + shift`.
/// Only one byte in sixteen is in the table, so most bytes need no second check.
const CANDIDATES: [u16; 256] = {
    let mut table = [0; 256];
    let mut kind = 0;
    while kind < 2 {
        let mut shift = 0;
        while shift < 8 {
            let inside = (KINDS[kind] >> (8 - shift)) & 0xff;
            table[inside.to_le_bytes()[0] as usize] |= 1 << (8 * kind + shift);
            shift += 1;
        }
        kind += 1;
    }
    table
};

/// A mark that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitMark {
    /// [`BLOCK`] or [`END`].
    pub(crate) mark: u64,
    /// Number of bits of the last byte that follow the mark.
    pub(crate) after: u64,
}

/// Searches for marks in consecutive bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Finder {
    last: u64,
}

impl Finder {
    /// Returns the first mark that ends in `bytes`, and the index of its last byte. The bytes up to
    /// that one have been searched; the next call starts after it.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<(usize, BitMark)> {
        for (index, &byte) in bytes.iter().enumerate() {
            self.last = self.last << 8 | u64::from(byte);
            let candidates = CANDIDATES[usize::from(self.last.to_le_bytes()[1])];
            if candidates != 0
                && let Some(found) = self.confirm(candidates)
            {
                return Some((index, found));
            }
        }
        None
    }

    fn confirm(&self, candidates: u16) -> Option<BitMark> {
        let is_there = |&bit: &u32| {
            let mark = KINDS[usize::from(bit >= 8)];
            candidates & (1 << bit) != 0 && (self.last >> (bit % 8)) & ((1 << MARK) - 1) == mark
        };
        let bit = (0..16).find(is_there)?;
        Some(BitMark { mark: KINDS[usize::from(bit >= 8)], after: u64::from(bit % 8) })
    }
}

/// Appends `len` bits of `bytes`, starting at bit `skip` of the first byte, moved to a byte
/// boundary. The remaining bits are 0. The caller has reserved the room.
pub(crate) fn align(bytes: &[u8], skip: u64, len: u64, out: &mut Vec<u8>) {
    debug_assert!(skip < 8 && skip + len <= 8 * bytes.len() as u64);
    let count = usize::try_from(len.div_ceil(8)).unwrap_or(usize::MAX);
    // Slices of known length and a shift below 8: no step needs a check, so the loop is vectorised.
    let skip = skip % 8;
    let (highs, lows) = (bytes, bytes.get(1..).unwrap_or_default());
    let both = count.min(lows.len());
    let end = out.len() + count;
    out.extend(highs[..both].iter().zip(&lows[..both]).map(|(&high, &low)| {
        let [high, _] = (u16::from_be_bytes([high, low]) << skip).to_be_bytes();
        high
    }));
    if out.len() < end {
        out.extend(bytes.last().map(|last| last << skip));
    }
    if let Some(last) = out.last_mut().filter(|_| count > 0) {
        *last &= u8::MAX << (8 * count as u64 - len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mark` at every bit position in some noise.
    fn with_mark(mark: u64, shift: u64) -> Vec<u8> {
        let mut bits: u128 = 0x0f0f_1234_5678_9abc_def0_1111_2222_3333;
        let at = 40 + shift;
        bits &= !(((1_u128 << MARK) - 1) << at);
        bits |= u128::from(mark) << at;
        bits.to_be_bytes().to_vec()
    }

    #[test]
    fn a_mark_is_found_at_every_bit_however_the_bytes_come() {
        for mark in KINDS {
            for shift in 0..8 {
                let bytes = with_mark(mark, shift);
                let wanted = BitMark { mark, after: shift };
                assert_eq!(Finder::default().find(&bytes), Some((10, wanted)), "{shift}");
                let mut finder = Finder::default();
                for (index, byte) in bytes.iter().enumerate() {
                    let found = finder.find(&[*byte]);
                    assert_eq!(found, (index == 10).then_some((0, wanted)));
                }
            }
        }
    }

    #[test]
    fn what_differs_in_one_bit_is_no_mark() {
        let bytes = with_mark(BLOCK, 3);
        for bit in 128 - 43 - 48..128 - 43 {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(Finder::default().find(&wrong), None, "{bit}");
        }
    }

    #[test]
    fn bits_are_moved_to_the_start_of_a_byte() {
        let bytes = [0b1010_0101, 0b1100_0011, 0b1111_0000];
        let aligned = |skip, len| {
            let mut out = vec![0xa5];
            align(&bytes, skip, len, &mut out);
            assert_eq!(out.remove(0), 0xa5);
            out
        };
        assert_eq!(aligned(0, 24), bytes);
        assert_eq!(aligned(4, 16), [0b0101_1100, 0b0011_1111]);
        assert_eq!(aligned(7, 17), [0b1110_0001, 0b1111_1000, 0]);
        assert_eq!(aligned(1, 3), [0b0100_0000]);
        assert!(aligned(3, 0).is_empty());
    }
}
