//! Detects that two names are of one file: an output must not be the input.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use swath::sink::{Fs, LocalFs, Located};

use crate::door::is_special;
use crate::input::Input;

/// Whether both are one file, also by links of either kind, or would be once created.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => identity(&one) == identity(&other),
        (Err(_), Err(_)) => resolved(one) == resolved(other),
        _ => false,
    }
}

/// Whether `path` is the file that `input` reads.
pub(crate) fn is_input(input: &Input, path: &Path) -> bool {
    match input {
        Input::Path(input) => is_same_file(input, path),
        Input::Stdin => match (own(io::stdin()), std::fs::metadata(path)) {
            (Ok((_, stdin)), Ok(other)) => identity(&stdin) == identity(&other),
            _ => false,
        },
    }
}

/// Whether standard output is the file that `input` reads, and some of its bytes are unread: written bytes
/// would be read again, or would replace unread ones.
pub(crate) fn is_stdout(input: &Input) -> bool {
    let Ok((_, stdout)) = own(io::stdout()) else { return false };
    let found = match input {
        Input::Path(path) => std::fs::metadata(path).map(|facts| (0, facts)),
        Input::Stdin => own(io::stdin())
            .and_then(|(mut stdin, facts)| Ok((stdin.stream_position()?, facts))),
    };
    found.is_ok_and(|(position, facts)| {
        facts.is_file() && identity(&facts) == identity(&stdout) && position < facts.len()
    })
}

/// Whether the pipe, socket or terminal at `path` is standard output. Writes to another device, such as
/// `/dev/null`, do not mix.
pub(crate) fn is_name_of_stdout(path: &Path) -> bool {
    match (own(io::stdout()), std::fs::metadata(path)) {
        (Ok((file, stdout)), Ok(other)) if is_special(path) => {
            identity(&stdout) == identity(&other)
                && (!stdout.file_type().is_char_device() || file.is_terminal())
        }
        _ => false,
    }
}

/// Returns a standard stream as a file, and the facts about it.
fn own(stream: impl AsFd) -> io::Result<(File, Metadata)> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    let facts = file.metadata()?;
    Ok((file, facts))
}

fn identity(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// Returns the folder in which a file of this name would be created, and its name there.
fn resolved(path: &Path) -> Option<((u64, u64), OsString)> {
    let Located { folder, name } = LocalFs.locate(path).ok()?;
    Some((folder.own_facts().ok()?.identity, name))
}
