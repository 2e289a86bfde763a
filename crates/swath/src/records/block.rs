//! A block of whole records, and the records in it.

use std::ops::Range;
use std::slice::ChunksExact;
use std::sync::Arc;

use bytes::Bytes;
use swath_simd::Positions;

use crate::buffer::Buffer;
use crate::records::cut::Cut;

/// A kept block is copied if it is shorter than its memory divided by this.
const SHARED_PART: usize = 4;

/// Adjacent records.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Block<'b> {
    /// Number of the block, counted from the start of the extent; the same in every run over the
    /// same file with the same block size. Numbers of blocks in which no record begins are
    /// skipped. With several files, the numbers of the second continue those of the first.
    pub index: u64,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Whole records, each with its delimiter, if it has one.
    pub bytes: &'b [u8],
    pub(crate) source: usize,
    pub(crate) cut: Cut,
    /// The memory of the bytes, unless it is a map.
    pub(crate) memory: Option<&'b Arc<Buffer>>,
}

impl<'b> Block<'b> {
    /// Returns the index of its source, counted from 0 in the order given.
    pub fn source(&self) -> usize {
        self.source
    }

    /// Returns the bytes, to be kept after the call that received the block.
    ///
    /// Nothing is copied if the block fills at least a quarter of the memory that it was read
    /// into: that memory then lives as long as the result, and the worker reads the next block
    /// into other memory. A smaller block is copied, because it would keep the rest alive too,
    /// and so is a block of a map.
    ///
    /// ```
    /// let blocks = swath::records("/etc/passwd").map_blocks(|block| -> swath::Result<_> {
    ///     Ok(block.to_bytes())
    /// })?;
    /// assert_eq!(blocks.concat(), swath::read("/etc/passwd")?[..]);
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Bytes {
        let memory = self
            .memory
            .filter(|memory| self.bytes.len().saturating_mul(SHARED_PART) >= memory.capacity());
        let Some(memory) = memory else { return Bytes::copy_from_slice(self.bytes) };
        let start = self.bytes.as_ptr().addr() - memory.as_ptr().addr();
        let range = start..start + self.bytes.len();
        Bytes::from_owner(KeptBytes { memory: Arc::clone(memory), range })
    }

    /// Returns the records one by one, without their delimiters.
    ///
    /// ```
    /// let lines = swath::records("/etc/passwd").map_blocks(|block| -> swath::Result<_> {
    ///     Ok(block.records().map(|line| line.split(|&byte| byte == b':').count()).max())
    /// })?;
    /// assert_eq!(lines.into_iter().max().flatten(), Some(7));
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn records(&self) -> BlockRecords<'b> {
        let bytes = self.bytes;
        let ends = match self.cut {
            Cut::Byte(delimiter) => RecordEnds::After(Positions::new(bytes, delimiter)),
            Cut::Quoted { quote, delimiter } => {
                RecordEnds::After(Positions::outside(bytes, delimiter, quote, false))
            }
            Cut::Fixed(width) => {
                let width = usize::try_from(width).unwrap_or(usize::MAX);
                RecordEnds::Every(bytes.chunks_exact(width.max(1)))
            }
        };
        BlockRecords { bytes, at: 0, offset: self.offset, ends }
    }

    /// Returns the records without their delimiters and without a carriage return at the end: lines
    /// that end in LF or CRLF.
    pub fn lines(&self) -> impl Iterator<Item = &'b [u8]> {
        self.records().map(without_return)
    }

    /// Returns the values of JSON Lines: lines that are not blank, without surrounding white
    /// space. The values are not parsed.
    pub fn json_lines(&self) -> impl Iterator<Item = &'b [u8]> {
        self.records().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }
}

/// Bytes of a worker's memory, which lives as long as they do.
struct KeptBytes {
    memory: Arc<Buffer>,
    range: Range<usize>,
}

impl AsRef<[u8]> for KeptBytes {
    fn as_ref(&self) -> &[u8] {
        &self.memory[self.range.clone()]
    }
}

fn without_return(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\r").unwrap_or(record)
}

/// The records of a block, without their delimiters; see [`Block::records`].
#[derive(Clone, Debug)]
pub struct BlockRecords<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Offset of `bytes` in the file.
    offset: u64,
    ends: RecordEnds<'b>,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack: a box would cost more"
)]
enum RecordEnds<'b> {
    After(Positions<'b>),
    Every(ChunksExact<'b, u8>),
}

impl BlockRecords<'_> {
    /// Returns the file offset of the next record.
    pub fn offset(&self) -> u64 {
        self.offset + self.at as u64
    }
}

impl<'b> Iterator for BlockRecords<'b> {
    type Item = &'b [u8];

    #[inline]
    fn next(&mut self) -> Option<&'b [u8]> {
        let from = self.at;
        match &mut self.ends {
            RecordEnds::After(positions) => match positions.next() {
                Some(end) => {
                    self.at = end + 1;
                    Some(&self.bytes[from..end])
                }
                // The last record of a file may have no delimiter.
                None if from < self.bytes.len() => {
                    self.at = self.bytes.len();
                    Some(&self.bytes[from..])
                }
                None => None,
            },
            RecordEnds::Every(records) => {
                let record = records.next()?;
                self.at += record.len();
                Some(record)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: &[u8], cut: Cut) -> Block<'_> {
        Block { index: 0, offset: 100, bytes, source: 0, cut, memory: None }
    }

    #[test]
    fn records_are_without_delimiters_and_the_last_one_needs_none() {
        let lines = Cut::Byte(b'\n');
        let records = |bytes| block(bytes, lines).records().collect::<Vec<_>>();
        assert_eq!(records(b""), Vec::<&[u8]>::new());
        assert_eq!(records(b"\n\na\n"), [&b""[..], b"", b"a"]);
        assert_eq!(records(b"a\r\nb"), [&b"a\r"[..], b"b"]);
        let fixed = block(b"aabb", Cut::Fixed(2));
        assert_eq!(fixed.records().collect::<Vec<_>>(), [b"aa", b"bb"]);
        let quoted = Cut::Quoted { quote: b'"', delimiter: b'\n' };
        let records: Vec<_> = block(b"a,\"\n\"\"\n\"\nb", quoted).records().collect();
        assert_eq!(records, [&b"a,\"\n\"\"\n\""[..], b"b"]);
    }

    #[test]
    fn lines_lose_one_carriage_return_and_json_lines_all_that_is_blank() {
        let block = block(b"a\r\n\r\nb\r\r\n \t\r\n{} \nc", Cut::Byte(b'\n'));
        let lines: Vec<_> = block.lines().collect();
        assert_eq!(lines, [&b"a"[..], b"", b"b\r", b" \t", b"{} ", b"c"]);
        assert_eq!(block.json_lines().collect::<Vec<_>>(), [&b"a"[..], b"b", b"{}", b"c"]);
    }

    #[test]
    fn the_offset_is_that_of_the_next_record() {
        for cut in [Cut::Byte(b'\n'), Cut::Fixed(3)] {
            let mut records = block(b"aa\nbb\n", cut).records();
            let mut offsets = vec![records.offset()];
            while records.next().is_some() {
                offsets.push(records.offset());
            }
            assert_eq!(offsets, [100, 103, 106]);
        }
    }
}
