//! The first bytes of a text.

use swath::ReadOptions;

use super::record::Wrong;
use crate::error::Result;
use crate::input::Text;

/// The first bytes of a text, as many as were needed so far.
pub(super) struct Prefix<'t> {
    input: &'t Text,
    /// Where they begin in the text.
    pub(super) base: u64,
    pub(super) bytes: Vec<u8>,
}

/// Bytes to read first: enough for a sample after a header of usual length.
const FIRST: u64 = (1 << 20) + (256 << 10);
/// A first record of more bytes is searched for its end before it is read.
pub(super) const LONG: usize = 64 << 20;

impl<'t> Prefix<'t> {
    pub(super) fn new(input: &'t Text, base: u64) -> Result<Self> {
        let mut prefix = Self { input, base, bytes: Vec::new() };
        prefix.grow()?;
        Ok(prefix)
    }

    /// Whether these are all bytes of the text.
    pub(super) fn is_all(&self) -> bool {
        self.base + self.bytes.len() as u64 >= self.input.len()
    }

    /// Whether no more is read for a sample.
    pub(super) fn is_enough(&self) -> bool {
        self.is_all() || self.bytes.len() >= LONG
    }

    /// Reads twice as much.
    pub(super) fn grow(&mut self) -> Result<()> {
        let (from, known) = (self.base + self.bytes.len() as u64, self.bytes.len() as u64);
        let len = known.max(FIRST).min(self.input.len().saturating_sub(from));
        let read = ReadOptions::new().with_offset(from).with_len(len);
        let more = read.read(self.input.source())?.buffer;
        self.bytes.extend_from_slice(&more);
        Ok(())
    }

    /// Forgets the bytes before `at`.
    pub(super) fn cut(&mut self, at: usize) {
        self.bytes.drain(..at);
        self.base += at as u64;
    }
}

/// Whether more text may be all that is missing.
pub(super) fn may_end_later(wrong: Wrong, len: usize) -> bool {
    match wrong {
        Wrong::OpenQuote(_) | Wrong::OpenEscape(_) => true,
        Wrong::LoneReturn(at) => at + 1 == len,
        Wrong::AfterQuote(_) => false,
    }
}
