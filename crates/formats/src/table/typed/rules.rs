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
    let decimal = Some(options.decimal);
    let escape = options.escape.filter(|&escape| Some(escape) != options.quote);
    let marks = [delimiter, options.quote, escape, options.comment, decimal, options.thousands];
    let invalid = |detail: String| Err(Error::reading(path, FormatReason::Invalid, detail));
    for (at, mark) in marks.iter().enumerate() {
        let Some(byte) = *mark else { continue };
        let is_wrong = matches!(byte, b'\n' | b'\r') || !byte.is_ascii();
        if is_wrong || (at > 0 && marks[..at].contains(mark)) {
            let shown = byte.escape_ascii();
            return invalid(format!(
                "`{shown}` cannot be what two of delimiter, quote, escape, comment, decimal point and \
                 separator of thousands are, nor be part of a line end or of a character"
            ));
        }
    }
    if [decimal, options.thousands].iter().flatten().any(|byte| is_numeric(*byte)) {
        return invalid(
            "the decimal point and the separator of thousands must not be part of a number"
                .to_owned(),
        );
    }
    Ok(())
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
}
