//! Words of a fixed list and their meanings; whole numbers; names of inputs.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser,
    TypedValueParser,
};
use clap::{Arg, Command, Error};

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

/// Names that a shell completes. A wrong name is an error later, with a hint.
#[derive(Clone)]
pub(crate) struct Named(pub(crate) fn() -> Vec<&'static str>);

impl TypedValueParser for Named {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Parses an input or output: a path, `-` or a file:// URI.
pub(crate) fn input() -> impl TypedValueParser<Value = Input> {
    OsStringValueParser::new()
        .try_map(|word: OsString| -> Result<Input, InputError> { Input::parse(&word) })
}

/// Parses the name of a file or folder that can be neither standard input nor standard output.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|word: OsString| named_path(word.into()))
}

/// Parses the name of a file as [`path`] does, and a file:// URI.
pub(crate) fn file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|word: OsString| match Input::parse(&word) {
        Ok(Input::Path(path)) => Ok(path),
        // Streams and empty names have their own error texts there.
        Ok(Input::Stdin) | Err(InputError::Empty) => {
            named_path(word.into()).map_err(String::from)
        }
        Err(error) => Err(error.to_string()),
    })
}

/// Returns the name of a file or folder, unless it is empty or means a stream.
///
/// # Errors
///
/// On error, returns the form to write instead.
pub(crate) fn named_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.as_os_str().as_bytes() {
        b"" => Err("a path cannot be empty"),
        b"-" => Err("`-` is standard input or output, and a name is needed here; \
                     a file of this name is ./-"),
        _ => Ok(path),
    }
}

/// Parses a whole number in `range`.
pub(crate) fn whole<T: TryFrom<u64> + Clone + Send + Sync + 'static>(
    range: RangeInclusive<u64>,
) -> impl TypedValueParser<Value = T> {
    StringValueParser::new().try_map(move |word| -> Result<T, String> {
        let number: u64 =
            word.parse().map_err(|_| String::from("expected a whole number, such as 4"))?;
        let found = range.contains(&number).then(|| T::try_from(number).ok()).flatten();
        found.ok_or_else(|| format!("{number} is not in {}..={}", range.start(), range.end()))
    })
}

/// Parses a count, where 0 lets the library choose.
pub(crate) fn count() -> impl TypedValueParser<Value = usize> {
    whole(0..=usize::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    fn parsed(word: &str) -> Result<u32, String> {
        let arg = Arg::new("n").long("workers").value_parser(whole::<u32>(1..=63));
        let matches =
            Command::new("only").arg(arg).try_get_matches_from(["only", "--workers", word]);
        let matches = matches.map_err(|error| error.to_string())?;
        Ok(*matches.get_one("n").expect("it was given"))
    }

    #[test]
    fn a_number_is_whole_and_in_its_range() {
        assert_eq!((parsed("1"), parsed("63")), (Ok(1), Ok(63)));
        for (word, wanted) in [
            ("x", "invalid value 'x' for '--workers <n>': expected a whole number, such as 4"),
            ("1.5", "expected a whole number, such as 4"),
            ("0", "0 is not in 1..=63"),
            ("64", "64 is not in 1..=63"),
            ("99999999999999999999", "expected a whole number"),
        ] {
            let error = parsed(word).expect_err(word);
            assert!(error.contains(wanted), "{error}");
        }
    }
}
