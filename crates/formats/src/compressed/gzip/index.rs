//! Our index of a gzip file: empty members at the end whose extra fields list all others.
//!
//! ```text
//! member  'S''W' | 'T' | packed plain | packed plain | ..        as many as are needed
//! member  'S''W' | 'F' | offset of the first 'T' | count | total plain bytes | CRC-32 of the pairs
//! ```
//!
//! Numbers are little-endian: 64 bits in the last member, 32 bits for pairs and checksums. Every
//! tool decodes an empty member to nothing. The last member always has the same length, so it can
//! be found from the end of the file.

use libdeflater::Crc;

use super::START;
use super::header::{GzipHeader, HeaderParse, parse};
use crate::compressed::frame::Frame;

/// Number of pairs that one member lists: the length of its field has 16 bits.
const PAIRS: usize = 8_190;
/// An empty deflate stream, with its checksum and length.
const EMPTY: [u8; 10] = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const TABLE: u8 = b'T';
const FOOTER: u8 = b'F';
/// Length in bytes of a table's member without its pairs.
const TABLE_LEN: u64 = (START.len() + 2 + 4 + 1 + EMPTY.len()) as u64;
/// Length in bytes of the last member.
pub(crate) const FOOTER_LEN: usize = START.len() + 2 + 4 + 29 + EMPTY.len();

/// Returns the members that list `frames`.
pub(crate) fn written(frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut crc = Crc::new();
    for frames in frames.chunks(PAIRS) {
        let mut table = vec![TABLE];
        for frame in frames {
            table.extend_from_slice(&frame.packed.to_le_bytes());
            table.extend_from_slice(&frame.plain.to_le_bytes());
        }
        crc.update(&table[1..]);
        add_member(&mut out, &table);
    }
    let packed: u64 = frames.iter().map(|frame| u64::from(frame.packed)).sum();
    let plain: u64 = frames.iter().map(|frame| u64::from(frame.plain)).sum();
    let mut footer = vec![FOOTER];
    for number in [packed, frames.len() as u64, plain] {
        footer.extend_from_slice(&number.to_le_bytes());
    }
    footer.extend_from_slice(&crc.sum().to_le_bytes());
    add_member(&mut out, &footer);
    out
}

fn add_member(out: &mut Vec<u8>, field: &[u8]) {
    let len = u16::try_from(field.len()).expect("a table has at most 8,190 pairs");
    out.extend_from_slice(&START);
    out.extend_from_slice(&(len + 4).to_le_bytes());
    out.extend_from_slice(b"SW");
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(field);
    out.extend_from_slice(&EMPTY);
}

/// The contents of the last member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexFooter {
    /// The start of the first table in the file.
    pub(crate) offset: u64,
    count: u64,
    pub(crate) plain: u64,
    crc: u32,
}

impl IndexFooter {
    /// Parses the last [`FOOTER_LEN`] bytes; `None` if they are not an index.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (field, len) = member(bytes)?;
        let (&kind, rest) = field.split_first()?;
        let numbers: &[u8; 28] = rest.try_into().ok()?;
        if kind != FOOTER || len != bytes.len() {
            return None;
        }
        let number =
            |at: usize| numbers[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let crc = u32::from_le_bytes(*numbers.last_chunk()?);
        Some(Self { offset: number(0)?, count: number(8)?, plain: number(16)?, crc })
    }

    /// Length of the tables in bytes; `None` if no file can be that long.
    pub(crate) fn tables_len(&self) -> Option<u64> {
        let members = self.count.div_ceil(PAIRS as u64).checked_mul(TABLE_LEN)?;
        self.count.checked_mul(8)?.checked_add(members)
    }

    /// Parses the tables: all bytes from [`offset`](Self::offset) to the last member. `None` if
    /// they contradict the footer.
    pub(crate) fn frames(self, mut tables: &[u8]) -> Option<Vec<Frame>> {
        let count = usize::try_from(self.count).ok()?;
        // Each frame takes eight bytes here, so a false count cannot allocate more than the file's
        // own size.
        let mut frames = Vec::with_capacity(count.min(tables.len() / 8));
        let mut crc = Crc::new();
        while !tables.is_empty() {
            let (field, len) = member(tables)?;
            let (&kind, pairs) = field.split_first()?;
            if kind != TABLE || !pairs.len().is_multiple_of(8) {
                return None;
            }
            crc.update(pairs);
            for pair in pairs.chunks_exact(8) {
                let [p0, p1, p2, p3, l0, l1, l2, l3] = *pair.first_chunk()?;
                let packed = u32::from_le_bytes([p0, p1, p2, p3]);
                let plain = u32::from_le_bytes([l0, l1, l2, l3]);
                frames.push(Frame { packed, plain, checksum: 0 });
            }
            tables = tables.get(len..)?;
        }
        (frames.len() == count && crc.sum() == self.crc).then_some(frames)
    }
}

/// Returns the field of the empty member at the start of `bytes`, and the length of that member.
fn member(bytes: &[u8]) -> Option<(&[u8], usize)> {
    match parse(bytes) {
        HeaderParse::Header(GzipHeader { len, index: Some(field), .. }) => {
            let body = bytes.get(len..len + EMPTY.len())?;
            (body == EMPTY).then_some((field, len + EMPTY.len()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(count: u32) -> Vec<Frame> {
        (1..=count).map(|n| Frame { packed: n, plain: 3 * n, checksum: 0 }).collect()
    }

    fn read(index: &[u8]) -> Option<(IndexFooter, Vec<Frame>)> {
        let (tables, last) = index.split_at_checked(index.len().checked_sub(FOOTER_LEN)?)?;
        let footer = IndexFooter::parse(last)?;
        Some((footer, footer.frames(tables)?))
    }

    #[test]
    fn an_index_that_was_written_is_read_again() {
        for count in [0, 1, 8_189, 8_190, 8_191, 20_000] {
            let frames = frames(count);
            let (footer, found) = read(&written(&frames)).expect("ours");
            assert_eq!(found, frames, "{count}");
            let sum = u64::from(count) * u64::from(count + 1) / 2;
            assert_eq!((footer.offset, footer.plain), (sum, 3 * sum));
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let index = written(&frames(5));
        for at in 0..index.len() * 8 {
            let mut wrong = index.clone();
            wrong[at / 8] ^= 1 << (at % 8);
            let Some((footer, frames)) = read(&wrong) else { continue };
            // No checksum covers the time, the system and three numbers; the contents of the index
            // are compared with the file.
            assert_eq!(frames, self::frames(5), "bit {at}");
            assert!(footer.count == 5, "bit {at}");
        }
    }

    #[test]
    fn every_member_is_read_as_nothing_by_others() {
        use std::io::Read;
        let mut plain = Vec::new();
        let index = written(&frames(9_000));
        flate2::read::MultiGzDecoder::new(&index[..]).read_to_end(&mut plain).expect("valid");
        assert_eq!(plain, b"");
    }
}
