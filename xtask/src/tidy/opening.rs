//! Formats read what the library opens, once, so that every source can be read, and one that
//! changes between two passes is an error.

use super::Violation;
use super::rust::begins;
use super::tree::Tree;

const FORMATS: &str = "crates/formats/src/";
const FILES: &[&str] = &["std", ":", ":", "fs"];

/// Finds formats that open or inspect files themselves, outside tests.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust().filter(|(path, _)| path.starts_with(FORMATS)) {
        for (index, token) in rust.shipped.iter().enumerate() {
            if begins(&rust.shipped[index..], FILES) {
                let text = "a format must not open files: let `swath::Input` open them";
                violations.push(Violation::new(path, token.line, text));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_format_that_opens_a_file_is_found() {
        let path = "crates/formats/src/npy.rs";
        for text in ["use std::fs;\n", "fn a() { std::fs::metadata(b); }\n"] {
            let planted = Planted::clean();
            planted.put(path, text);
            planted.finds(check, &format!("{path}:1: a format must not open files"));
            planted.put(path, &format!("#[cfg(test)]\nmod tests {{ {text} }}\n"));
            assert!(planted.found(check).is_empty());
        }
    }
}
