//! The name of a type is unique in its crate. Two public types may share a name where the room
//! tells them apart.

use std::collections::BTreeMap;

use syn::{Ident, Item, Visibility};

use super::Violation;
use super::tree::Tree;

/// A type: its crate and its name; then where it is, and whether the library shows it.
type Named = ((String, String), (String, usize, bool));

/// Finds types whose names another type of the crate has, outside tests.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut all: BTreeMap<_, Vec<(String, usize, bool)>> = BTreeMap::new();
    for (path, rust) in tree.rust() {
        let Some((owner, rest)) = path.split_once("/src/") else { continue };
        if !rest.contains("tests") {
            types(path, owner, &rust.items, &mut |(key, place)| {
                all.entry(key).or_default().push(place);
            });
        }
    }
    let mut violations = Vec::new();
    for ((_, name), places) in &all {
        let first = &places[0];
        let others = places[1..].iter().filter(|other| !(first.2 && other.2));
        violations.extend(others.map(|(path, line, _)| {
            let why = format!(
                "`{name}` is also a type of {}:{}: let the name say which thing it is",
                first.0, first.1
            );
            Violation::new(path, *line, why)
        }));
    }
    violations
}

fn types(path: &str, owner: &str, items: &[Item], add: &mut impl FnMut(Named)) {
    for item in items {
        let (name, shown): (&Ident, &Visibility) = match item {
            Item::Enum(it) => (&it.ident, &it.vis),
            Item::Struct(it) => (&it.ident, &it.vis),
            Item::Trait(it) => (&it.ident, &it.vis),
            Item::Type(it) => (&it.ident, &it.vis),
            Item::Mod(it) => {
                let inside = it.content.as_ref().map_or(&[][..], |(_, items)| items);
                types(path, owner, inside, add);
                continue;
            }
            _ => continue,
        };
        let place =
            (path.to_owned(), name.span().start().line, matches!(shown, Visibility::Public(_)));
        add(((owner.to_owned(), name.to_string()), place));
    }
}
