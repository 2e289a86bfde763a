//! The tables and documents describe what exists: no row for something that is gone.

use std::collections::BTreeSet;

use super::Violation;
use super::tables::{
    BANNED, DATA_UNDER, GENERATED, HUNG, MAY_NAME_HOSTS, PLAIN, RECORDS, REQUIRED, ROOMS,
    SHAPED, TAKE_COUNTS,
};
use super::tree::Tree;

const TABLES: &str = "xtask/src/tidy/tables.rs";
const MAY_BE_ABSENT: &str = "xtask/may-be-absent.txt";
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const STYLE: &str = "STYLE.md";

/// Finds rows of [`tables`](super::tables) for members, dependencies, rooms, folders and functions
/// that do not exist.
pub(super) fn rows(tree: &Tree) -> Vec<Violation> {
    // The tables describe only the repository that contains them.
    if tree.get(TABLES).is_none() {
        return Vec::new();
    }
    let rooms = ROOMS.iter().map(|room| format!("crates/swath/src/{}", room.name));
    let never = ROOMS.iter().flat_map(|room| room.never).filter(|name| **name != "verb");
    let never = never.map(|name| match name.strip_prefix("swath_") {
        Some(name) => format!("crates/{name}"),
        None => format!("crates/swath/src/{name}"),
    });
    let banned = BANNED.iter().flat_map(|it| it.under.iter().chain(it.except));
    let paths = [DATA_UNDER, MAY_NAME_HOSTS, TAKE_COUNTS, SHAPED, GENERATED, &[RECORDS]];
    let paths = banned.copied().chain(paths.concat()).chain(REQUIRED.iter().map(|it| it.0));
    let paths = paths.map(|path| path.trim_end_matches('/').to_owned());
    let mut violations = gone(tree, rooms.chain(never).chain(paths));
    let setters = HUNG.iter().map(|name| format!("with_{name}"));
    let names = setters.chain(PLAIN.iter().map(|name| (*name).to_owned()));
    violations.extend(unwritten(tree, names));
    violations
}

/// Returns the functions of the libraries that do not exist.
fn unwritten(tree: &Tree, names: impl Iterator<Item = String>) -> Vec<Violation> {
    let shaped = tree.rust().filter(|(path, _)| SHAPED.iter().any(|it| path.starts_with(it)));
    let functions: BTreeSet<&str> = shaped
        .flat_map(|(_, rust)| rust.shipped.windows(2).filter(|pair| pair[0].text == "fn"))
        .map(|pair| pair[1].text.as_str())
        .collect();
    let gone = names.filter(|name| !functions.contains(name.as_str()));
    gone.map(|name| stale(format!("no function is named `{name}`"))).collect()
}

/// Finds capabilities that may be absent and that no test needs, and those that a test spells in
/// another way than the list does.
pub(super) fn capabilities(tree: &Tree) -> Vec<Violation> {
    let text = tree.get(MAY_BE_ABSENT).map_or("", |it| &it.text);
    let rows = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let mut violations = misspelled(tree);
    for (index, line) in rows {
        let Some(name) = line.split_whitespace().next() else { continue };
        let asked = format!("\"{name}");
        if !tree.texts().any(|(_, text)| text.contains(&asked)) {
            let text = format!("no test needs `{name}`: remove it");
            violations.push(Violation::new(MAY_BE_ABSENT, index + 1, text));
        }
    }
    violations
}

/// Returns the tests that skip for a capability with `_` in its name: the list has hyphens, so the
/// skip would fail in CI, and only on the day that the capability is missing.
fn misspelled(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        let skips = rust.all.windows(3).filter(|it| it[0].text == "skip" && it[1].text == "(");
        for name in skips.map(|it| &it[2]) {
            if name.text.starts_with('"') && name.text.contains('_') {
                let text = format!("{}: write `-` in the name of a capability", name.text);
                violations.push(Violation::new(path, name.line, text));
            }
        }
    }
    violations
}

/// Returns the modules and folders that do not exist.
fn gone(tree: &Tree, paths: impl Iterator<Item = String>) -> Vec<Violation> {
    let gone = paths.filter(|path| !tree.holds(path) && !tree.holds(&format!("{path}.rs")));
    gone.map(|path| stale(format!("`{path}` has a row but does not exist"))).collect()
}

fn stale(text: String) -> Violation {
    Violation::new(TABLES, 1, format!("{text}: remove it"))
}

fn not_there(path: &str) -> String {
    format!("`{path}` does not exist")
}

/// Finds types in the flows of `ARCHITECTURE.md` that do not exist: at the beginning of a line any, after it those
/// that only a type can be.
pub(super) fn flows(tree: &Tree) -> Vec<Violation> {
    let tokens = tree.rust().flat_map(|(_, rust)| rust.all.windows(2));
    let named = tokens
        .filter(|pair| ["struct", "enum", "trait", "type"].contains(&pair[0].text.as_str()));
    let types: BTreeSet<&str> = named.map(|pair| pair[1].text.as_str()).collect();
    let is_type = |word: &str| {
        word.starts_with(|first: char| first.is_uppercase())
            && word.contains(|sign: char| sign.is_lowercase())
    };
    let text = tree.get(ARCHITECTURE).map_or("", |it| &it.text);
    let (mut violations, mut is_flow) = (Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_flow = line == "```text";
        }
        if !is_flow {
            continue;
        }
        let (first, rest) = line.trim_start().split_once("  ").unwrap_or((line, ""));
        let words = |text| str::split(text, |sign: char| !sign.is_alphanumeric());
        let is_camel = |word: &&str| {
            let capital = |sign: char| sign.is_uppercase();
            is_type(word) && word.chars().skip(1).any(capital)
        };
        let named =
            words(first).filter(|word| is_type(word)).chain(words(rest).filter(is_camel));
        let gone = named.filter(|word| !types.contains(word));
        violations
            .extend(gone.map(|name| Violation::new(ARCHITECTURE, index + 1, not_there(name))));
    }
    violations
}

/// Finds names in the tree of folders in `STYLE.md` that do not exist.
pub(super) fn folders(tree: &Tree) -> Vec<Violation> {
    const BRANCH: &str = "── ";
    let text = tree.get(STYLE).map_or("", |it| &it.text);
    let mut parents: Vec<String> = Vec::new();
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((before, after)) = line.split_once(BRANCH) else { continue };
        // Four columns for each level, and four for the margin of the code block.
        let depth = (before.chars().count() / 4).saturating_sub(1);
        let name = after.split(' ').next().unwrap_or_default().trim_end_matches('/');
        parents.truncate(depth);
        parents.push(name.to_owned());
        let path = parents.join("/");
        if !tree.holds(&path) {
            violations.push(Violation::new(STYLE, index + 1, not_there(&path)));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_function_that_is_gone_is_found() {
        let planted = Planted::clean();
        let text = "pub fn open() {}\nmade! { fn with_fs() {} }\n#[cfg(test)]\nfn save() {}\n";
        planted.put("crates/swath/src/read.rs", text);
        let names = ["open", "with_fs", "save"].map(str::to_owned);
        let found = unwritten(&planted.tree(), names.into_iter());
        let texts: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["no function is named `save`: remove it"]);
    }

    #[test]
    fn the_tables_are_only_asked_where_they_are() {
        let planted = Planted::clean();
        assert!(planted.found(rows).is_empty());
        planted.put(TABLES, "\n");
        assert!(planted.found(rows).len() > 5, "most of the house is missing here");
    }
}
