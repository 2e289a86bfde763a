//! The first line, which gives the number of contract lines.

use super::line::{LineFault, LineFields, check_len, is_blank};
use crate::error::FormatReason;

/// Parses the first line, without its newline, as a count; `None` stands for an empty file.
pub(super) fn count(line: Option<&[u8]>) -> Result<u64, LineFault> {
    let wrong =
        |at, reason, what: &str| LineFault { line: 0, at, reason, what: what.to_owned() };
    let malformed = |at, what| Err(wrong(at, FormatReason::Malformed, what));
    let Some(line) = line else {
        return malformed(
            0,
            "the file is empty; its first line must be the number of contracts",
        );
    };
    check_len(line)?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A byte order mark.
    let mark = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut fields = LineFields { line, at: mark };
    let Some((at, token)) = fields.next() else {
        return malformed(0, "the first line is blank; it must be the number of contracts");
    };
    if let Some((at, _)) = fields.next() {
        return malformed(at, "the first line has more than the number of contracts");
    }
    if !token.iter().all(u8::is_ascii_digit) {
        return malformed(at, "the first line is not the number of contracts");
    }
    let count = std::str::from_utf8(token).ok().and_then(|digits| digits.parse().ok());
    count.ok_or_else(|| {
        wrong(at, FormatReason::TooLarge, "the number of contracts exceeds 64 bits")
    })
}

/// Finds text other than blanks, or a line that is too long, in `text`, which follows the last
/// contract.
pub(super) fn surplus(text: &[u8], declared: u64) -> Option<LineFault> {
    let is_space = |byte| is_blank(byte) || byte == b'\r';
    let mut at = 0;
    for (line, bytes) in text.split(|&byte| byte == b'\n').enumerate() {
        if let Err(wrong) = check_len(bytes) {
            return Some(LineFault { line, at, ..wrong });
        }
        if let Some(found) = bytes.iter().position(|&byte| !is_space(byte)) {
            let what = format!("more than the {declared} contracts that line 1 declares");
            return Some(LineFault {
                line,
                at: at + found,
                reason: FormatReason::Malformed,
                what,
            });
        }
        at += bytes.len() + 1;
    }
    None
}

/// Returns the fault at the end of a file with fewer contracts than its first line declares.
pub(super) fn too_few(declared: u64, there: u64) -> LineFault {
    let what =
        format!("the file ends after {there} of the {declared} contracts that line 1 declares");
    LineFault { line: 0, at: 0, reason: FormatReason::Truncated, what }
}
