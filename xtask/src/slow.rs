//! The tests that `cargo xtask test --fast` leaves out: those that took long when the list was made.

use anyhow::{Context, Result};

use crate::reports;
use crate::workspace::Workspace;

const LIST: &str = "xtask/slow-tests.txt";
/// Seconds from which a test is slow, while others run.
const LONG: f64 = 0.4;
const HEAD: &str = "\
# Tests that take long, which `cargo xtask test --fast` leaves out. After `cargo xtask test`,
# `cargo xtask slow-tests` makes this list anew.
";

/// Writes the list, from the report of the last run of all tests.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let report = workspace.steps().join("tests.xml");
    let xml = std::fs::read_to_string(&report)
        .with_context(|| format!("cannot read {}; try: cargo xtask test", report.display()))?;
    let text = HEAD.to_owned() + &listed(&reports::longer_than(LONG, &xml));
    let path = workspace.root().join(LIST);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn listed(names: &[String]) -> String {
    let mut lines: Vec<String> = names.iter().map(|name| format!("{name}\n")).collect();
    lines.sort();
    lines.concat()
}

/// The names on the list.
pub(crate) fn names(workspace: &Workspace) -> Result<Vec<String>> {
    let text = workspace.read(LIST)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Returns an expression of nextest for all tests that are not on the list.
pub(crate) fn others(names: &[String]) -> String {
    // The program, and the test within it.
    let tests = names.iter().filter_map(|name| Some(name.split_once(' ')?.1));
    let tests: Vec<String> = tests.map(|name| format!("test(={name})")).collect();
    if tests.is_empty() { String::new() } else { format!("not ({})", tests.join(" | ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_left_out() {
        let names = ["swath::promises b::c".to_owned(), "swath a".to_owned()];
        assert_eq!(listed(&names), "swath a\nswath::promises b::c\n");
        assert_eq!(others(&names), "not (test(=b::c) | test(=a))");
        assert_eq!(others(&[]), "");
    }
}
