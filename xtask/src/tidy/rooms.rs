//! Arrows between the rooms of `crates/swath`, and names taken through a crate root.

use super::Violation;
use super::paths::{self, File};
use super::tables::{Group, ROOMS, Room};
use super::tree::Tree;

const LIBRARY: &str = "crates/swath";

/// Finds rooms that name what they never may, and arrows that a root would hide.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for folder in tree.packages().into_iter().filter(|it| it.starts_with("crates/")) {
        let modules = paths::top_level(tree, folder);
        for file in paths::files(tree, folder) {
            through_root(&file, &modules, &mut violations);
            if folder == LIBRARY {
                check_room(&file, &mut violations);
            }
        }
    }
    violations
}

fn through_root(file: &File<'_>, modules: &[&str], violations: &mut Vec<Violation>) {
    for named in &file.names {
        if !named.is_macro && !modules.contains(&named.name.as_str()) {
            let text =
                format!("`{}` is named through the crate root, not by its module", named.name);
            violations.push(Violation::new(file.path, named.line, text));
        }
    }
}

fn check_room(file: &File<'_>, violations: &mut Vec<Violation>) {
    let Some(room) = ROOMS.iter().find(|it| it.name == file.module) else {
        let module = file.module;
        let text = format!("`{module}` is not in ROOMS of xtask/src/tidy/tables.rs: add it");
        violations.push(Violation::new(file.path, 1, text));
        return;
    };
    let modules = file.names.iter().map(|it| (it.name.as_str(), it.line));
    let crates = file.tokens.iter().map(|it| (it.text.as_str(), it.line));
    let crates = crates.filter(|(text, _)| text.starts_with("swath_"));
    for (name, line) in modules.chain(crates) {
        if name != room.name && is_never(room, name) {
            let text = format!("`{}` must never name `{name}`", room.name);
            violations.push(Violation::new(file.path, line, text));
        }
    }
}

fn is_never(room: &Room, name: &str) -> bool {
    let is_verb = ROOMS.iter().any(|it| it.name == name && it.group == Group::Verb);
    room.never.iter().any(|it| *it == name || (*it == "verb" && is_verb))
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    /// The clean tree with one more line in a file of the library.
    fn with(path: &str, text: &str) -> Planted {
        let planted = Planted::clean();
        planted.put(
            "crates/swath/src/lib.rs",
            "mod buffer;\nmod engine;\nmod error;\nmod read;\nmod records;\nmod sink;\n",
        );
        planted.put(&format!("crates/swath/src/{path}"), text);
        planted
    }

    #[test]
    fn each_room_that_looks_ahead_is_found() {
        for (path, text, expected) in [
            ("error.rs", "use crate::buffer;\n", "1: `error` must never name `buffer`"),
            ("buffer.rs", "\nuse crate::engine;\n", "2: `buffer` must never name `engine`"),
            ("engine/pool.rs", "use crate::sink;\n", "1: `engine` must never name `sink`"),
            ("engine.rs", "use crate::read;\n", "1: `engine` must never name `read`"),
            ("records.rs", "use swath_os::ring;\n", "1: `records` must never name `swath_os`"),
            ("sink.rs", "fn a() { crate::records::b() }\n", "1: `sink` must never name `rec"),
        ] {
            with(path, text).finds(check, &format!("crates/swath/src/{path}:{expected}"));
        }
    }

    #[test]
    fn tests_of_a_room_may_name_any_other() {
        let text = "#[cfg(test)]\nmod tests {\n    use crate::sink;\n}\n";
        assert!(with("buffer.rs", text).found(check).is_empty());
    }

    #[test]
    fn verbs_may_name_every_room() {
        let text = "use crate::{buffer, engine, error, records, sink};\nuse swath_os::ring;\n";
        assert!(with("read.rs", text).found(check).is_empty());
    }

    #[test]
    fn a_room_that_is_not_in_the_table_is_found() {
        with("attic.rs", "\n").finds(check, "crates/swath/src/attic.rs:1: `attic` is not in");
    }

    #[test]
    fn a_name_through_the_crate_root_is_found() {
        with("read.rs", "use crate::Error;\n").finds(
            check,
            "crates/swath/src/read.rs:1: `Error` is named through the crate root",
        );
        assert!(with("read.rs", "crate::trace!();\n").found(check).is_empty());
    }
}
