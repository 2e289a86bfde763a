//! The start of a file: its delimiter, its header and its number of columns.

use std::path::Path;

use swath::{Input, ReadOptions, Source};
use swath_simd::decimal;

use super::columns::ColumnKind;
use super::dialect::{Dialect, without_returns};
use super::first_line::{self, FirstRecord, OddNumber, begins_with_digit};
use super::options::{Delimiter, HeaderLine, TableOptions};
use super::select::{Picked, kinds_of};
use crate::error::{Error, FormatReason, Result, shown};
use crate::foreign;
use crate::input::Text;
use crate::memory::room_for;
use crate::number::parse::double;
use crate::text::{Fault, Hinted, LONE_RETURN};

/// Number of bytes that are read first; more if the first line is longer.
const FIRST: u64 = 64 << 10;

/// Estimated memory for the name of a column, in bytes.
const NAME: usize = 64;

/// The contents of the start of a file.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) dialect: Dialect,
    /// Of all columns.
    names: Option<Vec<String>>,
    /// The columns to read; `None` for all.
    pub(super) picked: Option<Picked>,
    /// The types that the options give to columns that are read, in the order of the file.
    kinds: Vec<(usize, ColumnKind)>,
    /// Where the first line after the header begins.
    pub(super) data: u64,
    /// Length of the file in bytes.
    pub(super) len: u64,
}

impl Head {
    /// Returns how many columns are read.
    pub(super) fn width(&self) -> usize {
        self.picked.as_ref().map_or(self.dialect.columns, Picked::len)
    }

    /// Returns the index of a column among those that are read, in the order of the file.
    pub(super) fn place(&self, column: usize) -> Option<usize> {
        self.picked.as_ref().map_or(Some(column), |picked| picked.place(column))
    }

    /// Returns the names of the columns that are read.
    pub(super) fn names(self) -> Option<Vec<String>> {
        match (self.names, self.picked) {
            (Some(names), Some(picked)) => Some(picked.of_all(&names)),
            (names, _) => names,
        }
    }

    /// Returns the type that the options give to a column, by its index among those that are read, in
    /// the order of the file.
    pub(super) fn kind(&self, place: usize) -> Option<ColumnKind> {
        let at = self.kinds.binary_search_by_key(&place, |&(place, _)| place).ok()?;
        Some(self.kinds[at].1)
    }

    /// Whether the first line names the columns.
    pub(super) fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Returns the name of a column in messages.
    pub(super) fn label(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column `{}` (index {column})", shown(name.as_bytes())),
            None => format!("column index {column}"),
        }
    }

    fn pick(&mut self, path: &Path, options: &TableOptions) -> Result<()> {
        let (names, count) = (self.names.as_deref(), self.dialect.columns);
        let invalid = |why| Error::reading(path, FormatReason::Invalid, why);
        let given = kinds_of(&options.kinds, names, count).map_err(invalid)?;
        if let Some(keys) = &options.columns {
            self.picked = Some(Picked::new(keys, names, count).map_err(invalid)?);
            self.dialect.skips = true;
        }
        let place = |(column, kind)| Some((self.place(column)?, kind));
        self.kinds = given.into_iter().filter_map(place).collect();
        Ok(())
    }
}

/// Returns the fault for a line with more columns than fit in memory.
pub(super) fn no_room(at: u64, columns: usize) -> Fault {
    Fault::too_large(at, format!("there is not enough memory for its {columns} columns"))
}

/// Opens a source, and reads the start of its text.
pub(super) fn open(source: Source, options: &TableOptions) -> Result<(Text, Head)> {
    let opened = Input::open(source)?;
    check(opened.name(), options)?;
    let input = Text::open(opened.into(), &options.read)?;
    let head = read(&input, options)?;
    Ok((input, head))
}

fn read(input: &Text, options: &TableOptions) -> Result<Head> {
    let len = input.len();
    #[cfg(feature = "arrow")]
    let start = super::typed::start(input, options);
    #[cfg(not(feature = "arrow"))]
    let start = None;
    let mut wanted = FIRST.min(len);
    loop {
        let read = ReadOptions::new().with_len(wanted).read(input.source())?;
        let is_all = wanted == len;
        match look(&read.buffer, is_all, options, start) {
            Ok(Some(mut head)) => {
                head.len = len;
                head.pick(input.path(), options)?;
                return Ok(head);
            }
            Ok(None) => wanted = (wanted * 4).min(len),
            Err(why) => return Err(why.into_error(input)),
        }
    }
}

/// Delimiters to look for, in this order. A space stands for runs of blanks.
const DELIMITERS: [u8; 5] = *b"\t,;| ";

/// Looks at the first bytes of a file. `None` if more are needed; `is_all` says that there are no
/// more.
fn look(
    text: &[u8],
    is_all: bool,
    options: &TableOptions,
    start: Option<FirstRecord>,
) -> std::result::Result<Option<Head>, Hinted> {
    let mut dialect = Dialect::new(options, options.delimiter.unwrap_or(Delimiter::Byte(0)));
    if foreign::is_market(text) && options.comment != Some(b'%') {
        let fault = Fault::malformed(0, "this is a Matrix Market file, not a table");
        return Err(Hinted { fault, hint: foreign::MARKET });
    }
    let (mark, sign) = first_line::marks(text);
    let Some(first) = data_line(text, mark, is_all, &dialect) else {
        let detail = match text {
            [] => "the file is empty",
            _ => "the file contains only comments and empty lines",
        };
        return if is_all { Err(Fault::malformed(0, detail).into()) } else { Ok(None) };
    };
    let start = start.filter(|start| start.at == first as u64);
    let found = start.and_then(|start| start.delimiter);
    let guessed = || match (sign, found) {
        (Some(byte), _) => Delimiter::Byte(byte),
        (None, Some(delimiter)) => delimiter,
        (None, None) => sniff(&text[first..], options.quote),
    };
    dialect.delimiter = options.delimiter.unwrap_or_else(guessed);
    // Once the delimiter is known to be a tab, lines of tabs alone hold missing values.
    let earlier = data_line(text, mark, is_all, &dialect).unwrap_or(first);
    let mut seen = Seen::default();
    let scanned = each_field(&text[first..], is_all, &dialect, |at, field| {
        let is_quoted = dialect.quote.is_some_and(|it| text.get(first + at) == Some(&it));
        seen.look(first + at, field, is_quoted, &dialect);
    });
    let Some(after) = scanned.map_err(|fault| fault.moved(first))? else { return Ok(None) };
    dialect.columns = seen.fields;
    // Blanks may separate numbers further on.
    let start = start.filter(|start| start.delimiter.is_some() || seen.fields == 1);
    dialect.comment = dialect.comment.filter(|&byte| first_line::may_begin(byte, text, start));
    let line = &text[first..first + after];
    let is_open = options.header == HeaderLine::Auto && start.is_none();
    if is_open && seen.may_be_quoted_names() {
        let Some(is_all_quoted) = has_quotes(text, first + after, is_all, &dialect) else {
            return Ok(None);
        };
        seen.take_quotes(is_all_quoted, first);
    }
    let is_header = match options.header {
        HeaderLine::Present => true,
        HeaderLine::Absent => false,
        HeaderLine::Auto => start.map_or(seen.word.is_some(), |start| start.has_names),
    };
    let (mut names, mut data) = (None, earlier);
    if is_header {
        data = first + after;
        if let Some((at, detail)) = first_line::control(line, &dialect) {
            return Err(Fault::malformed((first + at) as u64, detail).into());
        }
        if is_open {
            seen.check(line, &dialect)?;
        }
        if room_for(seen.fields.saturating_mul(NAME)).is_err() {
            return Err(no_room(first as u64, seen.fields).into());
        }
        names = Some(names_of(line, &dialect, seen.fields, first)?);
    }
    learn(text, data, &mut dialect);
    let (data, kinds) = (data as u64, Vec::new());
    Ok(Some(Head { dialect, names, picked: None, kinds, data, len: 0 }))
}

/// Only to learn how fields look. If the next line is not here, fields are trimmed one by one.
fn learn(text: &[u8], data: usize, dialect: &mut Dialect) {
    if let Some(sample) = data_line(text, data, true, dialect) {
        let line = text[sample..].split_inclusive(|&byte| byte == b'\n').next();
        dialect.look_at(line.unwrap_or_default());
    }
}

/// Whether the next record has a non-empty field in quotes; `None` if more must be read to decide.
fn has_quotes(text: &[u8], at: usize, is_all: bool, dialect: &Dialect) -> Option<bool> {
    let Some(next) = data_line(text, at, is_all, dialect) else {
        return is_all.then_some(false);
    };
    let mut has_quotes = false;
    let scanned = each_field(&text[next..], is_all, dialect, |at, field| {
        has_quotes |= !field.is_empty() && text.get(next + at).copied() == dialect.quote;
    });
    // A fault in it is reported when it is read.
    scanned.map_or(Some(has_quotes), |record| record.map(|_| has_quotes))
}

/// Returns where the first line of data begins, from `at` on; `None` if there is no data line yet,
/// or it may be incomplete.
fn data_line(text: &[u8], mut at: usize, is_all: bool, dialect: &Dialect) -> Option<usize> {
    for line in text[at..].split_inclusive(|&byte| byte == b'\n') {
        if dialect.is_data(line) {
            return Some(at);
        }
        if !is_all && line.last() != Some(&b'\n') {
            return None;
        }
        at += line.len();
    }
    None
}

/// Detects the delimiter of a line.
fn sniff(text: &[u8], quote: Option<u8>) -> Delimiter {
    let mut is_quoted = false;
    let mut seen = [false; DELIMITERS.len()];
    for &byte in text {
        if byte == b'\n' && !is_quoted {
            break;
        }
        is_quoted ^= Some(byte) == quote;
        if let Some(which) = DELIMITERS.iter().position(|&it| it == byte && !is_quoted) {
            seen[which] = true;
        }
    }
    let found = DELIMITERS.into_iter().zip(seen).find(|(_, seen)| *seen);
    match found {
        Some((b' ', _)) => Delimiter::Blanks,
        Some((delimiter, _)) => Delimiter::Byte(delimiter),
        None => Delimiter::Byte(b','),
    }
}

/// What the fields of the first line look like.
#[derive(Default)]
struct Seen {
    fields: usize,
    /// The first field that is neither a number nor missing.
    word: Option<usize>,
    /// Whether a field begins like a number.
    digit: bool,
    /// Whether an unquoted field is a number, is missing, or begins like a number.
    bare_data: bool,
    /// The same for a quoted field that is not empty.
    quoted_data: bool,
    /// The first unquoted field that is a number in another notation.
    odd: Option<(usize, OddNumber)>,
}

impl Seen {
    fn look(&mut self, at: usize, field: &[u8], is_quoted: bool, dialect: &Dialect) {
        self.fields += 1;
        self.digit |= begins_as_number(field);
        let is_data = looks_like_data(field, dialect);
        self.bare_data |= is_data && !is_quoted;
        self.quoted_data |= is_data && is_quoted && !field.is_empty();
        if self.word.is_none() && !is_number(field) && !dialect.is_missing(field) {
            self.word = Some(at);
        }
        if self.odd.is_none() && !is_quoted {
            self.odd = OddNumber::of(field).map(|odd| (at, odd));
        }
    }

    /// Whether only the quotes show that these are names: `"1","NA"`.
    fn may_be_quoted_names(&self) -> bool {
        self.quoted_data && !self.bare_data
    }

    /// Treats quoted fields as words, unless the data is quoted as well: then quotes carry no
    /// meaning.
    fn take_quotes(&mut self, is_all_quoted: bool, first: usize) {
        if !is_all_quoted {
            self.digit = false;
            self.word = self.word.or(Some(first));
        }
    }

    /// Checks whether these may be names; `line` contains them all.
    fn check(&self, line: &[u8], dialect: &Dialect) -> std::result::Result<(), Hinted> {
        match self.word {
            Some(at) if self.digit => Err(self.unclear(at, line, dialect)),
            _ => Ok(()),
        }
    }

    /// Returns the fault for a `word` among numbers.
    fn unclear(&self, word: usize, line: &[u8], dialect: &Dialect) -> Hinted {
        let commas = || first_line::has_decimal_commas(line, dialect);
        let odd = self.odd.or_else(|| commas().then_some((word, OddNumber::Comma)));
        let (at, detail, hint) = match odd {
            Some((at, odd)) => (at, odd.detail(), odd.hint()),
            None => (
                word,
                "the line mixes numbers and words: it may be names or damaged data",
                "set `header` to say whether the first line has names",
            ),
        };
        Hinted { fault: Fault::malformed(at as u64, detail), hint }
    }
}

/// Whether a field by itself would be taken for a value, or for a damaged one.
pub(super) fn looks_like_data(field: &[u8], dialect: &Dialect) -> bool {
    is_number(field) || begins_as_number(field) || dialect.is_missing(field)
}

/// Includes numbers that are too large: those are data, and an error.
fn is_number(field: &[u8]) -> bool {
    double(field).is_some()
        || std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Whether a field begins with a digit, after an optional sign and point, or is a number in another
/// notation.
fn begins_as_number(field: &[u8]) -> bool {
    let bare = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    begins_with_digit(bare) || OddNumber::of(field).is_some()
}

/// Parses the names of a header with this many fields; `text` is all of it.
fn names_of(
    text: &[u8],
    dialect: &Dialect,
    fields: usize,
    offset: usize,
) -> std::result::Result<Vec<String>, Fault> {
    let mut names = Vec::with_capacity(fields);
    let mut wrong = None;
    each_field(text, true, dialect, |at, field| match std::str::from_utf8(field) {
        Ok(name) => names.push(name.to_owned()),
        Err(_) => wrong = wrong.or(Some(at)),
    })
    .map_err(|fault| fault.moved(offset))?;
    match wrong {
        Some(at) => Err(Fault::malformed((offset + at) as u64, "the name is not UTF-8")),
        None => Ok(names),
    }
}

/// Calls `each` with the bare text and the position of each field of the first record, and returns
/// the length of the record with its newline. A newline inside quotes is part of a field. `None` if
/// the record does not end here. Fields are not collected, since there may be very many.
fn each_field(
    text: &[u8],
    is_all: bool,
    dialect: &Dialect,
    mut each: impl FnMut(usize, &[u8]),
) -> std::result::Result<Option<usize>, Fault> {
    let mut at = 0;
    let mut inner = Vec::new();
    loop {
        let start = at + text[at..].iter().take_while(|&&byte| dialect.is_blank(byte)).count();
        let quote = dialect.quote.filter(|&quote| text.get(start) == Some(&quote));
        at = start;
        if let Some(quote) = quote {
            match quoted(&text[start + 1..], quote, &mut inner) {
                Some(len) => at = start + 1 + len,
                None if is_all => {
                    return Err(Fault::malformed(start as u64, "the quote is not closed"));
                }
                None => return Ok(None),
            }
        }
        let rest = Rest::of(&text[at..], is_all, dialect);
        if let Some(lone) = rest.field.iter().position(|&byte| byte == b'\r') {
            return Err(Fault::malformed((at + lone) as u64, LONE_RETURN));
        }
        let bare = dialect.bare(rest.field);
        match quote {
            Some(_) if bare.is_empty() => each(start, &inner),
            Some(_) => {
                return Err(Fault::malformed(at as u64, "there is text after a closing quote"));
            }
            // Blanks at the end of a line do not separate fields.
            None if bare.is_empty() && dialect.delimiter == Delimiter::Blanks => {}
            None => each(start, bare),
        }
        match rest.end {
            End::Unknown => return Ok(None),
            End::Line(len) => return Ok(Some(at + len)),
            End::Field(len) => at += len,
        }
    }
}

/// The rest of a field, or what follows a closing quote, and how it ends.
struct Rest<'t> {
    /// Without the carriage returns that may end a line.
    field: &'t [u8],
    end: End,
}

/// The next one begins after this many bytes.
enum End {
    Field(usize),
    Line(usize),
    /// The known part of the file ends before the field does.
    Unknown,
}

impl<'t> Rest<'t> {
    fn of(text: &'t [u8], is_all: bool, dialect: &Dialect) -> Self {
        let ends = |&byte: &u8| byte == b'\n' || dialect.separates(byte);
        let len = text.iter().position(ends);
        let field = &text[..len.unwrap_or(text.len())];
        let end = match len.map(|len| (len, text[len])) {
            Some((len, b'\n')) => End::Line(len + 1),
            Some((len, _)) => return Self { field, end: End::Field(len + 1) },
            None if is_all => End::Line(text.len()),
            None => End::Unknown,
        };
        Self { field: without_returns(field), end }
    }
}

/// Appends the text up to the closing quote to `field`, and returns its length including the quote.
/// A doubled quote stands for itself. `None` if the quote is not closed.
fn quoted(text: &[u8], quote: u8, field: &mut Vec<u8>) -> Option<usize> {
    field.clear();
    let mut at = 0;
    loop {
        let byte = *text.get(at)?;
        match text.get(at + 1) {
            Some(&next) if byte == quote && next == quote => at += 1,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
        field.push(byte);
        at += 1;
    }
}

/// Rejects options that contradict each other.
fn check(path: &Path, options: &TableOptions) -> Result<()> {
    let delimiter = match options.delimiter {
        Some(Delimiter::Byte(delimiter)) => Some(delimiter),
        Some(Delimiter::Blanks) => Some(b' '),
        None => None,
    };
    let marks = [delimiter, options.quote, options.comment];
    let is_wrong = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'\n' | b'\r' | b'+' | b'-' | b'.')
    };
    let mut given = marks.iter().flatten();
    let wrong = given.any(|&byte| is_wrong(byte));
    let twice = |a: Option<u8>, b: Option<u8>| a.is_some() && a == b;
    let same =
        twice(marks[0], marks[1]) || twice(marks[1], marks[2]) || twice(marks[0], marks[2]);
    if let Some(sign) = delimiter.filter(|_| twice(delimiter, options.comment)) {
        let detail =
            format!("`{}` both separates fields and begins comments", sign.escape_ascii());
        let error = Error::reading(path, FormatReason::Invalid, detail);
        return Err(
            error.hint("choose another delimiter, or another `comment`, or turn comments off")
        );
    }
    if wrong || same {
        let detail = "delimiter, quote and comment must differ, and must not be part of a number or a line end";
        return Err(Error::reading(path, FormatReason::Invalid, detail));
    }
    if options.missing_words.iter().any(|word| decimal(word).is_some()) {
        let detail = "a number cannot be a word for missing values";
        return Err(Error::reading(path, FormatReason::Invalid, detail));
    }
    Ok(())
}
