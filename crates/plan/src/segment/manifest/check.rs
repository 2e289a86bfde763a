//! The rules for segments and extents, whether built or decoded.

use super::{
    Fault, HAS_CHECKSUM, HEADER_LEN, ManifestError, ManifestExtent, NAME_LEN_MAX,
    SEGMENT_COUNT_AT, SEGMENT_LEN, Segment, extent_at, segment_at,
};
use alloc::vec;
use alloc::vec::Vec;

/// Returns the length of the file, or the first broken rule and its place.
pub(super) fn check(
    segments: &[Segment],
    extents: &[ManifestExtent],
) -> Result<u64, ManifestError> {
    check_names(segments)?;
    let mut total = 0_u64;
    for (index, it) in extents.iter().enumerate() {
        let added = check_extent(segments, it)
            .and_then(|()| total.checked_add(it.extent.len()).ok_or(Fault::TotalOverflow));
        total = added.map_err(|fault| ManifestError::new(fault, extent_at(segments, index)))?;
    }
    match overlap(segments.len(), extents) {
        Some(index) => Err(ManifestError::new(Fault::Overlap, extent_at(segments, index))),
        None => Ok(total),
    }
}

fn check_names(segments: &[Segment]) -> Result<(), ManifestError> {
    if segments.len() > HAS_CHECKSUM as usize {
        return Err(ManifestError::new(Fault::SegmentCount, SEGMENT_COUNT_AT));
    }
    let mut at = HEADER_LEN;
    for segment in segments {
        if let Some(why) = objection(&segment.name) {
            return Err(ManifestError::new(Fault::Name(why), at));
        }
        at += SEGMENT_LEN + segment.name.len();
    }
    let mut by_name: Vec<usize> = (0..segments.len()).collect();
    by_name.sort_unstable_by_key(|&index| (&segments[index].name, index));
    let twice = |pair: &&[usize]| segments[pair[0]].name == segments[pair[1]].name;
    match by_name.windows(2).find(twice) {
        Some(pair) => Err(ManifestError::new(Fault::NameTwice, segment_at(segments, pair[1]))),
        None => Ok(()),
    }
}

/// Returns the reason why `name` must not be opened. An accepted name is a single path component,
/// visible, and not the manifest itself.
fn objection(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("is empty")
    } else if name.len() > NAME_LEN_MAX {
        Some("has more than 255 bytes")
    } else if name.contains('/') {
        Some("contains a slash")
    } else if name.contains('\0') {
        Some("contains a NUL")
    } else if name.starts_with('.') {
        Some("starts with a dot")
    } else if name == super::FILE_NAME {
        Some("is the name of the manifest")
    } else {
        None
    }
}

fn check_extent(segments: &[Segment], it: &ManifestExtent) -> Result<(), Fault> {
    let segment = segments.get(it.segment as usize).ok_or(Fault::SegmentIndex(it.segment))?;
    if it.extent.is_empty() {
        Err(Fault::EmptyExtent)
    } else if it.extent.end() > segment.len {
        Err(Fault::BeyondSegment)
    } else {
        Ok(())
    }
}

/// Returns the index of an extent that shares bytes with an earlier one in serial order, if any.
fn overlap(segment_count: usize, extents: &[ManifestExtent]) -> Option<usize> {
    // A worker that steals little appends in serial order: then no sorting is needed.
    let mut ends = vec![0_u64; segment_count];
    let is_ordered = extents.iter().all(|it| {
        let before = core::mem::replace(&mut ends[it.segment as usize], it.extent.end());
        before <= it.extent.offset()
    });
    if is_ordered {
        return None;
    }
    // Stable, because that sort uses runs already in order.
    let mut sorted: Vec<_> = (extents.iter().enumerate())
        .map(|(index, it)| (it.segment, it.extent.offset(), index))
        .collect();
    sorted.sort();
    let touching = sorted.windows(2).find(|pair| {
        let ((before, _, first), (segment, offset, _)) = (pair[0], pair[1]);
        before == segment && extents[first].extent.end() > offset
    });
    touching.map(|pair| pair[0].2.max(pair[1].2))
}
