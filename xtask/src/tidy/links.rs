//! Links between documents lead somewhere, and figures in `README.md` have a record.

use super::Violation;
use super::tables::{FIGURE_UNITS, RECORDS};
use super::tree::Tree;

/// A link and the line that it begins on.
#[derive(Debug, PartialEq, Eq)]
struct Link<'t> {
    target: &'t str,
    line: usize,
}

/// Finds relative links to files and headings that do not exist.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in papers(tree) {
        for link in links(text) {
            if let Err(why) = resolve(tree, path, link.target) {
                let text = format!("link to `{}`: {why}", link.target);
                violations.push(Violation::new(path, link.line, text));
            }
        }
    }
    violations
}

/// Finds figures in `README.md` if it does not link to a folder of measurements.
pub(super) fn figures(tree: &Tree) -> Vec<Violation> {
    let path = "README.md";
    let Some(readme) = tree.get(path) else { return Vec::new() };
    let has_record = links(&readme.text).iter().any(|link| is_record(tree, link.target));
    let first = readme.text.lines().position(is_figure);
    match first {
        Some(index) if !has_record => {
            let text = format!("a figure, but no link to a folder of {RECORDS}");
            vec![Violation::new(path, index + 1, text)]
        }
        _ => Vec::new(),
    }
}

fn is_record(tree: &Tree, target: &str) -> bool {
    let file = target.split('#').next().unwrap_or(target).trim_end_matches('/');
    let inner = file.trim_start_matches("./").strip_prefix(RECORDS);
    inner.is_some_and(|it| it.len() > 1) && tree.holds(file.trim_start_matches("./"))
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
    tree.texts().filter(|(path, _)| path.ends_with(".md"))
}

fn resolve(tree: &Tree, from: &str, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { from.to_owned() } else { join(from, file)? };
    if !tree.holds(&path) {
        return Err("no such file".to_owned());
    }
    match tree.get(&path) {
        Some(paper) if path.ends_with(".md") && !anchor.is_empty() => {
            let found = anchors(&paper.text).iter().any(|it| it == anchor);
            found.then_some(()).ok_or_else(|| "no such heading".to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns the path of `file`, relative to the folder of `from`.
fn join(from: &str, file: &str) -> Result<String, String> {
    if file.starts_with('/') {
        return Err("not relative".to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or("leads out of the repository")?;
            }
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/").replace("%20", " "))
}

/// Finds `[text](target)`, `![text](target)` and `[name]: target`, outside code.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (line, prose) in prose(text) {
        links.extend(definition(prose).map(|target| Link { target, line }));
        let mut rest = prose;
        while let Some(at) = rest.find("](") {
            let is_code = rest[..at].matches('`').count() % 2 == 1;
            rest = &rest[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            let target = rest[..end].trim_matches(['<', '>']);
            if !is_code {
                links.push(Link { target, line });
            }
        }
    }
    links
}

/// Returns the target of a line `[name]: target`.
fn definition(prose: &str) -> Option<&str> {
    let (name, target) = prose.split_once("]: ")?;
    let is_name = name.trim_start().starts_with('[') && !name.contains(']');
    target.split_whitespace().next().filter(|_| is_name)
}

/// Returns the lines outside fences, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, None) => return Some((index + 1, line)),
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        None
    })
}

/// Returns the anchors that a forge makes from the headings, and those written as `id="…"`.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let slug = slug(heading.trim());
            let same = anchors.iter().filter(|it| is_numbered(it, &slug)).count();
            anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
        }
        let ids = line.split("id=\"").skip(1).filter_map(|it| it.split('"').next());
        anchors.extend(ids.map(str::to_owned));
    }
    anchors
}

/// Whether `anchor` is `slug`, or `slug` with the number of a repetition.
fn is_numbered(anchor: &str, slug: &str) -> bool {
    let rest = anchor.strip_prefix(slug);
    rest.is_some_and(|it| {
        let number = it.strip_prefix('-').unwrap_or_default();
        it.is_empty() || (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
    })
}

fn slug(heading: &str) -> String {
    // Of a link, only the text is part of the heading.
    let mut text = heading.to_owned();
    while let Some(start) = text.find("](") {
        let end = text[start..].find(')').map_or(text.len(), |it| start + it + 1);
        text.replace_range(start..end, "");
    }
    text.to_lowercase()
        .chars()
        .filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign))
        .map(|sign| if sign == ' ' { '-' } else { sign })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn links_to_what_is_not_there_are_found() {
        for (link, why) in [
            ("[a](docs/gone.md)", "link to `docs/gone.md`: no such file"),
            ("![a](plot.svg \"Speed\")", "link to `plot.svg`: no such file"),
            ("[a]: gone.md", "link to `gone.md`: no such file"),
            ("[a](ARCHITECTURE.md#attic)", "link to `ARCHITECTURE.md#attic`: no such heading"),
            ("[a](#attic)", "link to `#attic`: no such heading"),
            ("[a](../other/README.md)", "link to `../other/README.md`: leads out of"),
        ] {
            let planted = Planted::clean();
            planted.put(
                "README.md",
                &format!("# Swath\n\n`x` {link}\n").replace("`x` [a]:", "[a]:"),
            );
            planted.finds(check, &format!("README.md:3: {why}"));
        }
    }

    #[test]
    fn links_to_files_folders_headings_and_the_web_are_fine() {
        let planted = Planted::clean();
        let text = "# One: `two`\n## Again\n## Again\n[a](https://host/b) \
                    [c](../crates/plan/src/) \
                    [d](#one-two) [e](../README.md#swath) [f](#again-1) [g](<../Cargo.toml>)\n\
                    `[h](gone.md)`\n```text\n[i](gone.md)\n```\n";
        planted.put("docs/guide.md", text);
        assert_eq!(planted.found(check), Vec::<String>::new());
    }

    #[test]
    fn figures_without_a_record_are_found() {
        for figure in ["reads at 9.4 GB/s", "5× faster", "| 3 × |"] {
            let planted = Planted::clean();
            planted.put("README.md", &format!("# Swath\n{figure}\n"));
            planted.finds(figures, "README.md:2: a figure, but no link to a folder of lab");
            let record = "lab/record/2026-11-21-2core";
            let text = format!("# Swath\n{figure}, [measured]({record}/README.md)\n");
            planted.put("README.md", &text);
            planted.finds(figures, "README.md:2: a figure");
            planted.put(&format!("{record}/README.md"), "# Record\n");
            assert!(planted.found(figures).is_empty());
        }
    }

    #[test]
    fn words_are_no_figures() {
        assert!(!is_figure("engine × chunk size × workers"));
    }
}
