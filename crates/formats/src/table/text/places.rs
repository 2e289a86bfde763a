//! The places of the fields of one column.

use crate::table::types::RawFields;

/// Scratch memory for the fields of one column.
#[derive(Debug, Default)]
pub(in crate::table) struct Places {
    /// The column, if the fields are those of one in the current rows.
    pub(super) column: Option<usize>,
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// The entries of `starts` for the chosen columns.
    pub(super) chosen: Vec<u32>,
}

impl Places {
    /// Forgets the fields of other rows.
    pub(in crate::table) fn clear(&mut self) {
        self.column = None;
    }

    /// Returns fields that are all absent.
    pub(super) fn missing<'t>(&'t mut self, text: &'t [u8], rows: usize) -> RawFields<'t> {
        self.clear();
        for (places, at) in [(&mut self.starts, 1), (&mut self.ends, 0)] {
            places.clear();
            places.resize(rows, at);
        }
        RawFields { text, starts: &self.starts, ends: &self.ends }
    }
}
