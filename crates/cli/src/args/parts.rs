//! Parts of a job, as a user or a batch system writes them: `3`, `0-9`, `3,7-9`.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parts by their indices, in the order of the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartList(Vec<RangeInclusive<usize>>);

impl PartList {
    /// Returns the indices in order, each once.
    ///
    /// # Errors
    ///
    /// The first index that is not below `count`.
    pub(crate) fn below(&self, count: usize) -> Result<Vec<usize>, usize> {
        if let Some(range) = self.0.iter().find(|range| *range.end() >= count) {
            return Err(count.max(*range.start()));
        }
        let mut all: Vec<usize> = self.0.iter().flat_map(Clone::clone).collect();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

impl FromStr for PartList {
    type Err = &'static str;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        if words.trim().is_empty() {
            return Err("no part is named; is a variable empty?");
        }
        const WRITE: &str = "expected parts by their numbers from 0: 3, 0-9 or 3,7-9";
        let number = |word: &str| word.parse::<usize>().map_err(|_| WRITE);
        let range = |word: &str| -> Result<RangeInclusive<usize>, &'static str> {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            let range = number(from)?..=number(to)?;
            if range.is_empty() { Err(WRITE) } else { Ok(range) }
        };
        words.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbers_and_ranges() {
        for (words, parts) in [
            ("3", &[3][..]),
            ("0-2", &[0, 1, 2]),
            ("9,7-8,8", &[7, 8, 9]),
            ("007", &[7]),
            ("5-5", &[5]),
        ] {
            let list: PartList = words.parse().expect(words);
            assert_eq!(list.below(10).as_deref(), Ok(parts), "{words}");
        }
        for words in ["", "x", "3-", "-3", "9-3", "1,,2", "1,", "0x1", "1:2", "+-1"] {
            assert!(words.parse::<PartList>().is_err(), "{words}");
        }
    }

    #[test]
    fn a_part_that_there_is_not_is_named_however_far_it_is() {
        let below = |words: &str| words.parse::<PartList>().expect(words).below(4);
        assert_eq!(below("4"), Err(4));
        assert_eq!(below("0-18446744073709551614"), Err(4));
        assert_eq!(below("1,9-12"), Err(9));
        assert_eq!(below("0-3").map(|all| all.len()), Ok(4));
    }
}
