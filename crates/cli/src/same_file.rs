//! Whether two names are of one file: an output must not be the input.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use swath::sink::{Fs, LocalFs, Located};

/// Whether both are one file, also by links of either kind, or would be once they are made.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => identity(&one) == identity(&other),
        (Err(_), Err(_)) => resolved(one) == resolved(other),
        _ => false,
    }
}

/// Whether `path` is the file that standard input reads.
pub(crate) fn is_stdin(path: &Path) -> bool {
    let stdin = io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let stdin = stdin.and_then(|file| file.metadata());
    match (stdin, std::fs::metadata(path)) {
        (Ok(stdin), Ok(other)) => identity(&stdin) == identity(&other),
        _ => false,
    }
}

fn identity(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// Returns where a file of this name would be made: the folder, and the name in it.
fn resolved(path: &Path) -> Option<((u64, u64), OsString)> {
    let Located { folder, name } = LocalFs.locate(path).ok()?;
    Some((folder.own_facts().ok()?.identity, name))
}
