//! White space, and names that do not belong in a repository.

use super::Violation;
use super::tables::{DATA_UNDER, MAY_NAME_HOSTS, PROSE, REGISTRY_HOSTS};
use super::tree::Tree;

/// Finds tabs, trailing white space, missing final newlines and hosts of registries.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts() {
        if !MAY_NAME_HOSTS.contains(&path) {
            hosts(path, text, &mut violations);
        }
        let is_data = DATA_UNDER.iter().any(|folder| path.starts_with(folder));
        if !is_data || path.ends_with(PROSE) {
            white_space(path, text, &mut violations);
        }
    }
    violations
}

fn white_space(path: &str, text: &str, violations: &mut Vec<Violation>) {
    // Make requires tabs in recipes.
    let may_hold_tabs = path.rsplit('/').next() == Some("Makefile");
    for (index, line) in text.split('\n').enumerate() {
        if line.contains('\t') && !may_hold_tabs {
            violations.push(Violation::new(path, index + 1, "a tab"));
        }
        if line.ends_with(char::is_whitespace) {
            violations.push(Violation::new(path, index + 1, "white space at the end"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let line = text.lines().count();
        violations.push(Violation::new(path, line, "no newline at the end of the file"));
    }
}

fn hosts(path: &str, text: &str, violations: &mut Vec<Violation>) {
    for (index, line) in text.lines().enumerate() {
        let line = line.to_ascii_lowercase();
        if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(*host)) {
            let text = format!("names the package registry `{host}`");
            violations.push(Violation::new(path, index + 1, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn tabs_trailing_spaces_and_missing_newlines_are_found() {
        for (text, expected) in [
            ("a\n\tb\n", "2: a tab"),
            ("a \nb\n", "1: white space at the end"),
            ("a\r\n", "1: white space at the end"),
            ("a\nb", "2: no newline at the end of the file"),
        ] {
            let planted = Planted::clean();
            planted.put("docs/guide.md", text);
            planted.finds(check, &format!("docs/guide.md:{expected}"));
        }
    }

    #[test]
    fn data_keeps_its_white_space_but_its_papers_do_not() {
        let planted = Planted::clean();
        planted.put("vectors/cells.csv", "a\tb \r\n");
        planted.put("tests/c/Makefile", "all:\n\tcc a.c\n");
        assert!(planted.found(check).is_empty());
        planted.put("vectors/README.md", "a \n");
        planted.finds(check, "vectors/README.md:1: white space at the end");
    }

    #[test]
    fn each_host_of_a_registry_is_found_and_the_lock_file_is_exempt() {
        for host in REGISTRY_HOSTS {
            let planted = Planted::clean();
            planted.put("Cargo.lock", &format!("source = \"{host}\"\n"));
            planted.put("docs/guide.md", &format!("\nhttps://{host}/swath\n"));
            planted.finds(check, "docs/guide.md:2: names the package registry");
        }
    }
}
