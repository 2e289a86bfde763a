//! Code that a file must not have, and lines that it must have, by the tables.

use super::Violation;
use super::rust::begins;
use super::tables::{BANNED, Banned, REQUIRED};
use super::tree::Tree;

/// Finds each row of [`BANNED`].
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        for banned in BANNED.iter().filter(|it| it.is_about(path)) {
            let tokens = if banned.in_tests { &rust.all } else { &rust.shipped };
            let starts = 0..tokens.len();
            let found = starts.filter(|start| begins(&tokens[*start..], banned.tokens));
            let line = |start: usize| tokens[start].line;
            violations.extend(found.map(|it| Violation::new(path, line(it), banned.why)));
        }
    }
    violations
}

impl Banned {
    fn is_about(&self, path: &str) -> bool {
        let is_below = |it: &&str| path.starts_with(it);
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        self.under.iter().any(is_below)
            && !self.except.iter().any(is_below)
            && (self.in_tests || !is_test)
    }
}

/// Finds files without their line of [`REQUIRED`].
pub(super) fn missing(tree: &Tree) -> Vec<Violation> {
    let lacks = |(path, line): &&(&str, &str)| {
        tree.get(path).is_some_and(|it| it.text.lines().all(|it| it != *line))
    };
    let missing = REQUIRED.iter().filter(lacks);
    missing
        .map(|(path, line)| Violation::new(path, 1, format!("`{line}` is missing")))
        .collect()
}
