//! Starts writeback to the device while further bytes are written.
//!
//! A commit that syncs waits for the device, which may have been idle until then: the kernel begins
//! late, with seconds or gigabytes of dirty pages. So a writer of more than a few MiB starts
//! writeback early, and the sync finds most of it done.
//!
//! ```text
//! steps     |       |       |       |
//! written   -------------------|            the chunk that passed the third mark
//! begun     |<------------->|               the two steps before it, perhaps still being written
//! ```

use swath_os::writeback::start_writeback;
use swath_plan::extent::Extent;

use crate::sink::existing::Durability;
use crate::sink::fs::FsFile;

/// Bytes between two calls: enough for large requests, little compared with what follows.
const STEP: u64 = 8 << 20;

/// Starts writeback if `extent`, which has just been written, passes a mark. Called for each write of
/// a file that will be synced at the end; does nothing for others.
pub(crate) fn written(file: &dyn FsFile, extent: Extent, durability: Durability) {
    let (Some(begun), Some(file), Durability::Full) =
        (passed(extent), file.descriptor(), durability)
    else {
        return;
    };
    // Only advice: the sync will report errors.
    let _ = start_writeback(file, begun.offset(), begun.len());
}

/// Returns the bytes whose writeback begins, if a mark was passed.
fn passed(extent: Extent) -> Option<Extent> {
    let end = extent.end() - extent.end() % STEP;
    let first = extent.offset() - extent.offset() % STEP;
    (end > extent.offset()).then(|| Extent::between(first.saturating_sub(STEP), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn two_steps_are_begun_with_when_a_mark_is_passed() {
        let passed = |offset, end| {
            let begun = passed(Extent::between(offset * MIB, end * MIB))?;
            Some((begun.offset() / MIB, begun.end() / MIB))
        };
        assert_eq!(passed(0, 7), None);
        assert_eq!(passed(0, 8), Some((0, 8)));
        assert_eq!(passed(7, 9), Some((0, 8)));
        assert_eq!(passed(8, 9), None, "another write passed it");
        assert_eq!(passed(15, 17), Some((0, 16)));
        assert_eq!(passed(23, 24), Some((8, 24)));
        assert_eq!(passed(20, 100), Some((8, 96)), "a chunk of several steps");
        assert_eq!(passed(8, 8), None);
    }
}
