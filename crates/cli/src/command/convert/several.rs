//! Several files that are one table: those of a folder, or those that match a pattern.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use swath::ingest::Files;

use crate::failure::Refused;
use crate::input::Input;
use crate::report::ReportName;

/// Returns the files that an input stands for, in the order of their names; `None` if it is one file.
pub(in crate::command) fn of(input: &Input) -> Result<Option<Vec<PathBuf>>> {
    let Some(path) = input.path() else { return Ok(None) };
    let files = if path.is_dir() {
        if input.segments()?.is_some() {
            only_segments(path)?;
            return Ok(None);
        }
        in_folder(path)?
    } else {
        match pattern(path)? {
            Some(pattern) => matching(pattern)?,
            None => return Ok(None),
        }
    };
    allow_open(files.len() as u64);
    Ok(Some(sorted(files)))
}

/// Raises the soft limit on open files if necessary: a table has all of its files open. If that fails, opening a file
/// reports the error.
fn allow_open(files: u64) {
    // For all other descriptors.
    const SPARE: u64 = 256;
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(files + SPARE);
    if limit.current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// Refuses a folder of segments that holds tables too: with the manifest that someone has put there, they would be
/// left out.
fn only_segments(folder: &Path) -> Result<()> {
    let other = in_folder(folder)?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        name != b"MANIFEST" && !name.starts_with(b"segment-")
    });
    let Some(other) = other else { return Ok(()) };
    let what = format!(
        "cannot read {}: it has a MANIFEST of segments, and {} beside them",
        folder.shown(),
        other.shown()
    );
    Err(Refused::new(what, "name the files, or move the MANIFEST and its segments away").into())
}

/// Returns a path that is a pattern. A file of that name is read as such, unless the pattern matches others, which
/// would be left out.
fn pattern(path: &Path) -> Result<Option<&str>> {
    let text = path.to_str().filter(|text| text.contains(['*', '?', '[', '{']));
    let Some(text) = text else { return Ok(None) };
    if path.symlink_metadata().is_err() {
        return Ok(Some(text));
    }
    // A name that is not a pattern, and one in a folder that may not be listed, means the file alone.
    let found = Files::glob(text).found().unwrap_or_default();
    let others = found.iter().filter(|it| *it != path).count();
    let what = format!(
        "cannot read {}: it is a file, and a pattern that matches {others} others",
        path.shown()
    );
    ensure!(
        others == 0,
        Refused::new(what, "put each of `*?[{` in the file's name into brackets, as `[*]`")
    );
    Ok(None)
}

fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let files = Files::glob(pattern).found()?;
    if files.is_empty() {
        let what = format!("cannot read {pattern}: no file matches");
        bail!(Refused::new(what, "check the pattern and the folder that it begins in"));
    }
    Ok(files)
}

/// Returns the files of a folder, without hidden ones and without subfolders.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let unlisted = |error: std::io::Error| {
        let what = format!("cannot list the files of {}", folder.shown());
        Refused::new(what, "ask its owner for access, or name a file").with_source(error)
    };
    for entry in folder.read_dir().map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        if is_hidden {
            continue;
        }
        let unread = |hint| Refused::new(format!("cannot read {}", path.shown()), hint);
        let facts = path
            .metadata()
            .map_err(|error| unread("mend this link, or name the files").with_source(error))?;
        ensure!(
            facts.is_file() || facts.is_dir(),
            unread("name the files: this one is a pipe, a device or a socket")
        );
        if facts.is_file() {
            files.push(path);
        }
    }
    let what = || format!("cannot read {}: there is no file in this folder", folder.shown());
    ensure!(!files.is_empty(), Refused::new(what(), "check the folder, or name a file"));
    Ok(files)
}

/// Sorts names, with numbers in them by value: `day-9` comes before `day-10`.
fn sorted(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort_by(|left, right| {
        let (left, right) = (left.as_os_str().as_bytes(), right.as_os_str().as_bytes());
        natural(left, right).then_with(|| left.cmp(right))
    });
    files
}

fn natural(mut left: &[u8], mut right: &[u8]) -> Ordering {
    while let (Some(&one), Some(&other)) = (left.first(), right.first()) {
        let order = if one.is_ascii_digit() && other.is_ascii_digit() {
            let (number, rest) = digits(left);
            let (other, others) = digits(right);
            (left, right) = (rest, others);
            number.len().cmp(&other.len()).then_with(|| number.cmp(other))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            one.cmp(&other)
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

/// Splits a name into its first digits, without leading zeros, and the rest.
fn digits(name: &[u8]) -> (&[u8], &[u8]) {
    let end = name.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(name.len());
    let (digits, rest) = name.split_at(end);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    (&digits[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let names = [
            "day-10", "day-9", "day-", "day-009b", "a9c1", "a09b2", "b", "day-9-2", "day-9-11",
        ];
        let sorted = sorted(names.map(PathBuf::from).to_vec());
        let wanted = [
            "a09b2", "a9c1", "b", "day-", "day-9", "day-9-2", "day-9-11", "day-009b", "day-10",
        ];
        assert_eq!(sorted, wanted.map(PathBuf::from));
    }
}
