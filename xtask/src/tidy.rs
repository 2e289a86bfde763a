//! `cargo xtask tidy`: the rules of `STYLE.md` that no compiler and no lint checks.
//!
//! ```text
//! git ls-files → Tree (texts, Rust tokens) → each rule → violations, all of them listed
//! ```
//!
//! A rule is a function from a [`Tree`] to violations. What the rules allow is data in [`tables`];
//! change a rule there first.

mod converting;
mod cycles;
mod dependencies;
mod expects;
mod members;
mod modules;
mod names;
mod opening;
mod parameters;
mod plain;
mod rooms;
mod rust;
mod shape;
mod sizes;
mod stale;
mod tables;
mod taken;
mod text;
mod threads;
mod tree;
mod types;
mod unsafety;
mod words;

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

const RULES: &[Rule] = &[
    dependencies::check,
    rooms::check,
    cycles::check,
    members::unparsed,
    members::dead_files,
    members::architecture,
    members::names,
    unsafety::check,
    sizes::check,
    words::check,
    plain::check,
    plain::readme,
    expects::check,
    text::check,
    threads::check,
    types::check,
    opening::check,
    parameters::check,
    converting::check,
    shape::check,
    shape::table,
    shape::examples,
    taken::figures,
    taken::check,
    stale::rows,
    stale::capabilities,
    stale::arrows,
    stale::flows,
    stale::folders,
];

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
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    violations.sort();
    violations.dedup();
    violations
}
