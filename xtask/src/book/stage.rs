//! Collects the sources of the site: the pages, and everything that they link to.
//!
//! | In the repository | In the site |
//! | --- | --- |
//! | `docs/guide/reading.md` | `guide/reading.html` |
//! | `lab/record/DATE/README.md`, `ARCHITECTURE.md` | `repository/…` as pages, listed after the guide |
//! | `crates/swath/src/lib.rs` | `api/swath/index.html`: the reference |
//! | any other text | `repository/….html`, shown as it is |
//! | a folder | its `README.md`, or a list of its files |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::shown;

/// Writes all pages and `conf.py` into `to/pages`, and files that are shown as they are into `to/shown`.
pub(super) fn run(root: &Path, to: &Path) -> Result<()> {
    let mut stage = Stage { root, to, waiting: VecDeque::new(), seen: BTreeSet::new() };
    let summary = stage.read("docs/SUMMARY.md")?;
    let listed = links(&summary);
    for (_, target) in &listed {
        stage.want(&format!("docs/{target}"));
    }
    let listed: BTreeSet<String> =
        listed.into_iter().map(|(_, target)| format!("docs/{target}")).collect();
    for page in pages(root, "docs")? {
        ensure!(listed.contains(&page), "{page} is not in docs/SUMMARY.md");
    }
    let mut others = BTreeMap::new();
    while let Some(path) = stage.waiting.pop_front() {
        let title = stage.put(&path)?;
        if let (Some(title), false) = (title, listed.contains(&path)) {
            others.insert(path, title);
        }
    }
    let index = fs::read_to_string(to.join("pages/index.md")).context("no docs/index.md")?;
    stage.write("pages/index.md", index + &contents(&(summary + &appendix(&others))))?;
    stage.write("pages/conf.py", stage.read("docs/conf.py")?)
}

/// Returns the list of pages beside each page: a part for each heading of the summary.
fn contents(summary: &str) -> String {
    let (mut text, mut is_open) = (String::new(), false);
    for line in summary.lines() {
        let part = line.strip_prefix("# ");
        if part.is_some() && is_open {
            text.push_str("```\n");
            is_open = false;
        }
        let entry = line.strip_prefix("- [").and_then(|it| it.strip_suffix(".md)"));
        if let Some((title, page)) = entry.and_then(|it| it.split_once("](")) {
            text.push_str(&format!("{title} </{page}>\n"));
        } else if let Some(part) = part {
            text.push_str(&format!(
                "\n```{{toctree}}\n:hidden:\n:titlesonly:\n:caption: {part}\n\n"
            ));
            is_open = true;
        }
    }
    if is_open { text + "```\n" } else { text }
}

/// Returns the list of the pages that are not in `docs`, in two parts.
fn appendix(others: &BTreeMap<String, String>) -> String {
    let (records, others): (Vec<_>, Vec<_>) =
        others.iter().partition(|(path, _)| path.starts_with("lab/record/"));
    let mut text = String::new();
    for (heading, pages) in [("The repository", others), ("Records", records)] {
        if !pages.is_empty() {
            text.push_str(&format!("\n# {heading}\n\n"));
        }
        for (path, title) in pages {
            text.push_str(&format!("- [{title}]({})\n", site_path(path)));
        }
    }
    text
}

/// Returns the pages below `folder`, by their paths from the root.
fn pages(root: &Path, folder: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names(&root.join(folder))? {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            found.extend(pages(root, &path)?);
        } else if path.ends_with(".md") && name != "SUMMARY.md" {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns the names in a folder, in order, without hidden ones.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let names = entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<Result<_>>()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

/// Returns the place of a path of the repository in the staged source, before pages become HTML.
fn site_path(path: &str) -> String {
    match path.strip_prefix("docs/") {
        Some(inner) if path.ends_with(".md") => inner.to_owned(),
        _ => format!("repository/{path}"),
    }
}

struct Stage<'r> {
    root: &'r Path,
    to: &'r Path,
    waiting: VecDeque<String>,
    seen: BTreeSet<String>,
}

impl Stage<'_> {
    fn want(&mut self, path: &str) {
        if self.seen.insert(path.to_owned()) {
            self.waiting.push_back(path.to_owned());
        }
    }

    fn read(&self, path: &str) -> Result<String> {
        let text = fs::read_to_string(self.root.join(path));
        text.with_context(|| format!("cannot read {path}"))
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let path = self.to.join(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes one target of a link; returns the title of a page.
    fn put(&mut self, path: &str) -> Result<Option<String>> {
        let source = self.root.join(path);
        if path.ends_with(".md") {
            let text = self.read(path)?;
            let text = self.rewrite(path, &text)?;
            self.write(&format!("pages/{}", site_path(path)), &text)?;
            return Ok(Some(title(&text).unwrap_or(path).to_owned()));
        }
        let shown = if source.is_dir() {
            let names = names(&source)?;
            for name in &names {
                self.want(&format!("{path}/{name}"));
            }
            let target = |name: &String| self.target(&format!("{path}/{name}"));
            let files = names.iter().map(|it| Ok((it.as_str(), target(it)?)));
            let files: Vec<_> = files.collect::<Result<_>>()?;
            let own = self.target(path)?;
            let files = files.into_iter().map(|(name, to)| (name, relative(&own, &to)));
            shown::folder(path, files)
        } else {
            let bytes = fs::read(&source).with_context(|| format!("cannot read {path}"))?;
            match String::from_utf8(bytes) {
                Ok(text) => shown::file(path, &text),
                Err(binary) => {
                    self.write(&format!("shown/{}", self.target(path)?), binary.into_bytes())?;
                    return Ok(None);
                }
            }
        };
        self.write(&format!("shown/{}", self.target(path)?), shown)?;
        Ok(None)
    }

    /// Returns the staged file that stands for `path`.
    fn target(&self, path: &str) -> Result<String> {
        let source = self.root.join(path);
        if let Some(name) = reference(path) {
            return Ok(format!("api/{name}/index.html"));
        }
        if path.ends_with(".md") {
            return Ok(as_page(&site_path(path)));
        }
        if source.is_dir() {
            return Ok(format!("repository/{path}/index.html"));
        }
        let bytes = fs::read(&source).with_context(|| format!("cannot read {path}"))?;
        let is_text = std::str::from_utf8(&bytes).is_ok();
        Ok(format!("repository/{path}{}", if is_text { ".html" } else { "" }))
    }

    /// Points the links of a page into the site, and removes attributes after the languages of
    /// blocks.
    fn rewrite(&mut self, path: &str, text: &str) -> Result<String> {
        let mut rewritten = String::with_capacity(text.len());
        let mut end = 0;
        for (start, target) in links(text) {
            if target.contains("://")
                || target.starts_with("mailto:")
                || target.starts_with('#')
            {
                continue;
            }
            let (file, anchor) = match target.split_once('#') {
                Some((file, anchor)) => (file, format!("#{anchor}")),
                None => (target, String::new()),
            };
            let mut wanted = join(path, file).with_context(|| format!("{path}: {target}"))?;
            if self.root.join(&wanted).is_dir()
                && self.root.join(&wanted).join("README.md").exists()
            {
                wanted.push_str("/README.md");
            }
            let to = self.target(&wanted).with_context(|| format!("{path}: {target}"))?;
            if reference(&wanted).is_none() {
                self.want(&wanted);
            }
            rewritten.push_str(&text[end..start]);
            rewritten.push_str(&relative(&site_path(path), &to));
            rewritten.push_str(&anchor);
            end = start + target.len();
        }
        rewritten.push_str(&text[end..]);
        let lines = rewritten.split_inclusive('\n').map(|line| match line.split_once(',') {
            Some((language, _)) if line.trim_start().starts_with("```") => {
                format!("{language}\n")
            }
            _ => line.to_owned(),
        });
        Ok(lines.collect())
    }
}

/// Returns the name of the crate whose reference stands for `path`, the root of its sources.
fn reference(path: &str) -> Option<String> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/src/lib.rs")?;
    let name = if name == "swath" { name.to_owned() } else { format!("swath_{name}") };
    super::API.contains(&name.as_str()).then_some(name)
}

fn title(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}

fn as_page(path: &str) -> String {
    path.strip_suffix(".md").map_or_else(|| path.to_owned(), |stem| format!("{stem}.html"))
}

/// Returns the path of `file`, as seen from the folder of `from`.
fn join(from: &str, file: &str) -> Result<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => bail!("leads out of the repository"),
            ".." => {}
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Returns `to` as a link from the file `from`, both relative to the same root.
fn relative(from: &str, to: &str) -> String {
    let (mut from, mut to) =
        (from.split('/').collect::<VecDeque<_>>(), to.split('/').collect::<VecDeque<_>>());
    while from.len() > 1 && to.len() > 1 && from.front() == to.front() {
        from.pop_front();
        to.pop_front();
    }
    let up = "../".repeat(from.len() - 1);
    up + &PathBuf::from_iter(to).to_string_lossy()
}

/// Returns the links of a page outside code: where each target begins, and the target.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let (mut at, mut is_code) = (0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            links.extend(links_of_line(line).map(|(start, target)| (at + start, target)));
        }
        at += line.len();
    }
    links
}

fn links_of_line(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices("](").filter_map(|(at, _)| {
        let is_code = line[..at].matches('`').count() % 2 == 1;
        let start = at + 2;
        let len = line[start..].find([')', ' '])?;
        (!is_code).then(|| (start, &line[start..start + len]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_from_one_page_to_the_other() {
        assert_eq!(relative("guide/a.md", "guide/b.md"), "b.md");
        assert_eq!(relative("guide/a.md", "design/b.md"), "../design/b.md");
        assert_eq!(relative("index.md", "guide/b.md"), "guide/b.md");
        assert_eq!(relative("repository/a/b/c.md", "index.md"), "../../../index.md");
    }

    #[test]
    fn a_path_is_taken_from_the_folder_of_its_page_and_never_leads_out() {
        assert_eq!(join("docs/guide/a.md", "../../README.md").expect("inside"), "README.md");
        assert!(join("docs/a.md", "../../x").is_err());
    }

    #[test]
    fn links_in_code_are_not_links() {
        let text = "[a](b.md) `[c](d.md)`\n```text\n[e](f.md)\n```\n[g](h.md#i)\n";
        let found: Vec<&str> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(found, ["b.md", "h.md#i"]);
    }

    #[test]
    fn pages_of_docs_are_at_the_top_and_the_rest_is_below_a_folder() {
        assert_eq!(site_path("docs/guide/a.md"), "guide/a.md");
        assert_eq!(site_path("STYLE.md"), "repository/STYLE.md");
        assert_eq!(reference("crates/swath/src/lib.rs").as_deref(), Some("swath"));
        assert_eq!(reference("crates/cli/src/lib.rs"), None);
    }
}
