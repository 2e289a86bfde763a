//! The contents of a crate: no file that is not compiled, no crate that is not described, no name
//! that says nothing.

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

/// Finds crates that `ARCHITECTURE.md` does not mention.
pub(super) fn architecture(tree: &Tree) -> Vec<Violation> {
    let path = "ARCHITECTURE.md";
    let text = tree.get(path).map_or("", |it| it.text.as_str());
    let crates = tree.packages().into_iter().filter_map(|it| it.strip_prefix("crates/"));
    crates
        .filter(|name| !is_mentioned(text, name))
        .map(|name| Violation::new(path, 1, format!("crates/{name} is not described")))
        .collect()
}

/// As a folder, as a package, or as a word of code.
fn is_mentioned(text: &str, name: &str) -> bool {
    text.contains(&format!("crates/{name}"))
        || text.contains(&format!("swath-{name}"))
        || text.contains(&format!("`{name}`"))
        || text.contains(&format!("{name}/"))
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

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_file_that_no_mod_names_is_found() {
        for path in ["crates/plan/src/old.rs", "crates/swath/src/engine/old/mod.rs"] {
            let planted = Planted::clean();
            planted.put(path, "fn a() {}\n");
            planted.finds(dead_files, &format!("{path}:1: no `mod` names this file"));
        }
    }

    #[test]
    fn modules_in_folders_binaries_and_named_paths_are_alive() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/main.rs", "mod words;\n#[path = \"x.rs\"]\nmod y;\n");
        planted.put("crates/plan/src/words/mod.rs", "#[cfg(test)]\nmod tests;\n");
        planted.put("crates/plan/src/words/tests.rs", "\n");
        planted.put("crates/plan/src/x.rs", "\n");
        planted.put("crates/plan/src/bin/other.rs", "\n");
        assert!(planted.found(dead_files).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_found() {
        for (text, line) in [("fn a() {}\nfn b( {}\n", 2), ("\nuse a\n", 1), ("fn a() {\n", 1)]
        {
            let planted = Planted::clean();
            planted.put("crates/plan/src/extent.rs", text);
            planted.finds(unparsed, &format!("crates/plan/src/extent.rs:{line}: cannot be"));
        }
    }

    #[test]
    fn an_example_that_the_manifest_does_not_list_is_found() {
        let planted = Planted::clean();
        let manifest = "[lib]\npath = \"lib.rs\"\n[[example]]\nname = \"a\"\npath = \"a.rs\"\n";
        planted.put("examples/Cargo.toml", manifest);
        for path in ["examples/lib.rs", "examples/a.rs", "examples/b.rs"] {
            planted.put(path, "\n");
        }
        planted.finds(dead_files, "examples/b.rs:1: no [[example]]");
    }

    #[test]
    fn a_crate_that_the_architecture_does_not_describe_is_found() {
        let planted = Planted::clean();
        planted.put("ARCHITECTURE.md", "`crates/swath` plans\n");
        planted.finds(architecture, "ARCHITECTURE.md:1: crates/plan is not described");
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        for path in ["crates/plan/src/utils.rs", "crates/swath/tests/common/mod.rs"] {
            let planted = Planted::clean();
            planted.put(path, "\n");
            planted.finds(names, &format!("{path}:1: `"));
        }
        let planted = Planted::clean();
        planted.put("crates/plan/src/extent.rs", "\nmod misc {}\n");
        planted.finds(names, "crates/plan/src/extent.rs:2: `misc` says nothing");
    }
}
