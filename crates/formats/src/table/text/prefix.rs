//! The first bytes of a text.

use super::dialect::Dialect;
use super::record::RecordText;
use crate::error::{Error, FormatReason, Result};
use crate::input::InputText;
use crate::memory::room_for;

/// The first bytes of a text, read as needed.
pub(in crate::table) struct Prefix<'t> {
    input: &'t InputText,
    /// Their offset in the text.
    pub(in crate::table) base: u64,
    pub(in crate::table) bytes: Vec<u8>,
    /// The number of last records of the text to exclude.
    footer: usize,
}

/// Bytes to read first: enough for a sample after a header of ordinary length.
const FIRST: u64 = (1 << 20) + (256 << 10);
/// The longest first record that is read without first searching for its end.
pub(in crate::table) const LONG: usize = 64 << 20;

impl<'t> Prefix<'t> {
    pub(in crate::table) fn new(
        input: &'t InputText,
        base: u64,
        footer: usize,
    ) -> Result<Self> {
        let mut prefix = Self { input, base, bytes: Vec::new(), footer };
        prefix.grow()?;
        Ok(prefix)
    }

    /// Whether these are all bytes of the text.
    pub(in crate::table) fn is_all(&self) -> bool {
        let is_all = self.base + self.bytes.len() as u64 >= self.input.len();
        if is_all {
            self.input.reached_end();
        }
        is_all
    }

    /// Returns the bytes of a sample, without the records to exclude, except the first.
    pub(in crate::table) fn sample(&self, dialect: Dialect) -> &[u8] {
        if self.footer == 0 {
            return &self.bytes;
        }
        // More records may follow: then these are not the last ones.
        let records = RecordText { text: &self.bytes, dialect, layout: None };
        let last = records.last(self.footer.saturating_add(1));
        &self.bytes[..last.get(1).copied().unwrap_or(self.bytes.len())]
    }

    /// Whether the sample is large enough.
    pub(in crate::table) fn is_enough(&self) -> bool {
        self.is_all() || self.bytes.len() >= LONG
    }

    /// Reads as many bytes again.
    pub(in crate::table) fn grow(&mut self) -> Result<()> {
        let (from, known) = (self.base + self.bytes.len() as u64, self.bytes.len() as u64);
        self.check_room()?;
        self.input.add_some(from, known.max(FIRST), &mut self.bytes)
    }

    /// Refuses a sample for which there is no memory: a short field takes more than its text.
    fn check_room(&self) -> Result<()> {
        /// Bytes for the place of a field, in memory that grows by doubling.
        const FIELD: usize = 48;
        if (self.bytes.len() as u64) < FIRST {
            return Ok(());
        }
        let count = |byte| swath_simd::count(&self.bytes, byte);
        let fields = [b'\n', b'\t', b',', b';', b'|', b' '].map(count).into_iter().max();
        // Twice as many bytes are read next.
        let most = self.bytes.len().saturating_mul(4);
        let fields = usize::try_from(fields.unwrap_or(0)).unwrap_or(usize::MAX);
        let most = most.saturating_add(fields.saturating_mul(2 * FIELD));
        match room_for(most) {
            Ok(()) => Ok(()),
            Err(_) => {
                let detail = "its first records take more memory than there is";
                let error =
                    Error::reading(self.input.path(), FormatReason::OutOfMemory, detail);
                Err(error
                    .at(self.base)
                    .hint("look for a quote that is not closed, or a wrong delimiter"))
            }
        }
    }

    /// Forgets the bytes before `at`.
    pub(in crate::table) fn cut(&mut self, at: usize) {
        self.bytes.drain(..at);
        self.base += at as u64;
    }
}
