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
