//! One line: nine fields, and the faults that they may have.

use swath_simd::fields::{double, last, short, usual};

use super::columns::{ContractRow, Part};
use crate::error::FormatReason;

/// The fields of a line, in order.
const FIELDS: [&str; 9] = [
    "the price of the underlying",
    "the strike",
    "the rate",
    "the dividend yield",
    "the volatility",
    "the time to expiry",
    "the kind",
    "the dividends",
    "the reference price",
];

/// Limit for a line: a longer one is not a contract.
pub(super) const MOST_LINE: usize = 1 << 20;

/// The fault, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineFault {
    /// Number of lines before this one in the text.
    pub(super) line: usize,
    /// Offset of the field in the text.
    pub(super) at: usize,
    pub(super) reason: FormatReason,
    pub(super) what: String,
}

/// Parses lines until `part` is full; the text must have enough. Returns the offset after them.
pub(super) fn parse(text: &[u8], part: &mut Part<'_>) -> Result<usize, LineFault> {
    let mut at = 0;
    for line in 0..part.len() {
        if let Some((row, end)) = quick(text, at).filter(|(_, end)| end - at <= MOST_LINE) {
            part.set(line, &row);
            at = end;
            continue;
        }
        let rest = &text[at..];
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let line_text = &rest[..end];
        let row = check_len(line_text)
            .and_then(|()| full(line_text))
            .map_err(|wrong| LineFault { line, at: at + wrong.at, ..wrong })?;
        part.set(line, &row);
        at += (end + 1).min(rest.len());
    }
    Ok(at)
}

/// Rejects a line, given without its newline, that is too long; the fault is at its start.
pub(super) fn check_len(line: &[u8]) -> Result<(), LineFault> {
    if line.len() <= MOST_LINE { Ok(()) } else { Err(too_long()) }
}

/// Returns the fault of a line that is too long.
pub(super) fn too_long() -> LineFault {
    wrong(0, FormatReason::Malformed, format!("the line is longer than {MOST_LINE} bytes"))
}

/// Parses a line in the usual notation: short decimals, single spaces, nothing negative; `None` for
/// any other line.
#[inline(always)]
fn quick(text: &[u8], at: usize) -> Option<(ContractRow, usize)> {
    let (spot, at) = short(text, at)?;
    let (strike, at) = short(text, at)?;
    let (rate, at) = usual::<4>(text, at)?;
    let (dividend_yield, at) = usual::<2>(text, at)?;
    let (volatility, at) = usual::<2>(text, at)?;
    let (years, at) = usual::<2>(text, at)?;
    let numbers = [spot, strike, rate, dividend_yield, volatility, years];
    let [kind, blank] = *text.get(at..)?.first_chunk()?;
    // No branch: it would be unpredictable.
    let is_put = kind == b'P';
    if !((kind == b'C') | is_put) || blank != b' ' {
        return None;
    }
    let (dividends, at) = usual::<2>(text, at + 2)?;
    let (reference, at) = last(text, at)?;
    // Values that are not positive take the path that reports faults.
    let is_fine = spot > 0.0 && strike > 0.0 && dividends == 0.0;
    is_fine.then_some((ContractRow { numbers, is_put, reference }, at))
}

/// Parses any line, without its newline.
fn full(line: &[u8]) -> Result<ContractRow, LineFault> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    row(LineFields { line, at: 0 }, line.len())
}

/// Parses the fields of a line, each with its place; `len` is the length of the line.
fn row<'l>(
    mut fields: impl Iterator<Item = (usize, &'l [u8])>,
    len: usize,
) -> Result<ContractRow, LineFault> {
    let (mut row, mut first) = (ContractRow::default(), 0);
    for (index, name) in FIELDS.into_iter().enumerate() {
        let Some((at, token)) = fields.next() else {
            let what =
                format!("{name} is missing: the line has {index} of {} fields", FIELDS.len());
            return Err(wrong(len, FormatReason::Malformed, what));
        };
        first = if index == 0 { at } else { first };
        field(&mut row, index, token)
            .map_err(|(reason, what)| wrong(at, reason, format!("{name} {what}")))?;
    }
    match fields.next() {
        None if row.has_a_price() => Ok(row),
        None => {
            let what = String::from("its price cannot be computed with doubles");
            Err(wrong(first, FormatReason::TooLarge, what))
        }
        Some((at, _)) => {
            let what = format!("the line has more than {} fields", FIELDS.len());
            Err(wrong(at, FormatReason::Malformed, what))
        }
    }
}

fn wrong(at: usize, reason: FormatReason, what: String) -> LineFault {
    LineFault { line: 0, at, reason, what }
}

/// Stores field `index`.
fn field(
    row: &mut ContractRow,
    index: usize,
    token: &[u8],
) -> Result<(), (FormatReason, String)> {
    let malformed = |what: &str| Err((FormatReason::Malformed, what.to_owned()));
    if token.contains(&0) {
        return malformed("contains a NUL byte");
    }
    if index == 6 {
        row.is_put = match token {
            b"C" => false,
            b"P" => true,
            _ => return malformed("is neither C nor P"),
        };
        return Ok(());
    }
    let Some(value) = double(token) else {
        let is_number = std::str::from_utf8(token).is_ok_and(|it| it.parse::<f64>().is_ok());
        return match is_number && token.iter().any(u8::is_ascii_digit) {
            true => Err((FormatReason::TooLarge, String::from("is too large for a double"))),
            false => malformed("is not a number"),
        };
    };
    match index {
        0 | 1 if value <= 0.0 => return malformed("must be above 0"),
        4 | 5 if value < 0.0 => return malformed("must not be negative"),
        7 if value != 0.0 => {
            let what = "must be 0: the formula has no discrete dividends";
            return Err((FormatReason::Unsupported, what.to_owned()));
        }
        7 => {}
        8 => row.reference = value,
        _ => row.numbers[index] = value,
    }
    Ok(())
}

/// The words between blanks and tabs, with their positions in the line.
pub(super) struct LineFields<'l> {
    pub(super) line: &'l [u8],
    pub(super) at: usize,
}

impl<'l> Iterator for LineFields<'l> {
    type Item = (usize, &'l [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(|&byte| !is_blank(byte))?;
        let token = &self.line[start..];
        let len = token.iter().position(|&byte| is_blank(byte)).unwrap_or(token.len());
        self.at = start + len;
        Some((start, &token[..len]))
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
