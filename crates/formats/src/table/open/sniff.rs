//! The first records of a file: their delimiter, and whether the first one has names.

use std::cmp::{Ordering, Reverse};

use super::judge::{FieldGroup, Judge, SampleField};
use super::report::HeaderReason;
use crate::error::Result;
use crate::table::options::{BatchOptions, HeaderLines, Ragged};
use crate::table::text::dialect::{Between, Dialect, trim};
use crate::table::text::first_line::OddNumber;
use crate::table::text::fixed::FixedLayout;
use crate::table::text::prefix::Prefix;
use crate::table::text::record::{FieldPlace, RecordFault, RecordKind, RecordText};
use crate::table::types::{ColumnType, Kinds, TextField, whole};

/// The most records in a sample after the first; `FIELDS`: the most fields of all but its last.
pub(in crate::table) const RECORDS: usize = 1000;
const FIELDS: usize = 1 << 15;
/// Records after the first begin within this many bytes after its end.
pub(in crate::table) const BYTES: usize = 1 << 20;
/// The delimiters to try, in this order.
const CANDIDATES: [u8; 4] = [b'\t', b',', b';', b'|'];

/// The first records of a text, up to the first fault.
pub(in crate::table) struct Sample {
    dialect: Dialect,
    /// All fields, record by record.
    fields: Vec<SampleField>,
    /// The index in `fields` at which each record ends.
    ends: Vec<usize>,
    fault: Option<RecordFault>,
}

impl Sample {
    /// Returns the sample taken, or takes one, which may read more of the text.
    pub(in crate::table) fn or_take(
        taken: Option<Self>,
        prefix: &mut Prefix<'_>,
        dialect: Dialect,
        layout: Option<&FixedLayout>,
    ) -> Result<Self> {
        if let Some(taken) = taken {
            return Ok(taken);
        }
        loop {
            let records = RecordText { text: prefix.sample(dialect), dialect, layout };
            let (sample, is_known) = Self::of(records, prefix.is_enough());
            if is_known {
                return Ok(sample);
            }
            prefix.grow()?;
        }
    }

    /// Returns the sample of these bytes, and whether it is complete.
    fn of(records: RecordText<'_>, is_all: bool) -> (Self, bool) {
        let RecordText { text, dialect, .. } = records;
        let mut sample = Self { dialect, fields: Vec::new(), ends: Vec::new(), fault: None };
        let (mut at, mut limit) = (0, usize::MAX);
        while at < text.len() {
            let is_full = sample.ends.len() > RECORDS || sample.fields.len() > FIELDS;
            if at >= limit || is_full {
                return (sample, true);
            }
            let mut split = records.split(at, |place| sample.fields.push(place.into()));
            if let Some(layout) = records.layout {
                let before = sample.ends.last().copied().unwrap_or(0);
                sample.fields.truncate(before + layout.columns().len());
            }
            if let Err(RecordFault::Outside(_)) = split {
                // If such lines are not set aside, the reader reports the place.
                sample.fields.truncate(sample.ends.last().copied().unwrap_or(0));
                split = Ok((RecordKind::Skipped, records.end(at).unwrap_or(text.len())));
            }
            match split {
                Err(wrong) => {
                    sample.fault = Some(wrong);
                    sample.fields.truncate(sample.ends.last().copied().unwrap_or(0));
                    return (sample, is_all || !records.may_end_later(wrong));
                }
                Ok((_, next)) if next == text.len() && !is_all => return (sample, false),
                Ok((RecordKind::Skipped, next)) => at = next,
                Ok((RecordKind::Data, next)) => {
                    if sample.ends.is_empty() {
                        limit = next.saturating_add(BYTES);
                    }
                    sample.ends.push(sample.fields.len());
                    at = next;
                }
            }
        }
        (sample, is_all)
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &[SampleField]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.fields[start..end])
    }

    /// Returns the sample of a text without comments.
    pub(in crate::table) fn without_comments(self) -> Self {
        Self { dialect: Dialect { comment: None, ..self.dialect }, ..self }
    }

    /// Returns how well the delimiter fits; `None` if most records are one field, or there are
    /// none.
    fn fit(&self, text: &[u8], ragged: Ragged) -> Option<DelimiterFit> {
        let whole = self.records().filter(|record| !self.is_torn(text, record));
        let mut counts: Vec<usize> = whole.map(<[SampleField]>::len).collect();
        let first = counts.first().copied().filter(|_| ragged != Ragged::Refuse);
        counts.sort_unstable();
        // Among the equally frequent: the first record's if records may differ, otherwise the
        // smallest.
        let runs = counts.chunk_by(|a, b| a == b);
        let runs = runs.map(|run| (run.len(), Some(run[0]) == first, Reverse(run[0])));
        let (agree, _, Reverse(columns)) = runs.max()?;
        let all = self.ends.len() + usize::from(self.fault.is_some());
        (columns >= 2).then_some(DelimiterFit { agree, all, columns })
    }

    /// Whether a record was torn inside quotes: two of its unquoted fields have an odd number of
    /// quotes.
    fn is_torn(&self, text: &[u8], record: &[SampleField]) -> bool {
        let Some(quote) = self.dialect.quote else { return false };
        let is_odd = |field: &&SampleField| {
            let raw = field.place.of(text);
            let count = raw.iter().filter(|&&byte| byte == quote).count();
            raw.first() != Some(&quote) && count % 2 == 1
        };
        record.iter().filter(is_odd).nth(1).is_some()
    }

    /// Whether the first record has a fault in quotes right after this delimiter.
    fn begins_with_fault(&self, text: &[u8], delimiter: u8) -> bool {
        let at = match self.fault {
            Some(RecordFault::OpenQuote(at) | RecordFault::AfterQuote(at))
                if self.ends.is_empty() =>
            {
                at
            }
            _ => return false,
        };
        at > 0 && text.get(at - 1) == Some(&delimiter)
    }

    /// Whether all records have the same number of fields, at least two, all of them numbers. If
    /// there are several records, the first may have names, and some values of the others may be
    /// missing.
    fn is_of_numbers(&self, text: &[u8], options: &BatchOptions) -> bool {
        let judge = Judge::new(text, options, self.dialect);
        let Some(first) = self.records().next() else { return false };
        let is_number = |field: &SampleField| judge.is_number(field.place);
        let are_numbers = |record: &[SampleField]| record.iter().all(is_number);
        let is_right = |record: &[SampleField]| {
            let is_right =
                |field: &SampleField| is_number(field) || judge.is_missing(field.place);
            record.len() == first.len()
                && record.iter().all(is_right)
                && record.iter().any(is_number)
        };
        let others = self.ends.len() > 1 && self.records().skip(1).all(is_right);
        let is_one = self.ends.len() == 1 && are_numbers(first);
        self.fault.is_none() && first.len() >= 2 && (is_one || others)
    }

    /// Whether the comma is both the decimal point and the delimiter: fields with a comma are
    /// quoted.
    fn has_quoted_commas(&self, text: &[u8]) -> bool {
        let is_quoted = |field: &SampleField| {
            let raw = field.place.of(text);
            raw.first().copied() == self.dialect.quote && raw.contains(&b',')
        };
        self.dialect.quote.is_some() && self.fields.iter().any(is_quoted)
    }

    /// Whether all records but the names are numbers, and there is at least one number.
    pub(in crate::table) fn are_numbers(&self, text: &[u8], options: &BatchOptions) -> bool {
        let judge = Judge::new(text, options, self.dialect);
        let groups =
            |from: usize| self.records().skip(from).flatten().map(|it| judge.group(it));
        let is_right =
            |group: FieldGroup| matches!(group, FieldGroup::Number | FieldGroup::Missing);
        let names = match options.header {
            HeaderLines::Lines(lines) => lines,
            // Most tables have a text in the second record: then this is enough.
            HeaderLines::Auto if !groups(1).all(is_right) => return false,
            HeaderLines::Auto => usize::from(self.header_reason(text, options).has_names()),
        };
        let has_number = || groups(names).any(|group| group == FieldGroup::Number);
        self.fault.is_none() && groups(names).all(is_right) && has_number()
    }

    /// Returns whether the first record has names, and why.
    pub(in crate::table) fn header_reason(
        &self,
        text: &[u8],
        options: &BatchOptions,
    ) -> HeaderReason {
        let judge = Judge::new(text, options, self.dialect);
        let Some(first) = self.first(options) else { return HeaderReason::NoValue };
        let below = judge.below(self, options.fields.unwrap_or(first.len()), options.ragged);
        let groups = || first.iter().map(|field| judge.group(field));
        let is_missing = |field: &SampleField| {
            judge.group(field) == FieldGroup::Missing && !judge.is_quoted_word(field.place)
        };
        if first.iter().all(is_missing) {
            return HeaderReason::Missing;
        }
        let is_alone = below.iter().all(|below| below.group.is_none());
        let may_be_over_nothing = is_alone || !groups().any(|group| group == FieldGroup::Text);
        let (mut value, mut text_over_values) = (None, None);
        for (index, (field, below)) in first.iter().zip(&below).enumerate() {
            let group = match judge.group(field) {
                // A quoted field is not a value; above unquoted ones it is a text.
                _ if judge.is_quoted_word(field.place) && !below.has_quotes => FieldGroup::Text,
                _ if judge.is_quoted(field.place) => continue,
                group => group,
            };
            let is_like = below.group.map_or(may_be_over_nothing, |below| below == group);
            if group == FieldGroup::Text
                && below.group.is_some_and(|below| below != FieldGroup::Text)
            {
                text_over_values.get_or_insert(index);
            } else if !matches!(group, FieldGroup::Text | FieldGroup::Missing) && is_like {
                value.get_or_insert(index);
            }
        }
        match (text_over_values, value) {
            (Some(index), _) => HeaderReason::TextOverValues(index),
            (None, None) => HeaderReason::NoValue,
            (None, Some(index)) => match judge.counting(self, first, &below) {
                Some(index) if !is_alone => HeaderReason::CountingNumbers(index),
                _ => HeaderReason::Value(index),
            },
        }
    }

    /// Returns the fields of the first record, without those past the columns.
    fn first(&self, options: &BatchOptions) -> Option<&[SampleField]> {
        let first = self.records().next()?;
        Some(&first[..first.len().min(options.fields.unwrap_or(usize::MAX))])
    }

    /// Returns the start of the first record.
    pub(in crate::table) fn begin(&self) -> usize {
        self.fields.first().map_or(0, |field| field.place.start)
    }

    /// Returns the first field of the first record that is a number in an unsupported notation;
    /// decimal commas count only if all fields are numbers of some notation.
    pub(in crate::table) fn odd_number(
        &self,
        text: &[u8],
        options: &BatchOptions,
    ) -> Option<(usize, OddNumber)> {
        let judge = Judge::new(text, options, self.dialect);
        let first = self.first(options)?;
        let (mut odd, mut are_numbers) = (None, true);
        let between_commas = self.with_commas(text, first);
        for field in between_commas.as_deref().unwrap_or(first) {
            let place = field.place;
            let found = judge.with(place, |field| OddNumber::of(field.trimmed()));
            match (judge.group(field), found) {
                (FieldGroup::Number | FieldGroup::Missing, _) => {}
                (FieldGroup::Text, Some(found)) if !judge.is_quoted(place) => {
                    odd.get_or_insert((place.start, found));
                }
                _ => are_numbers = false,
            }
        }
        let is_one = self.dialect.between == Between::Nothing;
        odd.filter(|&(_, found)| (are_numbers && !is_one) || found != OddNumber::Comma)
    }
}

impl Sample {
    /// Returns the fields of a comma-separated record as split at other delimiters, if it has any:
    /// its commas may be decimal points.
    fn with_commas(&self, text: &[u8], record: &[SampleField]) -> Option<Vec<SampleField>> {
        let (start, end) = (record.first()?.place.start, record.last()?.place.end);
        let has_quotes = |line: &[u8]| self.dialect.quote.is_some_and(|it| line.contains(&it));
        let line = text.get(start..end)?;
        let ends = |byte: &u8| b";\t|".contains(byte);
        let mut at = start;
        let place = |field: &[u8]| {
            let start = at;
            at += field.len() + 1;
            FieldPlace { start, end: start + field.len() }.into()
        };
        let is_between = line.iter().any(ends) && !has_quotes(line);
        let is_comma = self.dialect.between == Between::Byte(b',');
        (is_comma && is_between).then(|| line.split(ends).map(place).collect())
    }
}

/// How well a delimiter fits a sample.
#[derive(Clone, Copy)]
struct DelimiterFit {
    /// The number of records with the most frequent number of fields.
    agree: usize,
    /// The number of all records. A fault and a torn record count as records with another number of
    /// fields.
    all: usize,
    /// The most frequent number of fields.
    columns: usize,
}

impl DelimiterFit {
    fn compare(self, other: Self) -> Ordering {
        let agree = (self.agree * other.all).cmp(&(other.agree * self.all));
        agree.then(self.columns.cmp(&other.columns))
    }
}

/// The values of a column below the first record.
#[derive(Clone, Copy, Default)]
struct Below {
    /// Their group: text for a mix; `None` if all are missing.
    group: Option<FieldGroup>,
    /// Whether any present value is quoted.
    has_quotes: bool,
}

impl Judge<'_> {
    /// Examines the values below the fields of the first record.
    fn below(&self, sample: &Sample, columns: usize, ragged: Ragged) -> Vec<Below> {
        let mut all = vec![Below::default(); columns];
        for record in sample.records().skip(1) {
            if !ragged.takes(record.len(), columns) {
                continue;
            }
            for (field, below) in record.iter().zip(&mut all) {
                if below.group == Some(FieldGroup::Text) && below.has_quotes {
                    continue;
                }
                let group = self.group(field);
                if group != FieldGroup::Missing {
                    let before = below.group.unwrap_or(group);
                    below.group = Some(if before == group { group } else { FieldGroup::Text });
                    below.has_quotes |= self.is_quoted(field.place);
                }
            }
        }
        all
    }

    /// Returns the first column of the first record from which whole numbers count up, if another
    /// field is empty above values, or is a text that its column does not have below.
    fn counting(
        &self,
        sample: &Sample,
        first: &[SampleField],
        below: &[Below],
    ) -> Option<usize> {
        let number = |field: &SampleField| {
            let whole = |field: TextField<'_>| whole(field, &self.rules);
            self.with(field.place, whole).filter(|_| self.group(field) == FieldGroup::Number)
        };
        let follows = |pair: &[SampleField]| {
            let next = number(&pair[0]).and_then(|number| number.checked_add(1));
            next.is_some() && next == number(&pair[1])
        };
        let index = first.windows(2).position(follows)?;
        let word = |it: &SampleField| self.with(it.place, |field| trim(field.bytes).to_vec());
        let is_own = |(column, field): (usize, &SampleField)| {
            let own = word(field);
            let is_same =
                |record: &[SampleField]| record.get(column).is_some_and(|it| word(it) == own);
            (own.is_empty() && below[column].group.is_some())
                || (self.group(field) == FieldGroup::Text
                    && !sample.records().skip(1).any(is_same))
        };
        first.iter().enumerate().any(is_own).then_some(index)
    }

    /// Returns the number of columns whose type, without the first record, is narrower than text.
    fn narrow(&self, sample: &Sample, columns: usize, ragged: Ragged) -> usize {
        let mut kinds = vec![Kinds::MISSING; columns];
        for record in sample.records().skip(1).filter(|it| ragged.takes(it.len(), columns)) {
            let open = record.iter().zip(&mut kinds).filter(|(_, kinds)| !kinds.is_text());
            open.for_each(|(field, kinds)| {
                *kinds |= self.with(field.place, |field| Kinds::of(field, &self.rules));
            });
        }
        const WIDE: [ColumnType; 2] = [ColumnType::Null, ColumnType::Text];
        kinds.iter().filter(|kinds| !WIDE.contains(&kinds.column_type())).count()
    }
}

/// Finds the separator of a text; also returns the sample taken with it.
pub(in crate::table) fn between(
    prefix: &mut Prefix<'_>,
    plain: Dialect,
    options: &BatchOptions,
) -> Result<(Between, Option<Sample>)> {
    let marks = [plain.quote, plain.escape, plain.comment];
    let sample = |prefix: &mut Prefix<'_>, between| {
        Sample::or_take(None, prefix, Dialect { between, ..plain }, None)
    };
    let mut best: Option<(u8, DelimiterFit, Sample)> = None;
    let mut with_fault = None;
    for byte in CANDIDATES {
        let is_absent = prefix.is_enough() && swath_simd::find(&prefix.bytes, byte).is_none();
        if marks.contains(&Some(byte)) || byte == options.decimal || is_absent {
            continue;
        }
        let sample = sample(prefix, Between::Byte(byte))?;
        let is_faulty = sample.begins_with_fault(&prefix.bytes, byte);
        with_fault = with_fault.or(is_faulty.then_some(byte));
        let Some(fit) = sample.fit(&prefix.bytes, options.ragged) else { continue };
        let judge = |sample: &Sample| Judge::new(&prefix.bytes, options, sample.dialect);
        let narrow = |it: &Sample| judge(it).narrow(it, fit.columns, options.ragged);
        // Among equally good ones, the first wins.
        let is_better =
            |(_, other, before): &(u8, DelimiterFit, Sample)| match fit.compare(*other) {
                Ordering::Equal => narrow(&sample) > narrow(before),
                order => order == Ordering::Greater,
            };
        if best.as_ref().is_none_or(is_better) {
            best = Some((byte, fit, sample));
        }
    }
    // If a fault keeps a delimiter from fitting any record, the reader reports the fault.
    if let Some((byte, _, sample)) = best {
        return Ok((Between::Byte(byte), Some(sample)));
    }
    if let Some(byte) = with_fault {
        return Ok((Between::Byte(byte), None));
    }
    if options.decimal == b',' && !marks.contains(&Some(b',')) {
        let sample = sample(prefix, Between::Byte(b','))?;
        if sample.has_quoted_commas(&prefix.bytes)
            && sample.fit(&prefix.bytes, options.ragged).is_some()
        {
            return Ok((Between::Byte(b','), Some(sample)));
        }
    }
    let blanks = sample(prefix, Between::Blanks)?;
    if blanks.is_of_numbers(&prefix.bytes, options) {
        return Ok((Between::Blanks, Some(blanks)));
    }
    if !options.is_array {
        return Ok((Between::Nothing, None));
    }
    Ok((array_between(prefix, plain, options, &blanks)?, None))
}

/// Finds the separator in the first record of an array, even if its fields are not numbers.
fn array_between(
    prefix: &mut Prefix<'_>,
    plain: Dialect,
    options: &BatchOptions,
    blanks: &Sample,
) -> Result<Between> {
    let marks = [plain.quote, plain.escape, plain.comment];
    let nothing = Dialect { between: Between::Nothing, ..plain };
    let whole = Sample::or_take(None, prefix, nothing, None)?;
    let first = whole.fields.first().map(|field| field.place.of(&prefix.bytes));
    let is_there = |byte: &u8| first.is_some_and(|first| first.contains(byte));
    let byte =
        CANDIDATES.into_iter().filter(|&byte| !marks.contains(&Some(byte))).find(is_there);
    let judge = Judge::new(&prefix.bytes, options, blanks.dialect);
    let words = blanks.records().next().unwrap_or_default();
    let is_number = |field: &SampleField| {
        judge.is_number(field.place) || OddNumber::of(field.place.of(&prefix.bytes)).is_some()
    };
    let has_number = words.len() > 1 && words.iter().any(is_number);
    Ok(match byte {
        Some(byte) => Between::Byte(byte),
        None if has_number => Between::Blanks,
        None => Between::Nothing,
    })
}
