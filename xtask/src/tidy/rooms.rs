//! Dependencies between the rooms of `crates/swath`, and names taken through a crate root.

use super::Violation;
use super::modules::{self, Module};
use super::tables::{FloorGroup, ROOMS, Room};
use super::tree::Tree;

const LIBRARY: &str = "crates/swath";

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

fn is_never(room: &Room, name: &str) -> bool {
    let is_verb = ROOMS.iter().any(|it| it.name == name && it.group == FloorGroup::Verb);
    room.never.iter().any(|it| *it == name || (*it == "verb" && is_verb))
}
