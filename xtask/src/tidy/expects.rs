//! An `#[expect(…)]` must expect something: one for a lint that is not enabled would always be
//! fulfilled.

use std::collections::BTreeSet;

use super::Violation;
use super::rust::{Token, begins, closing};
use super::stale::TABLES;
use super::tables::DEFAULT_LINTS;
use super::tree::Tree;
use crate::manifest;

/// Finds expected lints that are not enabled, and rows of the table that are not used.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let enabled = enabled(tree);
    let mut violations = Vec::new();
    let mut expected = BTreeSet::new();
    for (path, rust) in tree.rust() {
        for (lint, line) in expectations(&rust.all) {
            if !enabled.contains(&lint) && !DEFAULT_LINTS.contains(&lint.as_str()) {
                let text = format!("`{lint}` is not enabled: expect nothing of it");
                violations.push(Violation::new(path, line, text));
            }
            expected.insert(lint);
        }
    }
    // The table describes only the repository that contains it.
    if tree.get(TABLES).is_some() {
        let idle = DEFAULT_LINTS.iter().filter(|lint| !expected.contains(**lint));
        let text =
            |lint| format!("`{lint}` is in DEFAULT_LINTS and nobody expects it: remove it");
        violations.extend(idle.map(|lint| Violation::new(TABLES, 1, text(lint))));
    }
    violations
}

/// Returns the lints that the manifest of the workspace enables by name.
fn enabled(tree: &Tree) -> BTreeSet<String> {
    let sections = tree.get("Cargo.toml").map(|it| manifest::sections(&it.text));
    let mut enabled = BTreeSet::new();
    for section in sections.iter().flatten() {
        let Some(tool) = section.head.strip_prefix("workspace.lints.") else { continue };
        let prefix = if tool == "rust" { String::new() } else { format!("{tool}::") };
        enabled.extend(section.entries.iter().map(|it| format!("{prefix}{}", it.key)));
    }
    enabled
}

/// Returns the lints of each `expect`, with their lines.
fn expectations(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for index in 1..tokens.len() {
        // Alone, or after the condition of a `cfg_attr`; not a method call.
        let is_attribute = ["[", ","].contains(&tokens[index - 1].text.as_str());
        if is_attribute && begins(&tokens[index..], &["expect", "("]) {
            let inside = &tokens[index + 2..closing(tokens, index + 1)];
            let lints = inside.split(|it| it.text == ",");
            let lints = lints.filter(|it| !it.is_empty() && it[0].text != "reason");
            found.extend(lints.map(|it| {
                let lint: String = it.iter().map(|it| it.text.as_str()).collect();
                (lint, it[0].line)
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/plan/src/extent.rs";

    fn planted(text: &str) -> Planted {
        let planted = Planted::clean();
        let lints = "[workspace.lints.rust]\nmissing_docs = \"deny\"\n\
                     [workspace.lints.clippy]\ncast_sign_loss = \"deny\"\n";
        planted.put("Cargo.toml", lints);
        planted.put(PATH, text);
        planted
    }

    #[test]
    fn an_expectation_of_a_lint_that_is_not_enabled_is_found() {
        for text in [
            "#[expect(clippy::cast_precision_loss, reason = \"a, b\")]\nfn a() {}\n",
            "#[expect(missing_docs, clippy::cast_precision_loss)]\nfn a() {}\n",
            "#![cfg_attr(test, expect(clippy::cast_precision_loss))]\n",
        ] {
            let expected = format!("{PATH}:1: `clippy::cast_precision_loss` is not enabled");
            planted(text).finds(check, &expected);
        }
    }

    #[test]
    fn expectations_of_enabled_lints_and_calls_are_fine() {
        let text = format!(
            "#[expect(clippy::cast_sign_loss, {}, reason = \"x\")]\n\
             #[expect(missing_docs)]\nfn a() {{ b.expect(c) }}\n",
            DEFAULT_LINTS[0]
        );
        assert_eq!(planted(&text).found(check), Vec::<String>::new());
    }
}
