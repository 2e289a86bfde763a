//! Finds the delimiter in a sample; and whether the first record has names.

use std::cmp::Reverse;

use super::fault::{Fault, Wrong};
use super::join::Seen;
use super::kind::{Kind, bare, is_number, kind, marks};
use super::number::Number;
use super::options::{Between, Header, Options, Ragged};
use super::records::{Dialect, Field, Record, TextPlace, trim};
use super::types::Type;

/// The maximum number of records of a sample, besides the first.
const RECORDS: usize = 1000;
/// The maximum number of fields of all but the last.
const FIELDS: usize = 32_768;
/// A record is in the sample if it begins within this many bytes after the end of the first one.
const BYTES: usize = 1 << 20;
/// The delimiters to try, in this order.
const CANDIDATES: [u8; 4] = [b'\t', b',', b';', b'|'];

/// The first records starting at `start`, up to the first fault.
struct Sample {
    records: Vec<Record>,
    fault: Option<Fault>,
}

impl Sample {
    fn take(start: &TextPlace<'_>, dialect: &Dialect) -> Self {
        let mut place = start.clone();
        let mut records = Vec::new();
        let mut after_first = None;
        let end = start.sample_end(dialect);
        loop {
            while place.clone().skip(dialect) == Ok(true) {
                place.pass(dialect);
            }
            if place.at >= end {
                return Self { records, fault: None };
            }
            match place.next(dialect) {
                Ok(Some(mut record)) => {
                    // The rest of the line is not examined.
                    let columns =
                        dialect.fixed.as_ref().map_or(usize::MAX, |it| it.spans.len());
                    record.fields.truncate(columns);
                    let first_end = *after_first.get_or_insert(place.at);
                    if record.at >= first_end + BYTES {
                        return Self { records, fault: None };
                    }
                    records.push(record);
                }
                Ok(None) => return Self { records, fault: None },
                // Such a line has no fields.
                Err(fault) if fault.wrong == Wrong::Outside => {}
                Err(fault) => return Self { records, fault: Some(fault) },
            }
            let fields: usize = records.iter().map(|record| record.fields.len()).sum();
            if records.len() > RECORDS || fields > FIELDS {
                return Self { records, fault: None };
            }
        }
    }
}

/// Returns a record without the fields that have no column.
#[must_use]
pub(super) fn in_columns(record: &Record, options: &Options) -> Record {
    let mut record = record.clone();
    record.fields.truncate(options.fields.unwrap_or(usize::MAX));
    record
}

/// Returns the delimiter of the text starting at `start`.
#[must_use]
pub(super) fn between(start: &TextPlace<'_>, options: &Options) -> Between {
    let plain = Dialect::new(options, Between::Nothing);
    let mut best: Option<(u8, Fit)> = None;
    let mut with_fault = None;
    for byte in CANDIDATES {
        if !plain.is_free(byte) || byte == options.decimal {
            continue;
        }
        let sample = Sample::take(start, &Dialect::new(options, Between::Byte(byte)));
        if with_fault.is_none() && begins_with_fault(start, &sample, byte) {
            with_fault = Some(byte);
        }
        let Some(fit) = fit(&sample, options) else { continue };
        // Strictly better: the first of equals wins.
        if best.as_ref().is_none_or(|(_, best)| fit.is_better(best)) {
            best = Some((byte, fit));
        }
    }
    match best.map(|(byte, ..)| byte).or(with_fault) {
        Some(byte) => Between::Byte(byte),
        None if plain.is_free(b',') && are_quoted(start, options) => Between::Byte(b','),
        None if are_blanks(start, options) => Between::Blanks,
        None => Between::Nothing,
    }
}

/// Whether the comma is both the decimal point and the delimiter: fields with a comma are in
/// quotes.
fn are_quoted(start: &TextPlace<'_>, options: &Options) -> bool {
    let sample = Sample::take(start, &Dialect::new(options, Between::Byte(b',')));
    let has_comma = |field: &Field| field.is_quoted && field.text.contains(&b',');
    let are_quoted = sample.records.iter().any(|record| record.fields.iter().any(has_comma));
    options.decimal == b',' && are_quoted && fit(&sample, options).is_some()
}

/// Whether the first record has a fault in a quoted field, just after this delimiter.
fn begins_with_fault(start: &TextPlace<'_>, sample: &Sample, delimiter: u8) -> bool {
    let Some(fault) = &sample.fault else { return false };
    let is_of_quotes = matches!(fault.wrong, Wrong::OpenQuote | Wrong::AfterQuote);
    sample.records.is_empty()
        && is_of_quotes
        && start.byte_before(fault.byte) == Some(delimiter)
}

/// Whether two or more fields without quotes have an odd number of quote bytes: the record is cut
/// inside quotes.
fn is_torn(record: &Record, options: &Options) -> bool {
    let Some(quote) = options.quote else { return false };
    let odd = record.fields.iter().filter(|field| {
        !field.is_quoted && field.raw.iter().filter(|&&byte| byte == quote).count() % 2 == 1
    });
    odd.count() >= 2
}

/// The fit of a delimiter in a sample.
struct Fit {
    /// The number of records with the most frequent number of fields.
    agree: usize,
    /// The number of all records. A fault or a torn record counts as a record with a different
    /// number.
    all: usize,
    /// The most frequent number of fields.
    columns: usize,
    /// The number of columns that are not text.
    narrow: usize,
}

impl Fit {
    fn is_better(&self, other: &Self) -> bool {
        let (one, two) = (self.agree * other.all, other.agree * self.all);
        (one, self.columns, self.narrow) > (two, other.columns, other.narrow)
    }
}

/// Returns the fit of a sample's delimiter; `None` if most records are one field, or there is no
/// record.
fn fit(sample: &Sample, options: &Options) -> Option<Fit> {
    let whole = sample.records.iter().filter(|record| !is_torn(record, options));
    let counts: Vec<usize> = whole.map(|record| record.fields.len()).collect();
    let frequency = |wanted: usize| counts.iter().filter(|&&count| count == wanted).count();
    // Of equally frequent ones, that of the first record if others may differ, else the smallest.
    let is_first = |count| options.ragged != Ragged::Error && counts.first() == Some(&count);
    let key = |&count: &usize| (frequency(count), is_first(count), Reverse(count));
    let columns = counts.iter().copied().max_by_key(key)?;
    let all = sample.records.len() + usize::from(sample.fault.is_some());
    let below = &sample.records[1..];
    let is_narrow = |&column: &usize| is_narrower(column, columns, below, options);
    let narrow = (0..columns).filter(is_narrow).count();
    (columns >= 2).then(|| Fit { agree: frequency(columns), all, columns, narrow })
}

/// Whether every line of the sample has the same number of fields between blanks, two or more, and
/// all of them are numbers. If there are several lines, the first may have any text, and values of
/// the others may be missing unless the whole line is.
fn are_blanks(start: &TextPlace<'_>, options: &Options) -> bool {
    let sample = Sample::take(start, &Dialect::new(options, Between::Blanks));
    let Some((first, below)) = sample.records.split_first() else { return false };
    let columns = first.fields.len();
    let is_right = |record: &Record| {
        let numbers = record.fields.iter().filter(|field| is_number(field, options)).count();
        let missing =
            record.fields.iter().filter(|field| kind(field, options) == Kind::Missing).count();
        record.fields.len() == columns && numbers >= 1 && numbers + missing == columns
    };
    let are_right = match below {
        [] => first.fields.iter().all(|field| is_number(field, options)),
        below => below.iter().all(is_right),
    };
    sample.fault.is_none() && columns >= 2 && are_right
}

/// Whether there are records besides the names, and all of them are numbers.
#[must_use]
pub(super) fn are_numbers(start: &TextPlace<'_>, dialect: &Dialect, options: &Options) -> bool {
    let sample = Sample::take(start, dialect);
    let names = match options.header {
        Header::Lines(lines) => lines,
        Header::Auto => usize::from(has_names(start, dialect, options)),
    };
    let rows = sample.records.get(names..).unwrap_or_default();
    let mut fields = rows.iter().flat_map(|record| &record.fields);
    let is_right =
        |field: &Field| matches!(group(field, options), Group::Number | Group::Missing);
    let has_number = fields.clone().any(|field| group(field, options) == Group::Number);
    sample.fault.is_none() && has_number && fields.all(is_right)
}

/// The group of a field for people: `007` is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Missing,
    Bool,
    Number,
    Time,
    Zoned,
    Text,
}

fn group(field: &Field, options: &Options) -> Group {
    match kind(field, options) {
        Kind::Missing | Kind::QuotedMissing => Group::Missing,
        Kind::Bool(_) => Group::Bool,
        Kind::Date(_) => Group::Time,
        Kind::Moment(moment) if moment.is_zoned => Group::Zoned,
        Kind::Moment(_) => Group::Time,
        _ if is_number(field, options) => Group::Number,
        _ => Group::Text,
    }
}

/// Whether the record at `start` has names.
#[must_use]
pub(super) fn has_names(start: &TextPlace<'_>, dialect: &Dialect, options: &Options) -> bool {
    let sample = Sample::take(start, dialect);
    let Some((first, below)) = sample.records.split_first() else { return false };
    let first = &in_columns(first, options);
    let columns = options.fields.unwrap_or(first.fields.len());
    // The values of a column below the first record that are not missing.
    let values = |column: usize| -> Vec<&Field> {
        below
            .iter()
            .filter_map(|record| super::rows::field(record, column, columns, options))
            .filter(|field| group(field, options) != Group::Missing)
            .collect()
    };
    let is_word = |field: &Field| field.is_quoted && !field.text.is_empty();
    let is_missing = |field: &Field| group(field, options) == Group::Missing && !is_word(field);
    if first.fields.iter().all(is_missing) {
        return false;
    }
    let is_alone = (0..columns).all(|column| values(column).is_empty());
    let has_text = first.fields.iter().any(|field| group(field, options) == Group::Text);
    let (mut is_value, mut is_over_values) = (false, false);
    for (column, field) in first.fields.iter().enumerate() {
        let is_bare = !values(column).iter().any(|other| other.is_quoted);
        let one = match group(field, options) {
            // Fields in quotes are not values, but they are texts above bare ones.
            _ if is_word(field) && is_bare => Group::Text,
            _ if field.is_quoted => continue,
            one => one,
        };
        // The group of all values below; text if there are several groups.
        let kinds = values(column).into_iter().map(|other| group(other, options));
        let same = kinds.reduce(|one, other| if one == other { one } else { Group::Text });
        let is_like = same.map_or(is_alone || !has_text, |same| same == one);
        is_value |= !matches!(one, Group::Missing | Group::Text) && is_like;
        let are_narrow = same.is_some_and(|same| same != Group::Text);
        is_over_values |= one == Group::Text && are_narrow;
    }
    !is_value || is_over_values || (!is_alone && has_sequence(first, below, options))
}

/// Whether numbers of the first record increase by one from left to right, like years as names,
/// beside an empty field or a text that does not occur below in its column.
fn has_sequence(first: &Record, below: &[Record], options: &Options) -> bool {
    let number = |field: &Field| {
        let number = Number::parse(bare(field), marks(options))?;
        number.to_whole().filter(|_| group(field, options) == Group::Number)
    };
    let follows = |pair: &[Field]| {
        let (one, other) = (number(&pair[0]), number(&pair[1]));
        one.is_some() && one.and_then(|one| one.checked_add(1)) == other
    };
    let is_own = |(column, field): (usize, &Field)| {
        let text = trim(&field.text);
        let same = |record: &Record| {
            record.fields.get(column).is_some_and(|it| trim(&it.text) == text)
        };
        let is_text = group(field, options) == Group::Text;
        let is_over_values = below.iter().filter_map(|record| record.fields.get(column));
        let mut values = is_over_values.filter(|field| group(field, options) != Group::Missing);
        (text.is_empty() && values.next().is_some()) || (is_text && !below.iter().any(same))
    };
    first.fields.windows(2).any(follows) && first.fields.iter().enumerate().any(is_own)
}

/// Whether the type of a column below the first record is narrower than text: neither text nor
/// unknown. Records with a different number of fields are ignored, except shorter ones that are
/// padded.
fn is_narrower(column: usize, columns: usize, below: &[Record], options: &Options) -> bool {
    let mut seen = Seen::default();
    for record in below {
        if let Some(field) = super::rows::field(record, column, columns, options) {
            seen.add(&kind(field, options));
        }
    }
    !matches!(seen.join().to_type(), Type::Null | Type::Text)
}
