//! The special bytes inside strings: quotes, backslashes, control characters.

use swath_simd::Special;

/// Bytes searched at a time.
const CHUNK: usize = 8 << 10;
const BITS: usize = 64;

/// One bit for each byte of a part of a text.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    special: Special,
    bits: Vec<u64>,
    /// The part: its first byte, and the byte after its last.
    begin: usize,
    end: usize,
}

impl Default for Marks {
    fn default() -> Self {
        Self { special: Special::new(b"\"\\"), bits: Vec::new(), begin: 0, end: 0 }
    }
}

impl Marks {
    /// Forgets the text.
    pub(super) fn clear(&mut self) {
        (self.begin, self.end) = (0, 0);
    }

    /// Returns the first special byte at or after `at`; the end of the text if there is none.
    #[inline]
    pub(super) fn next(&mut self, text: &[u8], at: usize) -> usize {
        if self.begin <= at && at < self.end {
            let bit = at - self.begin;
            let word = self.bits[bit / BITS] >> (bit % BITS);
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
        }
        self.search(text, at)
    }

    fn search(&mut self, text: &[u8], mut at: usize) -> usize {
        while at < text.len() {
            if at < self.begin || at >= self.end {
                self.load(text, at);
            }
            let bit = at - self.begin;
            let (first, shift) = (bit / BITS, bit % BITS);
            let word = self.bits[first] >> shift;
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
            let after = self.bits[first + 1..].iter().position(|&word| word != 0);
            if let Some(index) = after {
                let word = first + 1 + index;
                let zeros = self.bits[word].trailing_zeros() as usize;
                return self.begin + word * BITS + zeros;
            }
            at = self.end;
        }
        text.len()
    }

    fn load(&mut self, text: &[u8], at: usize) {
        (self.begin, self.end) = (at, text.len().min(at + CHUNK));
        self.special.find(&text[at..self.end], &mut self.bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_those_found_byte_by_byte() {
        let mut next = swath_reference::splitmix(3);
        for _ in 0..200 {
            let len = usize::try_from(next() % 20_000).expect("small");
            let rare = 1 + next() % 5000;
            let byte = |bits: u64| {
                if bits.is_multiple_of(rare) {
                    b"\"\\\n\x01"[usize::try_from(bits / 7 % 4).unwrap_or(0)]
                } else {
                    b'a'
                }
            };
            let text: Vec<u8> = (0..len).map(|_| byte(next())).collect();
            let (mut marks, mut at) = (Marks::default(), 0);
            while at <= len {
                let wanted = text[at..].iter().position(|&byte| byte != b'a');
                let wanted = wanted.map_or(len, |skipped| at + skipped);
                assert_eq!(marks.next(&text, at), wanted);
                at = wanted + 1 + usize::try_from(next() % 3).expect("small");
            }
        }
    }
}
