//! What a strand's rope consists of.

use swath_plan::segment::rope::{LogExtent, Piece};

/// Bytes of one strand that have no place in the file yet, or never will have.
#[derive(Debug)]
pub(super) enum Part {
    /// Still in memory.
    Memory(Vec<u8>),
    /// In a log, with their CRC-32C (0 where nobody will ask).
    Log { extent: LogExtent, crc: u32 },
}

/// Parts in memory are joined up to this size.
const SMALL: usize = 64 << 10;

impl Piece for Part {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Log { extent, .. } => extent.len,
        }
    }

    fn absorb(&mut self, next: Self) -> Option<Self> {
        match (&mut *self, next) {
            (Self::Memory(bytes), Self::Memory(more)) if bytes.len() + more.len() <= SMALL => {
                bytes.extend_from_slice(&more);
                None
            }
            (Self::Log { extent, crc }, Self::Log { extent: more, crc: more_crc }) => {
                let left_over = extent.absorb(more);
                if left_over.is_none() {
                    let len = usize::try_from(more.len).unwrap_or(usize::MAX);
                    *crc = crc32c::crc32c_combine(*crc, more_crc, len);
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
        let log = |offset, bytes: &[u8]| Part::Log {
            extent: LogExtent { log: 0, offset, len: bytes.len() as u64 },
            crc: crc32c::crc32c(bytes),
        };
        let mut part = log(0, b"serial");
        assert!(part.absorb(log(6, b" append")).is_none());
        let Part::Log { extent, crc } = part else { panic!("it was a log") };
        assert_eq!((extent.len, crc), (13, crc32c::crc32c(b"serial append")));
    }
}
