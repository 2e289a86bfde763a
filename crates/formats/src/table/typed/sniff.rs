//! What the first records show: the delimiter, and whether the first one has names.

use std::cmp::Reverse;

use super::dialect::{Between, Dialect, trim};
use super::fixed::{Found, Layout};
use super::options::{BatchOptions, Ragged};
use super::prefix::{Prefix, may_end_later};
use super::record::{Line, Place, Records, Wrong};
use super::rules;
use super::values::{ColumnType, Field, Kinds, Rules, State, is_number, is_timestamp};
use crate::error::Result;

/// The most records of a sample after the first one.
const RECORDS: usize = 1000;
/// They begin within this many bytes after the end of the first one.
const BYTES: usize = 1 << 20;
/// What is tried as a delimiter, in this order.
const CANDIDATES: [u8; 4] = [b'\t', b',', b';', b'|'];
/// A line of more words is no name of the only column.
const WORDS: usize = 5;

/// The first records of a text, up to the first fault.
pub(super) struct Sample {
    dialect: Dialect,
    /// All fields, record by record.
    fields: Vec<Place>,
    /// How many fields there are up to the end of each record.
    ends: Vec<usize>,
    fault: Option<Wrong>,
}

impl Sample {
    /// Takes the sample, for which more of the text may have to be read.
    pub(super) fn take(
        prefix: &mut Prefix<'_>,
        dialect: Dialect,
        layout: Option<&Layout>,
    ) -> Result<Self> {
        loop {
            let records = Records { text: &prefix.bytes, dialect, layout };
            let (sample, is_known) = Self::of(records, prefix.is_enough());
            if is_known {
                return Ok(sample);
            }
            prefix.grow()?;
        }
    }

    /// The sample of these bytes, and whether it is that of the whole text.
    fn of(records: Records<'_>, is_all: bool) -> (Self, bool) {
        let Records { text, dialect, .. } = records;
        let mut sample = Self { dialect, fields: Vec::new(), ends: Vec::new(), fault: None };
        let (mut at, mut limit) = (0, usize::MAX);
        while at < text.len() {
            if at >= limit {
                return (sample, true);
            }
            let mut split = records.split(at, |place| sample.fields.push(place));
            if let Err(Wrong::Outside(_)) = split {
                // If such lines are not set aside, the reader says where this one is.
                sample.fields.truncate(sample.ends.last().copied().unwrap_or(0));
                split = Ok((Line::Skipped, records.end(at).unwrap_or(text.len())));
            }
            match split {
                Err(wrong) => {
                    sample.fault = Some(wrong);
                    sample.fields.truncate(sample.ends.last().copied().unwrap_or(0));
                    return (sample, is_all || !may_end_later(wrong, text.len()));
                }
                Ok((_, next)) if next == text.len() && !is_all => return (sample, false),
                Ok((Line::Skipped, next)) => at = next,
                Ok((Line::Data, next)) => {
                    if sample.ends.is_empty() {
                        limit = next.saturating_add(BYTES);
                    }
                    sample.ends.push(sample.fields.len());
                    if sample.ends.len() > RECORDS {
                        return (sample, true);
                    }
                    at = next;
                }
            }
        }
        (sample, is_all)
    }

    fn records(&self) -> impl Iterator<Item = &[Place]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.fields[start..end])
    }

    /// How many records have the most frequent number of fields, and how many there are; a fault
    /// counts as one that has not, and so does a record that is torn. `None` if that number is 1, or
    /// there is no other record.
    fn consistency(&self, text: &[u8]) -> Option<(usize, usize)> {
        let whole = self.records().filter(|record| !self.is_torn(text, record));
        let mut counts: Vec<usize> = whole.map(<[Place]>::len).collect();
        counts.sort_unstable();
        // Of several that are as frequent, the smallest.
        let runs = counts.chunk_by(|a, b| a == b).map(|run| (run.len(), Reverse(run[0])));
        let (often, Reverse(count)) = runs.max()?;
        (count >= 2).then_some((often, self.ends.len() + usize::from(self.fault.is_some())))
    }

    /// Whether a record is cut in quotes: two of its fields, which are not in quotes, have an odd number
    /// of them.
    fn is_torn(&self, text: &[u8], record: &[Place]) -> bool {
        let Some(quote) = self.dialect.quote else { return false };
        let is_odd = |place: &&Place| {
            let raw = &text[place.start..place.end];
            let count = raw.iter().filter(|&&byte| byte == quote).count();
            raw.first() != Some(&quote) && count % 2 == 1
        };
        record.iter().filter(is_odd).nth(1).is_some()
    }

    /// Whether the first record has a fault in quotes that begin after this delimiter.
    fn begins_with_fault(&self, text: &[u8], delimiter: u8) -> bool {
        let at = match self.fault {
            Some(Wrong::OpenQuote(at) | Wrong::AfterQuote(at)) if self.ends.is_empty() => at,
            _ => return false,
        };
        at > 0 && text.get(at - 1) == Some(&delimiter)
    }

    /// Whether all records have the same number of fields, at least two, all of them numbers. Of several,
    /// the first may have names, and in the others values may be missing, but not all of them.
    fn is_of_numbers(&self, text: &[u8], options: &BatchOptions) -> bool {
        let judge = Judge::new(text, options, self.dialect);
        let Some(first) = self.records().next() else { return false };
        let are_numbers = |record: &[Place]| record.iter().all(|&it| judge.is_number(it));
        let is_right = |record: &[Place]| {
            let is_right = |&place: &Place| judge.is_number(place) || judge.is_missing(place);
            record.len() == first.len()
                && record.iter().all(is_right)
                && record.iter().any(|&place| judge.is_number(place))
        };
        let others = self.ends.len() > 1 && self.records().skip(1).all(is_right);
        let is_one = self.ends.len() == 1 && are_numbers(first);
        self.fault.is_none() && first.len() >= 2 && (is_one || others)
    }

    /// Whether the first record has names.
    pub(super) fn has_names(&self, text: &[u8], options: &BatchOptions) -> bool {
        let judge = Judge::new(text, options, self.dialect);
        let Some(first) = self.records().next() else { return false };
        let names: Vec<bool> = first.iter().map(|&place| judge.is_name(place)).collect();
        // `""` may stand over row names; alone, it is a value.
        let may_be =
            |(&place, &is_name): (&Place, &bool)| is_name || judge.is_quoted_null(place);
        let all = names.contains(&true) && first.iter().zip(&names).all(may_be);
        let narrow = judge.narrow(self, first.len(), options.ragged);
        if !narrow.contains(&true) {
            return all && judge.are_distinct(first) && !judge.is_sentence(first);
        }
        all || names.iter().zip(&narrow).any(|(&is_name, &is_narrow)| is_name && is_narrow)
    }
}

/// Says what fields are.
struct Judge<'t> {
    text: &'t [u8],
    rules: Rules,
}

impl<'t> Judge<'t> {
    fn new(text: &'t [u8], options: &BatchOptions, dialect: Dialect) -> Self {
        Self { text, rules: rules::rules(options, dialect) }
    }

    fn with<R>(&self, place: Place, look: impl FnOnce(Field<'_>) -> R) -> R {
        let mut scratch = Vec::new();
        look(self.rules.quoting.field(&self.text[place.start..place.end], &mut scratch))
    }

    /// Whether a field is a number of any form, and not missing.
    fn is_number(&self, place: Place) -> bool {
        self.with(place, |field| is_number(field, &self.rules))
    }

    fn is_missing(&self, place: Place) -> bool {
        self.with(place, |field| Kinds::of(field, &self.rules).state()) == State::Missing
    }

    /// Whether the only field of a record has many words.
    fn is_sentence(&self, record: &[Place]) -> bool {
        let words = |field: Field<'_>| {
            let words = field.bytes.split(|&byte| byte == b' ' || byte == b'\t');
            words.filter(|word| !word.is_empty()).count()
        };
        matches!(record, [only] if self.with(*only, words) > WORDS)
    }

    /// Whether a field is a text, and not a word for a missing value.
    fn is_name(&self, place: Place) -> bool {
        self.with(place, |field| {
            let state = Kinds::of(field, &self.rules).state();
            // Some numbers and timestamps have no type that holds them.
            state == State::Of(ColumnType::Text)
                && !is_number(field, &self.rules)
                && !is_timestamp(field)
        })
    }

    /// Whether a field is a word for a missing value in quotes, such as `""`.
    fn is_quoted_null(&self, place: Place) -> bool {
        self.with(place, |field| Kinds::of(field, &self.rules).state()) == State::Quoted
    }

    /// Which columns after the first record have a type that is narrower than text.
    fn narrow(&self, sample: &Sample, columns: usize, ragged: Ragged) -> Vec<bool> {
        let mut kinds = vec![Kinds::MISSING; columns];
        let is_padded = |count: usize| ragged == Ragged::Pad && count < columns;
        for record in sample.records().skip(1) {
            if record.len() == columns || is_padded(record.len()) {
                for (&place, kinds) in record.iter().zip(&mut kinds) {
                    if !kinds.is_text() {
                        *kinds |= self.with(place, |field| Kinds::of(field, &self.rules));
                    }
                }
            }
        }
        let is_narrow =
            |kinds: &Kinds| !matches!(kinds.column_type(), ColumnType::Null | ColumnType::Text);
        kinds.iter().map(is_narrow).collect()
    }

    fn are_distinct(&self, record: &[Place]) -> bool {
        let text = |&place: &Place| self.with(place, |field| trim(field.bytes).to_vec());
        let mut texts: Vec<Vec<u8>> = record.iter().map(text).collect();
        texts.sort_unstable();
        texts.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// Finds the columns of fixed width in the lines of the sample.
pub(super) fn layout(prefix: &mut Prefix<'_>, dialect: Dialect) -> Result<Layout> {
    loop {
        if let Some(found) = layout_of(&prefix.bytes, prefix.is_enough(), dialect) {
            return Ok(found.layout());
        }
        prefix.grow()?;
    }
}

/// The same in these bytes; `None` if more of them are needed.
fn layout_of(text: &[u8], is_all: bool, dialect: Dialect) -> Option<Found> {
    let records = Records { text, dialect, layout: None };
    let (mut found, mut at, mut count) = (Found::default(), 0, 0);
    let mut limit = usize::MAX;
    while at < text.len() && at < limit && count <= RECORDS {
        let next = records.end(at).unwrap_or(text.len());
        if next == text.len() && !is_all {
            return None;
        }
        // A fault is left to the reader, which says where it is.
        let Ok(skipped) = records.skipped(at) else { break };
        if skipped.is_none() {
            let Ok(_) = found.add(text, at) else { break };
            limit = limit.min(next.saturating_add(BYTES));
            count += 1;
        }
        at = next;
    }
    let is_known = is_all || at < text.len();
    is_known.then_some(found)
}

/// Finds what separates the fields of a text.
pub(super) fn between(
    prefix: &mut Prefix<'_>,
    plain: Dialect,
    options: &BatchOptions,
) -> Result<Between> {
    let others = [plain.quote, plain.escape, plain.comment, Some(options.decimal)];
    let mut best: Option<(u8, usize, usize)> = None;
    let mut with_fault = None;
    for byte in CANDIDATES.into_iter().filter(|&byte| !others.contains(&Some(byte))) {
        if prefix.is_enough() && swath_simd::find(&prefix.bytes, byte).is_none() {
            continue;
        }
        let sample =
            Sample::take(prefix, Dialect { between: Between::Byte(byte), ..plain }, None)?;
        if with_fault.is_none() && sample.begins_with_fault(&prefix.bytes, byte) {
            with_fault = Some(byte);
        }
        let Some((agree, all)) = sample.consistency(&prefix.bytes) else { continue };
        // Only a larger fraction wins, so the first of several as large.
        if best.is_none_or(|(_, most, of)| agree * of > most * all) {
            best = Some((byte, agree, all));
        }
    }
    // What fits no record because of a fault is left to the reader, which says where it is.
    if let Some(byte) = best.map(|(byte, ..)| byte).or(with_fault) {
        return Ok(Between::Byte(byte));
    }
    let sample = Sample::take(prefix, Dialect { between: Between::Blanks, ..plain }, None)?;
    let are_blanks = sample.is_of_numbers(&prefix.bytes, options);
    Ok(if are_blanks { Between::Blanks } else { Between::Nothing })
}
