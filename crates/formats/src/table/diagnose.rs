//! What exactly is wrong with a block of which something is known to be wrong.
//!
//! Line by line and field by field from the start of the block, so what is found first does not
//! depend on how the file was cut.

use super::dialect::Dialect;
use crate::error::Reason;
use crate::text::Fault;

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
        if dialect.is_data(line) {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            if let Err((place, (reason, detail))) = check_line(text, dialect, &check) {
                let offset = offset + (at + place) as u64;
                return Some(Fault { offset, reason, detail });
            }
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

type Place = (usize, Refusal);

fn check_line(
    line: &[u8],
    dialect: &Dialect,
    check: &impl Fn(usize, &[u8]) -> Result<(), Refusal>,
) -> Result<(), Place> {
    let malformed = |at: usize, detail: String| Err((at, (Reason::Malformed, detail)));
    let (mut start, mut count) = (0, 0);
    loop {
        let field = field_at(line, start, dialect)?;
        count += 1;
        if count > dialect.columns {
            let columns = dialect.columns;
            return malformed(start, format!("more than {}", fields(columns)));
        }
        let bare = dialect.bare(field);
        check(count - 1, bare).map_err(|refusal| {
            (start + (bare.as_ptr().addr() - field.as_ptr().addr()), refusal)
        })?;
        start += field.len() + 1;
        if start > line.len() {
            break;
        }
    }
    if count < dialect.columns {
        let wanted = fields(dialect.columns);
        return malformed(
            line.len(),
            format!("{} where there should be {wanted}", fields(count)),
        );
    }
    Ok(())
}

fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}

/// The field that begins at `start`, with what is around it.
fn field_at<'l>(line: &'l [u8], start: usize, dialect: &Dialect) -> Result<&'l [u8], Place> {
    let rest = &line[start..];
    let delimiter = |text: &[u8]| {
        text.iter().position(|&byte| byte == dialect.marks.delimiter).unwrap_or(text.len())
    };
    let blanks = rest.iter().take_while(|&&byte| dialect.is_blank(byte)).count();
    let quote = dialect.quote.filter(|&quote| rest.get(blanks) == Some(&quote));
    let Some(quote) = quote else { return Ok(&rest[..delimiter(rest)]) };
    let inner = &rest[blanks + 1..];
    let Some(end) = inner.iter().position(|&byte| byte == quote) else {
        let detail = String::from("a quote that does not end on its line");
        return Err((start + blanks, (Reason::Malformed, detail)));
    };
    let behind = blanks + 1 + end + 1;
    Ok(&rest[..behind + delimiter(&rest[behind..])])
}
