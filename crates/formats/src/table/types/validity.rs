//! The validity of a column: which values are present.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

const BITS: usize = 64;

/// One bit for each value, set if it is present. No memory is used until one is missing.
#[derive(Debug, Default)]
pub(super) struct Validity {
    /// Empty until a value is missing; then a word for each 64 values begun.
    words: Vec<u64>,
    len: usize,
    nulls: usize,
}

impl Validity {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends one value.
    pub(super) fn push(&mut self, is_there: bool) {
        self.push_word(u64::from(is_there), 1);
    }

    /// Appends `count` values, at most 64; a set bit means a present value.
    #[inline]
    pub(super) fn push_word(&mut self, bits: u64, count: usize) {
        debug_assert!(count <= BITS);
        if count == 0 {
            return;
        }
        let all = u64::MAX >> (BITS - count);
        let bits = bits & all;
        if bits == all && self.words.is_empty() {
            self.len += count;
            return;
        }
        self.push_some(bits, count);
    }

    /// Appends the first `most` of the values in `words`, each with its count.
    pub(super) fn push_words(&mut self, words: &[(u64, usize)], mut most: usize) {
        for &(bits, count) in words {
            let count = count.min(most);
            self.push_word(bits, count);
            most -= count;
        }
    }

    fn push_some(&mut self, bits: u64, count: usize) {
        let (word, bit) = (self.len / BITS, self.len % BITS);
        if self.words.is_empty() {
            self.words.resize(word, u64::MAX);
            if bit > 0 {
                self.words.push(u64::MAX >> (BITS - bit));
            }
        }
        if bit == 0 {
            self.words.push(bits);
        } else {
            self.words[word] |= bits << bit;
            if bit + count > BITS {
                self.words.push(bits >> (BITS - bit));
            }
        }
        self.len += count;
        self.nulls += count - bits.count_ones() as usize;
    }

    /// Returns the bits for an array; `None` if no value is missing.
    pub(super) fn finish(self) -> Option<NullBuffer> {
        (self.nulls > 0).then(|| {
            let bits = BooleanBuffer::new(Buffer::from_vec(self.words), 0, self.len);
            NullBuffer::new(bits)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_appended_in_order_whatever_their_number() {
        let mut next = swath_reference::splitmix(7);
        for _ in 0..2000 {
            let mut validity = Validity::default();
            let mut wanted = Vec::new();
            for _ in 0..next() % 12 {
                let count = 1 + usize::try_from(next() % 64).expect("small");
                let bits = if next().is_multiple_of(2) { u64::MAX } else { next() };
                validity.push_word(bits, count);
                wanted.extend((0..count).map(|bit| bits >> bit & 1 == 1));
            }
            let missing = wanted.iter().filter(|&&is_there| !is_there).count();
            assert_eq!((validity.len(), validity.nulls), (wanted.len(), missing));
            match validity.finish() {
                None => assert_eq!(missing, 0),
                Some(nulls) => assert_eq!(nulls.iter().collect::<Vec<_>>(), wanted),
            }
        }
    }
}
