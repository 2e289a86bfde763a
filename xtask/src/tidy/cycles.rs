//! Import cycles: between the top-level modules of a crate, and between its files.
//!
//! ```text
//! codec.rs   use super::gzip::Encoder;     ↺  one of the two knows too much
//! gzip.rs    use super::codec::Encode;
//! ```
//!
//! A file depends on another if it names an item that the other one defines, whichever module
//! re-exports it. The modules that a file declares are parts of it, so naming them is not a
//! dependency, and they may name it. Methods are not considered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Violation;
use super::modules::{self, Crate, Module};
use super::names::Used;
use super::tree::Tree;

/// Importer → imported → the first place where it is named.
type Arrows<'t> = BTreeMap<&'t str, BTreeMap<&'t str, (&'t str, usize)>>;

/// Finds each cycle once, at the import in its first file or module.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let crates = modules::crates(tree);
    let of_crate = |krate: &Crate<'_>| [circles(&of_rooms(krate)), circles(&of_files(krate))];
    crates.iter().flat_map(of_crate).flatten().collect()
}

fn of_rooms<'c>(krate: &'c Crate<'_>) -> Arrows<'c> {
    let modules = || krate.modules.values().filter(|it| it.file != krate.root);
    let tops: BTreeSet<&str> = modules().map(Module::top).collect();
    let mut arrows = Arrows::new();
    for module in modules() {
        for (name, path) in module.names_at_root() {
            if name != module.top() && tops.contains(name) {
                let targets = arrows.entry(module.top()).or_default();
                targets.entry(name).or_insert((module.file, path.line));
            }
        }
    }
    arrows
}

fn of_files<'c>(krate: &'c Crate<'_>) -> Arrows<'c> {
    let mut arrows = Arrows::new();
    for module in krate.modules.values() {
        let names = &module.names;
        let is_needed = |it: &&Used| !it.is_shown && it.name != "*";
        let used = names.used.iter().filter(is_needed).map(|it| &it.path);
        for path in used.chain(&names.paths) {
            let file = krate.file_of(path);
            if let Some(file) = file.filter(|file| !is_part(krate, file, module.file)) {
                let targets = arrows.entry(module.file).or_default();
                targets.entry(file).or_insert((module.file, path.line));
            }
        }
    }
    arrows
}

/// Whether `file` is `whole`, or a part of it.
fn is_part(krate: &Crate<'_>, file: &str, whole: &str) -> bool {
    let folder = whole.strip_suffix("/mod.rs").or_else(|| whole.strip_suffix(".rs"));
    let inner = folder.and_then(|folder| file.strip_prefix(folder));
    file == whole || whole == krate.root || inner.is_some_and(|it| it.starts_with('/'))
}

fn circles(arrows: &Arrows<'_>) -> Vec<Violation> {
    let mut seen = BTreeSet::new();
    let cycles = arrows.keys().filter_map(|start| shortest_cycle(arrows, start));
    let once = cycles.filter(|it| seen.insert(it.iter().copied().collect::<BTreeSet<_>>()));
    once.map(|cycle| violation(arrows, &cycle)).collect()
}

/// Returns the shortest cycle through `start`, with `start` first.
fn shortest_cycle<'a>(arrows: &Arrows<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for target in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
            if *target == start {
                return Some(way(&came_from, start, module));
            }
            if !came_from.contains_key(target) {
                came_from.insert(target, module);
                queue.push_back(target);
            }
        }
    }
    None
}

fn way<'a>(came_from: &BTreeMap<&'a str, &'a str>, start: &str, end: &'a str) -> Vec<&'a str> {
    let mut way = vec![end];
    let mut module = end;
    while module != start {
        let Some(previous) = came_from.get(module) else { break };
        module = previous;
        way.push(module);
    }
    way.reverse();
    way
}

fn violation(arrows: &Arrows<'_>, cycle: &[&str]) -> Violation {
    let mut text = String::from("import cycle:");
    let mut place = None;
    for (index, module) in cycle.iter().enumerate() {
        let next = cycle[(index + 1) % cycle.len()];
        let (path, line) = arrows[module][next];
        place.get_or_insert((path, line));
        text.push_str(&format!(" `{module}` names `{next}` ({path}:{line})"));
    }
    let (path, line) = place.unwrap_or_default();
    Violation::new(path, line, text)
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_cycle_is_found_once_with_every_arrow_of_it() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n");
        planted.put("crates/plan/src/a.rs", "use crate::b::B;\n");
        planted.put("crates/plan/src/b/mod.rs", "mod deep;\n");
        planted.put("crates/plan/src/b/deep.rs", "\nuse super::super::c::C;\n");
        planted.put("crates/plan/src/c.rs", "use super::a::A;\n");
        planted.put("crates/plan/src/d.rs", "use crate::a::A;\n");
        planted.finds(
            check,
            "crates/plan/src/a.rs:1: import cycle: \
             `a` names `b` (crates/plan/src/a.rs:1) \
             `b` names `c` (crates/plan/src/b/deep.rs:2) \
             `c` names `a` (crates/plan/src/c.rs:1)",
        );
    }

    #[test]
    fn parts_of_one_module_and_tests_make_no_cycle() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "mod a;\nmod b;\n");
        planted.put("crates/plan/src/a.rs", "use crate::b::B;\nmod x;\nmod y;\n");
        planted.put("crates/plan/src/a/x.rs", "use crate::a::y;\n");
        planted.put("crates/plan/src/a/y.rs", "use crate::a::x;\n");
        planted.put("crates/plan/src/b.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\n");
        assert!(planted.found(check).is_empty());
    }

    fn circle() -> Planted {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "mod a;\n");
        planted.put("crates/plan/src/a.rs", "mod list;\nmod one;\npub use one::One;\n");
        planted.put(
            "crates/plan/src/a/list.rs",
            "use super::One;\npub trait T { fn t() -> One; }\n",
        );
        planted.put(
            "crates/plan/src/a/one.rs",
            "\npub struct One;\nimpl super::list::T for One {}\n",
        );
        planted
    }

    #[test]
    fn a_circle_of_files_is_found_through_what_their_parent_shows() {
        circle().finds(
            check,
            "crates/plan/src/a/list.rs:1: import cycle: \
             `crates/plan/src/a/list.rs` names `crates/plan/src/a/one.rs` \
             (crates/plan/src/a/list.rs:1) \
             `crates/plan/src/a/one.rs` names `crates/plan/src/a/list.rs` \
             (crates/plan/src/a/one.rs:3)",
        );
    }

    #[test]
    fn circles_are_found_in_every_member() {
        let planted = Planted::clean();
        planted.put("benches/src/main.rs", "mod a;\nmod b;\n");
        planted.put("benches/src/a.rs", "pub fn a() { crate::b::b() }\n");
        planted.put("benches/src/b.rs", "pub fn b() { assert!(super::a::a()) }\n");
        let found = planted.found(check);
        assert_eq!(found.len(), 2, "of modules and of files: {found:?}");
        for text in found {
            assert!(text.starts_with("benches/src/a.rs:1: import cycle"), "{text}");
        }
    }

    #[test]
    fn a_file_with_its_own_parts_and_tests_make_no_circle() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "mod a;\nmod b;\n");
        planted.put("crates/plan/src/b.rs", "pub struct B;\n");
        let child = "crates/plan/src/a/child.rs";
        planted.put(child, "use super::A;\npub struct C(A);\n");
        planted
            .put("crates/plan/src/a.rs", "mod child;\npub use child::C;\npub struct A(C);\n");
        let b = "#[cfg(test)]\nmod tests { use crate::a::C; }\npub struct B;\n";
        planted.put("crates/plan/src/b.rs", b);
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn a_circle_through_a_part_of_another_file_is_found() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "mod a;\n");
        planted.put("crates/plan/src/a.rs", "mod list;\nmod one;\n");
        planted
            .put("crates/plan/src/a/list.rs", "use super::one::deep::Deep;\npub struct L;\n");
        planted.put(
            "crates/plan/src/a/one.rs",
            "pub mod deep;\nuse super::list::L;\nstruct O(L);\n",
        );
        planted.put("crates/plan/src/a/one/deep.rs", "pub struct Deep(super::O);\n");
        planted.finds(check, "crates/plan/src/a/list.rs:1: import cycle");
    }
}
