//! Dependencies between members of the workspace: the table of crates in `ARCHITECTURE.md` says what each
//! may import, and the manifests what it does.

use std::collections::BTreeSet;

use super::Violation;
use super::tree::Tree;
use crate::manifest::{self, Section, quoted};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// A member, by its folder, and our own crates that its `[dependencies]` may name, without `swath-`.
struct CrateRow<'t> {
    folder: &'t str,
    may: BTreeSet<&'t str>,
    line: usize,
}

/// Finds dependencies that the table does not allow, members that it lacks, and superfluous
/// entries.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let rows = rows(tree.get(ARCHITECTURE).map_or("", |it| &it.text));
    let gone = rows.iter().filter(|row| !tree.holds(row.folder));
    let gone = gone.map(|row| {
        let text = format!("`{}` does not exist", row.folder);
        Violation::new(ARCHITECTURE, row.line, text)
    });
    let manifests = tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml"));
    let of_manifest = |(path, text)| check_manifest(path, &manifest::sections(text), &rows);
    gone.chain(manifests.flat_map(of_manifest)).collect()
}

fn check_manifest(path: &str, sections: &[Section], rows: &[CrateRow<'_>]) -> Vec<Violation> {
    let folder = path.trim_end_matches("/Cargo.toml");
    let Some(row) = rows.iter().find(|row| row.folder == folder) else {
        let text = format!("`{folder}` has no row in the table of crates of {ARCHITECTURE}");
        return vec![Violation::new(path, 1, text)];
    };
    let used: Vec<(String, usize)> = sections.iter().flat_map(dependencies).collect();
    let too_many = used.iter().filter(|(name, _)| !row.may.contains(name.as_str()));
    let too_many = too_many.map(|(name, line)| {
        Violation::new(path, *line, format!("`{folder}` must not depend on `{name}`"))
    });
    let unused = row.may.iter().filter(|may| used.iter().all(|(name, _)| name != **may));
    let unused = unused.map(|name| {
        let text = format!("`{folder}` may import `{name}` but does not: remove it");
        Violation::new(ARCHITECTURE, row.line, text)
    });
    too_many.chain(unused).collect()
}

fn rows(text: &str) -> Vec<CrateRow<'_>> {
    let section = text.lines().enumerate().skip_while(|(_, line)| *line != "## Crates").skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let rows = section.filter(|(_, line)| line.starts_with("| `"));
    rows.filter_map(|(index, line)| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let folder = words(cells[0]).first()?.trim_end_matches('/');
        Some(CrateRow { folder, may: words(cells[cells.len() - 1]), line: index + 1 })
    })
    .collect()
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

/// Returns our own crates in a section of shipped dependencies, with their lines.
fn dependencies(section: &Section) -> Vec<(String, usize)> {
    let head = section.head.as_str();
    let mut named = Vec::new();
    if is_shipped(head) {
        for entry in &section.entries {
            let key = entry.key.split('.').next().unwrap_or_default();
            named.push((key, entry.line));
            // An alias: `fast = { package = "swath-simd" }`.
            if let Some((_, value)) = entry.value.split_once("package") {
                named.push((quoted(value).unwrap_or_default(), entry.line));
            }
        }
    } else if let Some((parent, key)) = head.rsplit_once('.')
        && is_shipped(parent)
    {
        named.push((key, section.line));
    }
    named
        .into_iter()
        .map(|(name, line)| (name.trim_matches('"'), line))
        .filter(|(name, _)| *name == "swath" || name.starts_with("swath-"))
        .map(|(name, line)| (name.strip_prefix("swath-").unwrap_or(name).to_owned(), line))
        .collect()
}

/// Tests may depend on anything.
fn is_shipped(head: &str) -> bool {
    let is_target = head.starts_with("target.");
    let kind = if is_target { head.rsplit('.').next().unwrap_or_default() } else { head };
    kind == "dependencies" || kind == "build-dependencies"
}
