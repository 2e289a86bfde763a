//! Decodes bytes into a manifest.

use super::{
    Crc32cAppend, EXTENT_COUNT_AT, EXTENT_LEN, FLAGS, FLAGS_AT, Fault, HAS_CHECKSUM,
    HEADER_LEN, MAGIC, Manifest, ManifestError, ManifestExtent, SEGMENT_COUNT_AT, SEGMENT_LEN,
    SUM_LEN, Segment, TOTAL_AT, VERSION, VERSION_AT,
};
use crate::extent::Extent;
use alloc::vec::Vec;

/// The starts of the parts, all of which are present.
struct Layout {
    segment_count: usize,
    extents_at: usize,
    sum_at: usize,
}

pub(super) fn decode(
    bytes: &[u8],
    crc32c_append: Crc32cAppend,
) -> Result<Manifest, ManifestError> {
    check_version(bytes)?;
    let layout = lay_out(bytes)?;
    let sum = number_at(bytes, layout.sum_at)?;
    if crc32c_append(0, &bytes[..layout.sum_at]) != sum {
        return Err(ManifestError::new(Fault::Checksum, layout.sum_at));
    }
    let segments = segments(bytes, layout.segment_count)?;
    let extents = extents(&bytes[layout.extents_at..layout.sum_at], layout.extents_at)?;
    let manifest = Manifest::new(segments, extents)?;
    if manifest.len == long_number_at(bytes, TOTAL_AT)? {
        Ok(manifest)
    } else {
        Err(ManifestError::new(Fault::Total, TOTAL_AT))
    }
}

/// Checks the marks that distinguish a manifest from other files, and this version from later ones:
/// a difference is not damage, and the checksum may well be elsewhere.
fn check_version(bytes: &[u8]) -> Result<(), ManifestError> {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if !MAGIC.starts_with(start) {
        return Err(ManifestError::new(Fault::Magic, 0));
    }
    let version = number_at(bytes, VERSION_AT)?;
    if version != VERSION {
        return Err(ManifestError::new(Fault::Version(version), VERSION_AT));
    }
    let flags = number_at(bytes, FLAGS_AT)?;
    if flags != FLAGS {
        return Err(ManifestError::new(Fault::Flags(flags), FLAGS_AT));
    }
    Ok(())
}

/// Finds the parts, without allocating memory for the announced counts.
fn lay_out(bytes: &[u8]) -> Result<Layout, ManifestError> {
    let truncated = ManifestError::new(Fault::Truncated, bytes.len());
    let segment_count = number_at(bytes, SEGMENT_COUNT_AT)? as usize;
    let mut extents_at = HEADER_LEN;
    for _ in 0..segment_count {
        let name_len = bytes.get(extents_at + SEGMENT_LEN - 1).ok_or(truncated)?;
        extents_at += SEGMENT_LEN + usize::from(*name_len);
    }
    let room = bytes.len().checked_sub(extents_at + SUM_LEN).ok_or(truncated)?;
    let extent_count = usize::try_from(long_number_at(bytes, EXTENT_COUNT_AT)?);
    let extents_len = extent_count.ok().and_then(|count| count.checked_mul(EXTENT_LEN));
    match extents_len {
        Some(len) if len == room => {
            Ok(Layout { segment_count, extents_at, sum_at: extents_at + len })
        }
        Some(len) if len < room => {
            Err(ManifestError::new(Fault::Trailing, extents_at + len + SUM_LEN))
        }
        _ => Err(truncated),
    }
}

fn segments(bytes: &[u8], count: usize) -> Result<Vec<Segment>, ManifestError> {
    // `lay_out` has checked that each segment takes nine bytes or more.
    let mut segments = Vec::with_capacity(count);
    let mut at = HEADER_LEN;
    for _ in 0..count {
        let len = long_number_at(bytes, at)?;
        let name_at = at + SEGMENT_LEN;
        let end = name_at + usize::from(bytes[name_at - 1]);
        let name = core::str::from_utf8(&bytes[name_at..end])
            .map_err(|_| ManifestError::new(Fault::Name("is not UTF-8"), at))?;
        segments.push(Segment { name: name.into(), len });
        at = end;
    }
    Ok(segments)
}

fn extents(bytes: &[u8], at: usize) -> Result<Vec<ManifestExtent>, ManifestError> {
    let (chunks, _) = bytes.as_chunks::<EXTENT_LEN>();
    let mut extents = Vec::with_capacity(chunks.len());
    for (index, chunk) in chunks.iter().enumerate() {
        let located = |fault| ManifestError::new(fault, at + index * EXTENT_LEN);
        extents.push(extent(chunk).map_err(located)?);
    }
    Ok(extents)
}

fn extent(bytes: &[u8; EXTENT_LEN]) -> Result<ManifestExtent, Fault> {
    let ([segment, sum, rest @ ..], []) = bytes.as_chunks::<4>() else {
        return Err(Fault::Truncated);
    };
    let ([offset, len], []) = rest.as_flattened().as_chunks::<8>() else {
        return Err(Fault::Truncated);
    };
    let (first, sum) = (u32::from_le_bytes(*segment), u32::from_le_bytes(*sum));
    let crc32c = match (first & HAS_CHECKSUM != 0, sum) {
        (true, sum) => Some(sum),
        (false, 0) => None,
        (false, _) => return Err(Fault::UnusedChecksum),
    };
    let extent = Extent::new(u64::from_le_bytes(*offset), u64::from_le_bytes(*len));
    let extent = extent.ok_or(Fault::ExtentOverflow)?;
    Ok(ManifestExtent { segment: first & !HAS_CHECKSUM, extent, crc32c })
}

fn number_at(bytes: &[u8], at: usize) -> Result<u32, ManifestError> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn long_number_at(bytes: &[u8], at: usize) -> Result<u64, ManifestError> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], ManifestError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().ok_or(ManifestError::new(Fault::Truncated, bytes.len()))
}
