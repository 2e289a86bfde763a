//! A line → the characters of each column of fixed width.

use super::fault::Wrong;

/// The first character of a column, and the one after its last; `None` is the end of the line.
pub type Span = (usize, Option<usize>);

/// The places of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// The columns, in order.
    pub spans: Vec<Span>,
    /// Whether text outside the columns is ignored.
    pub passes_others: bool,
    /// Whether text outside the columns is a further field of the record.
    pub has_further: bool,
}

impl Columns {
    /// Makes columns outside which there must be no text.
    pub(super) fn new(spans: Vec<Span>) -> Self {
        Self { spans, passes_others: false, has_further: false }
    }
}

/// The fault, and its byte in the line.
pub(super) type Flaw = (Wrong, usize);

/// Returns the characters of a line up to the first fault, with their bytes, and that fault.
#[must_use]
pub(super) fn characters(line: &[u8]) -> (Vec<(usize, char)>, Option<Flaw>) {
    let (mut at, mut found) = (0, Vec::new());
    while at < line.len() {
        let rest = &line[at..];
        let text = |len: usize| std::str::from_utf8(rest.get(..len)?).ok()?.chars().next();
        let Some((len, character)) = (1..=4).find_map(|len| Some((len, text(len)?))) else {
            return (found, Some((Wrong::Encoding, at)));
        };
        if character == '\r' {
            return (found, Some((Wrong::Return, at)));
        }
        found.push((at, character));
        at += len;
    }
    (found, None)
}

/// Whether a character is a space or a tab.
#[must_use]
pub(super) fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

/// Returns the fields of a line, with their first bytes.
///
/// # Errors
///
/// The first fault of the line.
pub(super) fn fields(line: &[u8], columns: &Columns) -> Result<Vec<(usize, String)>, Flaw> {
    let (characters, flaw) = characters(line);
    let is_in = |position: usize| {
        let has =
            |&(start, end): &Span| start <= position && end.is_none_or(|end| position < end);
        columns.spans.iter().any(has)
    };
    let mut further = None;
    for (position, &(byte, character)) in characters.iter().enumerate() {
        if !columns.passes_others && !is_in(position) && !is_blank(character) {
            if !columns.has_further {
                return Err((Wrong::Outside, byte));
            }
            further = Some((byte, String::new()));
        }
    }
    if let Some(flaw) = flaw {
        return Err(flaw);
    }
    let fields = columns.spans.iter().map(|&span| field(&characters, span));
    Ok(fields.chain(further).collect())
}

fn field(characters: &[(usize, char)], (start, end): Span) -> (usize, String) {
    let end = end.unwrap_or(usize::MAX).min(characters.len());
    let mut inside = characters.get(start..end).unwrap_or_default();
    while inside.first().is_some_and(|&(_, character)| is_blank(character)) {
        inside = &inside[1..];
    }
    while inside.last().is_some_and(|&(_, character)| is_blank(character)) {
        inside = &inside[..inside.len() - 1];
    }
    let at = inside.first().map_or(0, |&(byte, _)| byte);
    (at, inside.iter().map(|&(_, character)| character).collect())
}
