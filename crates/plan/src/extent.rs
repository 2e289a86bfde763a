//! A range of bytes, `(offset, len)`, that cannot overflow.

use core::fmt;

/// A range of bytes of a file: `offset .. offset + len`, whose end is at most `u64::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extent {
    offset: u64,
    len: u64,
}

impl Extent {
    /// Returns the extent, or `None` if its end does not fit `u64`.
    pub const fn new(offset: u64, len: u64) -> Option<Self> {
        match offset.checked_add(len) {
            Some(_) => Some(Self { offset, len }),
            None => None,
        }
    }

    /// Returns `offset .. end`; an `end` before `offset` gives an empty extent at `offset`.
    pub const fn between(offset: u64, end: u64) -> Self {
        Self { offset, len: end.saturating_sub(offset) }
    }

    /// Returns its start, in bytes from the start of the file.
    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// Returns its length in bytes.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Whether its length is 0.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the offset just past its last byte.
    pub const fn end(self) -> u64 {
        self.offset + self.len
    }

    /// Returns the bytes in both; an empty extent at some offset if they share no byte.
    pub fn intersect(self, other: Self) -> Self {
        let offset = self.offset.max(other.offset);
        Self::between(offset, self.end().min(other.end()).max(offset))
    }
}

/// Formats as in error messages: `4096..8192`.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.offset, self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_beyond_u64_is_refused() {
        assert!(Extent::new(u64::MAX, 1).is_none());
        assert_eq!(Extent::new(u64::MAX, 0).map(Extent::end), Some(u64::MAX));
        assert_eq!(Extent::new(1, u64::MAX - 1).map(Extent::end), Some(u64::MAX));
    }

    #[test]
    fn intersections_hold_what_both_hold() {
        let left = Extent::between(10, 20);
        assert_eq!(left.intersect(Extent::between(15, 30)), Extent::between(15, 20));
        assert_eq!(left.intersect(Extent::between(0, 100)), left);
        for apart in [Extent::between(20, 30), Extent::between(0, 10), Extent::default()] {
            assert!(left.intersect(apart).is_empty(), "{apart}");
        }
        assert!(Extent::between(9, 3).is_empty());
    }
}
