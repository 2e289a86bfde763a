//! Dependencies between the rooms of `crates/swath`, and names taken through a crate root.

use super::Violation;
use super::modules::{self, Module};
use super::tables::{FloorGroup, ROOMS, Room};
use super::tree::Tree;

const LIBRARY: &str = "crates/swath";
const COMMAND: &str = "crates/cli";
/// The only files of the product that name the laboratory.
const LABORATORY: &str = "crates/cli/src/lab";

/// Finds rooms that name something they must not, and dependencies that a root would hide.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for krate in modules::crates(tree).iter().filter(|it| it.folder.contains('/')) {
        let declared = krate.modules.get([].as_slice()).map(|root| &root.names.inside);
        let is_module = |name: &str| declared.is_some_and(|it| it.iter().any(|it| it == name));
        for module in krate.modules.values().filter(|it| it.file != krate.root) {
            through_root(module, is_module, &mut violations);
            if krate.folder == LIBRARY {
                check_room(tree, module, &mut violations);
            }
            if krate.folder == COMMAND && !module.file.starts_with(LABORATORY) {
                violations.extend(names_laboratory(tree, module));
            }
        }
    }
    violations
}

fn through_root(
    module: &Module<'_>,
    is_module: impl Fn(&str) -> bool,
    violations: &mut Vec<Violation>,
) {
    for (name, path) in module.names_at_root() {
        if !path.is_macro && !is_module(name) {
            let text = format!("`{name}` is named through the crate root, not by its module");
            violations.push(Violation::new(module.file, path.line, text));
        }
    }
}

fn check_room(tree: &Tree, module: &Module<'_>, violations: &mut Vec<Violation>) {
    let top = module.top();
    let Some(room) = ROOMS.iter().find(|it| it.name == top) else {
        let text = format!("`{top}` is not in ROOMS of xtask/src/tidy/tables.rs: add it");
        violations.push(Violation::new(module.file, 1, text));
        return;
    };
    let modules = module.names_at_root().map(|(name, path)| (name, path.line));
    let tokens = tree.get(module.file).and_then(|it| it.rust.as_ref()).map(|it| &it.shipped);
    let crates = tokens.into_iter().flatten().map(|it| (it.text.as_str(), it.line));
    let crates = crates.filter(|(text, _)| text.starts_with("swath_"));
    for (name, line) in modules.chain(crates) {
        if name != room.name && is_never(room, name) {
            let text = format!("`{}` must never name `{name}`", room.name);
            violations.push(Violation::new(module.file, line, text));
        }
    }
}

fn names_laboratory(tree: &Tree, module: &Module<'_>) -> Option<Violation> {
    let tokens = &tree.get(module.file)?.rust.as_ref()?.shipped;
    let token = tokens.iter().find(|it| it.text == "swath_study")?;
    let text = format!("the laboratory is named below {LABORATORY} only");
    Some(Violation::new(module.file, token.line, text))
}

fn is_never(room: &Room, name: &str) -> bool {
    let is_verb = ROOMS.iter().any(|it| it.name == name && it.group == FloorGroup::Verb);
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
            "mod attic;\nmod buffer;\nmod engine;\nmod error;\nmod read;\nmod records;\nmod sink;\n",
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
    fn a_file_of_the_command_that_names_the_laboratory_is_found() {
        let planted = Planted::clean();
        planted.put("crates/cli/Cargo.toml", "[package]\nname = \"swath-cli\"\n");
        planted.put("crates/cli/src/lib.rs", "mod lab;\nmod run;\n");
        planted.put("crates/cli/src/lab.rs", "use swath_study::tune;\n");
        planted.put("crates/cli/src/run.rs", "\nuse swath_study::tune;\n");
        planted.finds(check, "crates/cli/src/run.rs:2: the laboratory is named below");
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
