//! Faults in text: their place, their line, and the contents of the line.

use swath::ReadOptions;

use crate::error::{Error, FormatReason};
use crate::input::InputText;

/// The hint for lines that end only with carriage returns.
const NEWLINES: &str = "end lines with newlines: tr '\\r' '\\n' <OLD >NEW";

/// A fault in the text, and its byte in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextFault {
    pub(crate) offset: u64,
    pub(crate) reason: FormatReason,
    pub(crate) detail: String,
}

impl TextFault {
    pub(crate) fn malformed(offset: u64, detail: impl Into<String>) -> Self {
        Self { offset, reason: FormatReason::Malformed, detail: detail.into() }
    }

    pub(crate) fn too_large(offset: u64, detail: impl Into<String>) -> Self {
        Self { offset, reason: FormatReason::TooLarge, detail: detail.into() }
    }

    /// Turns the fault into an error with its line number and a quote of the line. To count lines,
    /// reads everything before the fault again.
    pub(crate) fn into_error(self, input: &InputText) -> Error {
        let hint = match self.reason {
            FormatReason::Malformed => "correct the line, or leave it out",
            FormatReason::TooLarge => "correct the line, or read a type that holds the value",
            FormatReason::Truncated => {
                "fetch the file again, or correct the number of entries in its header"
            }
            _ => "",
        };
        let error = Error::reading(input.path(), self.reason, self.detail);
        let error = error.at(self.offset).hint(hint);
        let before = ReadOptions::new().with_len(self.offset).count(input.source(), b'\n');
        let error = match before {
            Ok(newlines) => error.on_line(newlines.value + 1),
            Err(_) => error,
        };
        let Some(line) = line_at(input, self.offset) else { return error };
        let is_lone = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\r';
        let error = if line.windows(2).any(is_lone) { error.hint(NEWLINES) } else { error };
        error.quoting(&line)
    }
}

/// A fault, and a hint.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) fault: TextFault,
    /// "" keeps the hint of the fault.
    pub(crate) hint: &'static str,
}

impl From<TextFault> for Hinted {
    fn from(fault: TextFault) -> Self {
        Self { fault, hint: "" }
    }
}

impl Hinted {
    pub(crate) fn into_error(self, input: &InputText) -> Error {
        self.fault.into_error(input).hint(self.hint)
    }
}

/// Returns the line that holds the byte at `offset`, or the part of it that fits in a message.
fn line_at(input: &InputText, offset: u64) -> Option<Vec<u8>> {
    const AROUND: u64 = 4096;
    let start = offset.saturating_sub(AROUND);
    let len = input.len().checked_sub(start)?.min(2 * AROUND);
    let around = ReadOptions::new().with_offset(start).with_len(len);
    let around = around.read(input.source()).ok()?;
    let at = usize::try_from(offset - start).ok()?.min(around.buffer.len());
    let (before, after) = around.buffer.split_at(at);
    let from = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let to = after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len());
    // Of a long line, show the part around the fault.
    let mut from = from.max(at.saturating_sub(40));
    // Do not start inside a character.
    while from < at && before[from] & 0xc0 == 0x80 {
        from += 1;
    }
    Some([&before[from..], &after[..to]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_its_number_and_its_text_are_told() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "one\ntwo 2\nthree").expect("room");
        let input = InputText::open(file.path().into(), &ReadOptions::new()).expect("a file");
        let error = TextFault::malformed(8, "no number").into_error(&input);
        assert_eq!((error.line(), error.offset()), (Some(2), Some(8)));
        let text = error.to_string();
        let wanted =
            "on line 2 at byte 8: no number: `two 2`; try: correct the line, or leave it out";
        assert!(text.ends_with(wanted), "{text}");
    }

    #[test]
    fn nothing_is_quoted_where_nothing_stands() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let input = InputText::open(file.path().into(), &ReadOptions::new()).expect("a file");
        let text = TextFault::malformed(0, "no number").into_error(&input).to_string();
        assert!(text.contains("on line 1 at byte 0: no number; try"), "{text}");
    }
}
