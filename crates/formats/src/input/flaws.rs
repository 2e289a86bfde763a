//! The places of bytes that could not be decoded, in less memory than the bytes themselves.

/// Places in ascending order, stored as the distance from each to the next, seven bits in a byte.
#[derive(Debug, Default)]
pub(crate) struct Flaws {
    gaps: Vec<u8>,
    last: u64,
    pub(crate) count: u64,
    /// The encoding, for messages.
    pub(crate) encoding: String,
}

impl Flaws {
    pub(crate) fn new(encoding: String) -> Self {
        Self { encoding, ..Self::default() }
    }

    /// Adds a place; `None` if there is not enough memory.
    pub(crate) fn push(&mut self, at: u64) -> Option<()> {
        let mut gap = at.saturating_sub(self.last);
        self.gaps.try_reserve(10).ok()?;
        let low = |gap: u64| u8::try_from(gap & 0x7f).unwrap_or(0);
        while gap >= 0x80 {
            self.gaps.push(low(gap) | 0x80);
            gap >>= 7;
        }
        self.gaps.push(low(gap));
        (self.last, self.count) = (at, self.count + 1);
        Some(())
    }

    /// Returns the place with this index.
    pub(crate) fn at(&self, index: u64) -> Option<u64> {
        let (mut at, mut gap, mut bits, mut left) = (0, 0, 0, index);
        for &byte in &self.gaps {
            gap |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            if byte & 0x80 == 0 {
                at += gap;
                left = match left.checked_sub(1) {
                    Some(left) => left,
                    None => return Some(at),
                };
                (gap, bits) = (0, 0);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_were_added() {
        let places = [0, 0, 1, 127, 128, 255, 16_639, 1 << 40, u64::MAX];
        let mut flaws = Flaws::default();
        places.iter().for_each(|&at| flaws.push(at).expect("memory"));
        let found: Vec<_> = (0..).map_while(|index| flaws.at(index)).collect();
        assert_eq!((found.as_slice(), flaws.count), (&places[..], 9));
    }
}
