//! Columns that refer to other values: dictionaries, and lists and structs in JSON.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use swath_simd::Span;

use super::fields::FieldTexts;
use super::source::{Around, FillResult, Source, Unwritable};

/// A dictionary whose values have been formatted once.
pub(super) struct Formatted {
    keys: Vec<usize>,
    nulls: Option<NullBuffer>,
    /// The word for missing values, then all values.
    text: Vec<u8>,
    spans: Vec<Span>,
    missing: usize,
}

impl Formatted {
    /// Formats all `count` values. `nulls` is the validity of the rows.
    pub(super) fn new(
        values: &dyn Source,
        count: usize,
        keys: Vec<usize>,
        nulls: Option<NullBuffer>,
        missing: &[u8],
    ) -> Result<Self, Unwritable> {
        let mut fields = FieldTexts::default();
        values.fill(0..count, &mut fields)?;
        let moved =
            |it: &Span| Span { start: it.start + missing.len(), end: it.end + missing.len() };
        let spans = fields.spans.iter().map(moved).collect();
        let text = [missing, fields.text()].concat();
        Ok(Self { keys, nulls, text, spans, missing: missing.len() })
    }
}

impl Source for Formatted {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(b"");
        fields.lent = Some(&self.text);
        fields.spans.extend(self.keys[rows.clone()].iter().map(|key| self.spans[*key]));
        fields.mark_missing(self.nulls.as_ref(), rows, self.missing);
        Ok(())
    }
}

/// A dictionary of values other than texts: each row is formatted.
pub(super) struct Keyed<'a> {
    pub(super) keys: Vec<usize>,
    pub(super) nulls: Option<NullBuffer>,
    pub(super) values: Box<dyn Source + 'a>,
    pub(super) missing: Vec<u8>,
}

impl Source for Keyed<'_> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(&self.missing);
        let mut one = FieldTexts::default();
        for row in rows {
            if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                fields.spans.push(Span { start: 0, end: self.missing.len() });
                continue;
            }
            let key = self.keys[row];
            let filled = self.values.fill(key..key + 1, &mut one);
            filled.map_err(|unwritable| Unwritable { row, ..unwritable })?;
            let start = fields.own.len();
            fields.own.extend_from_slice(one.value(0));
            fields.push(start);
        }
        fields.not_finite += one.not_finite;
        Ok(())
    }
}

/// Lists, as arrays of JSON.
pub(super) struct ListTexts<'a> {
    /// The range of each row's values.
    pub(super) places: Vec<Range<usize>>,
    pub(super) nulls: Option<NullBuffer>,
    pub(super) values: Box<dyn Source + 'a>,
    pub(super) around: Around,
}

impl Source for ListTexts<'_> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(&self.around.missing);
        let mut inner = FieldTexts::default();
        for row in rows {
            if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                fields.spans.push(Span { start: 0, end: self.around.missing.len() });
                continue;
            }
            let start = fields.own.len();
            let place = self.places[row].clone();
            let filled = self.values.fill(place.clone(), &mut inner);
            filled.map_err(|unwritable| Unwritable { row, ..unwritable })?;
            fields.own.extend_from_slice(&self.around.before);
            fields.own.push(b'[');
            for index in 0..place.len() {
                if index > 0 {
                    fields.own.push(b',');
                }
                fields.own.extend_from_slice(inner.value(index));
            }
            fields.own.push(b']');
            fields.push(start);
        }
        fields.not_finite += inner.not_finite;
        Ok(())
    }
}

/// Structs, as objects of JSON.
pub(super) struct StructTexts<'a> {
    pub(super) nulls: Option<NullBuffer>,
    /// The members; their texts begin with their names.
    pub(super) members: Vec<Box<dyn Source + 'a>>,
    pub(super) around: Around,
}

impl Source for StructTexts<'_> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(&self.around.missing);
        let mut inner = FieldTexts::default();
        for row in rows {
            if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                fields.spans.push(Span { start: 0, end: self.around.missing.len() });
                continue;
            }
            let start = fields.own.len();
            fields.own.extend_from_slice(&self.around.before);
            fields.own.push(b'{');
            for (index, member) in self.members.iter().enumerate() {
                if index > 0 {
                    fields.own.push(b',');
                }
                member.fill(row..row + 1, &mut inner)?;
                fields.own.extend_from_slice(inner.value(0));
            }
            fields.own.push(b'}');
            fields.push(start);
        }
        fields.not_finite += inner.not_finite;
        Ok(())
    }
}
