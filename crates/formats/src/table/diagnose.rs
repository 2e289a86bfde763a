//! What exactly is wrong with a block of which something is known to be wrong.
//!
//! Line by line and field by field from the start of the block, so what is found first does not
//! depend on how the file was cut.

use super::dialect::{Dialect, Field, OpenQuote};
use super::first_line::OddNumber;
use super::head::Head;
use crate::error::FormatReason;
use crate::number::parse::NO_NUMBER;
use crate::text::{Fault, Hinted, LONE_RETURN};

/// What a field that is not as it should be is told as.
pub(super) type Refusal = (FormatReason, String);

/// Returns the first fault among the lines of `block`, which begins at `offset` of the file.
/// `check` says what is wrong with a field, without what is around it, of one of the columns that are
/// read, counted in the order of the file.
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

/// The fault for a block with which something is wrong, whatever it is.
pub(super) fn fault(
    block: &[u8],
    offset: u64,
    head: &Head,
    check: impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Hinted {
    // Nothing is found only if the text changed meanwhile.
    let unknown =
        || Fault::malformed(offset, "these lines changed while they were read").into();
    first_fault(block, offset, head, check).unwrap_or_else(unknown)
}

/// What is wrong with a line, and at which of its bytes.
struct Wrong {
    at: usize,
    refusal: Refusal,
    hint: &'static str,
}

impl Wrong {
    /// What to try if it is the line behind the header: R leaves out what names of rows are called.
    fn hint_at_first(&self, line: &[u8], head: &Head) -> &'static str {
        let columns = head.dialect.columns;
        let mut fields = head.dialect.fields(line).map_while(Result::ok);
        // An empty one: a delimiter ends the line.
        let is_more = fields.nth(columns).is_some_and(|field| !field.place.is_empty());
        if head.has_names() && is_more && fields.next().is_none() {
            "name the first column too, if it has names of rows: R does with col.names=NA"
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
            .map_err(|OpenQuote(at)| malformed(at, "a quote that does not end on its line"))?;
        if count == columns {
            return Err(malformed(field.place.start, format!("more than {}", fields(columns))));
        }
        check_field(line, &field, head, count, check)?;
        count += 1;
    }
    if count < columns {
        let end = line.strip_suffix(b"\n").unwrap_or(line).len();
        let wanted = fields(columns);
        let detail = format!("{} where there should be {wanted}", fields(count));
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
        let hint = if detail == NO_NUMBER { hint_for(bare, dialect) } else { "" };
        Wrong { at, refusal: (reason, format!("{}: {detail}", head.label(column))), hint }
    })?;
    // Whoever looks for delimiters alone takes it for several fields.
    match text.iter().position(|&byte| !dialect.skips && dialect.separates(byte)) {
        Some(at) => Err(malformed(start + at, "a delimiter between quotes")),
        None => Ok(()),
    }
}

/// Words that stand for missing values somewhere, in lower case.
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

/// What to try for a field that is no number.
fn hint_for(bare: &[u8], dialect: &Dialect) -> &'static str {
    let odd = OddNumber::of(bare);
    if let Some(odd) = odd.filter(|&it| it != OddNumber::Comma || !dialect.separates(b',')) {
        return odd.hint();
    }
    let is = |word: &&str| bare.eq_ignore_ascii_case(word.as_bytes());
    if NOTHING.iter().any(&is) {
        "name the words for missing values: `missing_words`, `--missing-words`"
    } else if ["true", "false", "yes", "no"].iter().any(is) {
        "write 1 and 0, or choose the columns of numbers: `columns`, `--columns`"
    } else {
        "choose the columns of numbers: `columns`, `--columns`"
    }
}

fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}
