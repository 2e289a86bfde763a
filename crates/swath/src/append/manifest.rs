//! Turns pieces of logs into the manifest of a folder.

use swath_plan::extent::Extent;
use swath_plan::segment::manifest::{Manifest, ManifestExtent, Segment};

use crate::append::options::ExtentChecksums;
use crate::append::output::AppendOutput;
use crate::append::unplaced::Unplaced;
use crate::error::{Error, Operation, Reason, Result};

/// The entries of a manifest: complete segments, and extents in serial order.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Segments of the previous output.
    pub(super) old: Vec<Segment>,
    pub(super) extents: Vec<ManifestExtent>,
}

impl Entries {
    /// Continues after a committed folder.
    pub(super) fn after(manifest: Manifest) -> Self {
        let (old, extents) = manifest.into_parts();
        Self { old, extents }
    }

    /// Appends logged pieces. Contiguous ones become one extent.
    pub(super) fn push(&mut self, output: &AppendOutput, pieces: Vec<Unplaced>) -> Result<()> {
        let old = u32::try_from(self.old.len()).unwrap_or(u32::MAX);
        for piece in pieces {
            let Unplaced::Log { extent, crc } = piece else {
                return Err(Error::new(Operation::Commit, Reason::Invalid, &output.path)
                    .detail("bytes in memory have no segment"));
            };
            let is_checked = output.checksums == ExtentChecksums::Extents;
            let next = ManifestExtent {
                segment: old + extent.log,
                extent: Extent::between(extent.offset, extent.offset + extent.len),
                crc32c: is_checked.then_some(crc),
            };
            match self.extents.last_mut().and_then(|last| merged(last, &next)) {
                Some(both) => {
                    self.extents.pop();
                    self.extents.push(both);
                }
                None => self.extents.push(next),
            }
        }
        Ok(())
    }

    /// Checks the entries and returns the manifest, without segments that are no longer needed.
    pub(super) fn manifest(&self, output: &AppendOutput) -> Result<Manifest> {
        let logs = output.log_files().into_iter().zip(output.log_lens());
        let new = logs.map(|(log, len)| Segment { name: log.name.into(), len });
        let segments: Vec<Segment> = self.old.iter().cloned().chain(new).collect();
        let mut is_needed = vec![false; segments.len()];
        for it in &self.extents {
            is_needed[it.segment as usize] = true;
        }
        let mut renumbered = Vec::with_capacity(segments.len());
        let mut kept = Vec::new();
        for (segment, is_needed) in segments.into_iter().zip(is_needed) {
            renumbered.push(u32::try_from(kept.len()).unwrap_or(u32::MAX));
            kept.extend(is_needed.then_some(segment));
        }
        let mut extents = self.extents.clone();
        for it in &mut extents {
            it.segment = renumbered[it.segment as usize];
        }
        Manifest::new(kept, extents).map_err(|error| {
            Error::new(Operation::Commit, Reason::Corrupt, &output.path)
                .detail(format!("the manifest would be wrong: {error}"))
        })
    }
}

/// The segments that a manifest names.
pub(super) fn names(manifest: &Manifest) -> Vec<String> {
    manifest.segments().iter().map(|segment| String::from(&*segment.name)).collect()
}

fn merged(last: &ManifestExtent, next: &ManifestExtent) -> Option<ManifestExtent> {
    if last.segment != next.segment || last.extent.end() != next.extent.offset() {
        return None;
    }
    let crc32c = match (last.crc32c, next.crc32c) {
        (Some(left), Some(right)) => {
            Some(swath_simd::crc32c_combine(left, right, next.extent.len()))
        }
        (None, None) => None,
        _ => return None,
    };
    let extent = Extent::between(last.extent.offset(), next.extent.end());
    Some(ManifestExtent { segment: last.segment, extent, crc32c })
}
