//! One shape of call: checks every public function of the libraries, and finds those with another
//! shape.
//!
//! ```text
//! verb(source)            Options::new().with_…().verb(source)
//! verb(source, target)    Options::new().with_…().verb(source, target)
//! write(target, what)     Options::new().with_…().write(target, what)      bytes of the caller's memory
//! ```
//!
//! The table of `ARCHITECTURE.md` has a row for each verb, with its name in Rust, in C, in Python
//! and on the command line. All of these names must exist.

mod surface;

use std::collections::BTreeSet;

use super::Violation;
use super::tables::{HUNG, PLAIN, ROOT_NAMES, SHAPED};
use super::tree::Tree;
use surface::{PublicFunction, Surface};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HEADER: &str = "crates/capi/include/swath.h";
const PYTHON: &str = "python/package/swath/__init__.py";
const COMMAND: &str = "crates/cli/src/command";

/// Finds public functions and setters with another shape.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for folder in SHAPED {
        let surface = Surface::of(tree, folder);
        for function in &surface.functions {
            let found = |text: String| Violation::new(&function.path, function.line, text);
            match &function.owner {
                Some(owner) => violations.extend(setter(owner, function).map(found)),
                None => violations.extend(verb(&surface, function).map(found)),
            }
        }
        let count = surface.root.len();
        if count > ROOT_NAMES {
            let text =
                format!("{count} names at the root, at most {ROOT_NAMES}: give some a module");
            violations.push(Violation::new(&format!("{folder}/lib.rs"), 1, text));
        }
    }
    violations
}

/// Finds public functions, methods left out, whose text has no example that runs.
pub(super) fn examples(tree: &Tree) -> Vec<Violation> {
    let functions = SHAPED.iter().flat_map(|folder| Surface::of(tree, folder).functions);
    let without = functions.filter(|it| it.owner.is_none() && !it.has_example);
    without
        .map(|it| {
            let text =
                format!("`{}` has no example: show in its text how it is called", it.name);
            Violation::new(&it.path, it.line, text)
        })
        .collect()
}

/// Returns the fault of a setter of options.
fn setter(owner: &str, function: &PublicFunction) -> Option<String> {
    let what = function.name.strip_prefix("with_")?;
    let kind = function.inputs.first().map_or("", |it| it.kind.as_str());
    let is_bytes =
        ["size", "limit", "memory", "offset", "len"].iter().any(|it| what.ends_with(it));
    let is_count = ["workers", "window", "queue_depth"].contains(&what);
    let has_hooks = ["ReadOptions", "OutputOptions"].contains(&owner);
    let text = match kind {
        "bool" => "a boolean says nothing where it is called: take an enum",
        "ReadOptions" if what != "read" => "is called `with_read` everywhere",
        "OutputOptions" if what != "output" => "is called `with_output` everywhere",
        "ReadOptions" | "OutputOptions" => return None,
        _ if kind.ends_with("Options") => "takes `ReadOptions` or `OutputOptions`",
        "usize" | "u32" if is_bytes => "counts bytes: take `u64`",
        "u64" | "u32" if is_count => "is a count: take `usize`",
        _ if HUNG.contains(&what) && owner.ends_with("Options") && !has_hooks => {
            "comes with `with_read` or `with_output`"
        }
        _ => return None,
    };
    Some(format!("`{owner}::{}` {text}", function.name))
}

/// Returns the fault of a free function.
fn verb(surface: &Surface, function: &PublicFunction) -> Option<String> {
    let name = &function.name;
    if PLAIN.contains(&name.as_str()) {
        return None;
    }
    let kinds = |it: &PublicFunction| -> Vec<String> {
        it.inputs.iter().map(|it| it.kind.clone()).collect()
    };
    if function.inputs.iter().any(|it| it.kind.trim_start_matches('&').ends_with("Options")) {
        return Some(format!("`{name}` takes options: make it a method of them"));
    }
    let is_method = |it: &&PublicFunction| {
        it.owner.as_ref().is_some_and(|owner| owner.ends_with("Options")) && it.name == *name
    };
    let methods: Vec<&PublicFunction> = surface.functions.iter().filter(is_method).collect();
    if methods.is_empty() {
        return Some(format!(
            "`{name}` has no `Options::{name}`: let its options have the same verb"
        ));
    }
    if !methods.iter().any(|it| kinds(it) == kinds(function)) {
        return Some(format!("`{name}` and `Options::{name}` take different parameters"));
    }
    None
}

/// Finds verbs without a row in the table of `ARCHITECTURE.md`, and rows with names that do not
/// exist.
pub(super) fn table(tree: &Tree) -> Vec<Violation> {
    let text = tree.get(ARCHITECTURE).map_or("", |it| &it.text);
    let section =
        text.lines().enumerate().skip_while(|(_, line)| *line != "## One shape").skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let rows = section.filter(|(_, line)| line.starts_with("| `"));
    let verbs: Vec<PublicFunction> = SHAPED
        .iter()
        .flat_map(|folder| Surface::of(tree, folder).functions)
        .filter(|it| it.owner.is_none() && !PLAIN.contains(&it.name.as_str()))
        .collect();
    let full_name = |it: &PublicFunction| match it.module.as_str() {
        "" => it.name.clone(),
        module => format!("{module}::{}", it.name),
    };
    let (mut violations, mut named) = (Vec::new(), BTreeSet::new());
    for (index, line) in rows {
        let (calls, others) = line[2..].split_once(" | ").unwrap_or((line, ""));
        let calls = code(calls).filter_map(|call| call.split('(').next());
        let (here, gone): (Vec<&str>, Vec<&str>) =
            calls.partition(|call| verbs.iter().any(|it| full_name(it) == *call));
        named.extend(here);
        for gone in gone.into_iter().chain(code(others).filter(|it| !is_there(tree, it))) {
            let text = format!("`{gone}` does not exist");
            violations.push(Violation::new(ARCHITECTURE, index + 1, text));
        }
    }
    for verb in &verbs {
        // Some have two names: `copy` and `copy::copy`.
        let is_same = |it: &&PublicFunction| (&it.path, it.line) == (&verb.path, verb.line);
        let mut names = verbs.iter().filter(is_same).map(full_name);
        if !names.any(|name| named.contains(name.as_str())) {
            let name = full_name(verb);
            let text = format!("`{name}` has no row in the table of {ARCHITECTURE}");
            violations.push(Violation::new(&verb.path, verb.line, text));
        }
    }
    violations
}

/// Returns the texts between back ticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether a name of C, Python or the command exists.
fn is_there(tree: &Tree, name: &str) -> bool {
    if name.starts_with("swath_") {
        return tree.get(HEADER).is_some_and(|it| it.text.contains(&format!(" {name}(")));
    }
    if let Some(name) = name.strip_prefix("swath.") {
        return tree.get(PYTHON).is_some_and(|it| it.text.contains(&format!("\"{name}\"")));
    }
    let said = format!("`{name}`");
    tree.texts().any(|(path, text)| path.starts_with(COMMAND) && text.contains(&said))
}
