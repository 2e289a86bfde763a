//! The records of a block that contain certain bytes, found by searching for the bytes first.
//!
//! ```text
//! block   |record|record|rec..ERROR..ord|record|
//! search   ------------------>|                     at memory speed, past whole records
//! ends                   |<---+----->|              of the record around what was found
//! ```

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use crate::records::block::{Block, BlockRecords};
use crate::records::cut::Cut;

/// Bytes to search for, prepared once: see [`Block::records_containing`].
#[derive(Clone, Debug)]
pub struct Pattern(Finder<'static>);

impl Pattern {
    /// Searches for exactly these bytes. Every record contains the empty pattern.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Finder::new(bytes).into_owned())
    }

    fn bytes(&self) -> &[u8] {
        self.0.needle()
    }

    fn is_in(&self, record: &[u8]) -> bool {
        self.0.find(record).is_some()
    }
}

impl<'b> Block<'b> {
    /// Returns the [`records`](Self::records) that contain `pattern`. Delimiters are not searched.
    ///
    /// Records that end after a byte are not visited one by one: the search skips to the next one that contains
    /// the pattern. If quotes or a width decide where records end, each record is searched.
    ///
    /// ```
    /// use swath::Pattern;
    ///
    /// let root = Pattern::new(b"root");
    /// let first = swath::records("/etc/passwd").map_blocks(|block| -> swath::Result<_> {
    ///     Ok(block.records_containing(&root).next().map(<[u8]>::to_vec))
    /// })?;
    /// assert!(first[0].as_ref().is_some_and(|line| line.starts_with(b"root:")));
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn records_containing<'p>(&self, pattern: &'p Pattern) -> RecordsContaining<'b, 'p> {
        let found = match self.cut {
            // A match across a delimiter is in neither record.
            Cut::Byte(delimiter) if pattern.bytes().contains(&delimiter) => Candidates::None,
            Cut::Byte(delimiter) if !pattern.bytes().is_empty() => {
                Candidates::Around { bytes: self.bytes, delimiter }
            }
            _ => Candidates::Each(self.records()),
        };
        RecordsContaining { found, pattern }
    }
}

impl Block<'_> {
    /// Appends the [`records`](Self::records) that contain `pattern`, each with its delimiter if it has one.
    pub fn append_containing(&self, pattern: &Pattern, into: &mut Vec<u8>) {
        let delimiter = usize::from(!matches!(self.cut, Cut::Fixed(_)));
        for record in self.records_containing(pattern) {
            let start = record.as_ptr().addr() - self.bytes.as_ptr().addr();
            let end = self.bytes.len().min(start + record.len() + delimiter);
            into.extend_from_slice(&self.bytes[start..end]);
        }
    }
}

/// The records of a block that contain a pattern; see [`Block::records_containing`].
#[derive(Clone, Debug)]
pub struct RecordsContaining<'b, 'p> {
    found: Candidates<'b>,
    pattern: &'p Pattern,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack: a box would cost more"
)]
enum Candidates<'b> {
    None,
    /// The records that begin in these bytes.
    Around {
        bytes: &'b [u8],
        delimiter: u8,
    },
    Each(BlockRecords<'b>),
}

impl<'b> Iterator for RecordsContaining<'b, '_> {
    type Item = &'b [u8];

    #[inline]
    fn next(&mut self) -> Option<&'b [u8]> {
        match &mut self.found {
            Candidates::None => None,
            Candidates::Each(records) => records.find(|record| self.pattern.is_in(record)),
            Candidates::Around { bytes, delimiter } => {
                let found = self.pattern.0.find(bytes)?;
                let start = memrchr(*delimiter, &bytes[..found]).map_or(0, |end| end + 1);
                let end =
                    memchr(*delimiter, &bytes[found..]).map_or(bytes.len(), |at| found + at);
                let record = &bytes[start..end];
                *bytes = bytes.get(end + 1..).unwrap_or_default();
                Some(record)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow, obvious version.
    fn expected<'b>(block: &Block<'b>, pattern: &[u8]) -> Vec<&'b [u8]> {
        let has = |record: &[u8]| {
            pattern.is_empty() || record.windows(pattern.len()).any(|part| part == pattern)
        };
        block.records().filter(|record| has(record)).collect()
    }

    #[test]
    fn they_are_the_records_that_a_search_of_each_finds() {
        let quoted = Cut::Quoted { quote: b'"', delimiter: b'\n' };
        let mut found = 0;
        // All texts of up to 8 letters from four that matter.
        for number in 0..4_u32.pow(8) {
            let text: Vec<u8> =
                (0..8).map(|place| b"ab\n\""[(number >> (2 * place) & 3) as usize]).collect();
            let text = &text[..8 - (number % 5) as usize];
            for cut in [Cut::Byte(b'\n'), quoted, Cut::Fixed(2)] {
                let text = if cut == Cut::Fixed(2) { &text[..text.len() & !1] } else { text };
                let block =
                    Block { index: 0, offset: 0, bytes: text, source: 0, cut, memory: None };
                for pattern in [&b""[..], b"a", b"ab", b"aa", b"b\n", b"\n", b"bab"] {
                    let pattern = Pattern::new(pattern);
                    let records: Vec<_> = block.records_containing(&pattern).collect();
                    assert_eq!(records, expected(&block, pattern.bytes()), "{text:?} {cut:?}");
                    let mut all = Vec::new();
                    block.append_containing(&pattern, &mut all);
                    let again = Block { bytes: &all, ..block };
                    assert_eq!(again.records().collect::<Vec<_>>(), records);
                    found += records.len();
                }
            }
        }
        assert!(found > 100_000);
    }
}
