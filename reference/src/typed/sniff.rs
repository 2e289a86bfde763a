//! What separates fields, found in a sample; and which record has names.

use std::cmp::Reverse;

use super::fault::{Fault, Wrong};
use super::join::Seen;
use super::kind::{Kind, is_number, kind};
use super::options::{Between, Options};
use super::records::{Dialect, Field, Place, Record, trim};
use super::types::Type;

/// The most records of a sample, beside the first.
const RECORDS: usize = 1000;
/// A record is in the sample if it begins within this many bytes after the end of the first one.
const BYTES: usize = 1 << 20;
/// What is looked for, in this order.
const CANDIDATES: [u8; 4] = [b'\t', b',', b';', b'|'];
/// The most words of a name of the only column.
const WORDS: usize = 5;

/// The first records from `start` on, up to the first fault.
struct Sample {
    records: Vec<Record>,
    fault: Option<Fault>,
}

impl Sample {
    fn take(start: &Place<'_>, dialect: &Dialect) -> Self {
        let mut place = start.clone();
        let mut records = Vec::new();
        let mut after_first = None;
        loop {
            match place.next(dialect) {
                Ok(Some(record)) => {
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
            if records.len() > RECORDS {
                return Self { records, fault: None };
            }
        }
    }
}

/// What separates the fields of the text from `start` on.
#[must_use]
pub(super) fn between(start: &Place<'_>, options: &Options) -> Between {
    let mut best = None;
    let mut with_fault = None;
    for byte in CANDIDATES {
        let others = [options.quote, options.escape, options.comment, Some(options.decimal)];
        if others.contains(&Some(byte)) {
            continue;
        }
        let dialect = Dialect::new(options, Between::Byte(byte));
        let sample = Sample::take(start, &dialect);
        if with_fault.is_none() && begins_with_fault(start, &sample, byte) {
            with_fault = Some(byte);
        }
        let Some((agree, all)) = consistency(&sample, options) else { continue };
        // A fraction that is larger, not only as large: the first of several wins.
        if best.is_none_or(|(_, most, of)| agree * of > most * all) {
            best = Some((byte, agree, all));
        }
    }
    match best.map(|(byte, ..)| byte).or(with_fault) {
        Some(byte) => Between::Byte(byte),
        None if are_blanks(start, options) => Between::Blanks,
        None => Between::Nothing,
    }
}

/// Whether the first record has a fault in a quoted field, just after this delimiter.
fn begins_with_fault(start: &Place<'_>, sample: &Sample, delimiter: u8) -> bool {
    let Some(fault) = &sample.fault else { return false };
    let is_of_quotes = matches!(fault.wrong, Wrong::OpenQuote | Wrong::AfterQuote);
    sample.records.is_empty()
        && is_of_quotes
        && start.byte_before(fault.byte) == Some(delimiter)
}

/// Whether two or more fields that are not quoted have an odd number of quotes: the record is cut
/// inside quotes.
fn is_torn(record: &Record, options: &Options) -> bool {
    let Some(quote) = options.quote else { return false };
    let odd = record.fields.iter().filter(|field| {
        !field.is_quoted && field.raw.iter().filter(|&&byte| byte == quote).count() % 2 == 1
    });
    odd.count() >= 2
}

/// How many records have the most frequent number of fields, and how many there are. A fault counts as
/// one that has not, and so does a torn record. `None` if that number is 1, or there is no other record.
fn consistency(sample: &Sample, options: &Options) -> Option<(usize, usize)> {
    let whole = sample.records.iter().filter(|record| !is_torn(record, options));
    let counts: Vec<usize> = whole.map(|record| record.fields.len()).collect();
    let frequency = |wanted: usize| counts.iter().filter(|&&count| count == wanted).count();
    // Of several as frequent, the smallest.
    let most =
        counts.iter().copied().max_by_key(|&count| (frequency(count), Reverse(count)))?;
    let all = sample.records.len() + usize::from(sample.fault.is_some());
    (most >= 2).then(|| (frequency(most), all))
}

/// Whether every line of the sample has the same number of fields between blanks, two or more, and all
/// of them are numbers. If there are several lines, the first may have anything, and values of the others
/// may be missing if one of the line is not.
fn are_blanks(start: &Place<'_>, options: &Options) -> bool {
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

/// Whether the record at `start` has names.
#[must_use]
pub(super) fn has_names(start: &Place<'_>, dialect: &Dialect, options: &Options) -> bool {
    let sample = Sample::take(start, dialect);
    let Some((first, below)) = sample.records.split_first() else { return false };
    let names: Vec<bool> = first.fields.iter().map(|field| is_name(field, options)).collect();
    let narrower: Vec<bool> = (0..names.len())
        .map(|column| is_narrower(column, names.len(), below, options))
        .collect();
    // A word for a missing value in quotes, such as `""` over row names, may stand beside names.
    let may_be_name =
        |field: &Field| is_name(field, options) || kind(field, options) == Kind::QuotedMissing;
    let all_are = names.contains(&true) && first.fields.iter().all(may_be_name);
    if !narrower.contains(&true) {
        return all_are && are_distinct(first) && !is_sentence(first);
    }
    all_are || names.iter().zip(&narrower).any(|(&is_name, &is_narrow)| is_name && is_narrow)
}

/// Whether a field is a text that is not a number of another form.
fn is_name(field: &Field, options: &Options) -> bool {
    kind(field, options) == Kind::Text && !is_number(field, options)
}

/// Whether the type of a column below the first record is narrower than text: neither text nor unknown.
/// Records with another number of fields do not count; with fewer, if they are padded, they do.
fn is_narrower(column: usize, columns: usize, below: &[Record], options: &Options) -> bool {
    let mut seen = Seen::default();
    for record in below {
        if let Some(field) = super::rows::field(record, column, columns, options) {
            seen.add(&kind(field, options));
        }
    }
    !matches!(seen.join().to_type(), Type::Null | Type::Text)
}

/// Whether the only field of a record has more words than a name.
fn is_sentence(record: &Record) -> bool {
    let [field] = &record.fields[..] else { return false };
    let words = field.text.split(|&byte| byte == b' ' || byte == b'\t');
    words.filter(|word| !word.is_empty()).count() > WORDS
}

fn are_distinct(record: &Record) -> bool {
    let texts: Vec<&[u8]> = record.fields.iter().map(|field| trim(&field.text)).collect();
    (1..texts.len()).all(|at| !texts[..at].contains(&texts[at]))
}
