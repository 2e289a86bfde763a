//! The tables and documents describe what exists: no row for something that is gone.

use std::collections::BTreeSet;

use super::Violation;
use super::dependencies::depends_on;
use super::tables::{
    DATA_UNDER, FORBID_UNSAFE_IN, GENERATED, HUNG, MAY_NAME_HOSTS, MEMBERS, Member, PLAIN,
    RECORDS, ROOMS, SHAPED, TAKE_COUNTS, UNSAFE_UNDER,
};
use super::tree::Tree;

pub(super) const TABLES: &str = "xtask/src/tidy/tables.rs";
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
    let mut violations = members(tree, MEMBERS);
    let rooms = ROOMS.iter().map(|room| format!("crates/swath/src/{}", room.name));
    let forbidden = FORBID_UNSAFE_IN.iter().map(|&krate| krate.to_owned());
    let paths = [UNSAFE_UNDER, DATA_UNDER, MAY_NAME_HOSTS, TAKE_COUNTS, SHAPED, GENERATED];
    let paths = paths.concat().into_iter().chain([RECORDS]);
    let paths = paths.map(|path| path.trim_end_matches('/').to_owned());
    violations.extend(gone(tree, rooms.chain(forbidden).chain(paths)));
    let never = ROOMS.iter().flat_map(|room| room.never).filter(|name| !is_room(name));
    violations
        .extend(never.map(|name| stale(format!("`{name}` is neither a room nor a crate"))));
    let setters = HUNG.iter().map(|name| format!("with_{name}"));
    let names = setters.chain(PLAIN.iter().map(|name| (*name).to_owned()));
    violations.extend(unwritten(tree, names));
    violations
}

/// Whether the list of names that a room must not use may contain this one.
fn is_room(name: &str) -> bool {
    let is_crate =
        |name: &str| MEMBERS.iter().any(|it| name.strip_prefix("swath_") == Some(it.name));
    name == "verb" || ROOMS.iter().any(|room| room.name == name) || is_crate(name)
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

fn members(tree: &Tree, members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Member { name, may } in members {
        match depends_on(tree, name) {
            None => {
                violations.push(stale(format!("`{name}` is in MEMBERS but does not exist")))
            }
            Some(used) => {
                let unused = may.iter().filter(|it| !used.iter().any(|used| used == *it));
                let text = |it| format!("`{name}` may depend on `{it}` but does not");
                violations.extend(unused.map(|it| stale(text(it))));
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

/// Finds rows of the table of crates in `ARCHITECTURE.md` that contradict the tables.
pub(super) fn arrows(tree: &Tree) -> Vec<Violation> {
    let text = tree.get(ARCHITECTURE).map_or("", |it| &it.text);
    let section = text.lines().enumerate().skip_while(|(_, line)| *line != "## Crates").skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let mut violations = Vec::new();
    for (index, line) in section.filter(|(_, line)| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [first, .., last] = cells[..] else { continue };
        let path = words(first).into_iter().next().unwrap_or_default();
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let may = MEMBERS.iter().find(|it| it.name == name).map_or(&[][..], |it| it.may);
        if words(last) != may.iter().copied().collect() {
            let text = format!("`{name}` may import {may:?} according to xtask's tables");
            violations.push(Violation::new(ARCHITECTURE, index + 1, text));
        }
        if !tree.holds(path.trim_end_matches('/')) {
            violations.push(Violation::new(ARCHITECTURE, index + 1, not_there(path)));
        }
    }
    violations
}

fn not_there(path: &str) -> String {
    format!("`{path}` does not exist")
}

/// Returns the words in code; those in parentheses explain others and are left out.
fn words(cell: &str) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    let mut is_inside = false;
    for (index, part) in cell.split('`').enumerate() {
        if index % 2 == 1 {
            words.extend(Some(part).filter(|_| !is_inside));
        } else if let Some(sign) = part.chars().rev().find(|sign| "()".contains(*sign)) {
            is_inside = sign == '(';
        }
    }
    words
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
    fn a_row_of_a_crate_or_an_arrow_that_is_gone_is_found() {
        let tree = Planted::clean().tree();
        let row = |name, may| Member { name, may };
        assert_eq!(members(&tree, &[row("plan", &[]), row("swath", &["plan"])]), []);
        let found = members(&tree, &[row("remote", &[]), row("plan", &["os"])]);
        let texts: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
        let expected = [
            "`remote` is in MEMBERS but does not exist: remove it",
            "`plan` may depend on `os` but does not: remove it",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_room_or_a_folder_that_is_gone_is_found() {
        let tree = Planted::clean().tree();
        let paths = ["crates/swath/src/engine", "crates/swath/src/attic", "crates/plan"];
        let found = gone(&tree, paths.into_iter().map(str::to_owned));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].text.starts_with("`crates/swath/src/attic` has a row"), "{found:?}");
    }

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
    fn a_room_never_names_rooms_and_crates() {
        assert!(["engine", "verb", "swath_os"].into_iter().all(is_room));
        assert!(!["attic", "swath_attic", "os"].into_iter().any(is_room));
    }

    #[test]
    fn a_capability_that_no_test_asks_for_is_found() {
        let planted = Planted::clean();
        planted.put(MAY_BE_ABSENT, "# why\n\nfuse  containers\nroot  laptops\n");
        planted.put("crates/plan/tests/a.rs", "fn a() { skip(\"fuse: none\") } // root\n");
        planted.finds(capabilities, &format!("{MAY_BE_ABSENT}:4: no test needs `root`"));
    }

    #[test]
    fn a_capability_with_the_wrong_sign_between_its_words_is_found() {
        let planted = Planted::clean();
        planted.put(MAY_BE_ABSENT, "io-uring  seccomp\n");
        let text = "fn a() { skip(\"io-uring\", 1) }\nfn b() { skip(\"io_uring\", 1) }\n";
        planted.put("crates/plan/tests/a.rs", text);
        let found =
            "crates/plan/tests/a.rs:2: \"io_uring\": write `-` in the name of a capability";
        planted.finds(capabilities, found);
    }

    #[test]
    fn the_tables_are_only_asked_where_they_are() {
        let planted = Planted::clean();
        assert!(planted.found(rows).is_empty());
        planted.put(TABLES, "\n");
        assert!(planted.found(rows).len() > 5, "most of the house is missing here");
    }

    #[test]
    fn a_type_in_a_flow_that_is_gone_is_found() {
        let planted = Planted::clean();
        planted.put("crates/swath/src/team.rs", "struct IngestTeam;\nstruct Text;\n");
        let flow = "Team here\n```text\nread(Text)\n  IngestTeam  the Team, IngestTeam\n  Team::new   all\n  Text  of a FileTeam\n```\n";
        planted.put(ARCHITECTURE, flow);
        let gone = [(5, "Team"), (6, "FileTeam")]
            .map(|(line, name)| format!("{ARCHITECTURE}:{line}: `{name}` does not exist"));
        assert_eq!(planted.found(flows), gone);
    }

    #[test]
    fn arrows_in_the_paper_that_the_tables_do_not_have_are_found() {
        let planted = Planted::clean();
        let paper = |may| {
            format!(
                "# A\n\n## Crates\n\n| Crate | What | May |\n| --- | --- | --- |\n\
                 | `crates/plan` | it | – |\n\
                 | `crates/swath` | a `verb` (`x`) | {may} |\n\n## B\n| `x` | y | `z` |\n"
            )
        };
        planted.put(ARCHITECTURE, &paper("`plan`, `os` (`bytes` of it), `simd`"));
        assert!(planted.found(arrows).is_empty(), "{:?}", planted.found(arrows));
        planted.put(ARCHITECTURE, &paper("`plan`, `os` (`simd`)"));
        planted.finds(arrows, "ARCHITECTURE.md:8: `swath` may import");
    }

    #[test]
    fn a_folder_in_the_tree_that_is_gone_is_found() {
        let planted = Planted::clean();
        let tree = "    .\n    ├── crates/\n    │   ├── plan/    decides\n    │   │   └── src/\n    \
                    │   └── swath/\n    └── README.md\n";
        planted.put(STYLE, tree);
        assert!(planted.found(folders).is_empty(), "{:?}", planted.found(folders));
        planted.put(STYLE, &tree.replace("swath/", "attic/"));
        planted.finds(folders, "STYLE.md:5: `crates/attic` does not exist");
    }
}
