//! Reads many files in the slow and obvious way: one after the other, each completely.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file and the result of reading it.
pub type Read = (PathBuf, io::Result<Vec<u8>>);

/// Reads each of `paths`, in order.
pub fn read_all(paths: &[PathBuf]) -> Vec<Read> {
    let mut all = Vec::new();
    for path in paths {
        all.push((path.clone(), fs::read(path)));
    }
    all
}

/// Returns every regular file below `folder`: in the order of their names' bytes, the files of a
/// folder before those of its subfolders. Links to files count as files; links to folders, pipes
/// and sockets are ignored.
///
/// # Errors
///
/// If a folder cannot be listed.
pub fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_link = path.is_symlink();
        if path.is_file() {
            files.push(path);
        } else if path.is_dir() && !is_link {
            folders.push(path);
        }
    }
    // Compares whole paths: all of them have the same parent.
    files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    // A slash follows each name, but is not compared: "a" comes before "a-b".
    folders.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    for folder in folders {
        files.extend(walk(&folder)?);
    }
    Ok(files)
}

/// Returns the offset of the first byte that is not UTF-8, or `None`.
#[must_use]
pub fn first_not_utf8(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let len = (1..=4).find(|&len| {
            bytes.get(at..at + len).is_some_and(|part| {
                // Exactly one character.
                std::str::from_utf8(part).is_ok_and(|text| text.chars().count() == 1)
            })
        });
        match len {
            Some(len) => at += len,
            None => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_before_folders_and_both_by_name() {
        let root =
            std::env::temp_dir().join(format!("swath-reference-{}-walk", std::process::id()));
        for folder in ["b", "a", "a-b"] {
            fs::create_dir_all(root.join(folder)).expect("room");
        }
        for file in ["z", "a/2", "a/10", "a-b/x", "b/.h"] {
            fs::write(root.join(file), file).expect("room");
        }
        let found = walk(&root).expect("listed");
        let names: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(&root).expect("below").display().to_string())
            .collect();
        assert_eq!(names, ["z", "a/10", "a/2", "a-b/x", "b/.h"]);
        let bytes: Vec<_> =
            read_all(&found).into_iter().map(|(_, bytes)| bytes.expect("read")).collect();
        assert_eq!(bytes[1], b"a/10");
        fs::remove_dir_all(&root).expect("made by this test");
    }

    #[test]
    fn what_is_no_utf8_is_found_at_its_first_byte() {
        assert_eq!(first_not_utf8("aé€𝄞".as_bytes()), None);
        assert_eq!(first_not_utf8(b"ab\xff"), Some(2));
        assert_eq!(first_not_utf8(b"a\xe2\x82"), Some(1));
        assert_eq!(first_not_utf8(b""), None);
    }
}
