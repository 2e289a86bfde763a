//! Words that say that something is not finished; macros that say so are denied by clippy.

use super::Violation;
use super::tables::{DATA_UNDER, UNFINISHED_WORDS};
use super::tree::Tree;

/// Finds words that mark unfinished work.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
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
    fn each_word_of_unfinished_work_is_found_in_any_text() {
        for word in UNFINISHED_WORDS {
            for path in [PATH, "README.md"] {
                let planted = Planted::clean();
                planted.put(path, &format!("\n// {word}: later\n"));
                planted.finds(check, &format!("{path}:2: `{word}` marks unfinished work"));
            }
        }
    }
}
