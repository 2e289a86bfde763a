//! Files and a README that are too long. Functions are measured by clippy: `too_many_lines`.

use super::Violation;
use super::tables::{FILE_LINES, README_WORDS};
use super::tree::Tree;

/// Finds files of more than [`FILE_LINES`] lines, their tests at the end left out.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let long = tree.rust().filter(|(path, rust)| !is_test(path) && rust.lines > FILE_LINES);
    long.map(|(path, rust)| {
        let text = format!("{} lines without tests, above {FILE_LINES}", rust.lines);
        Violation::new(path, 1, text)
    })
    .collect()
}

/// Finds a `README.md` that is longer than a page.
pub(super) fn readme(tree: &Tree) -> Vec<Violation> {
    let path = "README.md";
    let count = tree.get(path).map_or(0, |it| it.text.split_whitespace().count());
    let text = format!("{count} words, and {README_WORDS} are the limit");
    Some(Violation::new(path, 1, text)).filter(|_| count > README_WORDS).into_iter().collect()
}

/// Files that contain only tests.
fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_file_one_line_above_the_limit_is_found_its_tests_not_counted() {
        let path = "crates/plan/src/extent.rs";
        let tests = "#[cfg(test)]\nmod tests {\n    // more\n}\n";
        let planted = Planted::clean();
        planted.put(path, &format!("{}{tests}", "//\n".repeat(FILE_LINES)));
        assert!(planted.found(check).is_empty());
        planted.put(path, &format!("{}{tests}", "//\n".repeat(FILE_LINES + 1)));
        planted.finds(check, "crates/plan/src/extent.rs:1: 501 lines without tests, above 500");
        planted.put(path, "\n");
        planted.put("crates/plan/tests/promise.rs", &"//\n".repeat(FILE_LINES + 1));
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn a_readme_of_more_than_a_page_is_found() {
        let planted = Planted::clean();
        assert!(planted.found(readme).is_empty());
        planted.put("README.md", &"word ".repeat(README_WORDS));
        assert!(planted.found(readme).is_empty());
        planted.put("README.md", &"word ".repeat(README_WORDS + 1));
        planted.finds(readme, "README.md:1: 1001 words");
    }
}
