//! Better hints than the parser's own for some mistakes on the command line.
//!
//! ```text
//! swath -v, swath version       swath -V
//! swath read a b                swath ingest a b
//! swath cp -f a b               leave -f out: that is the default
//! swath sum        (terminal)   name a file, or pipe one in
//! ```

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of other tools: the commands, the flags, and the equivalents here.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (
        &["cp", "mirror"],
        &["-f", "--force"],
        "leave it out: existing files are replaced, unless --no-clobber is given",
    ),
    (&["cp"], &["-n"], "pass '--no-clobber' to keep an existing file"),
    (
        &["cp"],
        &["-r", "-R", "--recursive"],
        "use 'cp -r' for a folder; 'swath cp' copies one file",
    ),
    (&["cp"], &["-a", "--archive"], "use 'cp -a' for a folder; 'swath cp' copies one file"),
    (&["compress", "decompress"], &["-k", "--keep"], "leave it out: the input is always kept"),
    (
        &["compress", "decompress"],
        &["-c", "--stdout", "--to-stdout"],
        "pass '-o -' to write to standard output",
    ),
    (&["compress"], &["-d", "--decompress", "--uncompress"], "use 'swath decompress'"),
    (
        &["compress"],
        &["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "--fast", "--best"],
        "pass '--level' with a number",
    ),
    (
        &["compress", "decompress"],
        &["-T", "-p", "-j", "--threads", "--processes"],
        "pass '--workers' with a number",
    ),
    (
        &["ingest"],
        &["-r", "-R", "--recursive"],
        "leave it out: folders are read with everything below them",
    ),
    (
        &["sum"],
        &["-r", "-R", "--recursive"],
        "use 'swath ingest --hash xxh3' for the files of a folder",
    ),
    (&["head"], &["-c", "--bytes"], "use 'swath cat --length' for bytes of a file"),
    (&["head"], &["--lines"], "pass '--rows' with a number"),
    (&["gen tree"], &["-f", "--force"], "name a new folder, or empty the old one"),
    (&["manifest"], &["-c"], "pass '--check' with the manifest"),
    (&["heal"], &["-n"], "pass '--dry-run' to write nothing"),
    (&["job run"], &["-j", "-P", "--jobs", "--max-procs"], "pass '--workers' with a number"),
    (
        &["job plan"],
        &["-o", "--output"],
        "name the output first: 'swath job plan TARGET INPUT...'",
    ),
    (&["job plan"], &["-n", "-p"], "pass '--parts' with a number"),
    (&["job sweep"], &["--age", "-mtime", "-t"], "pass '--older-than' with a time, such as 7d"),
];

/// Adds a hint at the right words, where they are known. `pages` returns the names of all manual pages.
pub(crate) fn hinted(
    mut error: clap::Error,
    words: &[OsString],
    pages: impl FnOnce() -> &'static [String],
) -> clap::Error {
    if let Some(tip) = tip(&error, words, pages) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    } else if error.kind() == ErrorKind::UnknownArgument {
        drop_dashes(&mut error);
    }
    error
}

/// Removes the parser's advice to write `-- -x` for `-x`, unless there is a file of that name.
fn drop_dashes(error: &mut clap::Error) {
    let is_file = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Path::new(word).symlink_metadata().is_ok(),
        _ => false,
    };
    if is_file {
        return;
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains(" as a value"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

fn tip(
    error: &clap::Error,
    words: &[OsString],
    pages: impl FnOnce() -> &'static [String],
) -> Option<String> {
    const VERSION: &str = "to print the version, use 'swath -V'";
    let word = |index| words.get(index).and_then(|word: &OsString| word.to_str());
    let verb = word(1).unwrap_or_default();
    let tip = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidSubcommand, _) if verb == "version" => VERSION,
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => {
            match (verb, unknown.as_str()) {
                ("-v" | "--verbose", "-v" | "--verbose") => VERSION,
                ("man", _) => return Some(page_tip(&words[2..], pages())),
                ("job", word) if !word.starts_with('-') => job_tip(&words[2..])?,
                (verb @ ("gen" | "job"), flag) => {
                    flag_tip(&format!("{verb} {}", word(2).unwrap_or_default()), flag)?
                }
                (verb, flag) if flag.starts_with('-') => flag_tip(verb, flag)?,
                ("read", _) => "to load several files at once, use 'swath ingest'",
                ("cat", _) => "to write several files, call 'swath cat' for each of them",
                _ => return None,
            }
        }
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            missing_tip(verb, missing)?
        }
        (ErrorKind::ValueValidation, _) if verb == "ingest" && is_dash(error) => {
            "pass '--list -' to read paths from standard input"
        }
        (ErrorKind::ValueValidation, Some(ContextValue::String(argument)))
            if verb == "job" && is_dash(error) =>
        {
            job_dash_tip(argument)?
        }
        _ => return None,
    };
    Some(tip.to_owned())
}

/// Returns the equivalent here of another tool's `flag`.
fn flag_tip(verb: &str, flag: &str) -> Option<&'static str> {
    let is_it = |(verbs, flags, _): &&(&[&str], &[&str], _)| {
        verbs.contains(&verb) && flags.contains(&flag)
    };
    FLAGS.iter().find(is_it).map(|&(.., tip)| tip)
}

/// Returns a hint for a superfluous word after `job`.
fn job_tip(words: &[OsString]) -> Option<&'static str> {
    let has_dashes = words.iter().any(|word| word == "--");
    match words.first().and_then(|word| word.to_str()) {
        Some("run") if !has_dashes => {
            Some("write '--' before the command: 'swath job run FOLDER PART -- COMMAND'")
        }
        Some("write" | "read") => Some("use 'swath job run' for a command or several parts"),
        _ => None,
    }
}

/// Returns a hint for a dash as an argument of `job`.
fn job_dash_tip(argument: &str) -> Option<&'static str> {
    Some(match argument {
        "[INPUT]..." | "<INPUT>..." => {
            "write standard input to a file first: several processes read it"
        }
        "<TARGET>" => "name a file: a commit cannot write to standard output",
        "<FOLDER>" => "name the folder of the job, as 'swath job plan' printed it",
        _ => return None,
    })
}

/// Whether a dash was given as a value.
fn is_dash(error: &clap::Error) -> bool {
    matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value == "-")
}

/// Returns an example for a missing argument.
fn missing_tip(verb: &str, missing: &[String]) -> Option<&'static str> {
    let lacks = |name| missing.iter().any(|it| it.split(' ').next() == Some(name));
    match verb {
        "heal" if lacks("--verify-against") => Some(
            "pass '--verify-against vote' for three copies or more, or '--verify-against \
             manifest=PATH'",
        ),
        "mirror" if lacks("<DIR>...") => {
            Some("name the folders after the file: 'swath mirror FILE DIR DIR'")
        }
        "mirror" if lacks("<FILE>") => Some(
            "name FILE before the flag, which takes all words after it as folders: \
             'swath mirror FILE -o DIR...'",
        ),
        "job" if lacks("<COMMAND>...") || lacks("<PART>") => {
            Some("name the parts and the command: 'swath job run FOLDER PART -- COMMAND'")
        }
        "job" if lacks("<INPUT>...") => Some(
            "name the inputs after the output: 'swath job plan TARGET INPUT...'; without inputs, \
             pass '--parts'",
        ),
        "job" if lacks("--older-than") => Some("pass '--older-than' with a time, such as 7d"),
        "cp" if lacks("<OUT>") => {
            Some("name the file or folder to copy to, or '-' for standard output")
        }
        _ => None,
    }
}

/// Returns the name of the page for words such as `gen bytes`.
fn page_tip(words: &[OsString], pages: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let name = words.join("-");
    if pages.contains(&name) {
        format!("use 'swath man {name}'")
    } else {
        String::from("run 'swath man --list' for the names of all pages")
    }
}

/// Returns the error of a command without an input whose standard input is a terminal.
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
