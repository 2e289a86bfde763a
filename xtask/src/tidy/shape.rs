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

/// Returns what is wrong with a free function.
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
    let rows: Vec<(usize, Vec<&str>)> = section
        .take_while(|(_, line)| !line.starts_with("## "))
        .filter(|(_, line)| line.starts_with("| `"))
        .map(|(index, line)| (index + 1, line.trim_matches('|').split(" | ").collect()))
        .collect();
    let mut violations = Vec::new();
    for folder in SHAPED {
        let functions = Surface::of(tree, folder).functions;
        let verbs = functions.iter().filter(|it| it.owner.is_none());
        for function in verbs.filter(|it| !PLAIN.contains(&it.name.as_str())) {
            // Some have two names: `copy` and `copy::copy`.
            let same =
                |it: &&PublicFunction| (&it.path, it.line) == (&function.path, function.line);
            let has_row = functions.iter().filter(same).any(|it| {
                let name = format!("{}::{}", it.module, it.name);
                rows.iter().any(|(_, cells)| has_call(cells[0], name.trim_start_matches("::")))
            });
            if !has_row {
                let name = format!("{}::{}", function.module, function.name);
                let name = name.trim_start_matches("::");
                let text = format!("`{name}` has no row in the table of {ARCHITECTURE}");
                violations.push(Violation::new(&function.path, function.line, text));
            }
        }
    }
    for (line, cells) in &rows {
        for gone in
            cells.iter().skip(1).flat_map(|cell| code(cell)).filter(|it| !is_there(tree, it))
        {
            violations.push(Violation::new(
                ARCHITECTURE,
                *line,
                format!("`{gone}` does not exist"),
            ));
        }
    }
    violations
}

/// Whether a cell contains a call of a function with this name.
fn has_call(cell: &str, name: &str) -> bool {
    code(cell).any(|word| word.split('(').next() == Some(name))
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

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const LIB: &str = "crates/swath/src/lib.rs";
    const READ: &str = "crates/swath/src/read.rs";

    fn planted(read: &str) -> Planted {
        let planted = Planted::clean();
        planted.put(LIB, "mod read;\npub use read::{ReadOptions, read};\n");
        planted.put(READ, read);
        planted
    }

    const GOOD: &str = "pub struct ReadOptions;\n\
        pub fn read(source: impl Into<Source>) -> u8 { 0 }\n\
        impl ReadOptions {\n\
        pub fn read(&self, source: impl Into<Source>) -> u16 { 0 }\n\
        pub fn with_workers(self, workers: usize) -> Self { self }\n\
        pub fn with_chunk_size(self, chunk_size: u64) -> Self { self }\n\
        }\n";

    #[test]
    fn what_has_the_shape_is_not_found() {
        let found = planted(GOOD).found(check);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn every_other_shape_is_found() {
        for (from, to, text) in [
            (
                "read(source: impl Into<Source>) -> u8",
                "read(source: impl Into<Source>, options: &ReadOptions) -> u8",
                "takes options",
            ),
            (
                "read(&self, source: impl Into<Source>)",
                "load(&self, source: impl Into<Source>)",
                "has no `Options::read`",
            ),
            (
                "read(&self, source: impl Into<Source>)",
                "read(&self, path: &Path)",
                "take different parameters",
            ),
            ("workers: usize", "workers: bool", "a boolean says nothing"),
            ("workers: usize", "workers: u64", "is a count"),
            ("chunk_size: u64", "chunk_size: usize", "counts bytes"),
            (
                "with_chunk_size(self, chunk_size: u64)",
                "with_reading(self, read: ReadOptions)",
                "is called `with_read`",
            ),
            (
                "with_chunk_size(self, chunk_size: u64)",
                "with_options(self, read: OrderedOptions)",
                "takes `ReadOptions`",
            ),
            (
                "pub fn with_workers(self, workers: usize) -> Self { self }",
                "setters! { /// Threads.\nfn with_workers(workers: u64); }",
                "is a count",
            ),
        ] {
            let planted = planted(&GOOD.replacen(from, to, 1));
            let found = planted.found(check);
            assert!(found.iter().any(|it| it.contains(text)), "{to}: {found:?}");
        }
    }

    #[test]
    fn what_hangs_on_a_call_is_set_in_one_place() {
        let more = "pub struct CopyOptions;\nimpl CopyOptions {\n\
            pub fn with_cancel(self, token: Token) -> Self { self }\n}\n";
        let planted = planted(&format!("{GOOD}{more}"));
        planted.put(LIB, "mod read;\npub use read::{CopyOptions, ReadOptions, read};\n");
        planted
            .finds(check, "crates/swath/src/read.rs:10: `CopyOptions::with_cancel` comes with");
    }

    #[test]
    fn a_function_without_an_example_is_found() {
        let text = "    /// ```\n    /// x();\n    /// ```\n    pub fn x() {}\n";
        let planted = planted(&format!("impl ReadOptions {{\n{text}}}\n{GOOD}"));
        planted.finds(examples, &format!("{READ}:8: `read` has no example"));
        let shown = GOOD.replacen("pub fn read", "/// Reads.\n///\n/// ```\npub fn read", 1);
        planted.put(READ, &shown);
        let found = planted.found(examples);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_verb_without_a_row_and_a_row_of_what_is_not_there_are_found() {
        let planted = planted(GOOD);
        let table = |row: &str| {
            format!("# A\n\n## One shape\n\n| Rust | C |\n| --- | --- |\n{row}\n\n## B\n")
        };
        planted.put(ARCHITECTURE, &table(""));
        planted.finds(super::table, "crates/swath/src/read.rs:2: `read` has no row");
        planted.put(HEADER, "swath_status swath_read(const char *path);\n");
        planted.put(ARCHITECTURE, &table("| `read(source)` | `swath_read` |"));
        let found = planted.found(super::table);
        assert!(found.is_empty(), "{found:?}");
        planted.put(ARCHITECTURE, &table("| `read(source)` | `swath_load` |"));
        planted.finds(super::table, "ARCHITECTURE.md:7: `swath_load` does not exist");
        planted.put(ARCHITECTURE, &table("| `read(source)` | `swath.read` |"));
        planted.finds(super::table, "ARCHITECTURE.md:7: `swath.read` does not exist");
    }
}
