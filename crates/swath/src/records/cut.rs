//! Where one record ends and the next one begins.

use swath_simd::find;

/// Where one record ends and the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// Behind each byte of this value. What follows the last one is a record too, if it is not
    /// empty.
    Byte(u8),
}

impl Cut {
    /// Where the first record begins that begins behind the first byte of `bytes`, at most at
    /// their end.
    pub(crate) fn first_start(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte(delimiter) => Some(find(bytes, delimiter)? + 1),
        }
    }

    /// Where the record ends that byte `at` belongs to; `bytes` begin with a record. `None` if
    /// they do not hold its end.
    pub(crate) fn end_after(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Byte(delimiter) => Some(at + find(&bytes[at..], delimiter)? + 1),
        }
    }

    /// Where the record begins that the last of `bytes` belongs to; they begin with a record.
    pub(crate) fn last_start(self, bytes: &[u8]) -> usize {
        let before = &bytes[..bytes.len().saturating_sub(1)];
        match self {
            Self::Byte(delimiter) => {
                before.iter().rposition(|&byte| byte == delimiter).map_or(0, |at| at + 1)
            }
        }
    }
}
