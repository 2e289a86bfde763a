//! What exactly is wrong with a block of which something is known to be wrong.
//!
//! Line by line and field by field from the start of the block, so what is found first does not
//! depend on how the file was cut.

use super::dialect::{Dialect, Field, OpenQuote};
use crate::error::Reason;
use crate::text::{Fault, LONE_RETURN};

/// What a field that is not as it should be is told as.
pub(super) type Refusal = (Reason, String);

/// Returns the first fault among the lines of `block`, which begins at `offset` of the file.
/// `check` says what is wrong with a field of a column, without what is around it.
pub(super) fn first_fault(
    block: &[u8],
    offset: u64,
    dialect: &Dialect,
    check: impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Option<Fault> {
    let mut at = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        if dialect.is_data(line)
            && let Err((place, (reason, detail))) = check_line(line, dialect, &check)
        {
            let offset = offset + (at + place) as u64;
            return Some(Fault { offset, reason, detail });
        }
        at += line.len();
    }
    None
}

/// The fault for a block with which something is wrong, whatever it is.
pub(super) fn fault(
    block: &[u8],
    offset: u64,
    dialect: &Dialect,
    check: impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Fault {
    // Nothing is found only if the text changed meanwhile.
    let unknown = || Fault::malformed(offset, "these lines changed while they were read");
    first_fault(block, offset, dialect, check).unwrap_or_else(unknown)
}

/// Where in its line something is wrong, and what.
type Place = (usize, Refusal);

fn malformed(at: usize, detail: impl Into<String>) -> Place {
    (at, (Reason::Malformed, detail.into()))
}

fn check_line(
    line: &[u8],
    dialect: &Dialect,
    check: &impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Result<(), Place> {
    let columns = dialect.columns;
    let mut count = 0;
    for field in dialect.fields(line) {
        let field = field
            .map_err(|OpenQuote(at)| malformed(at, "a quote that does not end on its line"))?;
        if count == columns {
            return Err(malformed(field.place.start, format!("more than {}", fields(columns))));
        }
        check_field(line, &field, dialect, |bare| check(count, bare))?;
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
    dialect: &Dialect,
    check: impl FnOnce(&[u8]) -> Result<(), Refusal>,
) -> Result<(), Place> {
    let (start, text) = (field.place.start, &line[field.place.clone()]);
    let lone = text.iter().position(|&byte| byte == b'\r');
    if let Some(at) = lone.filter(|_| !field.is_quoted) {
        return Err(malformed(start + at, LONE_RETURN));
    }
    let bare = dialect.bare(text);
    let at = start + (bare.as_ptr().addr() - text.as_ptr().addr());
    check(bare).map_err(|refusal| (at, refusal))?;
    // Whoever looks for delimiters alone takes it for several fields.
    match text.iter().position(|&byte| dialect.separates(byte)) {
        Some(at) => Err(malformed(start + at, "a delimiter between quotes")),
        None => Ok(()),
    }
}

fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}
