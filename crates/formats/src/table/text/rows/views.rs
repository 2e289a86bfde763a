//! The fields of rows, by column or row by row.

use super::Rows;
use crate::table::text::places::Places;
use crate::table::types::RawFields;

impl Rows {
    /// Returns the fields of these columns of the file, row by row; of all columns in order if
    /// `None`.
    pub(in crate::table) fn fields<'t>(
        &'t self,
        text: &'t [u8],
        picked: Option<&[usize]>,
        places: &'t mut Places,
    ) -> RawFields<'t> {
        let gap = self.gap;
        let all = if self.is_plain { self.cuts.ends.as_slice() } else { &self.ends };
        let Places { starts, ends, .. } = places;
        starts.clear();
        let mut begins = &self.begins;
        if begins.is_empty() {
            starts.reserve(all.len() + 1);
            starts.push(self.starts.first().copied().unwrap_or(0));
            // An end is an offset in the text, so this is at most the maximum.
            starts.extend(all.iter().map(|end| end.wrapping_add(gap)));
            starts.truncate(all.len());
            if !self.is_plain {
                let rows = starts.chunks_exact_mut(self.columns).zip(&self.starts);
                rows.for_each(|(fields, &start)| fields[0] = start);
            }
            begins = starts;
        }
        let Some(picked) = picked else {
            return RawFields { text, starts: begins, ends: all };
        };
        let every = |all: &[u32], to: &mut Vec<u32>| {
            to.clear();
            for row in all.chunks_exact(self.columns) {
                to.extend(picked.iter().map(|&column| row[column]));
            }
        };
        every(all, ends);
        let mut chosen = std::mem::take(&mut places.chosen);
        every(begins, &mut chosen);
        places.chosen = chosen;
        RawFields { text, starts: &places.chosen, ends: &places.ends }
    }

    /// Returns the fields of one column in the current rows, all absent if it is `None`. `fields`
    /// must have been [cleared](Places::clear) after the rows were filled.
    pub(in crate::table) fn column<'t>(
        &self,
        text: &'t [u8],
        column: Option<usize>,
        fields: &'t mut Places,
    ) -> RawFields<'t> {
        let Some(column) = column else { return fields.missing(text, self.count()) };
        let (columns, gap) = (self.columns, self.gap);
        let follows = column.checked_sub(1).is_some_and(|before| fields.column == Some(before));
        fields.starts.clear();
        if follows && self.begins.is_empty() {
            // An end is an offset in the text, so this is at most the maximum.
            fields.starts.extend(fields.ends.iter().map(|end| end.wrapping_add(gap)));
        }
        fields.ends.clear();
        fields.column = Some(column);
        let every = |all: &[u32], from: usize, to: &mut Vec<u32>| {
            to.extend(all.chunks_exact(columns).map(|row| row[from]));
        };
        every(&self.ends, column, &mut fields.ends);
        if !self.begins.is_empty() {
            every(&self.begins, column, &mut fields.starts);
        } else if follows {
        } else if column == 0 {
            fields.starts.extend_from_slice(&self.starts);
        } else {
            let before = self.ends.chunks_exact(columns).map(|row| row[column - 1]);
            // An end is an offset in the text, so this is at most the maximum.
            fields.starts.extend(before.map(|end| end.wrapping_add(gap)));
        }
        RawFields { text, starts: &fields.starts, ends: &fields.ends }
    }
}
