//! What the options say about all fields, and whether it makes sense.

use std::path::Path;

use super::dialect::Dialect;
use super::options::BatchOptions;
use super::values::{Rules, Words};
use crate::error::{Error, FormatReason, Result};
use crate::table::options::Delimiter;

/// How fields of a column are read whose type is not given.
pub(super) fn rules(options: &BatchOptions, dialect: Dialect) -> Rules {
    Rules {
        nulls: Words::new(&options.nulls),
        trues: Words::new(&options.trues),
        falses: Words::new(&options.falses),
        quoting: dialect.quoting(),
        decimal: options.decimal,
        thousands: options.thousands,
        format: None,
        is_told: false,
    }
}

/// Refuses options that contradict each other.
pub(super) fn check(path: &Path, options: &BatchOptions) -> Result<()> {
    let delimiter = match options.delimiter {
        Some(Delimiter::Byte(byte)) => Some(byte),
        Some(Delimiter::Blanks) => Some(b' '),
        None => None,
    };
    let escape = options.escape.filter(|&escape| Some(escape) != options.quote);
    let marks = [delimiter, options.quote, escape, options.comment, Some(options.decimal)];
    let marks: Vec<u8> = marks.into_iter().flatten().collect();
    let invalid = |detail: String| Err(Error::reading(path, FormatReason::Invalid, detail));
    for byte in marks.iter().copied().chain(options.thousands) {
        let shown = byte.escape_ascii();
        if !byte.is_ascii() || matches!(byte, b'\n' | b'\r') {
            return invalid(format!(
                "the byte `{shown}` has another meaning, or is part of a character"
            ));
        }
        if marks.iter().filter(|&&other| other == byte).count() > 1 {
            return invalid(format!(
                "`{shown}` is two of delimiter, quote, escape, comment and decimal point"
            ));
        }
    }
    let in_numbers = [Some(options.decimal), options.thousands];
    if in_numbers.iter().flatten().any(|&byte| is_numeric(byte))
        || in_numbers[0] == in_numbers[1]
    {
        let detail = "the decimal point and the separator of thousands must differ, and not be part of a number";
        return invalid(detail.to_owned());
    }
    Ok(())
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
}
