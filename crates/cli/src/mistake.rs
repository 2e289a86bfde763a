//! Mistakes on the command line that have a better answer than the parser's own.
//!
//! ```text
//! swath -v, swath version       swath -V
//! swath read a b                swath ingest a b
//! swath sum        (terminal)   name a file, or pipe one in
//! ```

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds what to type instead, where that is known.
pub(crate) fn hinted(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if let Some(tip) = tip(&error, words) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

fn tip(error: &clap::Error, words: &[OsString]) -> Option<&'static str> {
    const VERSION: &str = "to print the version, use 'swath -V'";
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let verb = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let is_version = named(ContextKind::InvalidSubcommand) == Some("version");
            is_version.then_some(VERSION)
        }
        ErrorKind::UnknownArgument => match (verb, named(ContextKind::InvalidArg)?) {
            ("-v" | "--verbose", "-v" | "--verbose") => Some(VERSION),
            ("read", word) if !word.starts_with('-') => {
                Some("to load several files at once, use 'swath ingest'")
            }
            ("cat", word) if !word.starts_with('-') => {
                Some("to write several files, call 'swath cat' for each of them")
            }
            _ => None,
        },
        ErrorKind::MissingRequiredArgument if verb == "mirror" => {
            let is_flag =
                |word: &OsString| ["-o", "--output", "--into"].iter().any(|flag| word == flag);
            words.iter().any(is_flag).then_some(
                "name FILE before the flag, which takes all words after it as folders: \
                 'swath mirror FILE -o DIR...'",
            )
        }
        _ => None,
    }
}

/// The error of a command that was to read standard input, where that is a terminal.
pub(crate) fn no_path(command: &mut Command, verb: &str) -> clap::Error {
    command.build();
    let text = "no PATH given, and standard input is a terminal; name a file, or pipe one in";
    let command = match command.find_subcommand_mut(verb) {
        Some(found) => found,
        None => return clap::Error::raw(ErrorKind::MissingRequiredArgument, text),
    };
    command.error(ErrorKind::MissingRequiredArgument, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn answer(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Cli::parsed(words).expect_err(line).to_string()
    }

    #[test]
    fn common_mistakes_are_answered_with_what_to_type() {
        for line in ["swath -v", "swath version"] {
            assert!(answer(line).contains("use 'swath -V'"), "{}", answer(line));
        }
        assert!(answer("swath read a b").contains("use 'swath ingest'"));
        assert!(answer("swath cat a b").contains("'swath cat' for each"));
        assert!(!answer("swath read --nothing a").contains("ingest"));
        for line in ["swath mirror -o d a", "swath mirror --into d a"] {
            assert!(answer(line).contains("name FILE before the flag"), "{}", answer(line));
        }
        assert!(!answer("swath mirror a").contains("before the flag"));
    }

    #[test]
    fn a_terminal_is_not_read_by_accident() {
        let error = no_path(&mut Cli::command(), "sum").to_string();
        assert!(error.contains("standard input is a terminal"), "{error}");
        assert!(error.contains("Usage: swath sum"), "{error}");
    }
}
