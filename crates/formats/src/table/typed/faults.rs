//! What is wrong with a table, as errors say it.

use std::path::Path;

use swath::ReadOptions;

use super::json::Flaw;
use super::options::Ragged;
use super::record::Wrong;
use super::rows::{Fault, Shape};
use super::values::{ColumnType, Misfit};
use crate::error::{Error, FormatReason};
use crate::input::Text;

/// Characters of a field that a message shows.
const SHOWN: usize = 40;

/// Where a text is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// Whether it was in another encoding than UTF-8.
    pub(super) is_decoded: bool,
    /// Bytes and lines of the file before it.
    pub(super) bytes: u64,
    pub(super) lines: u64,
}

/// A fault in a text.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// Where the record begins.
    pub(super) record: u64,
    /// The byte in question.
    pub(super) offset: u64,
    reason: FormatReason,
    detail: String,
    hint: &'static str,
}

impl Problem {
    /// Turns it into an error. To count the lines, everything before the record is read once more.
    pub(super) fn into_error(self, input: &Text, origin: Origin) -> Error {
        let detail = match origin.is_decoded {
            true => self.detail + " (bytes count in the text as UTF-8)",
            false => self.detail,
        };
        let offset = origin.bytes + self.offset;
        let error = Error::reading(input.path(), self.reason, detail).at(offset);
        let before = ReadOptions::new().with_len(self.record).count(input.source(), b'\n');
        let error = match before {
            Ok(newlines) => error.on_line(origin.lines + newlines.value + 1),
            Err(_) => error,
        };
        error.hint(self.hint)
    }
}

/// Returns the fault of a record that cannot be split; `record` is where it begins, and the position
/// in `wrong` counts from `base`. A quote that is not closed is on its own line.
pub(super) fn split(wrong: Wrong, record: u64, base: u64) -> Problem {
    let offset = base + wrong.at() as u64;
    let record = if matches!(wrong, Wrong::OpenQuote(_)) { offset } else { record };
    Problem { record, ..self::wrong(wrong, offset) }
}

/// The same for the byte at `offset`, on the line of that byte.
pub(super) fn wrong(wrong: Wrong, offset: u64) -> Problem {
    let (detail, hint) = match wrong {
        Wrong::OpenQuote(_) => {
            ("a quote opens here and is never closed", "close it, or set another quote")
        }
        Wrong::OpenEscape(_) => (
            "nothing follows the escape at the end of the text",
            "remove it, or set another escape",
        ),
        Wrong::AfterQuote(_) => (
            "text after a closing quote",
            "double the quotes inside a quoted field, or set another quote, or none",
        ),
        Wrong::LoneReturn(_) => {
            (crate::text::LONE_RETURN, "end lines with newlines: tr '\\r' '\\n' <OLD >NEW")
        }
    };
    Problem {
        record: offset,
        offset,
        reason: FormatReason::Malformed,
        detail: detail.to_owned(),
        hint,
    }
}

/// Returns the fault of a record with more or fewer fields than there are columns.
pub(super) fn ragged(record: u64, found: usize, columns: usize, ragged: Ragged) -> Problem {
    let fields = |count: usize| if count == 1 { "field" } else { "fields" };
    let detail = format!("{found} {} where {columns} are expected", fields(found));
    let hint = match ragged {
        Ragged::Pad => {
            "check the delimiter and quotes of this line, or set aside such lines with `ragged`"
        }
        _ => {
            "check the delimiter and quotes of this line, or set `ragged` to pad or set aside such lines"
        }
    };
    Problem { record, offset: record, reason: FormatReason::Malformed, detail, hint }
}

/// A field that is not a value of its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused<'f> {
    pub(super) column: &'f str,
    pub(super) told: ColumnType,
    pub(super) raw: &'f [u8],
    pub(super) misfit: Misfit,
}

/// Returns the fault of a field.
pub(super) fn misfit(record: u64, offset: u64, refused: Refused<'_>) -> Problem {
    let Refused { column: name, told, raw, misfit } = refused;
    let (reason, why) = match misfit {
        Misfit::Form => (FormatReason::Malformed, format!("not a value of type {told}")),
        Misfit::Range => (FormatReason::TooLarge, format!("out of the range of type {told}")),
        Misfit::Inexact => {
            (FormatReason::Malformed, format!("more digits after the second than {told} holds"))
        }
        Misfit::Encoding => (FormatReason::Malformed, "bytes that are not UTF-8".to_owned()),
        Misfit::Room => {
            (FormatReason::TooLarge, "a text that is too long for Arrow".to_owned())
        }
    };
    let hint = match misfit {
        Misfit::Encoding => "pass the encoding of the file with `encoding`",
        Misfit::Room => "leave out the column with `columns`",
        Misfit::Form | Misfit::Range | Misfit::Inexact => {
            "change the value, or give the column another type with `types`, or add the word to `null_values`"
        }
    };
    let detail = format!("{why} in column `{name}`: `{}`", shown(raw));
    Problem { record, offset, reason, detail, hint }
}

/// The first characters of a field.
fn shown(raw: &[u8]) -> String {
    let text = crate::error::shown(raw);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// Returns the fault that splitting found.
pub(super) fn of_rows(fault: Fault, record: u64, base: u64, shape: &Shape) -> Problem {
    match fault {
        Fault::Wrong(wrong) => split(wrong, record, base),
        Fault::Ragged { at, found } => {
            ragged(base + at as u64, found, shape.columns, shape.ragged)
        }
        Fault::Json { record, flaw: Flaw { wrong, at } } => {
            let (detail, hint) = wrong.words();
            Problem {
                record: base + record as u64,
                offset: base + at as u64,
                reason: FormatReason::Malformed,
                detail: detail.to_owned(),
                hint,
            }
        }
        Fault::TooLong => Problem {
            record,
            offset: record,
            reason: FormatReason::TooLarge,
            detail: "a record of 4 GiB or more".to_owned(),
            hint: "look for a quote that is not closed",
        },
    }
}

/// Returns the fault of a name that is not UTF-8.
pub(super) fn name(record: u64, offset: u64, raw: &[u8]) -> Problem {
    Problem {
        record,
        offset,
        reason: FormatReason::Malformed,
        detail: format!("bytes that are not UTF-8 in a name: `{}`", shown(raw)),
        hint: "pass the encoding of the file with `encoding`",
    }
}

/// Returns the fault of a block whose texts Arrow cannot hold.
pub(super) fn room(offset: u64) -> Problem {
    Problem {
        record: offset,
        offset,
        reason: FormatReason::TooLarge,
        detail: "texts that are too long for Arrow".to_owned(),
        hint: "set a smaller block size",
    }
}

/// Returns the fault of a block for whose values there is no memory.
pub(super) fn no_memory(offset: u64, bytes: usize) -> Problem {
    Problem {
        record: offset,
        offset,
        reason: FormatReason::TooLarge,
        detail: format!("there is not enough memory for the values of {bytes} bytes of text"),
        hint: "select fewer columns with `columns`, or read it as a stream",
    }
}

/// The error of a table with more columns than there is memory for.
pub(super) fn no_room(path: &Path, columns: usize) -> Error {
    let detail = format!("there is not enough memory for {columns} columns");
    let error = Error::reading(path, FormatReason::TooLarge, detail);
    error.hint("select fewer columns with `columns`")
}
