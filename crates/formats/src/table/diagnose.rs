//! Finds out exactly what is wrong with a block that is known to contain a fault.
//!
//! Goes line by line and field by field from the start of the block, so the fault that is reported
//! does not depend on how the file was cut.

use super::dialect::{Dialect, Field, OpenQuote};
use super::first_line::OddNumber;
use super::head::Head;
use crate::error::FormatReason;
use crate::number::parse::NO_NUMBER;
use crate::text::{Fault, Hinted, LONE_RETURN};

/// Why a field is rejected.
pub(super) type Refusal = (FormatReason, String);

/// Returns the first fault in the lines of `block`, which begins at `offset` of the file. `check`
/// says what is wrong with the bare text of a field; its column is an index among those that are
/// read, in the order of the file.
pub(super) fn first_fault(
    block: &[u8],
    offset: u64,
    head: &Head,
    check: impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Option<Hinted> {
    let mut at = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        if head.dialect.is_data(line)
            && let Err(wrong) = check_line(line, head, &check)
        {
            let is_first = offset + at as u64 == head.data;
            let hint = if is_first { wrong.hint_at_first(line, head) } else { wrong.hint };
            let offset = offset + (at + wrong.at) as u64;
            let (reason, detail) = wrong.refusal;
            return Some(Hinted { fault: Fault { offset, reason, detail }, hint });
        }
        at += line.len();
    }
    None
}

/// Returns the fault of a block that is known to contain one.
pub(super) fn fault(
    block: &[u8],
    offset: u64,
    head: &Head,
    check: impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Hinted {
    // There is no fault only if the text has changed in the meantime.
    let unknown =
        || Fault::malformed(offset, "these lines changed while they were read").into();
    first_fault(block, offset, head, check).unwrap_or_else(unknown)
}

/// What is wrong with a line, and at which byte.
struct Wrong {
    at: usize,
    refusal: Refusal,
    hint: &'static str,
}

impl Wrong {
    /// Returns the hint for the line after the header. R writes no name for its column of row
    /// names.
    fn hint_at_first(&self, line: &[u8], head: &Head) -> &'static str {
        let columns = head.dialect.columns;
        let mut fields = head.dialect.fields(line).map_while(Result::ok);
        // An empty field: the line ends with a delimiter.
        let is_more = fields.nth(columns).is_some_and(|field| !field.place.is_empty());
        if head.has_names() && is_more && fields.next().is_none() {
            "give the column of row names a name as well: in R, write with col.names=NA"
        } else {
            self.hint
        }
    }
}

fn malformed(at: usize, detail: impl Into<String>) -> Wrong {
    Wrong { at, refusal: (FormatReason::Malformed, detail.into()), hint: "" }
}

fn check_line(
    line: &[u8],
    head: &Head,
    check: &impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Result<(), Wrong> {
    let dialect = &head.dialect;
    let columns = dialect.columns;
    let mut count = 0;
    for field in dialect.fields(line) {
        let field = field
            .map_err(|OpenQuote(at)| malformed(at, "a quote is not closed on its line"))?;
        if count == columns {
            return Err(malformed(
                field.place.start,
                format!("the line has more than {}", fields(columns)),
            ));
        }
        check_field(line, &field, head, count, check)?;
        count += 1;
    }
    if count < columns {
        let end = line.strip_suffix(b"\n").unwrap_or(line).len();
        let wanted = fields(columns);
        let detail = format!("the line has {} instead of {wanted}", fields(count));
        return Err(malformed(end, detail));
    }
    Ok(())
}

fn check_field(
    line: &[u8],
    field: &Field,
    head: &Head,
    column: usize,
    check: &impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Result<(), Wrong> {
    let dialect = &head.dialect;
    let (start, text) = (field.place.start, &line[field.place.clone()]);
    let lone = text.iter().position(|&byte| byte == b'\r');
    if let Some(at) = lone.filter(|_| !field.is_quoted) {
        return Err(malformed(start + at, LONE_RETURN));
    }
    let Some(place) = head.place(column) else { return Ok(()) };
    let bare = dialect.bare(text);
    let at = start + (bare.as_ptr().addr() - text.as_ptr().addr());
    check(place, bare).map_err(|(reason, detail)| {
        let hint = match detail.as_str() {
            NO_NUMBER => hint_for(bare, dialect),
            _ if head.kind(place).is_some() => "let the column have doubles (float64)",
            _ => "",
        };
        Wrong { at, refusal: (reason, format!("{}: {detail}", head.label(column))), hint }
    })?;
    // A search for delimiters alone would take it for several fields.
    match text.iter().position(|&byte| !dialect.skips && dialect.separates(byte)) {
        Some(at) => Err(malformed(start + at, "a delimiter inside quotes")),
        None => Ok(()),
    }
}

/// Words that stand for missing values in other programs, in lower case.
const NOTHING: [&str; 14] = [
    "null",
    "none",
    "nil",
    "na",
    "n/a",
    "#n/a",
    "<na>",
    "nat",
    "missing",
    "undefined",
    "-",
    "--",
    "?",
    ".",
];

/// Returns the hint for a field that is not a number.
fn hint_for(bare: &[u8], dialect: &Dialect) -> &'static str {
    let odd = OddNumber::of(bare);
    if let Some(odd) = odd.filter(|&it| it != OddNumber::Comma || !dialect.separates(b',')) {
        return odd.hint();
    }
    let is = |word: &&str| bare.eq_ignore_ascii_case(word.as_bytes());
    if NOTHING.iter().any(&is) {
        "list the words for missing values with `missing_words` or `--missing-words`"
    } else if ["true", "false", "yes", "no"].iter().any(is) {
        "write 1 and 0, or select the numeric columns with `columns` or `--columns`"
    } else {
        "select the numeric columns with `columns` or `--columns`"
    }
}

fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}
