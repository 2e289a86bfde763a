//! The bytes of a file that must be copied: those outside holes.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use swath_os::holes;
use swath_plan::extent::Extent;
use swath_plan::schedule::{Run, Way};

use crate::error::{Error, Operation, Result};
use crate::sink::draft::Draft;
use crate::source::OpenSource;

/// Returns the extents of data in `extent`, in order; all of it if holes cannot be found.
///
/// If the file grows or shrinks during the copy, reading detects it.
pub(super) fn data(source: &OpenSource, extent: Extent) -> Result<Vec<Extent>> {
    match source.file() {
        Some(file) if is_sparse(file, extent.len()) => list(file, extent)
            .map_err(|error| Error::io(Operation::Inspect, source.name(), error)),
        _ if extent.is_empty() => Ok(Vec::new()),
        _ => Ok(vec![extent]),
    }
}

/// Whether the file may have holes: its blocks do not hold all of its bytes.
fn is_sparse(file: &File, len: u64) -> bool {
    file.metadata().is_ok_and(|facts| facts.blocks().saturating_mul(512) < len)
}

fn list(mut file: &File, extent: Extent) -> io::Result<Vec<Extent>> {
    let here = file.stream_position()?;
    let mut data: Vec<Extent> = Vec::new();
    let mut at = extent.offset();
    while let Some(part) = holes::next_data(file, at..extent.end())? {
        at = part.end;
        match data.last_mut() {
            Some(last) if last.end() == part.start => {
                *last = Extent::between(last.offset(), part.end);
            }
            _ => data.push(Extent::between(part.start, part.end)),
        }
    }
    // The descriptor may be the caller's.
    file.seek(SeekFrom::Start(here))?;
    Ok(data)
}

/// Reserves space for `data`: a full disk is detected now, not at the last byte, and on ext4 a write
/// into reserved space takes about two thirds of the time.
pub(super) fn reserve(draft: &Draft, data: &[Extent]) -> Result<()> {
    /// Below this size it does not pay.
    const LEAST: u64 = 1 << 20;
    for &part in data.iter().filter(|part| part.len() >= LEAST) {
        match draft.file().allocate(part.offset(), part.len()) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                ) =>
            {
                return Err(Error::io(Operation::Write, draft.path(), error).at(part));
            }
            // If space cannot be reserved, writing may still succeed.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the parts of `runs` that are data; both are in order.
pub(super) fn only_data(runs: &[Run], data: &[Extent]) -> Vec<Run> {
    let mut kept = Vec::new();
    for run in runs {
        let first = data.partition_point(|part| part.end() <= run.extent.offset());
        for part in data[first..].iter().take_while(|part| part.offset() < run.extent.end()) {
            let extent = run.extent.intersect(*part);
            // Holes end at block boundaries, and blocks are whole units; if not, the run is not
            // read directly.
            let whole = extent.offset().is_multiple_of(4096);
            let way = if whole { run.way } else { Way::Buffered };
            kept.push(Run { extent, way });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    #[test]
    fn runs_are_cut_to_the_data_in_them() {
        let run = |offset, end, way| Run { extent: Extent::between(offset, end), way };
        let runs = [run(0, 10_000, Way::Buffered), run(10_000, 40_000, Way::Direct)];
        let data = [(0, 100), (9_000, 12_288), (12_288, 20_000), (50_000, 60_000)];
        let data = data.map(|(offset, end)| Extent::between(offset, end));
        let kept = only_data(&runs, &data);
        let expected = [
            run(0, 100, Way::Buffered),
            run(9_000, 10_000, Way::Buffered),
            run(10_000, 12_288, Way::Buffered),
            run(12_288, 20_000, Way::Direct),
        ];
        assert_eq!(kept, expected);
        assert_eq!(only_data(&runs, &[]), []);
        assert_eq!(
            only_data(&runs, &[Extent::between(0, 40_000)]),
            [runs[0], { run(10_000, 40_000, Way::Buffered) }]
        );
    }

    #[test]
    fn data_is_found_between_holes_and_the_position_stays() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.set_len(9 * MIB).expect("a hole");
        for offset in [0, 4 * MIB] {
            file.write_all_at(&[1; 65536], offset).expect("written");
        }
        file.seek(SeekFrom::Start(17)).expect("anywhere");
        let found = list(&file, Extent::between(0, 9 * MIB)).expect("listed");
        assert_eq!(file.stream_position().expect("known"), 17);
        if found == [Extent::between(0, 9 * MIB)] {
            return swath_reference::skip("holes", "this file system has none");
        }
        let expected = [(0, 65536), (4 * MIB, 4 * MIB + 65536)];
        assert_eq!(found, expected.map(|(offset, end)| Extent::between(offset, end)));
    }
}
