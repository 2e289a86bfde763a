//! Words of a fixed list, and what each stands for.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses one of the words of `table`; help and completions list them.
pub(super) fn words<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|&(word, _)| word)).map(|word| {
        let found = table.iter().find(|&&(listed, _)| listed == word);
        found.expect("only words of the table get here").1
    })
}
