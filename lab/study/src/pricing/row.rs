//! The grammar of contracts, as far as needed to accept a valid line.

use swath_simd::fields::double;

/// Fields of a contract.
pub(super) const FIELDS: usize = 9;

/// The most bytes of a line; longer lines are invalid.
pub(super) const MOST_LINE: usize = 1 << 20;

/// The values of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// The first six fields.
    pub(super) numbers: [f64; 6],
    pub(super) is_put: bool,
    pub(super) reference: f64,
}

/// Parses the fields of a line; `None` if one is invalid.
pub(super) fn row<'l>(mut fields: impl Iterator<Item = &'l [u8]>) -> Option<Row> {
    let mut row = Row::default();
    for index in 0..FIELDS {
        field(&mut row, index, fields.next()?)?;
    }
    (fields.next().is_none() && row.has_a_price()).then_some(row)
}

/// Sets field `index`.
fn field(row: &mut Row, index: usize, token: &[u8]) -> Option<()> {
    if index == 6 {
        row.is_put = token == b"P";
        return (row.is_put || token == b"C").then_some(());
    }
    let value = double(token)?;
    let is_fine = match index {
        0 | 1 => value > 0.0,
        4 | 5 => value >= 0.0,
        7 => value == 0.0,
        _ => true,
    };
    match index {
        0..6 => row.numbers[index] = value,
        8 => row.reference = value,
        _ => {}
    }
    is_fine.then_some(())
}

impl Row {
    /// Returns whether the price can be computed without infinities.
    fn has_a_price(&self) -> bool {
        let [spot, strike, rate, dividend_yield, volatility, years] = self.numbers;
        let growth = rate - dividend_yield + volatility * volatility / 2.0;
        let moneyness = spot / strike;
        let present = spot * (-dividend_yield * years).exp() + strike * (-rate * years).exp();
        let all = [moneyness, growth * years, volatility * years.sqrt(), present];
        moneyness > 0.0 && all.into_iter().all(f64::is_finite)
    }
}

/// Iterates over the fields of a line, with their offsets.
pub(super) struct Fields<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Fields<'l> {
    /// Returns the fields of a line without its newline.
    pub(super) fn of(line: &'l [u8]) -> Self {
        Self { line: line.strip_suffix(b"\r").unwrap_or(line), at: 0 }
    }
}

impl<'l> Iterator for Fields<'l> {
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

/// Parses the count in the first line.
pub(super) fn count(line: &[u8]) -> Option<u64> {
    if line.len() > MOST_LINE {
        return None;
    }
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut fields = Fields::of(line);
    let (_, token) = fields.next()?;
    let is_count = token.iter().all(u8::is_ascii_digit) && fields.next().is_none();
    is_count.then(|| std::str::from_utf8(token).ok()?.parse().ok()).flatten()
}

/// Returns whether the text after the last contract is blank.
pub(super) fn is_empty(text: &[u8]) -> bool {
    let is_space = |&byte: &u8| is_blank(byte) || byte == b'\r';
    let mut lines = text.split(|&byte| byte == b'\n');
    lines.all(|line| line.len() <= MOST_LINE && line.iter().all(is_space))
}
