//! The pieces of a strand's rope.

use swath_os::memory::Pages;
use swath_plan::segment::rope::{LogExtent, RopePiece};

/// Bytes of one strand that have no place in the file yet, or never will.
#[derive(Debug)]
pub(super) enum Unplaced {
    /// Still in memory, and few.
    Memory(Vec<u8>),
    /// Still in memory: the first `len` bytes of pages. Fresh pages cost a third of a `Vec`,
    /// because they are huge.
    Pages { pages: Pages, len: usize },
    /// In a log, with their CRC-32C (0 if it is not needed).
    Log { extent: LogExtent, crc: u32 },
}

impl Unplaced {
    /// Returns the bytes that are in memory.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Pages { pages, len } => &pages[..*len],
            Self::Log { .. } => &[],
        }
    }

    /// Bytes of memory it occupies, full or not.
    pub(super) fn footprint(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.capacity() as u64,
            Self::Pages { pages, .. } => pages.len() as u64,
            Self::Log { .. } => 0,
        }
    }

    /// The log that it is in.
    pub(super) fn log(&self) -> Option<u32> {
        match self {
            Self::Log { extent, .. } => Some(extent.log),
            Self::Memory(_) | Self::Pages { .. } => None,
        }
    }

    /// Appends `bytes` to those in memory, if there is room for all.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Pages { pages, len } => {
                let Some(room) = pages.get_mut(*len..*len + bytes.len()) else { return false };
                room.copy_from_slice(bytes);
                *len += bytes.len();
                true
            }
            Self::Memory(already) if already.capacity() - already.len() >= bytes.len() => {
                already.extend_from_slice(bytes);
                true
            }
            Self::Memory(_) | Self::Log { .. } => false,
        }
    }
}

impl RopePiece for Unplaced {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Pages { len, .. } => *len as u64,
            Self::Log { extent, .. } => extent.len,
        }
    }

    fn absorb(&mut self, next: Self) -> Option<Self> {
        match (&mut *self, next) {
            (Self::Log { extent, crc }, Self::Log { extent: more, crc: more_crc }) => {
                let left_over = extent.absorb(more);
                if left_over.is_none() {
                    *crc = swath_simd::crc32c_combine(*crc, more_crc, more.len);
                }
                left_over.map(|extent| Self::Log { extent, crc: more_crc })
            }
            (_, next) => Some(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_joined_extents_is_that_of_their_bytes() {
        let log = |offset, bytes: &[u8]| Unplaced::Log {
            extent: LogExtent { log: 0, offset, len: bytes.len() as u64 },
            crc: crc32c::crc32c(bytes),
        };
        let mut piece = log(0, b"serial");
        assert!(piece.absorb(log(6, b" append")).is_none());
        let Unplaced::Log { extent, crc } = piece else { panic!("it was a log") };
        assert_eq!((extent.len, crc), (13, crc32c::crc32c(b"serial append")));
    }
}
