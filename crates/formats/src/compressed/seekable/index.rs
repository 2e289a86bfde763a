//! The start of each frame, compressed and decompressed, without decoding any.

use std::ops::Range;
use std::path::Path;

use crate::compressed::frame::Frame;
use crate::compressed::gzip::index as gzip_index;
use crate::compressed::supply::PackedSupply;
use crate::compressed::trim::too_short;
use crate::compressed::work::{Cut, EncodedFrames, MOST_DECODED, MOST_ENCODED, STEP};
use crate::compressed::zstd::seek_table;
use crate::compressed::{Format, zstd};
use crate::error::{Error, FormatReason, Result};

/// The longest table that is read into memory: twenty million frames.
const MOST_TABLE: u64 = 256 << 20;

/// The frames of one file.
#[derive(Debug)]
pub(crate) struct FrameIndex {
    /// The start of each frame, followed by the end of the last one.
    starts: Vec<FramePlace>,
    /// The lower half of each content's XXH64, if the index has them.
    checksums: Option<Vec<u32>>,
}

/// A place in the compressed stream and in the decompressed contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FramePlace {
    packed: u64,
    plain: u64,
}

impl FrameIndex {
    /// Looks for the index of a file; `None` if the file has no index, or is a stream.
    ///
    /// The lengths at the end of BGZF members could serve too, but only decoding shows whether they
    /// are right, and one wrong length shifts everything after it. Leaves the position of `supply`
    /// unspecified.
    pub(crate) fn load(supply: &mut PackedSupply, format: Format) -> Result<Option<Self>> {
        let Some(len) = supply.len() else { return Ok(None) };
        match format {
            Format::Zstd => Self::of_zstd(supply, len),
            Format::Gzip => Self::of_gzip(supply, len),
            Format::Bgzf | Format::Bzip2 => Ok(None),
        }
    }

    fn of_zstd(supply: &mut PackedSupply, len: u64) -> Result<Option<Self>> {
        let Some(at) = len.checked_sub(seek_table::FOOTER as u64) else { return Ok(None) };
        let tail = bytes_at(supply, at, seek_table::FOOTER)?;
        let footer = tail.first_chunk().and_then(seek_table::SeekFooter::parse);
        let Some(footer) = footer else { return Ok(None) };
        let table_len = footer.table_len();
        let Some(start) = len.checked_sub(table_len) else {
            return Err(supply.corrupt(at, "the seek table says it is longer than the file"));
        };
        let table = table_at(supply, start, table_len)?;
        let Some((frames, with_checksums)) = footer.frames(table) else {
            return Err(supply.corrupt(start, "the seek table contradicts itself"));
        };
        let index = Self::of_frames(&frames, with_checksums);
        let guard = seek_table::guard(table, index.len());
        let guard_at = start.checked_sub(guard.len() as u64);
        let packed = index.end().packed;
        let is_guarded = match guard_at.filter(|&at| at == packed) {
            Some(at) => bytes_at(supply, at, guard.len())?.starts_with(&guard),
            None => false,
        };
        // Tables of other programs have no guard.
        match is_guarded || packed == start {
            true => Ok(Some(index)),
            // It belongs to the last of several concatenated files and does not cover the others.
            false if packed < guard_at.unwrap_or(start) => Ok(None),
            false => Err(supply.corrupt(start, "the seek table belongs to another file")),
        }
    }

    fn of_gzip(supply: &mut PackedSupply, len: u64) -> Result<Option<Self>> {
        let Some(at) = len.checked_sub(gzip_index::FOOTER_LEN as u64) else { return Ok(None) };
        let tail = bytes_at(supply, at, gzip_index::FOOTER_LEN)?;
        let tail = tail.get(..gzip_index::FOOTER_LEN).and_then(gzip_index::IndexFooter::parse);
        let Some(footer) = tail else { return Ok(None) };
        let tables_at = footer.tables_len().and_then(|len| at.checked_sub(len));
        if let Some(tables_at) = tables_at.filter(|&tables_at| tables_at > footer.offset) {
            // As above, if the tables exist.
            let tables = table_at(supply, tables_at, at - tables_at)?;
            return match footer.frames(tables) {
                Some(_) => Ok(None),
                None => Err(supply.corrupt(at, "the index belongs to another file")),
            };
        }
        let Some(tables_len) = at.checked_sub(footer.offset) else {
            return Err(supply.corrupt(at, "the index claims to begin after its own end"));
        };
        let tables = table_at(supply, footer.offset, tables_len)?;
        let frames = footer.frames(tables);
        let index = frames.map(|frames| Self::of_frames(&frames, false));
        let whole = FramePlace { packed: footer.offset, plain: footer.plain };
        match index {
            Some(index) if index.end() == whole => Ok(Some(index)),
            _ => Err(supply.corrupt(footer.offset, "the index belongs to another file")),
        }
    }

    fn of_frames(frames: &[Frame], with_checksums: bool) -> Self {
        let mut here = FramePlace::default();
        let mut starts = Vec::with_capacity(frames.len() + 1);
        starts.push(here);
        for frame in frames {
            // Fewer than 2^32 frames of less than 2^32 bytes: the sums cannot overflow.
            here.packed += u64::from(frame.packed);
            here.plain += u64::from(frame.plain);
            starts.push(here);
        }
        let checksums = frames.iter().map(|frame| frame.checksum);
        Self { starts, checksums: with_checksums.then(|| checksums.collect()) }
    }

    fn end(&self) -> FramePlace {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Returns the decoded length of the whole file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.end().plain
    }

    pub(crate) fn frame_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the frames that hold these decoded bytes; an error if there are fewer bytes.
    pub(crate) fn frames_of(
        &self,
        path: &Path,
        offset: u64,
        len: Option<u64>,
    ) -> Result<(Range<usize>, Range<u64>)> {
        let wanted = len.unwrap_or(self.len().saturating_sub(offset));
        let end = offset.checked_add(wanted).filter(|&end| end <= self.len());
        let Some(end) = end else { return Err(too_short(path, self.len())) };
        // Skip empty frames at both ends.
        let first = self.starts.partition_point(|place| place.plain <= offset);
        let last = self.starts.partition_point(|place| place.plain < end);
        let frames = if offset < end { first - 1..last } else { 0..0 };
        Ok((frames, offset..end))
    }

    /// Whether every one of `frames` is short enough to be decoded as a whole.
    pub(crate) fn are_short(&self, frames: &Range<usize>) -> bool {
        frames.clone().all(|frame| {
            let (packed, plain) = self.sizes(frame..frame + 1);
            packed <= MOST_ENCODED as u64 && plain <= MOST_DECODED as u64
        })
    }

    /// Returns the lengths of `frames` in bytes, compressed and decompressed.
    fn sizes(&self, frames: Range<usize>) -> (u64, u64) {
        let (start, end) = (self.starts[frames.start], self.starts[frames.end]);
        (end.packed - start.packed, end.plain - start.plain)
    }

    /// Returns the first of `frames` that together decode to one step.
    pub(crate) fn batch(&self, frames: &Range<usize>) -> Range<usize> {
        let mut end = frames.start + 1;
        while end < frames.end {
            let (packed, plain) = self.sizes(frames.start..end + 1);
            if packed.max(plain) > STEP as u64 {
                break;
            }
            end += 1;
        }
        frames.start..end
    }

    /// Returns the place of `frames` in the compressed stream: offset and length.
    pub(crate) fn packed(&self, frames: &Range<usize>) -> (u64, u64) {
        (self.starts[frames.start].packed, self.sizes(frames.clone()).0)
    }

    /// Returns the work of decoding `frames`, whose compressed bytes these are, to get `wanted`.
    pub(crate) fn encoded(
        &self,
        frames: Range<usize>,
        bytes: Vec<u8>,
        wanted: &Range<u64>,
    ) -> EncodedFrames {
        let start = self.starts[frames.start];
        let to_usize = |len: u64| usize::try_from(len).unwrap_or(MOST_DECODED);
        let len = self.sizes(frames.clone()).1;
        let within = |position: u64| to_usize(position.saturating_sub(start.plain).min(len));
        let keep = within(wanted.start)..within(wanted.end);
        let checksum = match (&self.checksums, frames.len()) {
            (Some(checksums), 1) => checksums.get(frames.start).copied(),
            _ => None,
        };
        let cut = Some(Cut { len: to_usize(len), keep, checksum });
        EncodedFrames { offset: start.packed, bytes, most: to_usize(len), cut }
    }
}

/// Returns `len` bytes at `offset`, or fewer at the end.
fn bytes_at(supply: &mut PackedSupply, offset: u64, len: usize) -> Result<&[u8]> {
    supply.seek(offset)?;
    supply.peek(len)
}

fn table_at(supply: &mut PackedSupply, offset: u64, len: u64) -> Result<&[u8]> {
    if len > MOST_TABLE {
        let what = format!("its index has {len} bytes, more than the limit of {MOST_TABLE}");
        let error = Error::decompressing(supply.path(), FormatReason::Unsupported, what);
        return Err(error.at(offset).hint("decompress the whole file instead"));
    }
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let bytes = bytes_at(supply, offset, len)?;
    Ok(&bytes[..len.min(bytes.len())])
}

/// Whether the content of a whole frame has this checksum. Our frames end with their checksum,
/// which their decoder has already compared.
pub(crate) fn has_checksum(checksum: u32, packed: &[u8], plain: &[u8]) -> bool {
    let own = match zstd::frame::start(packed) {
        zstd::frame::Start::Frame(header) if header.has_checksum => packed.last_chunk(),
        _ => None,
    };
    match own {
        Some(own) => u32::from_le_bytes(*own) == checksum,
        None => {
            twox_hash::XxHash64::oneshot(0, plain) & u64::from(u32::MAX) == u64::from(checksum)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(plain: &[u32]) -> FrameIndex {
        let frame = |&plain: &u32| Frame { packed: 10, plain, checksum: plain };
        FrameIndex::of_frames(&plain.iter().map(frame).collect::<Vec<_>>(), true)
    }

    fn frames(index: &FrameIndex, offset: u64, len: Option<u64>) -> Option<Range<usize>> {
        index.frames_of(Path::new("x"), offset, len).ok().map(|(frames, _)| frames)
    }

    #[test]
    fn an_extent_needs_the_frames_that_hold_it_and_no_others() {
        let index = index(&[5, 0, 5, 0]);
        for (offset, len, wanted) in [
            (0, Some(5), 0..1),
            (0, Some(6), 0..3),
            (4, Some(1), 0..1),
            (5, Some(1), 2..3),
            (5, None, 2..3),
            (0, None, 0..3),
            (9, Some(1), 2..3),
            (3, Some(0), 0..0),
            (10, None, 0..0),
        ] {
            assert_eq!(frames(&index, offset, len), Some(wanted), "{len:?} at {offset}");
        }
        for (offset, len) in [(0, Some(11)), (11, None), (10, Some(1)), (1, Some(u64::MAX))] {
            assert_eq!(frames(&index, offset, len), None, "{len:?} at {offset}");
        }
        assert_eq!(frames(&self::index(&[]), 0, None), Some(0..0));
    }

    #[test]
    fn what_is_kept_of_some_frames_is_counted_from_their_start() {
        let index = index(&[5, 5, 5]);
        let cut = |frames, wanted| index.encoded(frames, Vec::new(), &wanted).cut;
        let first = cut(0..1, 3..12).expect("always");
        assert_eq!((first.len, first.keep, first.checksum), (5, 3..5, Some(5)));
        let rest = cut(1..3, 3..12).expect("always");
        assert_eq!((rest.len, rest.keep, rest.checksum), (10, 0..7, None));
        assert_eq!(index.packed(&(1..3)), (10, 20));
    }

    #[test]
    fn small_frames_are_decoded_together() {
        let size = u32::try_from(STEP).expect("it is small") / 4;
        let index = index(&[size, size, size, size, size]);
        assert_eq!(index.batch(&(0..5)), 0..4);
        assert_eq!(index.batch(&(3..5)), 3..5);
        assert!(index.are_short(&(0..5)));
        assert!(!self::index(&[5, u32::MAX]).are_short(&(0..2)));
    }
}
