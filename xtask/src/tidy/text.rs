//! White space, and names and words that do not belong in a repository.

use super::Violation;
use super::tables::{DATA_UNDER, MAY_NAME_HOSTS, PROSE, REGISTRY_HOSTS, UNFINISHED_WORDS};
use super::tree::Tree;

/// Finds tabs, trailing white space, missing final newlines, hosts of registries, and words that mark
/// unfinished work.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts() {
        let mut add = |line, text: String| violations.push(Violation::new(path, line, text));
        let is_data = DATA_UNDER.iter().any(|folder| path.starts_with(folder));
        let has_rules = !is_data || path.ends_with(PROSE);
        // Make requires tabs in recipes.
        let may_hold_tabs = path.rsplit('/').next() == Some("Makefile");
        for (index, line) in text.split('\n').enumerate() {
            if has_rules && line.contains('\t') && !may_hold_tabs {
                add(index + 1, "a tab".to_owned());
            }
            if has_rules && line.ends_with(char::is_whitespace) {
                add(index + 1, "white space at the end".to_owned());
            }
            let lower = line.to_ascii_lowercase();
            let host = REGISTRY_HOSTS.iter().find(|host| lower.contains(*host));
            if let Some(host) = host.filter(|_| !MAY_NAME_HOSTS.contains(&path)) {
                add(index + 1, format!("names the package registry `{host}`"));
            }
            let mut words = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            let word = words.find(|word| UNFINISHED_WORDS.contains(word));
            if let Some(word) = word.filter(|_| !is_data) {
                add(index + 1, format!("`{word}` marks unfinished work"));
            }
        }
        if has_rules && !text.is_empty() && !text.ends_with('\n') {
            add(text.lines().count(), "no newline at the end of the file".to_owned());
        }
    }
    violations
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

    #[test]
    fn each_word_of_unfinished_work_is_found_in_any_text() {
        for word in UNFINISHED_WORDS {
            for path in ["crates/plan/src/extent.rs", "README.md"] {
                let planted = Planted::clean();
                planted.put(path, &format!("\n// {word}: later\n"));
                planted.finds(check, &format!("{path}:2: `{word}` marks unfinished work"));
            }
        }
    }
}
