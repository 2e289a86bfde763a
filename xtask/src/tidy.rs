//! `cargo xtask tidy`: the rules of `STYLE.md` that no compiler and no lint checks.
//!
//! ```text
//! git ls-files → Tree (texts, Rust tokens) → each rule → violations, all of them listed
//! ```
//!
//! A rule is a function from a [`Tree`] to violations. What the rules allow is data in [`tables`];
//! change a rule there first.

mod banned;
mod cycles;
mod dependencies;
mod lines;
mod members;
mod modules;
mod names;
mod plain;
mod rooms;
mod rust;
mod shape;
mod signatures;
mod sizes;
mod stale;
mod tables;
mod taken;
mod text;
mod tree;
mod types;

#[cfg(test)]
mod planted;

use std::fmt;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
pub(crate) use taken::update;
use tree::Tree;

/// One violation, at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    /// Counted from 1; 1 for the whole file.
    line: usize,
    text: String,
}

impl Violation {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.text)
    }
}

type Rule = fn(&Tree) -> Vec<Violation>;

/// The rules, each with the name of its cases in `planted.txt`.
const RULES: &[(&str, Rule)] = &[
    ("dependencies", dependencies::check),
    ("rooms", rooms::check),
    ("cycles", cycles::check),
    ("unparsed", members::unparsed),
    ("dead files", members::dead_files),
    ("names", members::names),
    ("banned", banned::check),
    ("required", banned::missing),
    ("sizes", sizes::check),
    ("readme", sizes::readme),
    ("plain", plain::check),
    ("text", text::check),
    ("types", types::check),
    ("parameters", signatures::parameters),
    ("converting", signatures::converting),
    ("shape", shape::check),
    ("verbs", shape::table),
    ("examples", shape::examples),
    ("figures", taken::figures),
    ("taken", taken::check),
    ("rows", stale::rows),
    ("capabilities", stale::capabilities),
    ("flows", stale::flows),
    ("folders", stale::folders),
];

/// The request in the words after `tidy`.
#[derive(Debug, clap::Args)]
pub(crate) struct TidyWish {
    /// Print how much there is in place of checks: files and lines of each part
    ///
    /// Code is each line of Rust, Python and C that is neither blank nor a comment (a docstring is one);
    /// tests are counted apart (inline: `#[cfg(test)]`, and folders `tests`), generated files and data not at all.
    #[arg(long)]
    lines: bool,
    /// Count the tree in DIR
    #[arg(long, value_name = "DIR", requires = "lines")]
    root: Option<String>,
}

/// Checks, or counts.
pub(crate) fn start(workspace: &Workspace, wish: &TidyWish) -> Result<()> {
    match wish.lines {
        true => lines::run(workspace, wish.root.as_deref()),
        false => run(workspace),
    }
}

/// Checks the working tree, including untracked files, and lists every violation.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tree = Tree::of_git(workspace.root())?;
    let violations = violations(&tree);
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        1 => bail!("1 violation of STYLE.md"),
        count => bail!("{count} violations of STYLE.md"),
    }
}

fn violations(tree: &Tree) -> Vec<Violation> {
    let mut violations: Vec<Violation> =
        RULES.iter().flat_map(|(_, rule)| rule(tree)).collect();
    violations.sort();
    violations.dedup();
    violations
}
