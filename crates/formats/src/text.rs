//! Text in which something is wrong: where, on which line, and what stands there.

use swath::ReadOptions;

use crate::error::{Error, FormatReason};
use crate::input::Text;

/// What is told of a carriage return that does not end a line.
pub(crate) const LONE_RETURN: &str = "a carriage return inside a line";

/// What is to be done about lines that end with nothing else.
const NEWLINES: &str = "end lines with newlines: tr '\\r' '\\n' <OLD >NEW";

/// What is wrong with the text, and at which byte of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: u64,
    pub(crate) reason: FormatReason,
    pub(crate) detail: String,
}

impl Fault {
    pub(crate) fn malformed(offset: u64, detail: impl Into<String>) -> Self {
        Self { offset, reason: FormatReason::Malformed, detail: detail.into() }
    }

    pub(crate) fn too_large(offset: u64, detail: impl Into<String>) -> Self {
        Self { offset, reason: FormatReason::TooLarge, detail: detail.into() }
    }

    /// The same in a text that begins so many bytes earlier.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self { offset: self.offset + by as u64, ..self }
    }

    /// The error that says so: with the number of the line, for which everything before it is read
    /// once more, and the line itself.
    pub(crate) fn into_error(self, input: &Text) -> Error {
        let error = Error::reading(input.path(), self.reason, self.detail).at(self.offset);
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

/// A fault, and what to try.
pub(crate) struct Hinted {
    pub(crate) fault: Fault,
    /// "" leaves that to the fault.
    pub(crate) hint: &'static str,
}

impl From<Fault> for Hinted {
    fn from(fault: Fault) -> Self {
        Self { fault, hint: "" }
    }
}

impl Hinted {
    pub(crate) fn into_error(self, input: &Text) -> Error {
        self.fault.into_error(input).hint(self.hint)
    }
}

/// Returns the line that holds the byte at `offset`, or as much of it as anybody would read.
fn line_at(input: &Text, offset: u64) -> Option<Vec<u8>> {
    const AROUND: u64 = 4096;
    let start = offset.saturating_sub(AROUND);
    let len = input.len().checked_sub(start)?.min(2 * AROUND);
    let around = ReadOptions::new().with_offset(start).with_len(len);
    let around = around.read(input.source()).ok()?;
    let at = usize::try_from(offset - start).ok()?.min(around.buffer.len());
    let (before, behind) = around.buffer.split_at(at);
    let from = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let to = behind.iter().position(|&byte| byte == b'\n').unwrap_or(behind.len());
    // Of a long line, what stands where it goes wrong.
    let mut from = from.max(at.saturating_sub(40));
    // Not in the middle of a character.
    while from < at && before[from] & 0xc0 == 0x80 {
        from += 1;
    }
    Some([&before[from..], &behind[..to]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_its_number_and_its_text_are_told() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "one\ntwo 2\nthree").expect("room");
        let input = Text::open(file.path().into(), &ReadOptions::new()).expect("a file");
        let error = Fault::malformed(8, "no number").into_error(&input);
        assert_eq!((error.line(), error.offset()), (Some(2), Some(8)));
        let text = error.to_string();
        assert!(text.contains("on line 2 at byte 8: no number: `two 2`"), "{text}");
    }

    #[test]
    fn nothing_is_quoted_where_nothing_stands() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let input = Text::open(file.path().into(), &ReadOptions::new()).expect("a file");
        let text = Fault::malformed(0, "no number").into_error(&input).to_string();
        assert!(text.ends_with("on line 1 at byte 0: no number"), "{text}");
    }
}
