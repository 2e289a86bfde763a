//! The contents of a crate: no file that is not compiled, no name that says nothing.

use std::collections::BTreeSet;

use super::Violation;
use super::modules::{self, Crate};
use super::tables::EMPTY_NAMES;
use super::tree::Tree;
use crate::manifest;

/// Finds Rust files that no `mod` and no manifest names.
pub(super) fn dead_files(tree: &Tree) -> Vec<Violation> {
    let crates = modules::crates(tree);
    let alive: BTreeSet<&str> = crates.iter().flat_map(Crate::files).collect();
    let mut violations = Vec::new();
    for folder in tree.packages() {
        let src = format!("{folder}/src/");
        let files = tree.rust().map(|(path, _)| path).filter(|path| path.starts_with(&src));
        let dead = files.filter(|path| !alive.contains(path));
        violations.extend(dead.map(|path| Violation::new(path, 1, "no `mod` names this file")));
    }
    violations.extend(dead_examples(tree));
    violations
}

/// Finds files that cannot be parsed as Rust.
pub(super) fn unparsed(tree: &Tree) -> Vec<Violation> {
    let errors = tree.rust().filter_map(|(path, rust)| Some((path, rust.error.as_ref()?)));
    let violation = |(path, error): (&str, &syn::Error)| {
        Violation::new(path, error.span().start().line, format!("cannot be parsed: {error}"))
    };
    errors.map(violation).collect()
}

/// Examples next to the manifest that are not listed in it are never compiled.
fn dead_examples(tree: &Tree) -> Vec<Violation> {
    let Some(manifest) = tree.get("examples/Cargo.toml") else { return Vec::new() };
    let sections = manifest::sections(&manifest.text);
    let listed: Vec<&str> = sections
        .iter()
        .filter(|it| it.head == "example" || it.head == "lib")
        .filter_map(|it| it.string("path"))
        .collect();
    tree.rust()
        .filter_map(|(path, _)| Some((path, path.strip_prefix("examples/")?)))
        .filter(|(_, inner)| !inner.contains('/') && !listed.contains(inner))
        .map(|(path, _)| {
            Violation::new(path, 1, "no [[example]] of examples/Cargo.toml has this path")
        })
        .collect()
}

/// Finds files, folders and modules with names that say nothing.
pub(super) fn names(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in tree.paths() {
        let parts = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        if let Some(name) = parts.into_iter().find(|it| EMPTY_NAMES.contains(it)) {
            violations.push(Violation::new(path, 1, empty_name(name)));
        }
    }
    for (path, rust) in tree.rust() {
        for pair in rust.all.windows(3).filter(|it| it[0].text == "mod" && it[2].text == "{") {
            if EMPTY_NAMES.contains(&pair[1].text.as_str()) {
                let text = empty_name(&pair[1].text);
                violations.push(Violation::new(path, pair[1].line, text));
            }
        }
    }
    violations
}

fn empty_name(name: &str) -> String {
    format!("`{name}` says nothing about what is inside")
}
