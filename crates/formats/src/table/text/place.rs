//! Places in a text: of a field, and of a fault.

/// The fault of a record, and its byte in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum RecordFault {
    /// A quote opens here and is not closed.
    OpenQuote(usize),
    /// An escape with nothing after it.
    OpenEscape(usize),
    /// Text after the closing quote of the field that begins here.
    AfterQuote(usize),
    /// A carriage return that does not end a line.
    LoneReturn(usize),
    /// Text outside of columns of fixed width.
    Outside(usize),
    /// An invalid byte of UTF-8 where characters are counted.
    Encoding(usize),
}

impl RecordFault {
    /// Returns the byte.
    pub(in crate::table) fn at(self) -> usize {
        match self {
            Self::OpenQuote(at)
            | Self::OpenEscape(at)
            | Self::AfterQuote(at)
            | Self::LoneReturn(at)
            | Self::Outside(at)
            | Self::Encoding(at) => at,
        }
    }
}

/// The start and end of a field in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct FieldPlace {
    pub(in crate::table) start: usize,
    pub(in crate::table) end: usize,
}

impl FieldPlace {
    /// Returns the bytes of the field.
    pub(in crate::table) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}
