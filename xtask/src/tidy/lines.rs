//! `cargo xtask tidy --lines`: the size of each part.
//!
//! ```text
//! part             files     code  comments  inline tests  tests
//! crates/plan         37    3,512     1,604         1,120    402
//! ```
//!
//! Rust, Python and C are counted. A line is code if it is neither blank nor a comment; a docstring
//! counts as a comment. Lines of tests are code lines too: *inline tests* are those of
//! `#[cfg(test)]` and of files that only it includes, *tests* those of folders with that name.
//! Files, code and comments are those of the product; generated files and data are left
//! out.

mod kinds;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;

use anyhow::Result;

use super::modules;
use super::tables::{DATA_UNDER, GENERATED};
use super::tree::{Source, Tree};
use crate::workspace::Workspace;
use kinds::Kind;

/// Prints the table for the tree at `root`, by default for this repository.
pub(crate) fn run(workspace: &Workspace, root: Option<&str>) -> Result<()> {
    let root = root.map_or(workspace.root(), Path::new);
    print!("{}", Table(count(&Tree::of_git(root)?)));
    Ok(())
}

/// The counts of a file, of a part, or of everything.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    files: usize,
    code: usize,
    comments: usize,
    inline_tests: usize,
    tests: usize,
}

impl AddAssign<&Count> for Count {
    fn add_assign(&mut self, other: &Count) {
        self.files += other.files;
        self.code += other.code;
        self.comments += other.comments;
        self.inline_tests += other.inline_tests;
        self.tests += other.tests;
    }
}

/// Counts part by part: a crate, or a folder of the root.
fn count(tree: &Tree) -> BTreeMap<String, Count> {
    let mut parts: BTreeMap<String, Count> = BTreeMap::new();
    let crates = modules::crates(tree);
    let hidden: Vec<&str> = crates.iter().flat_map(|it| it.test_only.iter().copied()).collect();
    for (path, source) in tree.files() {
        let is_left_out = GENERATED.contains(&path)
            || DATA_UNDER.iter().any(|folder| path.starts_with(folder));
        let Some(kinds) = kinds::of(path, source).filter(|_| !is_left_out) else {
            continue;
        };
        *parts.entry(part(path)).or_default() += &of_file(path, source, &kinds, &hidden);
    }
    parts
}

fn part(path: &str) -> String {
    let depth = if path.starts_with("crates/") || path.starts_with("lab/") { 2 } else { 1 };
    path.split('/').take(depth).collect::<Vec<_>>().join("/")
}

fn of_file(path: &str, source: &Source, kinds: &[Kind], hidden: &[&str]) -> Count {
    let lines = |kind: Kind| kinds.iter().filter(|it| **it == kind).count();
    if path.contains("/tests/") {
        return Count { tests: lines(Kind::Code), ..Count::default() };
    }
    if hidden.contains(&path) {
        return Count { inline_tests: lines(Kind::Code), ..Count::default() };
    }
    let mut count = Count { files: 1, ..Count::default() };
    let guarded = source.rust.as_ref().map_or(&[][..], |rust| &rust.guarded);
    for (index, kind) in kinds.iter().enumerate() {
        let is_test = guarded.iter().any(|lines| lines.contains(&(index + 1)));
        match kind {
            Kind::Code if is_test => count.inline_tests += 1,
            Kind::Code => count.code += 1,
            Kind::Comment if !is_test => count.comments += 1,
            Kind::Comment | Kind::Blank => {}
        }
    }
    count
}

struct Table(BTreeMap<String, Count>);

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["files", "code", "comments", "inline tests", "tests"];
        line(out, "part", heads.map(str::to_owned))?;
        let mut all = Count::default();
        for (name, count) in &self.0 {
            row(out, name, count)?;
            all += count;
        }
        row(out, "all", &all)
    }
}

fn row(out: &mut fmt::Formatter<'_>, name: &str, count: &Count) -> fmt::Result {
    let Count { files, code, comments, inline_tests, tests } = *count;
    line(out, name, [files, code, comments, inline_tests, tests].map(grouped))
}

/// Each column is as wide as its heading and its widest cell.
fn line(out: &mut fmt::Formatter<'_>, name: &str, cells: [String; 5]) -> fmt::Result {
    write!(out, "{name:15}")?;
    for (cell, width) in cells.into_iter().zip([6, 8, 9, 13, 7]) {
        write!(out, " {cell:>width$}")?;
    }
    writeln!(out)
}

/// `1234567` as `1,234,567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn lines_of_the_product_and_of_its_tests_are_told_apart() {
        let planted = Planted::clean();
        planted.put(
            "crates/plan/src/lib.rs",
            "//! Decides.\nmod extent;\n#[cfg(test)]\nmod deep;\n",
        );
        planted.put(
            "crates/plan/src/extent.rs",
            "/// A.\nfn a() {\n\n    b();\n}\n#[cfg(test)]\nmod tests {\n    // c\n    fn d() {}\n}\n",
        );
        planted.put("crates/plan/src/deep.rs", "fn e() {}\n");
        planted.put("crates/plan/tests/promise.rs", "// f\nfn g() {}\n");
        planted.put("python/a.py", "# h\ni\n");
        planted.put(GENERATED[0], "int j;\n");
        let parts = count(&planted.tree());
        let expected = Count { files: 2, code: 4, comments: 2, inline_tests: 7, tests: 1 };
        assert_eq!(parts["crates/plan"], expected);
        assert_eq!(parts["python"].code, 1);
        assert!(!parts.contains_key("crates/capi"), "{:?}", parts.keys());
    }

    #[test]
    fn the_last_row_is_the_sum_of_the_others() {
        let count = |code| Count { files: 1, code, ..Count::default() };
        let parts = [("a".to_owned(), count(1_000)), ("b".to_owned(), count(234))];
        let text = Table(parts.into()).to_string();
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["a", "1", "1,000", "0", "0", "0"]);
        assert_eq!(rows[3], ["all", "2", "1,234", "0", "0", "0"]);
    }
}
