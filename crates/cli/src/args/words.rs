//! Words of a fixed list, and what each stands for; names of inputs.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};

use crate::input::{Input, InputError};

/// Parses one of the words of `table`; help and completions list them.
pub(crate) fn words<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|&(word, _)| word)).map(|word| {
        let found = table.iter().find(|&&(listed, _)| listed == word);
        found.expect("only words of the table get here").1
    })
}

/// Parses what a command reads or writes: a path, `-` or a file:// URI.
pub(crate) fn input() -> impl TypedValueParser<Value = Input> {
    OsStringValueParser::new()
        .try_map(|word: OsString| -> Result<Input, InputError> { Input::parse(&word) })
}
