//! The seek table of zstd's *seekable format*: a skippable frame at the end that lists all frames.
//!
//! ```text
//! 53 2a 4d 18 | size | "SWTB" | total plain bytes | XXH64 of the table        ours: the guard
//! 5e 2a 4d 18 | size | packed plain checksum | .. | count | descriptor | b1 ea 92 8f
//! ```
//!
//! The table has no checksum of its own, and one wrong length in it shifts everything after it. So
//! a frame before it, which decoders skip too, holds a checksum of the table.
//!
//! Source: zstd's `contrib/seekable_format/zstd_seekable_compression_format.md`.

use twox_hash::XxHash64;

use crate::compressed::frame::{Frame, size32};

const SKIPPABLE: u32 = 0x184d_2a5e;
const MAGIC: u32 = 0x8f92_eab1;
/// Length in bytes of the count, the descriptor and the magic number.
pub(crate) const FOOTER: usize = 9;
/// Length in bytes before the first entry.
pub(crate) const HEAD: usize = 8;
/// A guard begins with the header of a skippable frame of 20 bytes, and a tag.
const GUARD: [u8; 12] = *b"\x53\x2a\x4d\x18\x14\0\0\0SWTB";
const WITH_CHECKSUMS: u8 = 0x80;
const RESERVED: u8 = 0x7c;

/// Returns the guard of `table`, whose frames decode to `plain` bytes in total.
pub(crate) fn guard(table: &[u8], plain: u64) -> Vec<u8> {
    let mut guard = GUARD.to_vec();
    guard.extend_from_slice(&plain.to_le_bytes());
    guard.extend_from_slice(&XxHash64::oneshot(0, table).to_le_bytes());
    guard
}

/// Returns the table of `frames`, with its guard.
pub(crate) fn written(frames: &[Frame]) -> Result<Vec<u8>, String> {
    let plain = frames.iter().map(|frame| u64::from(frame.plain)).sum();
    let mut table = table(frames)?;
    let mut out = guard(&table, plain);
    out.append(&mut table);
    Ok(out)
}

fn table(frames: &[Frame]) -> Result<Vec<u8>, String> {
    let size = size32(frames.len() * 12 + FOOTER).map_err(|_| "too many frames to index")?;
    let mut table = Vec::with_capacity(frames.len() * 12 + HEAD + FOOTER);
    table.extend_from_slice(&SKIPPABLE.to_le_bytes());
    table.extend_from_slice(&size.to_le_bytes());
    for frame in frames {
        for number in [frame.packed, frame.plain, frame.checksum] {
            table.extend_from_slice(&number.to_le_bytes());
        }
    }
    table.extend_from_slice(&size32(frames.len())?.to_le_bytes());
    table.push(WITH_CHECKSUMS);
    table.extend_from_slice(&MAGIC.to_le_bytes());
    Ok(table)
}

/// The result of parsing the last bytes of a file as the end of a seek table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeekFooter {
    count: u64,
    with_checksums: bool,
}

impl SeekFooter {
    /// Parses the last [`FOOTER`] bytes; `None` if they do not belong to a table.
    pub(crate) fn parse(bytes: &[u8; FOOTER]) -> Option<Self> {
        let [c0, c1, c2, c3, descriptor, magic @ ..] = *bytes;
        let is_table = u32::from_le_bytes(magic) == MAGIC && descriptor & RESERVED == 0;
        let count = u64::from(u32::from_le_bytes([c0, c1, c2, c3]));
        is_table.then_some(Self { count, with_checksums: descriptor & WITH_CHECKSUMS != 0 })
    }

    fn entry_size(self) -> u64 {
        if self.with_checksums { 12 } else { 8 }
    }

    /// Length in bytes of the whole skippable frame; at most 48 GiB, whatever the footer claims.
    pub(crate) fn table_len(self) -> u64 {
        (HEAD + FOOTER) as u64 + self.count * self.entry_size()
    }

    /// Parses a table of [`table_len`](Self::table_len) bytes into its frames, and whether their
    /// checksums are set. `None` if it is not a table.
    pub(crate) fn frames(self, table: &[u8]) -> Option<(Vec<Frame>, bool)> {
        let (head, rest) = table.split_first_chunk::<HEAD>()?;
        let [m0, m1, m2, m3, s0, s1, s2, s3] = *head;
        let size = u64::from(u32::from_le_bytes([s0, s1, s2, s3]));
        let is_whole = table.len() as u64 == self.table_len();
        if u32::from_le_bytes([m0, m1, m2, m3]) != SKIPPABLE
            || !is_whole
            || size != self.table_len() - HEAD as u64
        {
            return None;
        }
        let entries = rest.get(..rest.len() - FOOTER)?;
        let entry_size = usize::try_from(self.entry_size()).ok()?;
        let number = |entry: &[u8], at: usize| match entry.get(at..at + 4) {
            Some(&[b0, b1, b2, b3]) => u32::from_le_bytes([b0, b1, b2, b3]),
            _ => 0,
        };
        let frames = entries.chunks_exact(entry_size).map(|entry| Frame {
            packed: number(entry, 0),
            plain: number(entry, 4),
            checksum: number(entry, 8),
        });
        Some((frames.collect(), self.with_checksums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_stands_before_the_table() {
        let out = written(&frames()).expect("a few frames");
        let table = table(&frames()).expect("a few frames");
        assert_eq!(out[28..], table);
        assert_eq!(out[..12], *b"\x53\x2a\x4d\x18\x14\0\0\0SWTB");
        assert_eq!(out[12..20], 600_u64.to_le_bytes());
    }

    fn frames() -> Vec<Frame> {
        (1..=3).map(|n| Frame { packed: n, plain: 100 * n, checksum: 7 * n }).collect()
    }

    #[test]
    fn a_table_that_was_written_is_read_again() {
        for frames in [frames(), Vec::new()] {
            let table = table(&frames).expect("a few frames");
            let footer =
                SeekFooter::parse(table.last_chunk().expect("long enough")).expect("ours");
            assert_eq!(footer.table_len(), table.len() as u64);
            assert_eq!(footer.frames(&table), Some((frames, true)));
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let table = table(&[Frame { packed: 1, plain: 2, checksum: 3 }]).expect("one");
        let bytes = b"\x5e\x2a\x4d\x18\x15\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x01\0\0\0\x80\xb1\xea\x92\x8f";
        assert_eq!(table, bytes);
    }

    #[test]
    fn a_table_without_checksums_is_read_too() {
        let mut table = Vec::from(*b"\x5e\x2a\x4d\x18\x11\0\0\0\x01\0\0\0\x02\0\0\0");
        table.extend_from_slice(b"\x01\0\0\0\0\xb1\xea\x92\x8f");
        let footer =
            SeekFooter::parse(table.last_chunk().expect("long enough")).expect("a table");
        let frame = Frame { packed: 1, plain: 2, checksum: 0 };
        assert_eq!(footer.frames(&table), Some((vec![frame], false)));
    }

    #[test]
    fn a_table_that_contradicts_itself_is_none() {
        let table = table(&frames()).expect("a few frames");
        for at in (0..HEAD).chain(table.len() - FOOTER..table.len()) {
            let mut wrong = table.clone();
            // The two lowest bits of the descriptor have no meaning.
            wrong[at] ^= 4;
            let footer = SeekFooter::parse(wrong.last_chunk().expect("long enough"));
            assert_eq!(footer.and_then(|footer| footer.frames(&wrong)), None, "byte {at}");
        }
        let footer = SeekFooter::parse(table.last_chunk().expect("long enough")).expect("ours");
        assert_eq!(footer.frames(&table[..7]), None);
        assert_eq!(footer.frames(&[]), None);
    }
}
