//! The rule for where one record ends and the next one begins.

use swath_simd::{Positions, count, find};

/// The rule for where one record ends and the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// After each byte of this value. The bytes after the last one are a record too, unless there
    /// are none.
    Byte(u8),
    /// After every this many bytes. A last record that is shorter is an error.
    Fixed(u64),
    /// After each `delimiter` that is not between two quotes: CSV, where a field may contain a
    /// newline. A quote inside quotes is doubled, as in RFC 4180; a quote that is escaped in
    /// another way, or stands in an unquoted field, counts as opening or closing. A quote that is
    /// never closed is an error.
    Quoted {
        /// The byte that opens and closes: usually `b'"'`.
        quote: u8,
        /// The byte that ends a record outside quotes: usually `b'\n'`.
        delimiter: u8,
    },
}

/// A last record without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// A quote was opened at this position.
    Quote(usize),
    /// Its position, its length in bytes, and the width that it should have.
    Short(usize, usize, u64),
}

impl Cut {
    /// Returns the reason why no records can be cut this way, if there is one.
    pub(crate) fn fault(self) -> Option<&'static str> {
        match self {
            Self::Fixed(0) => Some("records of 0 bytes"),
            Self::Quoted { quote, delimiter } if quote == delimiter => {
                Some("the quote is the delimiter")
            }
            Self::Byte(_) | Self::Fixed(_) | Self::Quoted { .. } => None,
        }
    }

    /// Whether `len` bytes that begin with a record are always whole records, so that the bytes
    /// around them need not be searched.
    pub(crate) fn divides(self, len: u64) -> bool {
        matches!(self, Self::Fixed(width) if len.is_multiple_of(width))
    }

    /// Returns the byte whose parity changes the meaning of later bytes.
    pub(crate) fn quote(self) -> Option<u8> {
        match self {
            Self::Quoted { quote, .. } => Some(quote),
            Self::Byte(_) | Self::Fixed(_) => None,
        }
    }

    /// Returns the start of the first record that begins after the first byte of `bytes`, at most
    /// their end. `inside`: the second byte is between quotes. `skipped`: bytes from the start of
    /// a record up to the second byte.
    pub(crate) fn first_start(self, bytes: &[u8], inside: bool, skipped: u64) -> Option<usize> {
        match self {
            Self::Byte(delimiter) => Some(find(bytes, delimiter)? + 1),
            Self::Fixed(width) => {
                let after = skipped.checked_next_multiple_of(width)? - skipped;
                let start = usize::try_from(after).ok()?.checked_add(1)?;
                (start <= bytes.len()).then_some(start)
            }
            Self::Quoted { delimiter, .. } if !inside && bytes.first() == Some(&delimiter) => {
                Some(1)
            }
            Self::Quoted { quote, delimiter } => {
                let rest = bytes.get(1..)?;
                Some(Positions::outside(rest, delimiter, quote, inside).next()? + 2)
            }
        }
    }

    /// Returns the end of the record that contains byte `at`; `bytes` begin with a record. `None`
    /// if they do not contain that end.
    pub(crate) fn end_after(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Byte(delimiter) => Some(at + find(&bytes[at..], delimiter)? + 1),
            Self::Fixed(width) => {
                let end = (at as u64 / width + 1).checked_mul(width)?;
                usize::try_from(end).ok().filter(|&end| end <= bytes.len())
            }
            Self::Quoted { quote, delimiter } => {
                let inside = is_odd(&bytes[..at], quote);
                let mut outside = Positions::outside(&bytes[at..], delimiter, quote, inside);
                Some(at + outside.next()? + 1)
            }
        }
    }

    /// Returns the start of the record that contains the last of `bytes`, which begin with a record.
    pub(crate) fn last_start(self, bytes: &[u8]) -> usize {
        let before = &bytes[..bytes.len().saturating_sub(1)];
        match self {
            Self::Byte(delimiter) => {
                before.iter().rposition(|&byte| byte == delimiter).map_or(0, |at| at + 1)
            }
            Self::Fixed(width) => {
                let after = before.len() as u64 % width;
                before.len() - usize::try_from(after).unwrap_or(0)
            }
            Self::Quoted { quote, delimiter } => {
                Positions::outside(before, delimiter, quote, false)
                    .last()
                    .map_or(0, |at| at + 1)
            }
        }
    }

    /// Returns what the last record lacks, if a source ends after `bytes`, which begin with a record.
    pub(crate) fn unfinished(self, bytes: &[u8]) -> Option<Unfinished> {
        match self {
            Self::Byte(_) => None,
            Self::Fixed(width) => {
                let short = usize::try_from(bytes.len() as u64 % width).unwrap_or(0);
                (short > 0).then(|| Unfinished::Short(bytes.len() - short, short, width))
            }
            Self::Quoted { quote, .. } if is_odd(bytes, quote) => {
                // The last quote is not closed: the earlier ones come in pairs.
                bytes.iter().rposition(|&byte| byte == quote).map(Unfinished::Quote)
            }
            Self::Quoted { .. } => None,
        }
    }
}

/// Whether `byte` occurs an odd number of times.
pub(crate) fn is_odd(bytes: &[u8], byte: u8) -> bool {
    count(bytes, byte) % 2 == 1
}
