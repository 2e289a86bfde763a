//! Figures that documents quote from records are those of the records.
//!
//! ```text
//! summary.md of a record                       a document
//! <!-- part: counts -->                        <!-- from: lab/record/X/summary.md, counts -->
//! Of 23 claims …                            =  Of 23 claims …
//! <!-- /part -->                               <!-- /from -->
//! ```
//!
//! `cargo xtask findings` copies the parts into the documents; with a folder as argument, it makes
//! them quote from that one first.

use std::fs;

use anyhow::{Result, bail};

use super::Violation;
use super::tables::{FIGURE_UNITS, RECORDS, TAKE_COUNTS};
use super::tree::Tree;
use crate::workspace::Workspace;

pub(super) const FROM: &str = "<!-- from: ";
pub(super) const END: &str = "<!-- /from -->";

/// The text in a document between its marks.
struct Taken<'t> {
    /// The file that it comes from, by its path in the repository.
    source: &'t str,
    part: &'t str,
    line: usize,
    inside: String,
}

/// Finds documents that differ from the record that they name, and those that must quote how many
/// claims hold but do not.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in papers(tree) {
        for taken in taken(text) {
            let violation = match part_of(tree, taken.source, taken.part) {
                Err(why) => Some(why),
                Ok(part) if part != taken.inside => Some(format!(
                    "is not what `{}` says of `{}`; try: cargo xtask findings",
                    taken.source, taken.part
                )),
                Ok(_) => None,
            };
            violations.extend(violation.map(|why| Violation::new(path, taken.line, why)));
        }
    }
    for path in TAKE_COUNTS {
        let Some(paper) = tree.get(path) else { continue };
        if !taken(&paper.text).iter().any(|taken| taken.part == "counts") {
            let why = format!("takes no counts from a summary of {RECORDS}");
            violations.push(Violation::new(path, 1, why));
        }
    }
    violations
}

/// Finds figures in `README.md` if it does not link to a record.
pub(super) fn figures(tree: &Tree) -> Vec<Violation> {
    let path = "README.md";
    let text = tree.get(path).map_or("", |it| &it.text);
    let has_record = text.contains(&format!("]({RECORDS}/"));
    let first = text.lines().position(is_figure).filter(|_| !has_record);
    let why = format!("a figure, but no link to a folder of {RECORDS}");
    first.map(|index| Violation::new(path, index + 1, why)).into_iter().collect()
}

/// A speed, or a number next to a multiplication sign.
fn is_figure(line: &str) -> bool {
    let times = line.match_indices('×').any(|(index, sign)| {
        let before = line[..index].trim_end().chars().next_back();
        let after = line[index + sign.len()..].trim_start().chars().next();
        [before, after].into_iter().flatten().any(|it| it.is_ascii_digit())
    });
    times || FIGURE_UNITS.iter().any(|unit| line.contains(unit))
}

fn papers(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts().filter(|(path, _)| path.ends_with(".md") && !path.starts_with(RECORDS))
}

fn taken(text: &str) -> Vec<Taken<'_>> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some((source, part)) = mark(line) else { continue };
        let inside = lines.by_ref().map(|it| it.1).take_while(|line| *line != END);
        let inside = inside.map(|line| format!("{line}\n")).collect();
        found.push(Taken { source, part, line: index + 1, inside });
    }
    found
}

/// Returns the file and the part that a line names.
fn mark(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix(FROM)?.strip_suffix(" -->")?.split_once(", ")
}

fn part_of(tree: &Tree, source: &str, part: &str) -> Result<String, String> {
    let text =
        tree.get(source).ok_or_else(|| format!("takes from `{source}`: no such file"))?;
    let begin = format!("<!-- part: {part} -->");
    let mut lines = text.text.lines().skip_while(|line| *line != begin);
    lines.next().ok_or_else(|| format!("takes `{part}` from `{source}`: no such part"))?;
    let inside = lines.take_while(|line| *line != "<!-- /part -->");
    Ok(inside.map(|line| format!("{line}\n")).collect())
}

/// Copies the parts of records into the documents; from `record`, if given, instead of those named.
pub(crate) fn update(workspace: &Workspace, record: Option<&str>) -> Result<()> {
    let tree = Tree::of_git(workspace.root())?;
    let source = record.map(|record| format!("{}/summary.md", record.trim_end_matches('/')));
    for (path, text) in papers(&tree) {
        let updated = updated(&tree, text, source.as_deref());
        match updated {
            Err(why) => bail!("{path} {why}"),
            Ok(updated) if updated != text => {
                fs::write(workspace.root().join(path), updated)?;
                println!("{path}");
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

fn updated(tree: &Tree, text: &str, other: Option<&str>) -> Result<String, String> {
    let mut updated = text.to_owned();
    for Taken { source, part, inside, .. } in taken(text) {
        let block = |source, inside| format!("{FROM}{source}, {part} -->\n{inside}{END}\n");
        let (old, source) = (block(source, &inside), other.unwrap_or(source));
        if !text.contains(&old) {
            return Err(format!("has no `{END}` for `{part}`"));
        }
        updated = updated.replace(&old, &block(source, &part_of(tree, source, part)?));
    }
    Ok(updated)
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const SUMMARY: &str = "lab/record/x/summary.md";
    const PAPER: &str = "docs/guide/findings.md";

    fn planted(inside: &str) -> Planted {
        let planted = Planted::clean();
        planted.put(PAPER, &format!("a\n{FROM}{SUMMARY}, counts -->\n{inside}{END}\nb\n"));
        planted
    }

    #[test]
    fn another_record_may_be_taken_from() {
        let planted = planted("Of 2 claims\n");
        let other = "lab/record/y/summary.md";
        planted.put(other, "<!-- part: counts -->\nOf 5 claims\n<!-- /part -->\n");
        let tree = planted.tree();
        let text = &tree.get(PAPER).expect("planted").text;
        let right = updated(&tree, text, Some(other)).expect("it is there");
        assert!(right.contains("record/y/summary.md, counts -->\nOf 5 claims\n"), "{right}");
        assert!(updated(&tree, text, Some("nothing")).is_err());
    }
}
