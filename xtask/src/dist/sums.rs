//! SHA256SUMS: a line for each file of a release.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::clean;
use crate::process;

const NAME: &str = "SHA256SUMS";

/// Writes the sums of all files in `folder`, in the order of their names.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != NAME {
            names.push(entry.file_name());
        }
    }
    names.sort();
    if names.is_empty() {
        return Ok(());
    }
    let mut command = clean::command("sha256sum", folder);
    fs::write(folder.join(NAME), process::output(command.arg("--").args(&names))?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_a_line_and_the_sums_of_before_are_replaced() {
        let folder = std::env::temp_dir().join(format!("swath-sums-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        for name in ["b", "a"] {
            fs::write(folder.join(name), "").expect("room");
            write(&folder).expect("all are summed");
        }
        let text = fs::read_to_string(folder.join(NAME)).expect("it is written");
        let names: Vec<_> = text.lines().filter_map(|it| it.split("  ").nth(1)).collect();
        assert_eq!(names, ["a", "b"]);
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }
}
