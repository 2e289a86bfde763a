//! Import cycles between the top-level modules of each crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Violation;
use super::paths;
use super::tree::Tree;

/// Module → the modules that it names → where it does so first.
type Arrows<'t> = BTreeMap<&'t str, BTreeMap<String, (&'t str, usize)>>;

/// Finds each cycle once, at the arrow that leaves its first module.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for folder in tree.packages().into_iter().filter(|it| it.starts_with("crates/")) {
        let arrows = arrows(tree, folder);
        let mut seen = BTreeSet::new();
        for start in arrows.keys() {
            let Some(cycle) = shortest_cycle(&arrows, start) else { continue };
            if seen.insert(cycle.iter().copied().collect::<BTreeSet<_>>()) {
                violations.push(violation(&arrows, &cycle));
            }
        }
    }
    violations
}

fn arrows<'t>(tree: &'t Tree, folder: &str) -> Arrows<'t> {
    let files = paths::files(tree, folder);
    let modules: BTreeSet<&str> = files.iter().map(|it| it.module).collect();
    let mut arrows = Arrows::new();
    for file in files {
        for named in file.names {
            if named.name != file.module && modules.contains(named.name.as_str()) {
                let targets = arrows.entry(file.module).or_default();
                targets.entry(named.name).or_insert((file.path, named.line));
            }
        }
    }
    arrows
}

/// The modules of the shortest way from `start` back to it, `start` first.
fn shortest_cycle<'a>(arrows: &'a Arrows<'_>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for target in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
            if target == start {
                return Some(way(&came_from, start, module));
            }
            if !came_from.contains_key(target.as_str()) {
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
}
