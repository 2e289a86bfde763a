//! SHA256SUMS: a line for each file of a release.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::clean;
use crate::process;

const NAME: &str = "SHA256SUMS";

/// Writes the sums of all files in `folder`, in the order of their names, and checks them.
pub(super) fn write(folder: &Path) -> Result<()> {
    let names = names(folder)?;
    if names.is_empty() {
        return Ok(());
    }
    let mut command = clean::command("sha256sum", folder);
    let text = process::output(command.arg("--").args(&names))?;
    fs::write(folder.join(NAME), text)?;
    check(folder)
}

/// Fails where a file differs from its sum, is missing, or has no sum.
pub(super) fn check(folder: &Path) -> Result<()> {
    let mut command = clean::command("sha256sum", folder);
    process::run_quietly(command.args(["--check", "--strict", "--quiet", NAME]))?;
    let text = fs::read_to_string(folder.join(NAME))?;
    let summed: Vec<&str> = text.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    for name in names(folder)? {
        let name = name.to_string_lossy().into_owned();
        ensure!(summed.contains(&name.as_str()), "{NAME} has no line for {name}");
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != NAME {
            names.push(PathBuf::from(entry.file_name()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("swath-sums-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        fs::write(folder.join("a"), "one").expect("room");
        fs::write(folder.join("b"), "two").expect("room");
        write(&folder).expect("both are summed");
        folder
    }

    #[test]
    fn a_changed_file_is_found() {
        let folder = folder("changed");
        fs::write(folder.join("b"), "twO").expect("room");
        assert!(check(&folder).is_err());
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn a_file_without_a_sum_is_found() {
        let folder = folder("more");
        check(&folder).expect("nothing has changed");
        fs::write(folder.join("c"), "three").expect("room");
        let error = check(&folder).expect_err("c has no line");
        assert_eq!(error.to_string(), "SHA256SUMS has no line for c");
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn a_missing_file_is_found() {
        let folder = folder("gone");
        fs::remove_file(folder.join("a")).expect("it is there");
        assert!(check(&folder).is_err());
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }
}
