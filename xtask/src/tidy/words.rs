//! Code that says it is not finished, and tests that are left out without a reason.

use super::Violation;
use super::rust::begins;
use super::tables::{DATA_UNDER, UNFINISHED_MACROS, UNFINISHED_WORDS};
use super::tree::Tree;

/// Finds macros and words that mark unfinished work, and bare `#[ignore]`.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        for (index, token) in rust.all.iter().enumerate() {
            let rest = &rust.all[index..];
            if UNFINISHED_MACROS.iter().any(|name| begins(rest, &[name, "!"])) {
                let text = format!("`{}!` marks unfinished work", token.text);
                violations.push(Violation::new(path, token.line, text));
            }
            if begins(rest, &["#", "[", "ignore", "]"]) {
                let text = "`#[ignore]` without a reason";
                violations.push(Violation::new(path, token.line, text));
            }
        }
    }
    for (path, text) in tree.texts() {
        if !DATA_UNDER.iter().any(|folder| path.starts_with(folder)) {
            unfinished(path, text, &mut violations);
        }
    }
    violations
}

fn unfinished(path: &str, text: &str, violations: &mut Vec<Violation>) {
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        if let Some(word) = words.find(|word| UNFINISHED_WORDS.contains(word)) {
            let text = format!("`{word}` marks unfinished work");
            violations.push(Violation::new(path, index + 1, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/plan/src/extent.rs";

    #[test]
    fn each_macro_of_unfinished_work_is_found() {
        for name in UNFINISHED_MACROS {
            let planted = Planted::clean();
            planted.put(PATH, &format!("// {name}!\nfn a() {{ {name}!() }}\n"));
            planted.finds(check, &format!("{PATH}:2: `{name}!` marks unfinished work"));
        }
    }

    #[test]
    fn each_word_of_unfinished_work_is_found_in_any_text() {
        for word in UNFINISHED_WORDS {
            for path in [PATH, "README.md"] {
                let planted = Planted::clean();
                planted.put(path, &format!("\n// {word}: later\n"));
                planted.finds(check, &format!("{path}:2: `{word}` marks unfinished work"));
            }
        }
    }

    #[test]
    fn an_ignored_test_needs_a_reason() {
        let planted = Planted::clean();
        planted.put(PATH, "#[ignore = \"takes an hour\"]\nfn a() {}\n");
        assert!(planted.found(check).is_empty());
        planted.put(PATH, "\n#[ignore]\nfn a() {}\n");
        planted.finds(check, &format!("{PATH}:2: `#[ignore]` without a reason"));
    }
}
