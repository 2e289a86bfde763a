//! Tables of typed columns by the design page, line by line and byte by byte.
//!
//! ```text
//! bytes    decode    the encoding, byte order marks
//! lines    records   ends of records and fields; quotes, escapes, comments; fixed, widths
//! sample   sniff     the delimiter, and whether there is a header
//! header   names     unique names of columns; the selected columns
//! records  rows      ragged ones; the number of rows
//! field    kind      its kind: number, time, told
//! column   join      the type of all its fields, then column: its values
//! ```
//!
//! ```
//! use swath_reference::typed::{Options, Value, read};
//!
//! let table = read(b"id,day\n1,2020-01-01\n2,\n", &Options::default()).expect("a table");
//! assert_eq!(table.columns[0].name, "id");
//! assert_eq!(table.columns[1].values, [Value::Date(18_262), Value::Missing]);
//! ```

mod answer;
mod column;
mod decode;
pub mod draw;
mod fault;
mod fixed;
mod join;
mod json;
mod kind;
mod members;
mod names;
mod nested;
mod notation;
mod number;
mod options;
mod records;
mod rows;
mod show;
mod sniff;
mod strftime;
mod time;
mod told;
mod types;
mod union;
mod value;
mod widths;
mod words;

pub use answer::{answer, show_fault};
pub use column::{Changes, Column};
pub use fault::{Fault, Wrong};
pub use names::Renamed;
pub use options::{
    Between, Comment, Encoding, Fixed, Form, Header, Key, Meaning, Options, Ragged,
};
pub use rows::SetAside;
pub use show::{quoted, shown};
pub use types::{Type, Unit, Value};
pub use union::read_united;
pub use widths::Span;
pub use words::options_of;

use column::Reading;
use decode::{Decoded, decode};
use records::{Dialect, Record, TextPlace};
use union::{Opened, United};
use widths::Columns;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The delimiter of fields.
    pub delimiter: Between,
    /// The places of columns of fixed width.
    pub fixed: Vec<Span>,
    /// The number of records that are names.
    pub header: usize,
    /// The encoding, never `Auto`.
    pub encoding: Encoding,
    /// The number of records.
    pub rows: usize,
    /// The columns, in the requested order.
    pub columns: Vec<Column>,
    /// The names that differ from those in the header.
    pub renamed: Vec<Renamed>,
    /// Records that were left out.
    pub set_aside: SetAside,
    /// The number of records with ignored fields.
    pub dropped: usize,
    /// The number of values that became U+FFFD.
    pub replaced: usize,
}

/// Reads a table.
///
/// # Errors
///
/// The first fault in the order of the text.
pub fn read(bytes: &[u8], options: &Options) -> Result<Table, Fault> {
    // Text in UTF-32 is not supported.
    if bytes.starts_with(b"\xff\xfe\0\0") {
        return Err(Fault::new(Wrong::Encoding, 0, 0));
    }
    let Decoded { text, first, encoding, replaced } = decode(bytes, options);
    if options.fields.is_some_and(|count| count == 0 || options.form != Form::Separated) {
        return Err(Fault::of_options());
    }
    // Byte offsets count from the first byte of the text up to here.
    let options = fixed::meant(&shifted(options, first));
    let mut table = read_text(&text, &options).map_err(|fault| match fault.wrong {
        // A fault without a place.
        _ if fault.line == 0 => fault,
        _ => Fault { byte: fault.byte + first, ..fault },
    })?;
    (table.encoding, table.replaced) = (encoding, replaced);
    Ok(table)
}

/// Whether a text without quotes is a value of a type other than text, or a number of any form.
#[must_use]
pub fn is_value(text: &str) -> bool {
    let (options, text) = (Options::default(), text.as_bytes().to_vec());
    let field = records::Field { at: 0, raw: text.clone(), text, is_quoted: false };
    let mut seen = join::Seen::default();
    seen.add(&kind::kind(&field, &options));
    seen.join().to_type() != Type::Text || kind::is_number(&field, &options)
}

/// Whether a text is a number in a notation that tables do not have.
#[must_use]
pub fn is_odd_number(text: &str) -> bool {
    notation::NumberOddity::of(text.as_bytes()).is_some()
}

fn shifted(options: &Options, first: usize) -> Options {
    let mut options = options.clone();
    options.starting_in = options
        .starting_in
        .map(|(start, end)| (start.saturating_sub(first), end.saturating_sub(first)));
    options
}

fn read_text(text: &[u8], options: &Options) -> Result<Table, Fault> {
    if options.form == Form::JsonLines {
        return json::read(text, options);
    }
    let first = Opened::new(text, options)?;
    let (names, renamed) = (first.names.clone(), first.renamed.clone());
    let fields = vec![(0..names.len()).map(Some).collect()];
    let united = United { names, renamed, fields };
    united.read(vec![first], options).map_err(|(_, fault)| fault)
}

/// Skips the lines that the options skip, and Excel's `sep=;`, and finds the delimiter.
fn open<'t>(text: &'t [u8], options: &Options) -> Result<(TextPlace<'t>, Dialect), Fault> {
    let mut place = TextPlace::start(text);
    for _ in 0..options.skip_rows {
        place.take_line();
    }
    let excels = if options.form == Form::Fixed { None } else { take_sep(&mut place) };
    let delimiter = options.delimiter.or(excels);
    if options.comment == Comment::Auto {
        let noted = Options { comment: Comment::Byte(b'#'), ..options.clone() };
        let marks = [options.quote, options.escape, options.thousands, Some(options.decimal)];
        let is_free = !marks.contains(&Some(b'#')) && !delimiter.is_some_and(|it| it.has(b'#'));
        let of_columns = options.words_of.iter().flat_map(|(.., words)| words);
        let words = [&options.nulls, &options.trues, &options.falses];
        let mut words = words.into_iter().flatten().chain(of_columns);
        let is_free = is_free && !words.any(|word| word.starts_with('#'));
        let dialect = dialect_of(&place, delimiter, &noted)?;
        if is_free && sniff::are_numbers(&place, &dialect, options) {
            return Ok((place, dialect));
        }
    }
    let dialect = dialect_of(&place, delimiter, options)?;
    Ok((place, dialect))
}

fn dialect_of(
    place: &TextPlace<'_>,
    delimiter: Option<Between>,
    options: &Options,
) -> Result<Dialect, Fault> {
    if options.form == Form::Fixed {
        let mut dialect = Dialect::new(options, Between::Nothing);
        // The skipped lines do not depend on the columns.
        dialect.fixed = Some(Columns::new(vec![(0, None)]));
        let has_further = options.ragged == Ragged::Drop;
        let columns = fixed::columns(place, &dialect, options)?;
        dialect.fixed = Some(Columns { has_further, ..columns });
        return Ok(dialect);
    }
    let between = delimiter.unwrap_or_else(|| sniff::between(place, options));
    Ok(Dialect::new(options, between))
}

/// Takes the line `sep=;` and returns its delimiter.
fn take_sep(place: &mut TextPlace<'_>) -> Option<Between> {
    let mut after = place.clone();
    match after.take_line()? {
        [word @ .., byte]
            if word.eq_ignore_ascii_case(b"sep=") && byte.is_ascii() && *byte != b'"' =>
        {
            *place = after;
            Some(Between::Byte(*byte))
        }
        _ => None,
    }
}

/// Takes the records of names.
fn take_header(
    place: &mut TextPlace<'_>,
    dialect: &Dialect,
    options: &Options,
) -> Result<Vec<Record>, Fault> {
    let lines = match options.header {
        Header::Lines(lines) => lines,
        Header::Auto => {
            if let Some((line, at)) = notation::odd(place, dialect, options) {
                return Err(Fault::new(Wrong::Notation, line, at));
            }
            usize::from(sniff::has_names(place, dialect, options))
        }
    };
    let mut header: Vec<Record> = Vec::new();
    for _ in 0..lines {
        let record = place.next(dialect)?;
        let record = record.ok_or(Fault::new(Wrong::Empty, place.line, place.at))?;
        let first = header.first().unwrap_or(&record).fields.len();
        let columns = of_options(dialect, options).unwrap_or(first);
        if options.fields.is_none() || record.fields.len() > columns {
            check_header(&record, columns, options)?;
        }
        check_names(&record)?;
        header.push(record);
    }
    Ok(header)
}

/// Returns the number of columns: that of the options, otherwise that of the first record.
fn count_columns(
    header: &[Record],
    mut place: TextPlace<'_>,
    dialect: &Dialect,
    options: &Options,
) -> Result<usize, Fault> {
    let first = match header.first() {
        Some(first) => first.fields.len(),
        None => match place.next(dialect)? {
            Some(first) => first.fields.len(),
            None => return Err(Fault::new(Wrong::Empty, place.line, place.at)),
        },
    };
    Ok(of_options(dialect, options).unwrap_or(first))
}

/// Returns the number of columns that the options determine.
fn of_options(dialect: &Dialect, options: &Options) -> Option<usize> {
    options.fields.or(dialect.fixed.as_ref().map(|columns| columns.spans.len()))
}

/// Checks a line of a header, which may be padded, but is never set aside.
fn check_header(record: &Record, columns: usize, options: &Options) -> Result<(), Fault> {
    let ragged = match options.ragged {
        Ragged::SetAside => Ragged::Error,
        other => other,
    };
    rows::belongs(record, columns, ragged).map(|_| ())
}

/// Checks that all names are UTF-8.
fn check_names(record: &Record) -> Result<(), Fault> {
    match record.fields.iter().find(|field| std::str::from_utf8(&field.text).is_err()) {
        Some(field) => Err(Fault::new(Wrong::Encoding, record.line, field.at)),
        None => Ok(()),
    }
}

/// Returns the columns to read, with the options for them.
fn readings(options: &Options, names: &[String]) -> Result<Vec<Reading>, Fault> {
    let wanted = names::wanted(options, names)?;
    let mut told = vec![None; names.len()];
    for (key, type_is) in &options.types {
        told[names::find(key, names)?] = Some(*type_is);
    }
    let mut formats = vec![None; names.len()];
    for (key, format) in &options.formats {
        formats[names::find(key, names)?] = Some(format.clone());
    }
    let mut words: Vec<(usize, Meaning)> = Vec::new();
    for (key, meaning, _) in &options.words_of {
        let one = (names::find(key, names)?, *meaning);
        if words.contains(&one) {
            return Err(Fault::of_options());
        }
        words.push(one);
    }
    let reading = |at: usize| {
        let options = options.of_column(|key| names::find(key, names) == Ok(at));
        let all = options.all_types.filter(|_| formats[at].is_none());
        Reading::new(at, &names[at], told[at].or(all), formats[at].clone(), options)
    };
    Ok(wanted.into_iter().map(reading).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::vectors::{Vector, Verdict, vectors};

    fn answer_of(vector: &Vector) -> Result<String, String> {
        let options = vector.options.clone().unwrap_or(Json::Object(Vec::new()));
        let options = options_of(&options).unwrap_or_else(|| panic!("{}", vector.name));
        match read(&vector.input, &options) {
            Ok(table) => Ok(answer(&table)),
            Err(fault) => Err(show_fault(&fault)),
        }
    }

    #[test]
    fn tables_of_the_vectors_have_their_answers() {
        for verdict in [Verdict::Valid, Verdict::Permissive] {
            for vector in vectors("typed", verdict) {
                let wanted = Ok(vector.answer.clone());
                assert_eq!(answer_of(&vector), wanted, "{}", vector.name);
            }
        }
        for vector in vectors("typed", Verdict::Invalid) {
            let wanted = Err(vector.answer.clone());
            assert_eq!(answer_of(&vector), wanted, "{}", vector.name);
        }
    }

    #[test]
    fn every_vector_names_its_rule() {
        for vector in Verdict::ALL.into_iter().flat_map(|verdict| vectors("typed", verdict)) {
            let rule = vector.rule.unwrap_or_else(|| panic!("{}", vector.name));
            let parts = ["text to lines ", "line to fields ", "field to value: ", "types join"];
            let is_known = parts.iter().any(|part| rule.starts_with(part));
            assert!(
                is_known || rule == "starting in" || rule.starts_with("fixed width "),
                "{}: {rule}",
                vector.name
            );
        }
    }
}
